import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private typealias Answers = FTPAnswers

private let part = ".f.01234567.martlet-part"

private func plan(
    _ ifExists: ExistingFilePolicy = .fail, size: Int64 = 1000, changed: Bool = false, arrived: Bool = false,
    cannotRename: Bool? = true, cannotResume: Bool? = nil, resume: FTPResumePoint? = nil
) -> FTPUploadPlan {
    var facts = HostFacts()
    facts.cannotRename = cannotRename
    facts.cannotResume = cannotResume
    var subject = UploadSubject(
        name: RawPath("f"), size: size, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
        token: "0123456789abcdef0123456789abcdef", hasChanged: changed)
    subject.hasArrived = arrived
    return FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject, facts: facts, resume: resume)
}

/// One attempt: its last words, and the resume point that is durable then.
private func run(_ plan: FTPUploadPlan, _ ends: FTPEnd...) -> (said: [String], point: FTPResumePoint?) {
    var play = FTPPlay(FTPUpload(plan))
    var point = plan.resume
    func keep(_ actions: [ProtocolAction]) {
        for case .persist(let stored) in actions { point = stored.content(FTPResumePoint.self) }
    }
    keep(play.last)
    for end in ends {
        play.end(end)
        keep(play.last)
    }
    return (play.said, point)
}

/// Servers that cannot rename: the bytes go under the final name, and what is found there is ours or somebody else's.
@Suite struct FTPStraightTests {
    private let policies = [ExistingFilePolicy.fail, .skip]

    @Test("a kill in the first second leaves what the next attempt knows as its own, up to the source's length")
    func killed() {
        for policy in policies {
            let begun = run(plan(policy), Answers.missing)
            #expect(begun.said == ["persist ftp", "STOR f 0..<1000"])
            #expect(begun.point?.owned == .free(upTo: 1000))
            let again = plan(policy, resume: begun.point)
            #expect(run(again, Answers.missing).said == ["persist ftp", "STOR f 0..<1000"])
            #expect(run(again, Answers.size(0)).said == ["STOR f 0..<1000"])
            #expect(run(again, Answers.size(400), Answers.size(400)).said.last == "APPE f 400..<1000")
            #expect(
                run(again, Answers.size(1000)).said == [
                    "resumed 1000", "accepted 1000", "persist ftp", "*MFMT 20261121120000 f",
                ])
            #expect(run(again, Answers.size(1001)).said == ["fail unknownOutcome"])
        }
    }

    @Test(
        "what comes there after an attempt that has sent nothing is somebody else's",
        .tells(
            "h answered 553 (no): check the address, and ask for access there",
            "it cannot rename files, and nothing tells whether what is there is ours"))
    func sentNothing() {
        let lostLine = run(plan(), Answers.missing, Answers.cut())
        #expect(lostLine.said == ["persist ftp", "wait backoff networkConnectionLost"])
        let refusal = run(plan(), Answers.missing, Answers.refused(553))
        #expect(refusal.said == ["persist ftp", "fail permissionDenied"])
        for point in [lostLine.point, refusal.point] {
            #expect(point != nil && point?.owned == nil)
            #expect(run(plan(resume: point), Answers.size(400)).said == ["fail unknownOutcome"])
        }
        let some = run(plan(), Answers.missing, Answers.cut(sent: 10))
        #expect(some.said == ["wait backoff networkConnectionLost"] && some.point?.owned == .free(upTo: 1000))
    }

    @Test("a source that changes while it is sent is sent again over its own first bytes")
    func changedWhileSent() {
        for policy in policies {
            let begun = run(plan(policy), Answers.missing).point
            let changed = plan(policy, size: 300, changed: true, resume: begun)
            #expect(run(changed).said == ["SIZE f"])
            for size in [0, 400, 1000] as [Int64] {
                let next = run(changed, Answers.size(size))
                #expect(next.said == ["persist ftp", "STOR f 0..<300"] && next.point?.owned == .written)
            }
            let other = run(changed, Answers.size(1001)).said
            #expect(other == [policy == .skip ? "finish 300 none skipped" : "fail destinationExists"])
            // The line breaks before the new bytes: the old ones are still there, and still ours.
            let broken = run(changed, Answers.size(400), Answers.cut()).point
            #expect(run(plan(policy, size: 300, resume: broken), Answers.size(400)).said.last == "STOR f 0..<300")
            // What is known to have come there may be somebody else's by now.
            let known = plan(policy, size: 300, changed: true, arrived: true, resume: broken)
            #expect(run(known).said == ["SIZE f"])
            let own = run(known, Answers.size(400))
            #expect(own.said == ["persist ftp", "STOR f 0..<300"] && own.point?.owned == .written)
            #expect(run(known, Answers.size(1001)).said == other)
        }
    }

    @Test("nor does it matter that nobody remembers any more that the server cannot rename")
    func changedLater() {
        let begun = run(plan(), Answers.missing).point
        let changed = plan(changed: true, cannotRename: nil, resume: begun)
        // What is there is our own, and under another name nothing would tell that.
        let again = run(changed, Answers.size(400))
        #expect(again.said == ["persist ftp", "STOR f 0..<1000"] && again.point?.owned == .written)
        let whole = [Answers.size(400), Answers.done("STOR", sent: 1000), Answers.size(1000)]
        var play = FTPPlay(FTPUpload(changed))
        for end in whole { play.end(end) }
        #expect(play.said.last == "*MFMT 20261121120000 f")
        // Somebody else's file is not.
        #expect(run(changed, Answers.size(1001)).said == ["fail destinationExists"])
    }

    @Test(
        "a lost answer is not made up for by the length of what may have stood there before",
        .tells("an earlier attempt may have reached h, but its answers are lost, time after time"))
    func lostAnswer() {
        let lost = Answers.cut(sent: 1000)
        // What STOR may replace is looked at first: another length or time after it tells that it was replaced.
        let old = Answers.size(1000, modified: Timestamp(milliseconds: 0))
        #expect(run(plan(.replace)).said == ["persist ftp", "SIZE f"])
        for (before, proves) in [
            (Answers.missing, true), (Answers.size(7), true), (old, true), (Answers.size(1000), false),
        ] {
            let doubt = run(plan(.replace), before, lost)
            #expect(doubt.said == ["SIZE f"])
            let after = run(plan(.replace), before, lost, Answers.size(1000))
            #expect(
                after.said
                    == (proves
                        ? ["accepted 1000", "persist ftp", "*MFMT 20261121120000 f"]
                        : ["persist ftp", "wait backoff networkConnectionLost"]))
        }
        var replacing = run(plan(.replace), Answers.size(1000), lost, Answers.size(1000)).point
        for last in [["persist ftp", "wait backoff networkConnectionLost"], ["persist ftp", "fail unknownOutcome"]] {
            let again = run(plan(.replace, resume: replacing), Answers.size(1000), lost, Answers.size(1000))
            #expect(again.said == last)
            replacing = again.point
        }
        // Nor does a retry after that take it for ours as it is.
        #expect(replacing?.unanswered == 0)
        let retried = run(plan(resume: replacing), Answers.size(1000))
        #expect(retried.said == ["persist ftp", "STOR f 0..<1000"])
        // An empty file that stood there has another length, and who tells none has to be believed.
        let empty = run(plan(resume: run(plan(), Answers.missing).point), Answers.size(0), lost, Answers.size(1000))
        #expect(empty.said.last == "*MFMT 20261121120000 f")
        let untold = run(plan(.replace), Answers.noSize, lost, Answers.noSize)
        #expect(untold.said == ["persist ftp", "wait backoff networkConnectionLost"])
        // Where nothing stood, the length tells; so it does of an end that was appended.
        #expect(run(plan(), Answers.missing, lost).said == ["SIZE f"])
        let half = run(plan(), Answers.missing, Answers.cut(sent: 500)).point
        let rest = run(plan(resume: half), Answers.size(500), Answers.size(500), Answers.cut(sent: 500))
        #expect(rest.said == ["SIZE f"])
        // Our own version before this one may be as long.
        let whole = run(plan(), Answers.missing, Answers.cut(sent: 1000)).point
        let changed = run(plan(changed: true, resume: whole), Answers.size(1000), lost, Answers.size(1000))
        #expect(changed.said == ["persist ftp", "wait backoff networkConnectionLost"])
        #expect(run(plan(resume: changed.point), Answers.size(1000)).said == ["persist ftp", "STOR f 0..<1000"])
        // Nor is anything added to it after a cut.
        let cut = run(plan(changed: true, resume: whole), Answers.size(900), Answers.cut(sent: 300)).point
        #expect(run(plan(resume: cut), Answers.size(900)).said == ["persist ftp", "STOR f 0..<1000"])
    }

    @Test("where nothing can be appended either, a beginning that is cut short does not disown what is there")
    func neither() {
        let half = run(plan(cannotResume: true), Answers.missing, Answers.cut(sent: 500)).point
        let again = run(plan(arrived: true, cannotResume: true, resume: half), Answers.size(500), Answers.cut())
        #expect(again.said == ["wait backoff networkConnectionLost"] && again.point?.owned == .written)
        #expect(run(plan(cannotResume: true, resume: again.point), Answers.size(500)).said.last == "STOR f 0..<1000")
    }

    @Test("who had a temporary file looks at the final name before the bytes go there")
    func fromTemporary() {
        var point = FTPResumePoint(temporary: RawPath(part))
        point.seen = 300
        let gone = plan(resume: point)
        #expect(run(gone, Answers.missing).said == ["over: the temporary file is not there any more", "SIZE f"])
        #expect(run(gone, Answers.missing, Answers.size(7)).said == ["fail destinationExists"])
        let free = run(gone, Answers.missing, Answers.missing)
        #expect(free.said == ["persist ftp", "STOR f 0..<1000"] && free.point?.owned == .free(upTo: 1000))
        let changed = plan(changed: true, resume: point)
        #expect(run(changed, Answers.done("DELE")).said == ["SIZE f"])
        #expect(run(plan(.replace, resume: point), Answers.missing, Answers.missing).said.last == "STOR f 0..<1000")
    }

    @Test("what is shorter than the server had, or longer than what was sent, is neither gone on with nor replaced")
    func bounds() {
        for policy in policies {
            var begun = run(plan(policy), Answers.missing, Answers.cut(sent: 600)).point
            begun?.seen = 500
            let again = plan(policy, arrived: true, resume: begun)
            for size in [1, 499, 1001] as [Int64] {
                #expect(run(again, Answers.size(size)).said == ["fail unknownOutcome"], "\(size)")
            }
            #expect(run(again, Answers.size(500), Answers.size(500)).said.last?.hasPrefix("APPE f 500") == true)
        }
        // Where any file may be replaced nothing is added to one that cannot be ours.
        var point = FTPResumePoint(temporary: RawPath("f"))
        (point.seen, point.publishing, point.owned, point.longest) = (1000, true, .written, 1000)
        #expect(run(plan(.replace, resume: point), Answers.size(7)).said.last == "STOR f 0..<1000")
    }

    @Test("a point that says whose the file is survives its coding; one that does not say it is as it was")
    func coding() {
        var point = FTPResumePoint(temporary: RawPath("f"))
        #expect(!String(decoding: ResumePoint(point).encoded, as: UTF8.self).contains("owned"))
        for owned in [nil, OwnedName.free(upTo: 7), .written] {
            point.owned = owned
            #expect(ResumePoint(encoded: ResumePoint(point).encoded)?.content(FTPResumePoint.self) == point)
        }
    }
}
