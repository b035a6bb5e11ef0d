import Testing
import TransferModel

@Suite("Advice is words with commands in them, written once")
struct AdviceTests {
    @Test("an authority is named to the batch, then it is tried again")
    func authority() {
        let error = TransferError(
            .tlsFailure, "the certificate of h is not trusted: check it" + TransferError.authorityAdvice)
        let task = NodeID.task(TaskID(rawValue: 9))
        let known = CureSubject(node: task, batch: BatchID(rawValue: 7), url: nil)
        #expect(
            error.remedy(for: known)
                == "check it, or name its authority: martlet set b7 --ca FILE; then martlet retry t9")
        let several = CureSubject(batch: nil, url: nil)
        #expect(error.remedy(for: several).hasSuffix("martlet set BATCH --ca FILE; then martlet retry ID"))
    }

    @Test("of a server that serves nothing is said what to see to, and nothing that it may have forbidden")
    func server() {
        let subject = CureSubject(node: .batch(BatchID(rawValue: 7)), batch: BatchID(rawValue: 7), url: nil)
        func remedy(_ code: TransferErrorCode, _ advice: String) -> String {
            TransferError(code, "nas is ill: \(advice)").remedyOfServer(for: subject)
        }
        let again = "; it is tried again by itself, martlet retry b7 tries at once"
        let promise = "Martlet tries again by itself"
        #expect(remedy(.timedOut, promise) == "see whether the server is well, and the network in between" + again)
        #expect(remedy(.cannotConnectToHost, "check the proxy; \(promise)") == "check the proxy" + again)
        #expect(
            remedy(.http, "too many requests; Martlet slows down and tries again")
                == "see whether the server is well, or ask who runs it\(again) unless it asked for a pause")
    }

    private func commands(_ text: String, about node: NodeID? = nil) -> [String] {
        Advice(text, about: node).pieces.compactMap { if case .command(let command) = $0 { command.text } else { nil } }
    }

    @Test(
        "where a command ends is known from its own words",
        arguments: [
            ("check it, then martlet retry b7", ["martlet retry b7"]),
            ("martlet engine start takes that back", ["martlet engine start"]),
            ("nothing to do; martlet limit --transfers N lets more run at once", ["martlet limit --transfers N"]),
            (
                "nothing to do; martlet move t1 --top brings it forward, martlet run-now t1 starts it at once",
                ["martlet move t1 --top", "martlet run-now t1"]
            ),
            (
                "martlet set b7 --header 'K: V' or --user USER gives it anew; or renew it, then martlet retry b7",
                ["martlet set b7 --header 'K: V'", "martlet retry b7"]
            ),
            ("if it is wrong, martlet cancel b7 and queue it again", ["martlet cancel b7"]),
            ("b3 is paused: 'martlet resume b3'", ["martlet resume b3"]),
            ("martlet session set night --limit off", ["martlet session set night --limit off"]),
            ("renew the access with martlet set, or there, then retry", ["martlet set"]),
            ("report it with the lines of martlet log", ["martlet log"]),
            ("nas has no martlet in its PATH, start martlet there", []),
        ])
    func ends(_ text: String, _ expected: [String]) {
        #expect(commands(text) == expected)
        #expect(Advice(text).written { _ in nil } == text, "unwritten it is what it was")
    }

    @Test("a folder's name may have blanks and quotes")
    func folders() {
        let node = NodeID.folder(BatchID(rawValue: 7), path: RawPath("my sister's photos"))
        #expect(node.written == #"'b7:my sister'\''s photos'"#)
        guard let command = Advice("martlet resume \(node.written) b7").loneCommand else {
            Issue.record("it is one command")
            return
        }
        #expect(command.nodes == [node, .batch(BatchID(rawValue: 7))])
        #expect(
            commands("martlet retry b7:my sister's photos tries at once", about: node).first?.hasSuffix("photos")
                == true)
        #expect(NodeID.folder(BatchID(rawValue: 7), path: RawPath("raw/2024")).written == "b7:raw/2024")
    }

    @Test("written another way a command loses the quotes that were for the shell")
    func unquoted() {
        let advice = Advice("b3 is paused: 'martlet resume b3', or not")
        #expect(advice.written { $0.verb == "resume" ? "p" : nil } == "b3 is paused: p, or not")
    }

    @Test("what lets somebody in is what the protocol knows, and nothing else", arguments: TransferScheme.allCases)
    func protocols(_ scheme: TransferScheme) {
        let batch = BatchID(rawValue: 7)
        let subject = CureSubject(node: .batch(batch), batch: batch, url: "\(scheme.rawValue)://host:1/in/")
        let cure = WaitReason.auth.remedy(for: subject)
        #expect(cure.hasSuffix("then martlet retry b7"))
        #expect(cure.contains("--header") == (scheme.overHTTP != nil))
        #expect(cure.contains("--user") == (scheme != .s3))
        #expect(cure.contains("--s3-keys") == (scheme == .s3))
        #expect(cure.contains("ssh-agent") == (scheme == .sftp))
        #expect(cure.contains("netrc") == (scheme != .s3 && scheme != .sftp))
    }

    @Test("what happened is not cut at a colon that a library said")
    func colons() {
        let cut = TransferError(
            .networkConnectionLost,
            "the connection to nas was cut (SSL_read: error:0A000126: unexpected eof): Martlet tries again by itself")
        #expect(cut.happening == "the connection to nas was cut (SSL_read: error:0A000126: unexpected eof)")
        #expect(cut.advice.isEmpty)
        let refused = TransferError(.tlsFailure, "nas is not trusted (verify: self-signed): check it, or use --ca")
        #expect(refused.happening == "nas is not trusted (verify: self-signed)")
        #expect(refused.advice == "check it, or use --ca")
        let open = TransferError(.http, "nas answered 500 (oops: wait: look at its log")
        #expect(open.advice == "look at its log", "what was cut off has no end")
        #expect(TransferError(.internal, "it failed").advice.isEmpty)
    }
}
