import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let wish = " | Want-Repr-Digest: sha-256=10"
private let put = "PUT http://h/d/f | If-None-Match: *" + wish
private let there = answered(200, ["Content-Length: 7"])

/// An upload to a server of which nothing is known but these facts.
private func plan(_ ifExists: ExistingFilePolicy = .fail, facts: HostFacts = HostFacts()) -> PutPlan {
    let address = HTTPAddress("http://h/d/f")!
    return PutPlan(
        UploadJob(
            destination: address, path: RawPath([]), subject: subject(1000, ifExists: ifExists), facts: facts,
            resume: nil,
            options: TransferOptions()), address)
}

/// Ends the exchanges of an upload one after the other; gives back the words of the last actions.
private func run(_ plan: PutPlan, _ ends: ExchangeEnd...) -> [String] { run(plan, ends) }

private func run(_ plan: PutPlan, _ ends: [ExchangeEnd]) -> [String] {
    var upload = PutUpload(plan)
    var actions = upload.handle(.began(at: noon))
    for end in ends {
        var id = ExchangeID(rawValue: 0)
        for case .perform(let performed, _) in actions { id = performed }
        actions = upload.handle(.ended(id, end))
    }
    return words(actions)
}

/// The look at a name that no condition of the PUT guards, and how much the server's word on it is worth.
@Suite struct PutLookingBeforeTests {
    private let known = HostFacts { $0.absenceBelow = "/d/" }

    @Test("a server that has no HEAD, or fails at it, is asked for the first byte")
    func looksByGet() {
        let (plan, skipping) = (plan(facts: known), plan(.skip, facts: known))
        for status in [405, 500, 501] {
            let failed = answered(status)
            #expect(run(plan, failed) == ["2 GET http://h/d/f | Range: bytes=0-0"])
            // To read may be forbidden, or want a login that to write does not want: that is no word on the name.
            let moved = answered(302, ["Location: http://h/login"])
            for untold in [answered(404), answered(405), answered(501), answered(401)] {
                #expect(run(plan, failed, untold) == ["3 " + put])
            }
            #expect(run(plan, failed, moved) == ["3 GET http://h/login | Range: bytes=0-0"])
            #expect(run(plan, failed, moved, answered(403)) == ["4 " + put])
            // An empty file has no first byte.
            for found in [200, 206, 416] {
                #expect(run(plan, failed, answered(found)) == ["fail destinationExists 412"], "\(found)")
                #expect(run(skipping, failed, answered(found)) == ["finish 1000 none skipped"])
            }
            #expect(run(plan, failed, answered(503)) == ["wait hostBackoff http"])
        }
    }

    @Test(
        "a server that calls every name taken says nothing of this one",
        .tells("h finds a file under every name, so nothing tells whether this one is there: "))
    func tellsNothing() {
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            let plan = plan(ifExists)
            #expect(run(plan, there) == ["2 HEAD http://h/d/martlet-01234567-f"])
            #expect(run(plan, there, there) == ["fail unsupported"])
            let byGet = [answered(405), answered(206)]
            #expect(run(plan, byGet) == ["3 GET http://h/d/martlet-01234567-f | Range: bytes=0-0"])
            #expect(run(plan, byGet + [answered(206)]) == ["fail unsupported"])
            let rest = ifExists == .skip ? "finish 1000 none skipped" : "3 HEAD http://h/d/f" + wish
            #expect(run(plan, there, answered(404)) == ["learned absenceBelow=/d/", rest])
            // Another answer than for the file tells the two apart, too, unless it passes.
            let failing = run(plan, there, answered(500))
            #expect(failing == ["3 GET http://h/d/martlet-01234567-f | Range: bytes=0-0"])
            #expect(run(plan, there, answered(500), answered(206)) == ["fail unsupported"])
            #expect(run(plan, there, answered(500), answered(500)).first?.contains("wait") == false)
            for status in [302, 401, 403, 405] { #expect(run(plan, there, answered(status)) == [rest]) }
            #expect(run(plan, there, answered(503)) == ["wait hostBackoff http"])
            #expect(run(plan, there, unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        }
    }

    @Test("once it has said of a name that it is free, no other is asked for in that part of its tree")
    func tellsAbsence() {
        #expect(run(plan(.skip, facts: known), there) == ["finish 1000 none skipped"])
        let elsewhere = HostFacts { $0.absenceBelow = "/app/" }
        #expect(run(plan(.skip, facts: elsewhere), there) == ["2 HEAD http://h/d/martlet-01234567-f"])
        // Where the PUT was led the server, or its tree, is another one, which gets no secrets.
        let led = [answered(404), answered(307, ["Location: http://b/d/f"], sent: 0), there]
        #expect(run(plan(.skip, facts: known), led) == ["4 HEAD http://b/d/martlet-01234567-f | bare"])
        #expect(run(plan(.skip, facts: known), led + [answered(404)]) == ["finish 1000 none skipped"])
    }

    @Test(
        "a page under a name that nothing has, too, is the network's: nothing is skipped, refused or sent for it",
        .tells(
            "h shows a web page under every name, so nothing tells what is there: sign in where the network asks for it, or "
                + "set --if-exists replace for its batch if the server is so"))
    func networksPage() {
        let page = answered(200, ["Content-Type: text/html", "Content-Length: 5120"])
        let aside = "HEAD http://h/d/martlet-01234567-f"
        let wait = ["wait backoff badServerResponse"]
        let login = answered(302, ["Location: http://portal/"])
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            for facts in [known, HostFacts()] {
                let plan = plan(ifExists, facts: facts)
                #expect(run(plan, page) == ["2 \(aside)"])
                #expect(run(plan, page, page) == wait)
                // A file that is a page.
                let isLearnt = facts.absenceBelow == nil
                let rest = ifExists == .skip ? "finish 1000 none skipped" : "3 HEAD http://h/d/f" + wish
                #expect(run(plan, page, answered(404)) == (isLearnt ? ["learned absenceBelow=/d/"] : []) + [rest])
                // It leads elsewhere, to its page.
                #expect(run(plan, login, page) == ["3 HEAD http://portal/" + wish + " | bare"])
                #expect(run(plan, login, page, page) == ["4 \(aside)"])
                #expect(run(plan, login, page, page, login) == ["5 HEAD http://portal/ | bare"])
                #expect(run(plan, login, page, page, login, page) == wait)
            }
            var later = plan(ifExists, facts: known)
            later.begunBefore = noon
            #expect(run(later, page) == ["2 \(aside)"])
            #expect(run(later, page, page) == wait)
        }
        // Names that nothing has are led to a page of the server's own, or all are to one of the network's.
        #expect(run(plan(.skip, facts: known), page, login) == ["finish 1000 none skipped"])
        let leftAlone = run(plan(.skip, facts: known), login, page, page, answered(404))
        #expect(leftAlone == ["fail destinationExists 412"])
    }

    @Test(
        "where a file may be replaced a page under every name keeps nothing back, until it was the answer to the file",
        .tells("or queue it anew with --verify none if the server is so"))
    func replacesPages() {
        let page = answered(200, ["Content-Type: text/html", "Content-Length: 5120"])
        let (wait, put) = (["wait backoff badServerResponse"], "3 PUT http://h/d/f" + wish)
        var plan = plan(.replace, facts: known)
        plan.begunBefore = noon
        #expect(run(plan, page, page) == [put])
        #expect(run(plan, page, answered(404)) == [put])
        // Its answer was lost.
        let counted = ["persist put", "wait backoff networkConnectionLost"]
        #expect(run(plan, page, page, unanswered(lost, sent: 1000), page) == counted)
        plan.unanswered = 1
        #expect(run(plan, page, page) == wait)
        #expect(run(plan, page, answered(404)) == [put])
    }

    @Test("a host that does not take the PUT is asked anew what it speaks: a gateway may have answered in its place")
    func protocolInDoubt() {
        let missing = answered(404)
        for status in [404, 405] {
            var learnt = plan()
            learnt.protocolLearntAt = noon
            #expect(run(learnt, missing, answered(status)).first == "learned uploadBy=put")
            // A person chose it.
            learnt.protocolLearntAt = nil
            #expect(run(learnt, missing, answered(status)).count == 1)
        }
    }

    @Test("a protocol in doubt is asked for a minute after it was learnt at the earliest, and doubted once")
    func askedAnew() throws {
        var facts = HostFacts()
        facts.learn(uploadBy: "put", at: noon)
        for (seconds, end) in [(0, 60), (59, 60), (3600, 3600)] as [(Int64, Int64)] {
            let now = noon.advanced(by: .seconds(seconds))
            let doubt = try #require(HostFacts.doubting(uploadBy: "put", learntAt: noon, at: now))
            let doubted = facts.merged(with: doubt)
            #expect(doubted.current(at: noon.advanced(by: .seconds(end - 1))).uploadBy == "put")
            #expect(doubted.current(at: noon.advanced(by: .seconds(end))).uploadBy == nil)
            let learnt = try #require(doubted.uploadByAt)
            #expect(HostFacts.doubting(uploadBy: "put", learntAt: learnt, at: now) == nil)
        }
    }

    @Test("of a name that is in the query nothing can be told")
    func query() {
        #expect(PutPlan.absentPath(beside: HTTPAddress("http://h/d/f?g")!, token: "01234567") == nil)
        let root = PutPlan.absentPath(beside: HTTPAddress("http://h/f%20g")!, token: "0123456789")
        #expect(root == "/martlet-01234567-f%20g")
    }
}
