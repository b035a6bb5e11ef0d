// XMLReader: documents that servers answer with, as a small tree. Expat reads, within limits.
//
// For whom: S3 and WebDAV in TransferProtocols. Which thread: any; a call keeps nothing.
// Start at `XMLReader.read`.

import CExpat
import DisplayText

/// The reasons for which bytes are no document that we take.
package enum XMLFault: Error, Hashable, Sendable {
    /// Expat's word for what is wrong, and the line where it is.
    case malformed(String, line: Int)
    /// A document type: the place of entities, which could grow without end or name files. Nothing of ours needs one.
    case documentType
    /// Elements within elements beyond the limit.
    case tooDeep
    /// More elements, or more bytes, than the limit.
    case tooLarge
}

/// The most that a peer may make us keep.
package struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as it came.
    package var bytes: Int
    /// Elements within elements, the outermost included.
    package var depth: Int
    /// Elements, all together.
    package var elements: Int
    /// Bytes of the characters directly within one element. The white space between its children does not add up.
    package var text: Int
    /// Different names of elements and attributes, and addresses of namespaces.
    package var names: Int

    package init(
        bytes: Int = 32 << 20, depth: Int = 64, elements: Int = 500_000, text: Int = 64 << 10, names: Int = 1000
    ) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
        self.text = text
        self.names = names
    }
}

/// Reads a whole document.
package enum XMLReader {
    /// Bytes that expat gets at once, and those that it may take without telling anything: it keeps all attributes of a tag before it tells
    /// the first of them, in many times the memory, and nothing of ours has a tag of a megabyte.
    private static let (slice, longestToken) = (256 << 10, 1 << 20)

    /// The outermost element. White space before the document is forgiven: servers send it to show that they live.
    /// Entities from outside are never read, since a document type is refused. Corresponds to `XML_Parse`.
    package static func read(_ bytes: [UInt8], limits: XMLLimits = XMLLimits()) throws(XMLFault) -> XMLElement {
        guard bytes.count <= min(limits.bytes, Int(CInt.max)) else { throw .tooLarge }
        let start = bytes.firstIndex { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 } ?? bytes.endIndex
        guard Self.mayBegin(with: bytes[start...].first) else { throw .malformed("not a document", line: 1) }
        guard let parser = XML_ParserCreate(nil) else { throw .malformed("no memory", line: 0) }
        defer { XML_ParserFree(parser) }
        let builder = TreeBuilder(parser, limits)
        builder.listen(parser)
        var status = XML_STATUS_OK
        var next = start
        var silent = 0
        repeat {
            let piece = bytes[next..<min(next + slice, bytes.endIndex)]
            next = piece.endIndex
            let told = builder.told
            status = withExtendedLifetime(builder) {
                piece.withUnsafeBytes {
                    XML_Parse(
                        parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt($0.count),
                        next == bytes.endIndex ? 1 : 0)
                }
            }
            silent = builder.told == told ? silent + piece.count : 0
            if silent > longestToken { builder.stop(.tooLarge) }
            if let fault = builder.fault { throw fault }
        } while status == XML_STATUS_OK && next < bytes.endIndex
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(peer: $0) } ?? "not a document"
            throw .malformed(reason, line: Int(XML_GetCurrentLineNumber(parser)))
        }
        return root
    }

    /// True for an angle bracket, and for what UTF-16 and byte order marks begin with: all else is no document, and not given to expat.
    private static func mayBegin(with byte: UInt8?) -> Bool {
        byte.map { [0x3C, 0xEF, 0xFE, 0xFF, 0x00].contains($0) } ?? false
    }
}

/// Reads a document that comes in pieces, and gives each child of the outermost element when it is complete: a list of a million needs
/// no more memory than its longest item. Used by one at a time.
package final class XMLFeed {
    private let parser: XML_Parser?
    private let builder: TreeBuilder?
    /// Bytes without an item having been completed, and how many there may be.
    private var pending = 0
    private let limits: XMLLimits
    private var isBegun = false

    /// - Parameter limits: of one child each.
    package init(limits: XMLLimits = XMLLimits(bytes: 1 << 20, depth: 64, elements: 10_000)) {
        self.limits = limits
        parser = XML_ParserCreate(nil)
        builder = parser.map { TreeBuilder($0, limits, givesChildren: true) }
        if let parser, let builder { builder.listen(parser) }
    }

    deinit { if let parser { XML_ParserFree(parser) } }

    /// The outermost element without its children, as soon as it is closed; `nil` before.
    package var root: XMLElement? { builder?.root }

    /// The children that these bytes complete.
    /// - Parameter bytes: not few: a token that is not whole is read anew with every piece.
    package func take(_ bytes: [UInt8]) throws(XMLFault) -> [XMLElement] { try parse(bytes, isLast: false) }

    /// The document is over; throws when it is not whole.
    package func finish() throws(XMLFault) -> [XMLElement] { try parse([], isLast: true) }

    private func parse(_ bytes: [UInt8], isLast: Bool) throws(XMLFault) -> [XMLElement] {
        guard let parser, let builder else { throw .malformed("no memory", line: 0) }
        if let fault = builder.fault { throw fault }
        var bytes = bytes[...]
        if !isBegun {
            bytes = bytes.drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }
            isBegun = !bytes.isEmpty
            if !isBegun, !isLast { return [] }
        }
        let status = withExtendedLifetime(builder) {
            bytes.withUnsafeBytes {
                XML_Parse(
                    parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt($0.count), isLast ? 1 : 0)
            }
        }
        if let fault = builder.fault { throw fault }
        guard status == XML_STATUS_OK else {
            let fault = XMLFault.malformed("not a document", line: Int(XML_GetCurrentLineNumber(parser)))
            builder.stop(fault)
            throw fault
        }
        let children = builder.takeChildren()
        pending = children.isEmpty ? pending + bytes.count : 0
        if pending > limits.bytes {
            builder.stop(.tooLarge)
            throw .tooLarge
        }
        return children
    }
}

/// Grows the tree while expat reads; belongs to one call of `XMLReader.read`, or to one `XMLFeed`.
private final class TreeBuilder {
    private let parser: XML_Parser
    private let limits: XMLLimits
    /// Elements that are not closed yet, the outermost first.
    private var open: [XMLElement] = []
    /// Characters of the innermost one since the last tag: expat gives each line feed by itself.
    private var text: [UInt8] = []
    private var count = 0
    /// Counts what expat has told.
    private(set) var told: UInt64 = 0
    private var names: XMLNames
    private(set) var root: XMLElement?
    /// The reason for which the reading was stopped; `nil`: it was not.
    private(set) var fault: XMLFault?
    /// The outermost element's children are given away, each counted by itself.
    private let givesChildren: Bool
    private var given: [XMLElement] = []

    init(_ parser: XML_Parser, _ limits: XMLLimits, givesChildren: Bool = false) {
        self.parser = parser
        self.limits = limits
        self.givesChildren = givesChildren
        names = XMLNames(most: limits.names)
    }

    /// Has expat call this builder, which must live as long as the parser is used.
    func listen(_ parser: XML_Parser) {
        // Whoever owns both keeps the builder alive within each `XML_Parse`, which alone calls back.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser, { context, name, attributes in TreeBuilder.of(context)?.open(name, attributes) },
            { context, _ in TreeBuilder.of(context)?.close() })
        XML_SetCharacterDataHandler(parser) { TreeBuilder.of($0)?.append($1, $2) }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in TreeBuilder.of(context)?.stop(.documentType) }
    }

    func takeChildren() -> [XMLElement] {
        defer { given = [] }
        return given
    }

    /// The builder behind a callback's context.
    static func of(_ context: UnsafeMutableRawPointer?) -> TreeBuilder? {
        context.map { Unmanaged<TreeBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    // Expat may call back once more after it was stopped: what comes then is left alone.

    func open(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>? = nil
    ) {
        told += 1
        guard fault == nil, let name else { return }
        endText(isBeforeChild: true)
        guard open.count < limits.depth else { return stop(.tooDeep) }
        count += 1
        guard count <= limits.elements else { return stop(.tooLarge) }
        do throws(XMLFault) {
            var next = attributes
            // Behind each name stands its value.
            while let place = next, let attribute = place[0], let value = place[1] {
                try names.attribute(String(peer: attribute), value: value, depth: open.count)
                next = place + 2
            }
            open.append(try names.element(String(peer: name)))
        } catch {
            guard case .malformed(let reason, _) = error else { return stop(error) }
            stop(.malformed(reason, line: Int(XML_GetCurrentLineNumber(parser))))
        }
    }

    func append(_ text: UnsafePointer<XML_Char>?, _ length: CInt) {
        told += 1
        guard fault == nil, let text, length > 0, !open.isEmpty else { return }
        // What stands between items is of no use, and could be without end.
        if givesChildren, open.count == 1 { return }
        let own = open[open.count - 1].text.utf8.count + self.text.count
        guard own + Int(length) <= limits.text else { return stop(.tooLarge) }
        self.text.append(contentsOf: UnsafeRawBufferPointer(start: text, count: Int(length)))
    }

    /// Gives the innermost element the characters that came since the last tag. White space beside its children is the layout's.
    /// - Parameter isBeforeChild: the tag that comes now begins an element within it.
    private func endText(isBeforeChild: Bool = false) {
        guard !text.isEmpty else { return }
        defer { text.removeAll(keepingCapacity: true) }
        let isMixed = isBeforeChild || !open[open.count - 1].children.isEmpty
        if isMixed, text.allSatisfy({ $0 == 32 || (9...13).contains($0) }) { return }
        open[open.count - 1].text += String(peer: text)
    }

    func close() {
        told += 1
        guard fault == nil else { return }
        endText()
        guard var done = open.popLast() else { return }
        // Pieces between children were bounded each by itself.
        if !done.children.isEmpty { done.text = String(peer: done.text.utf8) }
        names.leave(depth: open.count)
        if open.isEmpty {
            root = done
        } else if givesChildren, open.count == 1 {
            given.append(done)
            count = 1
        } else {
            open[open.count - 1].children.append(done)
        }
    }

    func stop(_ fault: XMLFault) {
        guard self.fault == nil else { return }
        self.fault = fault
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }
}
