/// One element of a document that was read, with what is inside it. Attributes, comments and instructions are left out: no
/// protocol of ours says anything in them.
package struct XMLElement: Hashable, Sendable {
    /// The name without its prefix.
    package var name: String
    /// The namespace that the prefix stands for, `DAV:` for one; empty for none.
    package var namespace: String
    /// Its own characters, references resolved, those of its children left out.
    package var text: String
    /// In the order of the document.
    package var children: [XMLElement]

    package init(_ name: String, in namespace: String = "", text: String = "", children: [XMLElement] = []) {
        self.name = name
        self.namespace = namespace
        self.text = text
        self.children = children
    }

    /// Returns true when it has that name. Without a namespace any will do: S3's servers do not agree on theirs.
    package func isNamed(_ name: String, in namespace: String? = nil) -> Bool {
        self.name == name && (namespace == nil || namespace == self.namespace)
    }

    /// The first child of that name.
    package func child(_ name: String, in namespace: String? = nil) -> XMLElement? {
        children.first { $0.isNamed(name, in: namespace) }
    }

    /// All children of that name, in their order.
    package func children(_ name: String, in namespace: String? = nil) -> [XMLElement] {
        children.filter { $0.isNamed(name, in: namespace) }
    }

    /// The text of the first child of that name, without white space at its ends; `nil` when there is no such child.
    package func text(of name: String, in namespace: String? = nil) -> String? {
        child(name, in: namespace)?.trimmedText
    }

    /// The text without white space at its ends.
    package var trimmedText: String {
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 || byte == 10 || byte == 13 }
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}
