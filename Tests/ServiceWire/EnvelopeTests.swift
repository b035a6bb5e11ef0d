import FoundationEssentials
import Testing
import TransferModel

@testable import ServiceWire

@Suite struct EnvelopeTests {
    @Test func `requests and answers are one line of sorted JSON`() throws {
        let line = try WireCoding.line(
            WireRequest(id: .number(1), method: .hello, params: Hello(client: "a\nb")))
        #expect(
            String(decoding: line, as: UTF8.self)
                == #"{"id":1,"jsonrpc":"2.0","method":"hello","params":{"client":"a\nb","protocolVersion":"1.0"}}"#
                + "\n")
        let answer = try WireCoding.line(ErrorAnswer(id: nil, error: .unreadable("x")))
        #expect(
            String(decoding: answer, as: UTF8.self)
                == #"{"error":{"code":-32700,"data":{"code":"usage"},"message":"x"},"id":null,"jsonrpc":"2.0"}"# + "\n")
    }

    @Test func `an id is a number or a string and comes back as it was`() throws {
        for id in ["7", "\"seven\""] {
            let head = try WireCoding.value(
                WireRequestHead.self, from: Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"totals"}"#.utf8))
            let answer = try WireCoding.line(WireAnswer(id: try #require(head.id), result: Nothing()))
            #expect(String(decoding: answer, as: UTF8.self).contains("\"id\":\(id),"))
        }
    }

    @Test func `a batch needs a UUID and its work; the rest has defaults`() throws {
        let minimal = """
            {"uuid":"\(Samples.uuid.uuidString)","work":{"upload":[{"path":"/a","placement":"contents"}],"to":"http://h/"}}
            """
        let request = try WireCoding.value(BatchRequest.self, from: Array(minimal.utf8))
        #expect(
            request
                == BatchRequest(
                    uuid: Samples.uuid,
                    work: .upload([UploadSource(path: RawPath("/a"), placement: .contents)], to: "http://h/")))
    }

    @Test func `a batch survives the wire with names that are no text`() throws {
        let sent = Samples.request
        #expect(try WireCoding.value(BatchRequest.self, from: try WireCoding.line(sent)) == sent)
        let downloads = BatchRequest(
            uuid: Samples.uuid,
            work: .download([DownloadSource(url: "http://h/x", directory: RawPath("/d"), fileName: RawPath([0xfe]))]))
        #expect(try WireCoding.value(BatchRequest.self, from: try WireCoding.line(downloads)) == downloads)
    }

    @Test(arguments: ["b7", "b7/f3", "b7/t31", "b7/f3/failed"])
    func `a row's identity is a short word`(_ word: String) throws {
        let row = try #require(RowID(word))
        #expect("\(row)" == word)
        #expect(try WireCoding.value(RowID.self, from: try WireCoding.line(row)) == row)
    }

    @Test(arguments: [
        "", "b", "b0", "b-1", "b7/", "b7/x1", "b7/f3/", "b7/f3/flying", "b7/t1/failed", "t31", "b7/f3/failed/x",
    ])
    func `what is no row's identity is refused`(_ word: String) { #expect(RowID(word) == nil) }

    @Test func `a fault names the field and quotes no value`() throws {
        let line = Array(#"{"uuid":"secret-thing","work":{"download":[]}}"#.utf8)
        let error = try #require(throws: (any Error).self) { try WireCoding.value(BatchRequest.self, from: line) }
        let fault = WireCoding.fault(of: error)
        #expect(fault.contains("uuid"))
        #expect(!fault.contains("secret"))
        let garbage = try #require(throws: (any Error).self) {
            try WireCoding.value(WireRequestHead.self, from: Array("\u{1}garbage".utf8))
        }
        #expect(WireCoding.fault(of: garbage) == "this is no JSON object")
    }

    @Test func `an error that a newer engine names is still an error`() throws {
        let line = Array(#"{"code":-32050,"message":"m","data":{"code":"tooWindy"}}"#.utf8)
        #expect(try WireCoding.value(WireError.self, from: line).requestError == RequestError(.internal, "m"))
    }

    @Test func `equal majors understand each other, others say what to do`() {
        let mine = ProtocolVersion.current
        #expect(mine.refusal(of: ProtocolVersion(major: mine.major, minor: mine.minor + 9), peer: "x") == nil)
        let refusal = mine.refusal(of: ProtocolVersion(major: mine.major + 1, minor: 0), peer: "the engine")
        #expect(refusal?.contains("the engine speaks protocol \(mine.major + 1).0") == true)
        #expect(ProtocolVersion("1") == nil)
        #expect(ProtocolVersion("1.0.0") == nil)
        #expect(ProtocolVersion("-1.0") == nil)
    }
}
