import Foundation
import TransferModel
import TransferProtocols
import Testing

@Suite("What a server says beside its no is one harmless line")
struct ServerWordsTests {
    private func line(_ body: String) -> String? { ServerWords.line(of: Array(body.utf8)) }

    @Test(
        "of each kind of document what it says to a person",
        arguments: [
            ("quota for user exceeded\n", "quota for user exceeded"),
            (" first line\r\n\r\n second\tline ", "first line second line"),
            ("say \"please\"", "say 'please'"),
            (
                "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Not &lt;yours&gt; &amp; theirs</Message></Error>",
                "Not <yours> & theirs"
            ),
            (
                "<d:error xmlns:d=\"DAV:\" xmlns:s=\"x\"><s:exception>Q</s:exception>\n<s:message>No room\n left</s:message></d:error>",
                "No room left"
            ),
            (
                "<!DOCTYPE html><html><head><style>b{}</style><TITLE>403 Forbidden</TITLE></head><body><h1>No</h1></body></html>",
                "403 Forbidden"
            ),
            ("<p>Out of<br>quota</p><script>x()</script>", "Out of quota"),
            ("{\"code\": 7, \"message\": \"quota\"}", "quota"), ("{\"error\": \"no such user\"}", "no such user"),
            ("{\"error\": {\"code\": 3, \"message\": \"inner\"}}", "inner"),
            ("{\"title\": \"Forbidden\", \"detail\": \"not yours\"}", "not yours"),
            ("{\"code\": 7}", "{'code': 7}"), ("{no json", "{no json"),
            // Whatever nests is read one level deep: a document could go on for ever, and take longer at each level.
            ("{\"error\": {\"error\": {\"message\": \"deep\"}}, \"title\": \"flat\"}", "flat"),
        ])
    func words(body: String, said: String) {
        #expect(line(body) == said)
    }

    @Test("nothing is said by an empty body, white space, or bytes that are no text")
    func nothing() {
        #expect(line("") == nil && line(" \r\n\t") == nil && line("a\0b") == nil && line("<br/>\n<hr>") == nil)
    }

    @Test("no body moves a terminal's cursor, or is longer than the line")
    func harmless() throws {
        #expect(line("a\u{1b}[2Jb") == "a\\x1b[2Jb")
        // Nor ends the quotation that it stands in, not even with a mark that Swift joins to the quote.
        let quoting = line("a\"\u{308}b") ?? ""
        #expect(Array(quoting.utf8) == Array("a'\u{308}b".utf8))
        let long = line(String(repeating: "x", count: 5000))
        #expect(long?.count == ServerWords.longest && long?.hasSuffix("xx...") == true)
    }

    @Test("a long document is not decoded, and marks without end are cut in a short one")
    func endlessKeys() {
        let marks = String(repeating: "\u{301}", count: 1 << 20) + String(repeating: "\u{316}", count: 1 << 20)
        // A decoder compares the keys of an object; as they came that would take hours.
        let cut = line("{\"a\(marks)\": 1}")
        #expect(cut?.utf8.starts(with: "{'a".utf8) == true)
        let long = String(repeating: "y", count: 17_000)
        #expect(line("{\"message\": \"x\", \"a\": \"\(long)\"}")?.hasPrefix("{'message'") == true)
        let escaped = String(repeating: "\\u0301", count: 1000) + String(repeating: "\\u0316", count: 1000)
        #expect(line("{\"message\": \"a\(escaped)\"}")?.unicodeScalars.count == 31)
    }

    @Test("one letter with thousands of marks is no longer than others, wherever it is stored")
    func marks() throws {
        let letter = "a" + String(repeating: "\u{301}", count: 31_000)
        let line = try #require(ServerWords.line(of: Array("{\"message\":\"\(letter)\"}".utf8)))
        var error = TransferError(.http, "no")
        (error.said, error.detail) = (line, "PUT /\(letter)")
        #expect(error.said!.utf8.count <= 1000 && error.detail!.utf8.count <= 1000)
        let old = "{\"code\":\"http\",\"message\":\"no\",\"said\":\"\(letter)\"}"
        let read = try JSONDecoder().decode(TransferError.self, from: Data(old.utf8))
        #expect(read.said!.utf8.count <= 1000)
    }
}
