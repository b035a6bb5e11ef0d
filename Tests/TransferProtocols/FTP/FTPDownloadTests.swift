import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private typealias Answers = FTPAnswers

private func plan(
    verify: VerificationWish? = nil, facts: HostFacts = .toldNothing, resume: GetResumePoint? = nil
) -> FTPDownloadPlan {
    FTPDownloadPlan(host: "h", path: RawPath("a/f"), verify: verify, facts: facts, resume: resume)
}

private func point(_ offset: Int64, total: Int64 = 1000, modified: String = "20261121120000") -> GetResumePoint {
    GetResumePoint(
        version: RemoteVersion(lastModified: modified, isDateStrong: true, total: total), offset: offset,
        name: RawPath("f"))
}

extension HostFacts {
    /// Of a server that is known to have no digests.
    fileprivate static var toldNothing: HostFacts {
        var facts = HostFacts()
        facts.tellsDigests = false
        return facts
    }
}

private func after(_ plan: FTPDownloadPlan, _ ends: FTPEnd...) -> [String] {
    var play = FTPPlay(FTPDownload(plan))
    for end in ends { play.end(end) }
    return play.said
}

@Suite struct FTPDownloadTests {
    @Test(
        "size and time are asked first, the version is durable before the gate opens, and the length decides",
        .tells("h sent 999 of 1000 bytes: Martlet tries again by itself"))
    func straightThrough() {
        #expect(after(plan()) == ["SIZE a/f"])
        #expect(
            after(plan(), Answers.size(1000)) == ["persist f 0 -", "RETR a/f from 0", "open 2 at 0 skip 0 of 1000"])
        #expect(after(plan(), Answers.size(1000), Answers.done("RETR", written: 1000)) == ["finish 1000 size"])
        #expect(
            after(plan(verify: VerificationWish.none), Answers.size(1000), Answers.done("RETR", written: 1000))
                == ["finish 1000 none"])
        #expect(
            after(plan(), Answers.size(1000), Answers.done("RETR", written: 999))
                == ["wait backoff networkConnectionLost"])
    }

    @Test(
        "an attempt goes on where the local file ends, when size and time are the same, and looks again after it",
        .tells("the file at h changes while it is read"))
    func resumes() {
        let going = after(plan(resume: point(400)), Answers.size(1000))
        #expect(going == ["resumed 400", "persist f 400 -", "RETR a/f from 400", "open 2 at 400 skip 0 of 1000"])
        let rest = Answers.done("RETR", written: 600)
        #expect(after(plan(resume: point(400)), Answers.size(1000), rest) == ["SIZE a/f"])
        #expect(after(plan(resume: point(400)), Answers.size(1000), rest, Answers.size(1000)) == ["finish 1000 size"])
        let later = Answers.size(1000, modified: noon.advanced(by: .seconds(1)))
        #expect(
            after(plan(resume: point(400)), Answers.size(1000), rest, later) == Self.changed)
        #expect(after(plan(resume: point(1000)), Answers.size(1000)) == ["finish 1000 size"])
    }

    private static let changed = ["over: changed at the server", "wait backoff badServerResponse"]

    @Test("a file that grows while it is read is another version, and is taken as it comes by who wants that")
    func grows() {
        let grown = Answers.done("RETR", written: 1040, size: 1040)
        #expect(after(plan(), Answers.size(1000), grown) == Self.changed)
        let asItComes = plan(verify: VerificationWish.none)
        #expect(after(asItComes, Answers.size(1000)).last == "open 2 at 0 skip 0 of 1000 or more")
        #expect(after(asItComes, Answers.size(1000), grown) == ["finish 1040 none"])
        let cut = Answers.done("RETR", written: 999, size: 1000)
        #expect(after(asItComes, Answers.size(1000), cut) == ["wait backoff networkConnectionLost"])
    }

    @Test(
        "a file that has bytes though its length is told as 0 is asked for once more, and then refused",
        .tells("h says that the file has 0 bytes and gives another number of them, as files of /proc do"))
    func otherLength() {
        let (some, none) = (Answers.done("RETR", written: 5), Answers.done("RETR", written: 0))
        let begun = ["persist f 0 -", "RETR a/f from 0"]
        #expect(after(plan(), Answers.size(0)) == begun + ["open 2 at 0 skip 0 of 0 or more"])
        #expect(after(plan(), Answers.size(0), none) == ["finish 0 size"])
        let again = ["over: the server sent another number of bytes than it told"] + begun
        #expect(after(plan(), Answers.size(0), some) == again + ["open 3 at 0 skip 0 of 0 or more"])
        #expect(after(plan(), Answers.size(0), some, some) == ["fail unsupported"])
        #expect(after(plan(), Answers.size(0), some, none) == ["finish 0 size"])
        // Some know the length when they begin.
        let announced = Answers.done("RETR", written: 5, size: 5)
        #expect(after(plan(), Answers.size(0), announced) == ["finish 5 none"])
        #expect(after(plan(), Answers.noSize, announced) == ["finish 5 none"])
        let short = Answers.done("RETR", written: 4, size: 5)
        for size in [Answers.size(0), Answers.noSize] {
            #expect(after(plan(), size, short) == ["wait backoff networkConnectionLost"])
        }
        let empty = Answers.done("RETR", written: 5, size: 0)
        #expect(after(plan(), Answers.noSize, empty, empty) == ["fail unsupported"])
        #expect(after(plan(verify: VerificationWish.none), Answers.size(0), some) == ["finish 5 none"])
        // Too few of them may have been cut.
        #expect(after(plan(), Answers.size(1000), none) == ["wait backoff networkConnectionLost"])
    }

    @Test("after a transfer that took its time the file is looked at again, and one that went away is not called whole")
    func lookAgain() {
        let quick = Answers.done("RETR", written: 1000, after: .milliseconds(900))
        #expect(after(plan(), Answers.size(1000), quick) == ["finish 1000 size"])
        let turned = Answers.done("RETR", written: 1000, after: .seconds(-60))
        #expect(after(plan(), Answers.size(1000), turned) == ["SIZE a/f"])
        let slow = Answers.done("RETR", written: 1000, after: .milliseconds(1100))
        #expect(after(plan(), Answers.size(1000), slow) == ["SIZE a/f"])
        #expect(after(plan(), Answers.size(1000), slow, Answers.size(1000)) == ["finish 1000 size"])
        let later = Answers.size(1000, modified: noon.advanced(by: .seconds(9)))
        #expect(after(plan(), Answers.size(1000), slow, later) == Self.changed)
        #expect(after(plan(), Answers.size(1000), slow, Answers.missing) == ["persist f 1000 -", "fail http"])
        let unwilling = plan(verify: VerificationWish.none)
        #expect(after(unwilling, Answers.size(1000), slow) == ["finish 1000 none"])
        let forbidden = Answers.refused(550, "SIZE", text: "Permission denied")
        #expect(after(plan(), Answers.size(1000), slow, forbidden) == ["finish 1000 size"])
    }

    @Test(
        "who wants the version that was begun is told of another one, and a retry takes that",
        .tells("the file changed at h since its download began: retry to fetch it as it is now"))
    func changedFails() {
        func insisting(_ resume: GetResumePoint?) -> FTPDownloadPlan {
            var plan = plan(resume: resume)
            plan.ifChanged = .fail
            return plan
        }
        let expected = ["over: changed at the server", "persist f 0 -", "fail sourceChanged"]
        let later = Answers.size(1000, modified: noon.advanced(by: .seconds(5)))
        for other in [Answers.size(1001), later, Answers.size(300)] {
            #expect(after(insisting(point(400)), other) == expected)
        }
        let rest = Answers.done("RETR", written: 600)
        #expect(after(insisting(point(400)), Answers.size(1000), rest, later) == expected)
        let slow = Answers.done("RETR", written: 1000, after: .seconds(2))
        #expect(
            after(insisting(nil), Answers.size(1000), slow, later)
                == ["over: changed at the server", "fail sourceChanged"])
        // What is the same goes on, and what cannot be told is no change.
        #expect(after(insisting(point(400)), Answers.size(1000)).first == "resumed 400")
        #expect(after(insisting(point(400)), Answers.noSize).contains("RETR a/f from 0"))
    }

    @Test(
        "a size that no file can have is refused before a byte is written",
        .tells("h told a length that cannot be"))
    func impossibleSize() {
        for size in [Int64.max, FileSize.largest + 1] {
            #expect(after(plan(), Answers.size(size)) == ["fail badServerResponse"])
            #expect(after(plan(resume: point(400)), Answers.size(size)) == ["fail badServerResponse"])
        }
        #expect(after(plan(), Answers.size(FileSize.largest)).first == "persist f 0 -")
    }

    @Test(
        "another version, or none that can be told, begins anew",
        arguments: [
            (Answers.size(1001), "over: changed at the server"),
            (Answers.size(1000, modified: noon.advanced(by: .seconds(5))), "over: changed at the server"),
            (Answers.size(300), "over: changed at the server"),
            (Answers.size(1000, modified: nil), "over: the server gave nothing to recognise the version by"),
            (Answers.noSize, "over: the server gave nothing to recognise the version by"),
        ])
    func otherVersion(end: FTPEnd, expected: String) {
        let said = after(plan(resume: point(400)), end)
        #expect(said.first == expected)
        #expect(said.contains("RETR a/f from 0"))
    }

    @Test("a file written within the last seconds is not gone on with: it may still be written to")
    func weakTime() {
        let fresh = FTPEnd(reply: 213, command: "SIZE", size: 1000, modified: noon, at: noon.advanced(by: .seconds(1)))
        #expect(
            after(plan(resume: point(400)), fresh).first == "over: the server gave nothing to recognise the version by")
    }

    @Test("a server that cannot go on in the middle is remembered, and sends the whole")
    func cannotResume() {
        let end = Answers.refused(502, "REST")
        #expect(
            after(plan(resume: point(400)), Answers.size(1000), end) == [
                "learned cannotResume=true", "over: the server sends whole files only", "persist f 0 -",
                "RETR a/f from 0", "open 3 at 0 skip 0 of 1000",
            ])
        var facts = HostFacts.toldNothing
        facts.cannotResume = true
        #expect(
            after(plan(facts: facts, resume: point(400)), Answers.size(1000)).first
                == "over: the server sends whole files only")
    }

    @Test(
        "refusals and cuts",
        .tells(
            "h answered 550, there is no such file",
            "h answered 530 (no): give it a login that it takes, with martlet set"),
        arguments: [
            (Answers.missing, "fail http"), (Answers.refused(530, "PASS"), "wait auth http"),
            (Answers.refused(421, "SIZE"), "wait backoff networkConnectionLost"),
            (Answers.cut(error: refused), "wait backoff cannotConnectToHost"),
            (Answers.cut(error: badCertificate), "fail tlsFailure"),
        ])
    func refusals(end: FTPEnd, expected: String) {
        #expect(after(plan(), end) == [expected])
    }

    @Test("what is synced is persisted; a cut waits, and a full disk here waits for room")
    func cuts() {
        var play = FTPPlay(FTPDownload(plan()))
        play.end(Answers.size(1000))
        play.take(play.machine.handle(.synced(through: 250)))
        #expect(play.said == ["persist f 250 -"])
        var cut = play
        cut.take(cut.machine.handle(.ftpEnded(ExchangeID(rawValue: 2), Answers.cut(written: 300))))
        #expect(cut.said == ["wait backoff networkConnectionLost"])
        var refusal = play
        refusal.take(refusal.machine.handle(.ftpEnded(ExchangeID(rawValue: 2), Answers.refused(550, "RETR"))))
        #expect(refusal.said == ["wait auth permissionDenied"])
        let full = FTPEnd(
            reply: 0, failure: .sink(TransferError(.diskFull, "full"), waits: .diskSpace), at: noon)
        play.take(play.machine.handle(.ftpEnded(ExchangeID(rawValue: 2), full)))
        #expect(play.said == ["wait diskSpace diskFull"])
    }

    @Test("what is on the disk by the time of the last question is persisted, and does not shorten the file")
    func syncedLate() {
        var play = FTPPlay(FTPDownload(plan(resume: point(400))))
        play.end(Answers.size(1000))
        play.end(Answers.done("RETR", written: 600))
        play.take(play.machine.handle(.synced(through: 700)))
        #expect(play.said == ["persist f 700 -"])
        play.end(Answers.size(1000))
        #expect(play.said == ["finish 1000 size"])
    }

    @Test("all that came is of no more use once the temporary file is gone")
    func receivedAndLost() {
        var whole = point(1000)
        whole.received = .size
        #expect(after(plan(resume: whole)) == ["finish 1000 size"])
        whole.lose()
        #expect(after(plan(resume: whole)) == ["SIZE a/f"])
        var empty = point(0)
        empty.received = .size
        empty.lose()
        #expect(after(plan(resume: empty)) == ["SIZE a/f"])
    }

    @Test(
        "a digest is asked of the server when none was given",
        .tells("h tells no SHA-256 of the file"))
    func digests() {
        let hex = String(repeating: "0f", count: 32)
        #expect(after(plan(verify: .digest), Answers.size(1000)) == ["XSHA256 a/f"])
        let told = Answers.done("XSHA256", text: hex)
        #expect(
            after(plan(verify: .digest), Answers.size(1000), told, Answers.done("RETR", written: 1000))
                == ["finish 1000 digest"])
        let unknown = [Answers.refused(500, "XSHA256"), Answers.refused(502, "HASH")]
        #expect(after(plan(verify: .digest), Answers.size(1000), unknown[0]) == ["*OPTS HASH SHA-256; HASH a/f"])
        #expect(after(plan(verify: .digest), Answers.size(1000), unknown[0], unknown[1]) == ["fail integrity"])
        let hash = Answers.done("HASH", text: "SHA-256 0-999 \(hex) a/f")
        #expect(
            after(
                plan(verify: .digest), Answers.size(1000), unknown[0], hash, Answers.done("RETR", written: 1000))
                == ["finish 1000 digest"])
    }

    @Test("a digest that can be had is asked for by default, once of a server that has none")
    func digestsByDefault() {
        let hex = String(repeating: "0f", count: 32)
        let open = plan(facts: HostFacts())
        let told = Answers.done("XSHA256", text: hex)
        #expect(
            after(open, Answers.size(1000), told, Answers.done("RETR", written: 1000)) == ["finish 1000 digest"])
        let begun = ["persist f 0 -", "RETR a/f from 0"]
        let unknown = Answers.refused(500, "XSHA256")
        let none = after(open, Answers.size(1000), unknown, Answers.refused(500, "HASH"))
        #expect(none == ["learned tellsDigests=false"] + begun + ["open 4 at 0 skip 0 of 1000"])
        for silent in [Answers.done("XSHA256", text: "no idea"), Answers.cut(error: TransferError(.timedOut, "late"))] {
            #expect(after(open, Answers.size(1000), silent).first == "learned tellsDigests=false")
        }
        // A line that broke says nothing of the server.
        for passing in [Answers.cut(), Answers.refused(450, "XSHA256")] {
            #expect(Array(after(open, Answers.size(1000), passing).prefix(2)) == begun)
        }
        for wish in [VerificationWish.none, .size] {
            #expect(after(plan(verify: wish, facts: HostFacts()), Answers.size(1000)).first == "persist f 0 -")
        }
        // An attempt that goes on knows it already, of the same version.
        var known = point(400)
        known.promised = TransferDigest(algorithm: "sha-256", value: hex)
        let going = plan(facts: HostFacts(), resume: known)
        #expect(after(going, Answers.size(1000)).first == "resumed 400")
        #expect(after(going, Answers.size(1001)).contains { $0.hasPrefix("XSHA256") })
    }
}
