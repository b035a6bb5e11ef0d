import DisplayText

/// The names of one document, each kept once however many elements have it, and the namespaces that its prefixes stand for at the place
/// that is read.
///
/// Expat could resolve prefixes too, but writes out the namespace's whole address for every element and attribute: an answer of kilobytes
/// would take gigabytes. Without that, what is kept and copied is never more than what came.
struct XMLNames {
    /// Bytes of the longest name or address of a namespace: no protocol of ours has one of a hundred.
    static let longest = 1024

    private struct ElementName {
        let local: String
        /// Its place in `namespaces`.
        let prefix: Int
    }

    private let most: Int
    private var elements: [String: ElementName] = [:]
    private var attributes: Set<String> = []
    private var addresses: Set<String> = []
    private var prefixes = ["": 0, "xml": 1]
    /// By the number of the prefix; `nil`: the prefix stands for nothing here.
    private var namespaces: [String?] = ["", "http://www.w3.org/XML/1998/namespace"]
    /// The meanings that declarations of open elements hide, the innermost last.
    private var hidden: [(depth: Int, prefix: Int, namespace: String?)] = []

    /// - Parameter most: different names and addresses.
    init(most: Int) { self.most = most }

    /// Learns an attribute's name; where it declares a namespace, that holds until the element at this depth is left.
    mutating func attribute(_ name: String, value: UnsafePointer<CChar>, depth: Int) throws(XMLFault) {
        // Expat keeps each name that it meets until its end: a document that never ends has no use for ever new ones.
        attributes.insert(try Self.short(name))
        if name == "xmlns" {
            try declare("", value, depth)
        } else if name.utf8.starts(with: "xmlns:".utf8) {
            try declare(String(name.utf8.dropFirst(6)) ?? "", value, depth)
        }
        try count()
    }

    private mutating func declare(_ prefix: String, _ value: UnsafePointer<CChar>, _ depth: Int) throws(XMLFault) {
        let address = addresses.insert(try Self.short(String(peer: value))).memberAfterInsert
        // Only the namespace without a prefix can be taken away again.
        if address.isEmpty, !prefix.isEmpty { throw .malformed("a prefix for no namespace", line: 0) }
        let place = place(of: prefix)
        hidden.append((depth, place, namespaces[place]))
        namespaces[place] = address
    }

    /// An element without content of that name, after its attributes.
    mutating func element(_ name: String) throws(XMLFault) -> XMLElement {
        let known: ElementName
        if let met = elements[name] {
            known = met
        } else {
            let parts = try Self.short(name).utf8.split(
                separator: UInt8(ascii: ":"), omittingEmptySubsequences: false
            ).compactMap { String($0) }
            guard let local = parts.last, parts.count <= 2, !parts.contains("") else {
                throw .malformed("a colon too many in a name", line: 0)
            }
            known = ElementName(local: local, prefix: place(of: parts.count == 2 ? parts[0] : ""))
            elements[name] = known
            try count()
        }
        guard let namespace = namespaces[known.prefix] else { throw .malformed("unbound prefix", line: 0) }
        return XMLElement(known.local, in: namespace)
    }

    /// Forgets what the elements at this depth and below declared.
    mutating func leave(depth: Int) {
        while let last = hidden.last, last.depth >= depth {
            namespaces[last.prefix] = last.namespace
            hidden.removeLast()
        }
    }

    private mutating func place(of prefix: String) -> Int {
        if let place = prefixes[prefix] { return place }
        prefixes[prefix] = namespaces.count
        namespaces.append(nil)
        return namespaces.count - 1
    }

    private static func short(_ text: String) throws(XMLFault) -> String {
        guard text.utf8.count <= longest else { throw .tooLarge }
        return text
    }

    private func count() throws(XMLFault) {
        if elements.count + attributes.count + addresses.count > most { throw .tooLarge }
    }
}
