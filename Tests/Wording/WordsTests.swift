import Testing
import TransferModel
import Wording

@Suite struct WordsTests {
    private let unknown = TransferError(
        .cannotFindHost, "nas.lcoal cannot be found", .again("check the spelling of its name, then the network"))

    @Test(
        "a server is called by its host, and by its port where that is not its scheme's own",
        arguments: [
            ("http://127.0.0.1:80/in/", "127.0.0.1"), ("http://127.0.0.1:8080/in", "127.0.0.1:8080"),
            ("https://ana@NAS.local:443?x", "nas.local"), ("https://nas.local:80", "nas.local:80"),
            ("sftp://[::1]:22/a", "[::1]"), ("ftps://h:21", "h:21"), ("s3://test/a", "s3://test"), ("/home/ana", ""),
        ])
    func server(url: String, name: String) { #expect(TransferScheme.server(of: url) == name) }

    @Test("what waits for a server whose name nobody knows does not wait for a network, nor for an answer")
    func unknownName() {
        for reason in [WaitReason.connectivity, .hostBackoff, .backoff] {
            #expect([reason].words(after: unknown) == "a server of that name (nas.lcoal cannot be found)")
        }
        #expect(
            [WaitReason.metered, .hostBackoff].words(after: unknown)
                == "a server of that name (nas.lcoal cannot be found), a line that is not metered")
    }

    @Test("a name that was unknown once is no reason for another wait")
    func otherReasons() {
        #expect([WaitReason.notBefore].words(after: unknown) == "its time")
        #expect([WaitReason.connectivity].words(after: nil) == "a network")
        let cut = TransferError(.networkConnectionLost, "the connection was cut")
        #expect([WaitReason.backoff, .notBefore].words(after: cut) == "the next try, its time")
    }

    @Test("what is said of one file is not said of many as if each of them had that name")
    func oneOfMany() {
        let gone = TransferError(
            .sourceMissing, of: RawPath("/src/a.txt"), "is not there any more",
            .retry("put it back and retry"))
        #expect(gone.happening(of: 1) == "/src/a.txt is not there any more")
        #expect(gone.happening(of: 3) == "one of them: /src/a.txt is not there any more")
        #expect(gone.finding.isOfFile)
        let refused = TransferError(.http, "nas answered 404", .step("look there"), httpStatus: 404)
        #expect(refused.happening(of: 3) == "nas answered 404" && !refused.finding.isOfFile)
        // All of them need that file.
        let key = TransferError(.permissionDenied, "/home/a/.netrc cannot be read", .andRetry("mend it"))
        #expect(key.happening(of: 3) == "/home/a/.netrc cannot be read")
        let causes = CauseCount(code: .sourceMissing, count: 3, finding: gone.finding)
        #expect(
            causes.sentence
                == "3 files, one of them: /src/a.txt is not there any more: put it back and retry")
        #expect(CauseCount(code: .http, count: 3, message: "nas answered 404").sentence == "3 files: nas answered 404")
        #expect(CauseCount(code: .http, count: 1, message: "nas answered 404").sentence == "1 file: nas answered 404")
    }
}
