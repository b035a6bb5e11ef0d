import Testing
import TransferModel
import Wording

@Suite("Remedies are said with the commands that do them")
struct RemedyTests {
    @Test("an authority is named to the batch, then it is tried again")
    func authority() {
        let error = TransferError(
            .tlsFailure, "the certificate of h is not trusted", .authority("check it"))
        #expect(error.message.hasSuffix("not trusted: check it, or name its authority with --ca"))
        let task = NodeID.task(TaskID(rawValue: 9))
        let known = CureSubject(node: task, batch: BatchID(rawValue: 7), url: nil, isDownload: false)
        #expect(
            error.remedy(for: known).text
                == "check it, or name its authority: martlet set b7 --ca FILE; then martlet retry t9")
        let several = CureSubject(batch: nil, url: nil, isDownload: false)
        #expect(error.remedy(for: several).text.hasSuffix("martlet set BATCH --ca FILE; then martlet retry ID"))
    }

    @Test("of a server that serves nothing is said what to see to, and nothing that it may have forbidden")
    func server() {
        let subject = CureSubject(
            node: .batch(BatchID(rawValue: 7)), batch: BatchID(rawValue: 7), url: nil, isDownload: false)
        func remedy(_ code: TransferErrorCode, _ remedy: Remedy) -> String {
            TransferError(code, "nas is ill", remedy).remedyOfServer(for: subject).text
        }
        let again = "; it is tried again by itself, martlet retry b7 tries at once"
        #expect(remedy(.timedOut, .again) == "see whether the server is well, and the network in between" + again)
        #expect(remedy(.cannotConnectToHost, .again("check the proxy")) == "check the proxy" + again)
        #expect(
            remedy(.http, .automatic("too many requests; Martlet slows down and tries again"))
                == "see whether the server is well, or ask who runs it\(again) unless it asked for a pause")
    }

    @Test("what lets somebody in is what the protocol knows, and nothing else", arguments: TransferScheme.allCases)
    func protocols(_ scheme: TransferScheme) {
        let batch = BatchID(rawValue: 7)
        let subject = CureSubject(
            node: .batch(batch), batch: batch, url: "\(scheme.rawValue)://host:1/in/", isDownload: false)
        let cure = WaitReason.auth.remedy(for: subject).text
        #expect(cure.hasSuffix("then martlet retry b7"))
        #expect(cure.contains("--header") == (scheme.overHTTP != nil))
        #expect(cure.contains("--user"))
        #expect(cure.contains("--s3-keys") == (scheme.facts.login == .awsKeys))
        #expect(cure.contains("ssh-agent") == (scheme.facts.login == .ssh))
        #expect(cure.contains("netrc") == ![.awsKeys, .ssh].contains(scheme.facts.login))
    }

    @Test(
        "of files from several servers a login goes to none: a netrc file has one for each",
        arguments: TransferScheme.allCases)
    func severalServers(_ scheme: TransferScheme) {
        let batch = BatchID(rawValue: 7)
        func cure(_ url: String?, isDownload: Bool) -> String {
            WaitReason.auth.remedy(for: CureSubject(batch: batch, url: url, isDownload: isDownload)).text
        }
        let each = "(files of several servers: martlet set b7 --netrc FILE, with a login for each)"
        #expect(cure("\(scheme.rawValue)://h/", isDownload: true).contains(each) == (scheme.facts.login != .awsKeys))
        #expect(!cure("\(scheme.rawValue)://h/", isDownload: false).contains(each))
        #expect(
            cure(nil, isDownload: true).hasPrefix(
                "martlet set b7 --user USER gives another login, of S3 martlet set b7 --s3-keys new keys \(each); or"))
    }

    @Test("another login is advised where the server has refused one, and nowhere else")
    func whoRefused() {
        let batch = BatchID(rawValue: 7)
        let subject = CureSubject(node: .batch(batch), batch: batch, url: "https://h/", isDownload: false)
        func remedy(_ remedy: Remedy?) -> String {
            WaitReason.auth.remedy(for: subject, after: TransferError(.http, "h answered 401", remedy)).text
        }
        let login = "martlet set b7 --header 'K: V' or --user USER gives it anew; "
        #expect(remedy(nil).hasPrefix(login) && remedy(.login()).hasPrefix(login))
        #expect(remedy(.login("ask there, or ")).hasPrefix("ask there, or " + login))
        #expect(remedy(.thenRetry("the proxy wants a login")) == "the proxy wants a login, then martlet retry b7")
        #expect(remedy(.queued("queue it again")) == "queue it again")
        #expect(
            TransferError(.http, "h answered 403", .login("ask for access there, or ")).message
                == "h answered 403: ask for access there, or give it a login that it takes, with martlet set")
    }

    @Test("what a person does is said with the command that tries it again, where that mends anything")
    func remedies() {
        let batch = BatchID(rawValue: 7)
        let subject = CureSubject(node: .batch(batch), batch: batch, url: nil, isDownload: false)
        func remedy(_ remedy: Remedy?) -> String { TransferError(.notThere, "it", remedy).remedy(for: subject).text }
        #expect(remedy(nil) == "look there, then martlet retry b7", "the table's")
        #expect(remedy(.again) == "look there, then martlet retry b7")
        for remedy in [Remedy.step("mend it"), .thenRetry("mend it"), .andRetry("mend it"), .again("mend it")] {
            #expect(TransferError(.http, "no", remedy).remedy(for: subject).text == "mend it, then martlet retry b7")
        }
        #expect(remedy(.retry("retry sends it again")) == "retry sends it again: martlet retry b7")
        #expect(remedy(.queued("rename it, then queue it again")) == "rename it, then queue it again")
        #expect(
            remedy(.replacing("look, and ", " to have yours"))
                == "look, and martlet set b7 --if-exists replace to have yours, then martlet retry b7")
        #expect(
            remedy(.pin("ask"))
                == "ask; if the new key is right: martlet set b7 --pin PIN; then martlet retry b7")
    }
}
