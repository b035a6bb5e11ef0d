import Testing

@testable import XMLReader

private func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws(XMLFault) -> XMLElement {
    try XMLReader.read(Array(text.utf8), limits: limits)
}

@Suite struct XMLReaderTests {
    @Test("a document becomes a tree of names, texts and children")
    func tree() throws {
        let root = try read(
            "<?xml version=\"1.0\"?>\n<List><!-- c --><Part n='1'><Size> 5 </Size></Part><Part><Size>6</Size></Part></List>"
        )
        #expect(root.name == "List" && root.namespace.isEmpty)
        #expect(root.children("Part").map { $0.text(of: "Size") } == ["5", "6"])
        #expect(root.child("Part")?.child("Size")?.text == " 5 ")
        #expect(root.text(of: "Missing") == nil)
    }

    @Test("references, CDATA and other encodings are resolved in texts")
    func texts() throws {
        #expect(try read("<a>&quot;x&quot; &amp;&#x2013;<![CDATA[<b>]]></a>").text == "\"x\" &\u{2013}<b>")
        let latin = Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8) + [0xE4] + Array("</a>".utf8)
        #expect(try XMLReader.read(latin).text == "\u{E4}")
    }

    @Test("marks without end are cut in names and texts, also where children stand between them")
    func marks() throws {
        func marks(_ count: Int) -> String { String(repeating: "\u{301}", count: count) }
        let root = try read("<a\(marks(400))>x\(String(repeating: marks(20) + "<b/>", count: 1000))</a\(marks(400))>")
        #expect(root.name == "a" + marks(30) && root.text == "x" + marks(30) && root.children.count == 1000)
    }

    @Test("prefixes are resolved to namespaces")
    func namespaces() throws {
        let root = try read(
            "<d:multistatus xmlns:d='DAV:' xmlns:o='http://oc'><d:a/><o:a>x</o:a><a xmlns='DAV:'>y</a></d:multistatus>")
        #expect(
            root.isNamed("multistatus", in: "DAV:") && root.isNamed("multistatus")
                && !root.isNamed("multistatus", in: ""))
        #expect(root.children("a", in: "DAV:").map(\.text) == ["", "y"])
        #expect(root.text(of: "a", in: "http://oc") == "x")
        #expect(root.children("a").count == 3)
    }

    @Test("an element's own text has a limit, in one piece or in many; the white space between elements does not count")
    func longTexts() throws {
        let limits = XMLLimits(text: 10)
        #expect(try read("<a>1234567890</a>", limits).text == "1234567890")
        #expect(throws: XMLFault.tooLarge) { try read("<a>12345678901</a>", limits) }
        #expect(throws: XMLFault.tooLarge) { try read("<a>123456<b/>78901</a>", limits) }
        #expect(throws: XMLFault.tooLarge) {
            try read("<a>&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;</a>", limits)
        }
        let indented = String(repeating: "\n    <b>5</b>", count: 20)
        let root = try read("<a>\(indented)\n</a>", limits)
        #expect(root.text.isEmpty && root.children("b").map(\.text) == Array(repeating: "5", count: 20))
        #expect(throws: XMLFault.tooLarge) {
            try XMLReader.read(Array("<a>\(String(repeating: "a-", count: 1 << 20))</a>".utf8))
        }
    }

    @Test("white space around the document is forgiven, a server sends it to show that it lives")
    func whiteSpace() throws {
        #expect(try read(" \n\r\t<?xml version='1.0'?>\n  <a/>\n ").name == "a")
    }

    @Test(
        "what is no document is refused and never traps",
        arguments: [
            "", "  ", "x", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a b='1' b='2'/>", "<a>&unknown;</a>", "<p:a/>",
            "<p:a xmlns:p=''/>", "<a xmlns:p='u'><b xmlns:q='v'/><q:b/></a>", "<a:b:c xmlns:a='u'/>", "<:a/>",
            "{\"a\":1}", "<html><p>x</html>", "<a>\u{1}</a>", "<a>&#0;</a>", "<a xmlns:x='&#1;'/>",
        ])
    func malformed(text: String) {
        #expect(throws: XMLFault.self) { try read(text) }
    }

    @Test("bytes that are not UTF-8, or stop in the middle, are refused")
    func brokenBytes() {
        #expect(throws: XMLFault.self) { try XMLReader.read(Array("<a>".utf8) + [0xC3] + Array("</a>".utf8)) }
        let whole = Array("<?xml version=\"1.0\"?><a><b>\u{E4}&lt;</b></a>".utf8)
        for end in 0..<whole.count {
            #expect(throws: XMLFault.self) { try XMLReader.read(Array(whole[..<end])) }
        }
    }

    @Test("any single byte changed in a document gives a tree or a fault, nothing else")
    func seededDamage() {
        let whole = Array("<?xml version='1.0'?><d:m xmlns:d='DAV:'><d:r>&#65;</d:r><![CDATA[x]]></d:m>".utf8)
        var outcomes: Set<Bool> = []
        for index in whole.indices {
            for byte: UInt8 in [0, 9, 33, 38, 47, 60, 62, 91, 127, 128, 192, 255] {
                var damaged = whole
                damaged[index] = byte
                outcomes.insert((try? XMLReader.read(damaged)) != nil)
            }
        }
        #expect(outcomes == [true, false])
    }

    @Test("a document type is refused, and with it entities that grow or read files")
    func documentType() {
        #expect(throws: XMLFault.documentType) { try read("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>") }
        #expect(throws: XMLFault.documentType) {
            try read("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>")
        }
        #expect(throws: XMLFault.documentType) { try read("<!DOCTYPE a SYSTEM 'http://h/x.dtd'><a/>") }
    }

    @Test("depth, number and size have limits")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try read(nested(64)).name == "a")
        #expect(throws: XMLFault.tooDeep) { try read(nested(65)) }
        #expect(throws: XMLFault.tooDeep) { try read(String(repeating: "<a>", count: 1_000_000)) }
        let few = XMLLimits(bytes: 100, elements: 3)
        #expect(try read("<a><b/><b/></a>", few).children.count == 2)
        #expect(throws: XMLFault.tooLarge) { try read("<a><b/><b/><b/></a>", few) }
        #expect(throws: XMLFault.tooLarge) { try read("<a>" + String(repeating: "x", count: 94) + "</a>", few) }
        let named = XMLLimits(names: 3)
        #expect(try read("<a x='1'><b x='2'/><b/></a>", named).children.count == 2)
        #expect(throws: XMLFault.tooLarge) { try read("<a x='1'><b x='2'/><c/></a>", named) }
        #expect(throws: XMLFault.tooLarge) { try read("<a x='1' y='1'><b z='2'/></a>", named) }
        // A list without end, each item of it small.
        let feed = XMLFeed()
        #expect(throws: XMLFault.tooLarge) {
            _ = try feed.take(Array("<a>".utf8))
            for number in 0..<2000 { _ = try feed.take(Array("<n\(number)/>".utf8)) }
        }
        let prefixed = XMLFeed()
        #expect(throws: XMLFault.tooLarge) {
            _ = try prefixed.take(Array("<a>".utf8))
            for number in 0..<2000 { _ = try prefixed.take(Array("<n xmlns:p\(number)='u'/>".utf8)) }
        }
    }

    @Test("a namespace declared in an element holds in it, and what it hid holds again behind it")
    func scopes() throws {
        let root = try read(
            "<a xmlns='1' xmlns:p='2'><p:b xmlns:p='3' xmlns=''><p:c/><d/></p:b><p:b/><b q='' xml:lang='en'/></a>")
        #expect(root.namespace == "1")
        #expect(root.children.map(\.namespace) == ["3", "2", "1"])
        #expect(root.children[0].children.map(\.namespace) == ["3", ""])
        let feed = XMLFeed()
        let items = try feed.take(Array("<p:a xmlns:p='1'><p:b xmlns:p='2'/><p:b/></p:a>".utf8))
        #expect(items.map(\.namespace) == ["2", "1"])
        #expect(try feed.finish().isEmpty && feed.root?.namespace == "1")
    }

    @Test("the address of a namespace is sent once and kept once, however many elements are in it")
    func sharedNamespace() throws {
        let address = String(repeating: "u", count: XMLNames.longest)
        let name = String(repeating: "n", count: 40)
        let root = try read("<p:a xmlns:p='\(address)'>\(String(repeating: "<p:\(name)/>", count: 1000))</p:a>")
        /// Where the text of each element lies: a copy of it would lie somewhere else.
        func places(_ text: (XMLElement) -> String) -> Set<UnsafePointer<UInt8>?> {
            Set(root.children.map { text($0).utf8.withContiguousStorageIfAvailable(\.baseAddress) ?? nil })
        }
        #expect(root.children.count == 1000 && root.children.allSatisfy { $0.isNamed(name, in: address) })
        #expect(places(\.namespace).count == 1)
        #expect(places(\.name).count == 1)
    }

    @Test("a name or an address longer than any is refused, so that few bytes cannot be multiplied")
    func longNames() throws {
        let long = String(repeating: "u", count: 30_000)
        #expect(throws: XMLFault.tooLarge) {
            try read("<a xmlns='\(long)'>\(String(repeating: "<b/>", count: 8_000))</a>")
        }
        let attributes = (0..<900).map { "p:a\($0)='' " }.joined()
        #expect(throws: XMLFault.tooLarge) { try read("<a xmlns:p='\(long)' \(attributes)/>") }
        #expect(try read("<a xmlns:p='u' \(attributes)/>").name == "a")
        #expect(throws: XMLFault.tooLarge) { try read("<\(long)/>") }
        #expect(throws: XMLFault.tooLarge) { try read("<a \(long)='1'/>") }
        #expect(try read("<a b='\(long)'>\(long)</a>").text == long)
        #expect(throws: XMLFault.tooLarge) { _ = try XMLFeed().take(Array("<a><b xmlns='\(long)'/>".utf8)) }
    }

    @Test("text between and around children is one text, line feeds and references included")
    func mixedText() throws {
        let root = try read("<a>1\n\n2<b>x\n</b>&amp;\n<c/>3<![CDATA[4]]></a>")
        #expect(root.text == "1\n\n2&\n34")
        #expect(root.children.map(\.text) == ["x\n", ""])
    }

    @Test("what does not begin as a document is not parsed, and other encodings begin in their own ways")
    func firstByte() throws {
        #expect(throws: XMLFault.malformed("not a document", line: 1)) { try read("{\"Error\":1}") }
        #expect(throws: XMLFault.malformed("not a document", line: 1)) { try read("  Access denied <a/>") }
        #expect(try read("\u{FEFF}<a/>").name == "a")
        #expect(try XMLReader.read([0xFF, 0xFE] + "<a/>".utf16.flatMap { [UInt8($0), 0] }).name == "a")
        #expect(try XMLReader.read([0xFE, 0xFF] + "<a/>".utf16.flatMap { [0, UInt8($0)] }).name == "a")
    }

    @Test("one tag of more than a megabyte is too large, whatever the document may have")
    func largeTag() throws {
        let value = String(repeating: "x", count: 3 << 20)
        #expect(throws: XMLFault.tooLarge) { try read("<a b='\(value)'/>") }
        #expect(throws: XMLFault.tooLarge) { try read("<!-- \(value) --><a/>") }
        let attributes = (0..<400_000).map { String($0 + 1_000_000, radix: 36) + "=''" }.joined(separator: " a")
        #expect(throws: XMLFault.tooLarge) { try read("<a a\(attributes)/>") }
        #expect(try read("<a b='\(value.prefix(500_000))'>c</a>").text == "c")
    }

    @Test("a document of many megabytes is read as if it came at once")
    func largeDocument() throws {
        let text = String(repeating: "é–𝄞", count: 300_000)
        let limits = XMLLimits(text: 4 << 20)
        let root = try read("<a><b>\(text)</b>" + (0..<50_000).map { "<c>\($0)</c>" }.joined() + "</a>", limits)
        #expect(root.text(of: "b") == text && root.children("c").map(\.text) == (0..<50_000).map { "\($0)" })
    }
}
