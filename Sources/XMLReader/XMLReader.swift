// XMLReader: documents that servers answer with, as a small tree. Expat reads, within limits.
//
// For whom: S3 and WebDAV in TransferProtocols. Which thread: any; a call keeps nothing.
// Start at `XMLReader.read`.

import CExpat

/// Why bytes are no document that we take.
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

/// How much a peer may make us keep.
package struct XMLLimits: Hashable, Sendable {
    /// Of the document as it came.
    package var bytes: Int
    /// Of elements within elements, the outermost included.
    package var depth: Int
    /// Of elements, all together.
    package var elements: Int

    package init(bytes: Int = 32 << 20, depth: Int = 64, elements: Int = 500_000) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
    }
}

/// Reads a whole document.
package enum XMLReader {
    /// The outermost element. White space before the document is forgiven: servers send it to show that they live.
    /// Entities from outside are never read, since a document type is refused. Corresponds to `XML_Parse`.
    package static func read(_ bytes: [UInt8], limits: XMLLimits = XMLLimits()) throws(XMLFault) -> XMLElement {
        guard bytes.count <= min(limits.bytes, Int(CInt.max)) else { throw .tooLarge }
        let start = bytes.firstIndex { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 } ?? bytes.endIndex
        // U+0001 parts namespace and name: no document can hold it, not even as a reference.
        guard let parser = XML_ParserCreateNS(nil, 1) else { throw .malformed("no memory", line: 0) }
        defer { XML_ParserFree(parser) }
        let builder = TreeBuilder(parser, limits)
        // Expat holds the builder for the duration of `XML_Parse` alone, within which it is kept alive here.
        XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(
            parser, { context, name, _ in TreeBuilder.of(context)?.open(name) },
            { context, _ in TreeBuilder.of(context)?.close() })
        XML_SetCharacterDataHandler(parser) { TreeBuilder.of($0)?.append($1, $2) }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in TreeBuilder.of(context)?.stop(.documentType) }
        let status = withExtendedLifetime(builder) {
            bytes[start...].withUnsafeBytes {
                XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt($0.count), 1)
            }
        }
        if let fault = builder.fault { throw fault }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "not a document"
            throw .malformed(reason, line: Int(XML_GetCurrentLineNumber(parser)))
        }
        return root
    }
}

/// Grows the tree while expat reads; belongs to one call of `XMLReader.read`.
private final class TreeBuilder {
    private let parser: XML_Parser
    private let limits: XMLLimits
    /// Elements that are not closed yet, the outermost first.
    private var open: [XMLElement] = []
    private var count = 0
    private(set) var root: XMLElement?
    /// Why the reading was stopped.
    private(set) var fault: XMLFault?

    init(_ parser: XML_Parser, _ limits: XMLLimits) {
        self.parser = parser
        self.limits = limits
    }

    /// The builder behind a callback's context.
    static func of(_ context: UnsafeMutableRawPointer?) -> TreeBuilder? {
        context.map { Unmanaged<TreeBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    // Expat may call back once more after it was stopped: what comes then is left alone.

    func open(_ name: UnsafePointer<XML_Char>?) {
        guard fault == nil, let name else { return }
        guard open.count < limits.depth else { return stop(.tooDeep) }
        count += 1
        guard count <= limits.elements else { return stop(.tooLarge) }
        let whole = String(cString: name)
        if let separator = whole.utf8.firstIndex(of: 1) {
            let local = whole[whole.utf8.index(after: separator)...]
            open.append(XMLElement(String(local), in: String(whole[..<separator])))
        } else {
            open.append(XMLElement(whole))
        }
    }

    func append(_ text: UnsafePointer<XML_Char>?, _ length: CInt) {
        guard fault == nil, let text, length > 0, !open.isEmpty else { return }
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(length))
        open[open.count - 1].text += String(decoding: bytes, as: UTF8.self)
    }

    func close() {
        guard fault == nil, let done = open.popLast() else { return }
        if open.isEmpty { root = done } else { open[open.count - 1].children.append(done) }
    }

    func stop(_ fault: XMLFault) {
        guard self.fault == nil else { return }
        self.fault = fault
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }
}
