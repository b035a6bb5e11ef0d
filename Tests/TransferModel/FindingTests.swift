import FoundationEssentials
import Testing
import TransferModel

@Suite("A failure is values, and its message is made of them")
struct FindingTests {
    @Test("a message is what happened, and what to do behind a colon")
    func messages() {
        let cut = TransferError(
            .networkConnectionLost, "the connection to nas was cut", aside: "SSL_read: error:0A000126", .again)
        #expect(cut.happening == "the connection to nas was cut (SSL_read: error:0A000126)")
        #expect(cut.message == cut.happening + ": Martlet tries again by itself")
        #expect(cut.finding.messageWithoutPromise == cut.happening && cut.finding.advice.isEmpty)
        let proxy = TransferError(.cannotConnectToHost, "the proxy refuses", .again("check it"))
        #expect(proxy.message == "the proxy refuses: check it; Martlet tries again by itself")
        #expect(proxy.finding.messageWithoutPromise == "the proxy refuses: check it")
        #expect(TransferError(.integrity, "it differs", .thenRetry("look")).message == "it differs: look, then retry")
        #expect(TransferError(.integrity, "it differs", .andRetry("look")).message == "it differs: look and retry")
        #expect(
            TransferError(.unknownOutcome, "it may be there", .replacing("look; ", next: .thenRetry)).message
                == "it may be there: look; set --if-exists replace for its batch, then retry")
        #expect(TransferError(.internal, "it failed").message == "it failed")
    }

    @Test("a finding keeps its values in JSON; a message alone is one that an older version wrote")
    func stored() throws {
        func again(_ error: TransferError) throws -> TransferError {
            try JSONDecoder().decode(TransferError.self, from: try JSONEncoder().encode(error))
        }
        let remedies: [Remedy?] = [
            nil, .again, .again("look"), .step("look"), .thenRetry("look"), .andRetry("look"), .retry(), .rename,
            .automatic("it goes on"), .authority("look"), .pin("look"), .replacing("look, or ", " then"),
        ]
        for remedy in remedies {
            let file = TransferError(.sourceMissing, Finding("/a is gone", aside: "so", isOfFile: true, remedy))
            #expect(try again(file) == file)
            let plain = TransferError(.http, "it failed", remedy, httpStatus: 404)
            #expect(try again(plain) == plain)
        }
        for finding in ["", #", "finding": {"what": "no", "remedy": {"next": "unknownOne"}}"#] {
            let text = #"{"code": "http", "message": "nas said no: look", "retryable": false\#(finding)}"#
            let old = try JSONDecoder().decode(TransferError.self, from: Data(text.utf8))
            #expect(old.message == "nas said no: look" && old.happening == old.message)
        }
    }

    @Test("every text of a finding is one line of a bounded length, whoever makes it, changes it or stored it")
    func bounded() throws {
        let long = "/src/" + String(repeating: "é", count: 60_000) + " is too long"
        var finding = Finding("a\r\nb\nc", aside: long, .thenRetry(long))
        #expect(finding.what == "a  b c" && finding.happening.utf8.count < 2 * Finding.longest)
        #expect(finding.message.utf8.count < 3 * Finding.longest && !finding.message.contains("\n"))
        finding.what = long
        #expect(finding.what.utf8.count <= Finding.longest && finding.what.utf8.count > Finding.longest - 10)
        #expect(finding.what.hasPrefix("/src/é") && finding.what.hasSuffix("é is too long"))
        #expect(!finding.what.unicodeScalars.contains("\u{FFFD}"))
        let stored = try JSONEncoder().encode(["what": long])
        let json = String(decoding: stored, as: UTF8.self).dropLast() + #","ofFile":true}"#
        let read = try JSONDecoder().decode(Finding.self, from: Data(json.utf8))
        #expect(read.what == finding.what && read.isOfFile)
        let path = "/" + String(repeating: "p", count: 4095)
        #expect(TransferError(.sourceMissing, of: RawPath(path), "is gone").message == path + " is gone")
    }
}
