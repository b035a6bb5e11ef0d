import CurlTransport
import TestSupport
import Testing
import TransferModel
import TransferQueue
import WireOperations

@testable import TransferEngine

/// A batch's credentials from question to question, without a batch, a command or a server.
@Suite struct CredentialStateTests {
    private func order(_ configure: (inout TransferSecrets) -> Void) -> BatchOrder {
        var secrets = TransferSecrets()
        configure(&secrets)
        return BatchOrder(asking: "https://h/", query: nil, TransferOptions(), secrets)
    }

    private func state(_ configure: (inout TransferSecrets) -> Void) -> CredentialState {
        CredentialState(order(configure))
    }

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_000_000 + seconds * 1000) }

    private func asks(_ state: inout CredentialState) -> CredentialState.Question {
        state.question { _ in Task { .notNow } }
    }

    /// Asks and takes this answer.
    private func answer(_ state: inout CredentialState, _ found: CredentialSource.Found, at seconds: Int64 = 0) {
        let question = asks(&state)
        let isTaken = state.take(found, from: question, at: at(seconds))
        #expect(isTaken)
    }

    private let refusal = TransferError(.permissionDenied, "no", .retry())

    @Test("a batch shows what it was given, and waits for what is to be asked for")
    func given() {
        let none = state { _ in }
        #expect(!none.lacksLogin && !none.isWanted && none.failure == nil && none.login(at: "h") == nil)
        #expect(!none.bringsLogin)
        #expect(state { $0.headers = [HeaderField("Authorization", "Bearer x")] }.bringsLogin)
        let user = state { ($0.user, $0.password) = ("ana", "x") }
        #expect(user.login(at: "h")?.user == "ana" && user.login(at: "h")?.password == "x" && user.bringsLogin)
        #expect(user.keys?.accessKeyID == "ana")
        for asked in [
            state { ($0.user, $0.passwordCommand) = ("ana", "pass") }, state { $0.netrcFile = RawPath("/n") },
        ] {
            #expect(asked.lacksLogin && asked.isWanted && asked.failure == nil && asked.login(at: "h") == nil)
        }
        // A password that was given beside a netrc file counts.
        #expect(!state { ($0.user, $0.password, $0.netrcFile) = ("ana", "x", RawPath("/n")) }.isWanted)
    }

    @Test(
        "what others took the place of is looked for in answers for a while: a request that showed it may be under way")
    func replaced() {
        var state = state {
            ($0.user, $0.passwordCommand, $0.headers) = ("ana", "pass", [HeaderField("X", "first-field")])
        }
        func told(_ text: String) -> String {
            var redaction = Redaction()
            state.add(to: &redaction, at: "h")
            return redaction.redacted(text)
        }
        for number in 1...6 {
            answer(&state, .user("ana", password: "secret-\(number)"))
            state.forget()
        }
        #expect(told("secret-6 secret-5 secret-2 first-field") == "... ... ... ...")
        // Few: a program may print another one each minute.
        #expect(told("secret-1") == "secret-1")
        let isNew = state.adopt(order { ($0.user, $0.password) = ("eve", "other") })
        #expect(isNew && told("secret-6 other first-field") == "... ... ...")
    }

    @Test(
        "a netrc file without the host lets no upload out, unless somebody else says who asks; a download may go where nobody asks"
    )
    func netrcWithoutHost() {
        func state(_ url: String, _ configure: (inout TransferSecrets) -> Void = { _ in }) -> CredentialState {
            var secrets = TransferSecrets()
            secrets.netrcFile = RawPath("/n")
            configure(&secrets)
            var state = CredentialState(BatchOrder(asking: url, query: nil, TransferOptions(), secrets))
            answer(&state, .netrc(Netrc("machine h login ana password x")))
            return state
        }
        #expect(state("https://h/in/").failure == nil && state("ftp://h:2121/in/").failure == nil)
        #expect(state("https://other/in/").failure?.finding.happening == "/n has no login for other")
        #expect(state("ftp://other:2121/in/").lacksLogin)
        #expect(state("https://other/in/") { $0.user = "eve" }.login(at: "other")?.user == "eve")
        #expect(state("https://other/in/") { $0.headers = [HeaderField("Authorization", "x")] }.failure == nil)
        // The person's own ssh logs in.
        #expect(state("sftp://other/in/").failure == nil)
        #expect(state("").failure == nil, "a download")
        var mended = state("https://other/in/")
        mended.forgetFailure()
        #expect(mended.isWanted)
    }

    @Test("nothing of a batch goes out whose secrets are lost, and no question brings them back")
    func lost() {
        var order = order { $0.passwordCommand = "pass" }
        order.lacks = [.login]
        var state = CredentialState(order)
        state.forget()
        #expect(state.lacksLogin && !state.isWanted && state.failure?.code == .permissionDenied)
        order.lacks = []
        let isNew = state.adopt(order)
        #expect(isNew && state.isWanted && state.failure == nil && state.generation.secrets == 1)
    }

    @Test("one question goes on at a time, and its answer is shown")
    func asking() {
        var state = state { ($0.user, $0.passwordCommand) = ("ana", "pass") }
        let first = asks(&state)
        #expect(asks(&state) == first)
        #expect(!state.take(.notNow, from: first, at: at(0)) && state.isWanted)
        let second = asks(&state)
        #expect(second != first && state.take(.user("ana", password: "x"), from: second, at: at(0)))
        #expect(!state.isWanted && !state.lacksLogin && state.login(at: "h")?.password == "x")
        // Others have waited for the same answer.
        let isTakenAgain = state.take(.user("ana", password: "x"), from: second, at: at(0))
        #expect(isTakenAgain)
    }

    @Test("the answer to a question is dropped when a person has given something else meanwhile")
    func overtaken() {
        var state = state { $0.passwordCommand = "old" }
        let old = asks(&state)
        let isNew = state.adopt(order { $0.passwordCommand = "new" })
        let isTaken = state.take(.user("", password: "old"), from: old, at: at(0))
        #expect(isNew && !isTaken && state.lacksLogin)
        let isNewAgain = state.adopt(order { $0.passwordCommand = "new" })
        #expect(!isNewAgain && state.generation.secrets == 1 && state.generation.keys == 1)
    }

    @Test("what is forgotten is shown until there is something new, also when that cannot be had")
    func stale() {
        var state = state { $0.passwordCommand = "pass" }
        answer(&state, .user("", password: "1"))
        state.forget()
        #expect(state.isWanted && !state.lacksLogin && state.login(at: "h")?.password == "1")
        answer(&state, .failed(refusal), at: 5)
        #expect(!state.isWanted && !state.lacksLogin && state.failure == refusal)
        state.forgetFailure()
        #expect(state.isWanted && state.failure == nil)
        answer(&state, .user("", password: "2"))
        state.forgetFailure()
        #expect(!state.isWanted && state.login(at: "h")?.password == "2")
    }

    @Test("a command that failed is asked once a minute, and nothing is shown meanwhile")
    func failed() {
        var state = state { $0.passwordCommand = "pass" }
        #expect(state.mayAskAgain(at: at(0)))
        answer(&state, .failed(refusal), at: 0)
        #expect(state.lacksLogin && !state.isWanted && state.failure == refusal)
        #expect(!state.mayAskAgain(at: at(59)) && state.mayAskAgain(at: at(60)))
        // The clock may have been set back.
        #expect(state.mayAskAgain(at: at(-1)))
        state.forget()
        #expect(state.isWanted && state.failure == nil)
    }

    @Test("a question that goes on is not asked anew")
    func renewedWhileAsking() {
        var state = state { $0.passwordCommand = "pass" }
        answer(&state, .user("", password: "1"))
        state.forget()
        let question = asks(&state)
        state.forget()
        #expect(state.take(.user("", password: "2"), from: question, at: at(0)) && !state.isWanted)
    }

    @Test("keys that a program printed are asked for before they are over, and once a minute after a refusal")
    func program() {
        var state = state { ($0.s3, $0.s3Command) = (S3Keys(accessKeyID: "a", secretAccessKey: "b"), ["keys"]) }
        state.forgetKeys(at: at(0))
        #expect(!state.isWanted && state.keys?.accessKeyID == "a")
        #expect(state.askForOtherKeys(at: at(0)) && state.isWanted && state.generation.keys == 1)
        #expect(state.generation.secrets == 0)
        var printed = S3Keys(accessKeyID: "c", secretAccessKey: "d")
        printed.expires = at(100)
        answer(&state, .s3(printed))
        #expect(state.keys?.accessKeyID == "c" && state.login(at: "h") == nil)
        #expect(!state.askForOtherKeys(at: at(60)) && !state.isWanted)
        state.forgetKeys(at: at(39))
        #expect(!state.isWanted)
        state.forgetKeys(at: at(40))
        #expect(state.isWanted && state.keys?.accessKeyID == "c")
        var other = self.state { ($0.user, $0.password) = ("a", "b") }
        let isRenewed = other.askForOtherKeys(at: at(0))
        #expect(!isRenewed)
    }

    @Test("a name and password are shown once more where the server asks for them in another way than Basic")
    func asAsked() {
        func answer(_ challenge: String) -> HTTPAnswer {
            HTTPAnswer(status: 401, headers: [HeaderField("WWW-Authenticate", challenge)])
        }
        var state = state { ($0.user, $0.password) = ("ana", "x") }
        let asked = [nil, "Basic realm=\"r\"", "Digest realm=\"r\"", "Digest realm=\"r\""]
            .map { state.tryAsAsked($0.map(answer)) }
        #expect(asked == [false, false, true, false] && state.login(at: "h")?.scheme == .asAsked)
        _ = state.adopt(order { ($0.user, $0.password) = ("ana", "y") })
        #expect(state.login(at: "h")?.scheme == .basic)
        var nobody = self.state { _ in }
        let isNobodyAsked = nobody.tryAsAsked(answer("Digest realm=\"r\""))
        #expect(!isNobodyAsked)
    }

    @Test("files in line wait for one answer together")
    func waiting() {
        var state = state { $0.passwordCommand = "pass" }
        var began = [state.beginWaiting(), state.beginWaiting()]
        state.endWaiting()
        began.append(state.beginWaiting())
        #expect(began == [true, false, true])
    }
}
