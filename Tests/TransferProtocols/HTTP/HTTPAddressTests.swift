import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite struct HTTPAddressTests {
    @Test(
        "an address is taken apart and put together again",
        arguments: [
            ("http://h/p/a?q#f", "http://h/p/a?q", "http://h"), ("HTTPS://Ex.Org", "https://ex.org/", "https://ex.org"),
            ("http://h:8080", "http://h:8080/", "http://h:8080"), ("http://h:80/x", "http://h/x", "http://h"),
            ("https://[::1]:4430/a%20b", "https://[::1]:4430/a%20b", "https://[::1]:4430"),
            ("http://h?x=1", "http://h/?x=1", "http://h"), ("http://h:/x", "http://h/x", "http://h"),
        ])
    func parsing(text: String, whole: String, origin: String) {
        let address = HTTPAddress(text)
        #expect(address?.text == whole)
        #expect(address?.origin == origin)
    }

    @Test(
        "what is no plain web address is refused",
        arguments: [
            "ftp://h/x", "http://", "http:///x", "http://user@h/", "http://h:0/", "http://h:99999/", "http://h:x/",
            "http://a b/", "h/x", "", "http://h/\u{1b}[2J", "http://a:b:c/", "http://h\\@evil/", "http://h%2F.other/",
            "http://h:80\u{301}/", "http://h\u{301}@evil/", "http://h/" + String(repeating: "a", count: 32 << 10),
        ])
    func refusing(text: String) {
        #expect(HTTPAddress(text) == nil)
    }

    @Test(
        "a Location is resolved as RFC 3986 section 5.4 says",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("..", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../../../g", "http://a/g"), ("g;x=1/../y", "http://a/b/c/y"),
            ("https://other:1/z", "https://other:1/z"), (".", "http://a/b/c/"), ("#s", "http://a/b/c/d;p?q"),
        ])
    func resolving(location: String, expected: String) {
        #expect(HTTPAddress("http://a/b/c/d;p?q")?.resolving(location)?.text == expected)
    }

    @Test(
        "a Location that leaves the web or hides something is refused",
        arguments: ["ftp://h/", "file:///etc/passwd", "javascript:x", "http://u:p@h/", "", "http://h/a\r\nX: y"])
    func refusedLocation(location: String) {
        #expect(HTTPAddress("http://a/b")?.resolving(location) == nil)
    }

    @Test(
        "a separator with a mark over it is one, as it is for whoever else reads the URL",
        arguments: [
            ("http://good/\u{301}@evil/x?\u{301}token=1#\u{301}y", "http://good", "/%CC%81@evil/x?%CC%81token=1"),
            ("http://evil/\u{301}.good/f", "http://evil", "/%CC%81.good/f"), ("http:/\u{301}/h/", nil, ""),
            // A character that stands before another one.
            ("http://h/a\u{600}/b", "http://h", "/a%D8%80/b"), ("http://h/e\u{301}/é", "http://h", "/e%CC%81/é"),
        ] as [(String, String?, String)])
    func marks(text: String, origin: String?, target: String) {
        let address = HTTPAddress(text)
        #expect(address?.origin == origin)
        #expect(origin == nil || address?.target.unicodeScalars.elementsEqual(target.unicodeScalars) == true)
        #expect(HTTPAddress("http://a/b")?.resolving(text) == address)
    }

    @Test("a relative Location with marks stays at its server")
    func relativeMarks() {
        #expect(HTTPAddress("http://a/b")?.resolving("/\u{301}/evil/x")?.text == "http://a/%CC%81/evil/x")
        #expect(HTTPAddress("http://a/b")?.resolving("x?\u{301}/../y")?.text == "http://a/x?%CC%81/../y")
    }

    @Test("the path of an upload's address is in no message, nor that of an address to which it leads")
    func secretPath() throws {
        let endpoint = try #require(HTTPAddress("http://h:8080/files/"))
        let upload = try #require(endpoint.uploadAddress("24e533e0?sig=1"))
        #expect(upload.text == "http://h:8080/files/24e533e0?sig=1" && upload == HTTPAddress(upload.text))
        #expect(upload.harmless == "http://h:8080/..." && upload.harmlessPath == "/...")
        #expect(upload.resolving("http://other/24e533e0")?.harmless == "http://other/...")
        #expect(endpoint.harmlessPath == "/files/" && HTTPAddress("http://h/a?sig=1")?.harmless == "http://h/a")
        var kept = TusResumePoint(parts: [TusResumePoint.Part(0..<5)])
        kept.restore(secret: upload.text)
        #expect(kept.parts[0].url?.harmlessPath == "/...")
        var begun = ResumableResumePoint(version: 8, length: 5, url: nil)
        begun.restore(secret: upload.text)
        #expect(begun.url?.harmlessPath == "/...")
    }

    @Test("what a server says of an upload does not repeat its address")
    func redacted() throws {
        let upload = try #require(HTTPAddress("http://h/")?.uploadAddress("/files/24e533e0f?sig=1"))
        let fields = [HeaderField("Location", "http://h/files/24e533e0f"), HeaderField("X", "at 24e533e0f")]
        let head = HTTPAnswer(status: 307, headers: fields)
        #expect(upload.redacted(head).headers.map(\.value) == ["...", "at ..."])
        let body = Array("{\"path\":\"/files/24e533e0f\",\"id\":\"24e533e0f\"}".utf8)
        #expect(upload.redacted(body, of: head) == Array("{\"path\":\"...\",\"id\":\"...\"}".utf8))
        #expect(HTTPAddress("http://h/files/24e533e0f")?.redacted(head) == head)
        // A name of a few letters is in any text.
        let short = try #require(HTTPAddress("http://h/")?.uploadAddress("/a"))
        #expect(short.redacted(Array("a /a b".utf8), of: head) == Array("a ... b".utf8))
        let queried = try #require(HTTPAddress("http://h/")?.uploadAddress("/?upload_id=24e533e0f"))
        #expect(queried.redacted(Array("at /?upload_id=24e533e0f".utf8), of: head) == Array("at /?...".utf8))
        let long = try #require(HTTPAddress("http://h/")?.uploadAddress("/" + String(repeating: "a", count: 300)))
        #expect(long.redacted(body, of: head).isEmpty)
        let challenge = HTTPAnswer(status: 401, headers: [HeaderField("WWW-Authenticate", "Digest realm=x")])
        #expect(long.redacted(challenge) == challenge)
    }

    @Test("the queries of an address and of one that it leads to are not repeated, wherever somebody led us")
    func queries() throws {
        let signed = try #require(HTTPAddress("http://store/k?sig=0123456789abcdef&e=1"))
        let fields = [
            HeaderField("Location", "https://other/x?token=fedcba9876543210"), HeaderField("X", "sig 0123456789abcdef"),
        ]
        let head = HTTPAnswer(status: 302, headers: fields)
        #expect(signed.redacted(head).headers.map(\.value) == [fields[0].value, "sig ..."])
        let body = Array("<a href=\"https://other/x?token=fedcba9876543210\">k</a> 0123456789abcdef e=1".utf8)
        #expect(signed.redacted(body, of: head) == Array("<a href=\"https://other/x?...\">k</a> ... e=1".utf8))
        let cut = Array("see https://other/x?token=fedcba98765".utf8)
        #expect(signed.redacted(cut, of: head, isCut: true) == Array("see https://ot".utf8))
        // A long one is found by its beginning, as far as it goes on.
        let long = String(repeating: "a", count: 3000) + "b"
        let told = Array("at \(long)c".utf8)
        let address = try #require(HTTPAddress("http://h/?" + long))
        #expect(address.redacted(told, of: HTTPAnswer(status: 403)) == Array("at ...c".utf8))
    }

    @Test("any bytes survive percent-encoding, and a broken escape stands for itself")
    func percentEncoding() {
        let bytes = (1...255).map { UInt8($0) }
        #expect(PercentEncoding.decode(PercentEncoding.encode(bytes)) == bytes)
        #expect(PercentEncoding.encode(Array("a b/é".utf8)) == "a%20b%2F%C3%A9")
        #expect(PercentEncoding.decode("%zz%4") == Array("%zz%4".utf8))
        // A sign is no digit.
        #expect(PercentEncoding.decode("%+A%-1") == Array("%+A%-1".utf8))
    }
}
