import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let part = ".f.01234567.martlet-part"
private let name = "*MFMT 20261121120000 \(part); RNFR \(part); RNTO f"

private typealias Answers = FTPAnswers

private func plan(
    _ ifExists: ExistingFilePolicy = .replace, verify: VerificationWish? = nil, facts: HostFacts = HostFacts(),
    resume: FTPResumePoint? = nil
) -> FTPUploadPlan {
    FTPUploadPlan(
        host: "h", path: RawPath("f"),
        subject: UploadSubject(
            name: RawPath("f"), size: 1000, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
            verify: verify, token: "0123456789abcdef0123456789abcdef"),
        facts: facts, resume: resume)
}

/// An upload whose rename is under way.
private func renaming(_ ifExists: ExistingFilePolicy = .replace) -> FTPPlay<FTPUpload> {
    var play = FTPPlay(FTPUpload(plan(ifExists)))
    if ifExists != .replace { play.end(Answers.missing) }
    play.end(Answers.done("STOR", sent: 1000))
    play.end(Answers.size(1000))
    // Nothing has the name right before it is given.
    if ifExists != .replace { play.end(Answers.missing) }
    return play
}

private func after(_ play: FTPPlay<FTPUpload>, _ ends: FTPEnd...) -> [String] {
    var play = play
    for end in ends { play.end(end) }
    return play.said
}

@Suite struct FTPPublishingTests {
    private let publishing: FTPResumePoint = {
        var point = FTPResumePoint(temporary: RawPath(part))
        point.publishing = true
        return point
    }()

    @Test(
        "over an existing file the server may want it gone first",
        .tells("a folder of that name is there already, at h"))
    func replacing() {
        let removing = "*MFMT 20261121120000 \(part); *DELE f; RNFR \(part); RNTO f"
        for reply in [550, 553, 501] {
            let refusal = Answers.refused(reply, "RNTO")
            #expect(after(renaming(), refusal) == ["SIZE f"])
            for there in [Answers.size(7), Answers.noSize] {
                #expect(after(renaming(), refusal, there) == ["persist ftp", removing])
                #expect(after(renaming(), refusal, there, Answers.done("RNTO")) == ["finish 1000 size"])
            }
        }
        let refusal = Answers.refused(550, "RNTO")
        // Every byte was taken: only the permission is missing.
        let denied = ["persist ftp", "wait auth permissionDenied"]
        #expect(after(renaming(), refusal, Answers.size(7), refusal) == denied)
        // Nothing is in the way: nothing is removed.
        #expect(after(renaming(), refusal, Answers.missing) == ["CWD f"])
        let noFolder = Answers.refused(550, "CWD")
        #expect(after(renaming(), refusal, Answers.missing, noFolder) == denied)
        #expect(after(renaming(), refusal, Answers.missing, Answers.cut()).last == "wait backoff networkConnectionLost")
        var folder = renaming()
        for end in [refusal, Answers.missing, Answers.done("CWD")] { folder.end(end) }
        #expect(folder.said == ["persist ftp", "*DELE \(part)"])
        #expect(after(folder, Answers.done("DELE")) == ["fail destinationExists"])
        // With every no the intent is taken back: what has the name later is not ours.
        let passing = ["persist ftp", "wait backoff networkConnectionLost"]
        #expect(after(renaming(), Answers.refused(450, "RNTO")) == passing)
        #expect(after(renaming(), Answers.refused(530, "PASS")) == ["persist ftp", "wait auth http"])
    }

    @Test(
        "for want of room no old file is removed; who forbids may forbid only to replace by a rename",
        .tells(
            "h answered 552 (quota exceeded): its disk or quota is full; make room there, Martlet tries again",
            "it took bytes of this file before; ask for access"))
    func keepsOld() {
        for (reply, text) in [(552, "quota exceeded"), (550, "No space left on device")] {
            let said = after(renaming(), Answers.refused(reply, "RNTO", text: text))
            #expect(said == ["persist ftp", "wait remoteDiskSpace http"], "\(text)")
        }
        let denied = ["persist ftp", "wait auth permissionDenied"]
        let forbidden = Answers.refused(550, "RNTO", text: "f: Rename permission denied")
        #expect(after(renaming(), forbidden) == ["SIZE f"])
        #expect(after(renaming(), forbidden, Answers.size(7)).last?.contains("*DELE f; RNFR") == true)
        #expect(after(renaming(), forbidden, Answers.missing, Answers.refused(550, "CWD")) == denied)
    }

    @Test("what is sent anew for a file that was removed is not its last copy any more")
    func notWhole() {
        var point = publishing
        point.removesOld = true
        let anew = FTPPlay(FTPUpload(plan(resume: point)))
        let half = after(anew, Answers.size(400), Answers.size(400))
        #expect(half.suffix(2) == ["persist ftp", "APPE \(part) 400..<1000"])
        let empty = after(anew, Answers.size(0))
        #expect(empty.suffix(2) == ["persist ftp", "STOR \(part) 0..<1000"])
    }

    @Test("where an old file was removed, what was gathered for it gets its name instead of being removed")
    func allThatIsLeft() {
        var point = FTPResumePoint(temporary: RawPath(part))
        let plain = FTPPlay(FTPRemoval(point, target: RawPath("f"), host: "h"))
        #expect(plain.said == ["*DELE \(part)"])
        point.removesOld = true
        func after(_ ends: FTPEnd...) -> [String] {
            var play = FTPPlay(FTPRemoval(point, target: RawPath("f"), host: "h"))
            for end in ends { play.end(end) }
            return play.said
        }
        #expect(after() == ["SIZE f"])
        #expect(after(Answers.size(7)) == ["*DELE \(part)"])
        #expect(after(Answers.missing) == ["RNFR \(part); RNTO f"])
        #expect(after(Answers.missing, Answers.done("RNTO")) == ["finish 0 none"])
        #expect(after(Answers.missing, Answers.refused(550, "RNFR")) == ["finish 0 none"])
        #expect(after(Answers.missing, Answers.refused(553, "RNTO")) == ["wait auth permissionDenied"])
        #expect(after(Answers.cut()) == ["wait backoff networkConnectionLost"])
    }

    @Test("a rename that is refused without the wish to replace asks what is in its way")
    func inTheWay() {
        let refusal = Answers.refused(553, "RNTO")
        #expect(after(renaming(.fail), refusal) == ["SIZE f"])
        #expect(after(renaming(.fail), refusal, Answers.size(7)) == ["persist ftp", "*DELE \(part)"])
        #expect(after(renaming(.fail), refusal, Answers.size(7), Answers.done("DELE")) == ["fail destinationExists"])
        #expect(
            after(renaming(.skip), refusal, Answers.size(7), Answers.done("DELE")) == ["finish 1000 none skipped"])
        // A removal that nobody heard of is asked for again by the next attempt.
        var unheard = FTPEnd(reply: 0, text: "", command: "DELE", at: noon)
        unheard.failure = .network(refused)
        #expect(after(renaming(.skip), refusal, Answers.size(7), unheard) == ["wait backoff cannotConnectToHost"])
        #expect(
            after(renaming(.fail), refusal, Answers.missing, Answers.refused(550, "CWD"))
                == ["persist ftp", "wait auth permissionDenied"])
    }

    @Test(
        "a lost answer to the rename is asked after: the temporary file gone and the target whole is done",
        .tells(
            "an earlier attempt may have reached h, but nothing tells whether what is there is the same file",
            "an earlier attempt may have reached h, but what is there has 7 bytes, not 1000",
            "h does not find the temporary file"))
    func lostRename() {
        for lostAnswer in [Answers.cut(), Answers.refused(421, "RNTO"), Answers.refused(550, "RNFR")] {
            #expect(after(renaming(), lostAnswer) == ["SIZE \(part)"])
            let isNo = lostAnswer.command == "RNFR"
            // A no leaves nothing that a retry could take for a rename.
            let told = isNo ? ["persist ftp"] : []
            if !isNo {
                #expect(after(renaming(), lostAnswer, Answers.size(1000)) == ["wait backoff networkConnectionLost"])
            }
            #expect(after(renaming(), lostAnswer, Answers.missing) == ["SIZE f"])
            let anew = [
                "over: the temporary file is not there any more", "persist ftp", "STOR \(part) 0..<1000",
            ]
            // A no is never a yes: a server clears up, too.
            let whole = after(renaming(), lostAnswer, Answers.missing, Answers.size(1000))
            #expect(whole == (isNo ? anew : ["finish 1000 size"]))
            let unreplaced = after(renaming(.fail), lostAnswer, Answers.missing, Answers.size(1000))
            #expect(unreplaced == (isNo ? told + ["fail unknownOutcome"] : ["finish 1000 size"]))
            let other = after(renaming(.fail), lostAnswer, Answers.missing, Answers.size(7))
            #expect(other == told + ["fail unknownOutcome"])
            // Who wants what is there replaced is sent to look at nothing.
            #expect(after(renaming(), lostAnswer, Answers.missing, Answers.size(7)) == anew)
            #expect(
                after(renaming(), lostAnswer, Answers.missing, Answers.missing)
                    == told + ["wait backoff networkConnectionLost"])
            // Nor when the question after it is lost.
            #expect(
                after(renaming(), lostAnswer, Answers.cut(error: refused))
                    == told + ["wait backoff cannotConnectToHost"])
        }
        #expect(after(renaming(), Answers.cut(), Answers.cut(error: refused)) == ["wait backoff cannotConnectToHost"])
        #expect(after(renaming(), Answers.cut(error: badCertificate)) == ["fail tlsFailure"])
    }

    @Test("after a kill during the rename the same is asked")
    func killedRename() {
        let begun = FTPPlay(FTPUpload(plan(.fail, resume: publishing)))
        #expect(begun.said == ["SIZE \(part)"])
        #expect(after(begun, Answers.size(1000)) == ["resumed 1000", "accepted 1000", "SIZE f"])
        #expect(after(begun, Answers.size(1000), Answers.missing) == ["persist ftp", name])
        #expect(after(begun, Answers.missing) == ["SIZE f"])
        #expect(after(begun, Answers.missing, Answers.size(1000)) == ["finish 1000 size found"])
        #expect(after(begun, Answers.missing, Answers.size(7)) == ["fail unknownOutcome"])
        // What may be replaced may be the old file still, of our length: only our time tells.
        let replacing = FTPPlay(FTPUpload(plan(.replace, resume: publishing)))
        #expect(after(replacing, Answers.missing, Answers.size(1000)) == ["finish 1000 size found"])
        let old = Answers.size(1000, modified: noon.advanced(by: .seconds(-60)))
        #expect(after(replacing, Answers.missing, old).last == "STOR \(part) 0..<1000")
        // A retry with that wish sends it again, and not for ever.
        var again = replacing
        for _ in 1...2 {
            for end in [Answers.missing, Answers.size(7)] { again.end(end) }
            #expect(
                again.said == [
                    "over: the temporary file is not there any more", "persist ftp", "STOR \(part) 0..<1000",
                ])
            for end in [Answers.done("STOR", sent: 1000), Answers.size(1000), Answers.cut()] { again.end(end) }
            #expect(again.said == ["SIZE \(part)"])
        }
        for end in [Answers.missing, Answers.size(7)] { again.end(end) }
        #expect(again.said == ["persist ftp", "wait backoff badServerResponse"])
        #expect(
            after(begun, Answers.missing, Answers.missing) == [
                "over: the temporary file is not there any more", "persist ftp", "STOR \(part) 0..<1000",
            ])
    }

    @Test(
        "a server that takes each file away before its name is sent it five times in all, over attempts and restarts",
        .tells(
            "h took away again and again what was sent, before it had its name: look whether something clears up or scans there, then retry"
        ),
        arguments: [ExistingFilePolicy.replace, .fail], [true, false])
    func keepsVanishing(policy: ExistingFilePolicy, isRefused: Bool) {
        var point: FTPResumePoint?
        var sent = 0
        var last = ""
        for _ in 1...20 where !last.hasPrefix("fail") {
            var play = FTPPlay(FTPUpload(plan(policy, resume: point)))
            var isThere = false
            func keep() {
                for case .persist(let stored) in play.last {
                    point = ResumePoint(encoded: stored.encoded)?.content(FTPResumePoint.self)
                }
            }
            keep()
            while let word = play.said.last, !word.hasPrefix("wait"), !word.hasPrefix("fail") {
                switch word {
                case "STOR \(part) 0..<1000":
                    (sent, isThere) = (sent + 1, true)
                    play.end(Answers.done("STOR", sent: 1000))
                case "SIZE \(part)": play.end(isThere ? Answers.size(1000) : Answers.missing)
                case "SIZE f": play.end(policy == .replace ? Answers.size(7) : Answers.missing)
                case name:
                    isThere = false
                    play.end(isRefused ? Answers.refused(550, "RNFR") : Answers.cut())
                default: return #expect(Bool(false), "\(word)")
                }
                keep()
            }
            last = play.said.last ?? ""
        }
        #expect(last == "fail badServerResponse" && sent == 5)
        // Whoever has looked and retries has it counted anew.
        #expect(point != nil && point?.vanished == nil && point?.publishing == false)
    }

    @Test(
        "a server that forbids to rename what it has gets the file under its final name after the third refusal",
        .tells(
            "h answered 550 (Permission denied.) to the rename",
            "a file of that name is there already, at h"))
    func forbidsRenames() {
        let refusal = Answers.refused(550, "RNFR", text: "Permission denied.")
        var resume: FTPResumePoint?
        for _ in 1...2 {
            var upload = FTPPlay(FTPUpload(plan(resume: resume)))
            if resume == nil { upload.end(Answers.done("STOR", sent: 1000)) }
            upload.end(Answers.size(1000))
            #expect(upload.said.last == name)
            #expect(after(upload, refusal) == ["SIZE \(part)"])
            upload.end(refusal)
            upload.end(Answers.size(1000))
            #expect(upload.said == ["persist ftp", "wait backoff http"])
            resume = upload.machine.point
            #expect(resume?.publishing == false)
        }
        var last = FTPPlay(FTPUpload(plan(resume: resume)))
        for end in [Answers.size(1000), refusal, Answers.size(1000)] { last.end(end) }
        #expect(
            last.said == [
                "learned refusedRenames=1", "over: the server refuses to rename it, time after time", "persist ftp",
                "*DELE \(part)",
            ])
        last.end(Answers.refused(550, "DELE", text: "Permission denied."))
        last.end(Answers.missing)
        #expect(last.said == ["STOR f 0..<1000"])
        #expect(last.machine.unremoved.count == 1)
        // A no takes back the intent of the rename that it was said to, not that of an earlier one.
        var doubted = FTPResumePoint(temporary: RawPath(part))
        doubted.publishing = true
        var doubtful = FTPPlay(FTPUpload(plan(resume: doubted)))
        for end in [Answers.size(1000), refusal, Answers.size(1000)] { doubtful.end(end) }
        #expect(doubtful.said == ["persist ftp", "wait backoff http"] && doubtful.machine.point.publishing)
        // What the final name had before a removal took its time says nothing any more.
        var slow = FTPPlay(FTPUpload(plan(.fail)))
        for end in [Answers.missing, Answers.done("STOR", sent: 1000), Answers.size(1000), Answers.missing] {
            slow.end(end)
        }
        for end in [Answers.refused(502, "RNFR"), Answers.cut()] { slow.end(end) }
        #expect(slow.said == ["SIZE f"])
        slow.end(Answers.size(7))
        #expect(slow.said.last == "fail destinationExists")
        // A rename that works afterwards shows that the others were refused for a reason of their own.
        var facts = HostFacts()
        facts.refusedRenames = 1
        var works = FTPPlay(FTPUpload(plan(facts: facts)))
        for end in [Answers.done("STOR", sent: 1000), Answers.size(1000), Answers.done("RNTO")] { works.end(end) }
        #expect(works.said == ["learned refusedRenames=0", "finish 1000 size"])
    }

    @Test("a server without renaming gets files under their final names, and that is remembered")
    func cannotRename() {
        var upload = renaming()
        upload.end(Answers.refused(502, "RNFR"))
        #expect(
            upload.said == [
                "learned cannotRename=true", "over: the server cannot rename files", "persist ftp", "*DELE \(part)",
            ])
        upload.end(Answers.done("DELE"))
        #expect(upload.said == ["persist ftp", "SIZE f"])
        upload.end(Answers.missing)
        #expect(upload.said == ["STOR f 0..<1000"])
        upload.end(Answers.done("STOR", sent: 1000))
        upload.end(Answers.size(1000))
        #expect(upload.said == ["accepted 1000", "persist ftp", "*MFMT 20261121120000 f"])
        #expect(after(upload, Answers.done("MFMT")) == ["finish 1000 size"])
        #expect(after(upload, Answers.cut()) == ["finish 1000 size"])

        var facts = HostFacts()
        facts.cannotRename = true
        let known = FTPPlay(FTPUpload(plan(.fail, facts: facts)))
        #expect(after(known, Answers.missing) == ["persist ftp", "STOR f 0..<1000"])
        // What stands there is our own once bytes are known to have come there, and not before.
        var point = FTPResumePoint(temporary: RawPath("f"))
        for size in [400, 1000] as [Int64] {
            let others = FTPPlay(FTPUpload(plan(.fail, facts: facts, resume: point)))
            #expect(after(others, Answers.size(size)) == ["fail unknownOutcome"])
            // Only who says so has it replaced, whole.
            let replacing = FTPPlay(FTPUpload(plan(.replace, facts: facts, resume: point)))
            #expect(after(replacing, Answers.size(size)).last == "STOR f 0..<1000")
        }
        var changed = plan(.fail, facts: facts, resume: point)
        changed.subject.hasChanged = true
        #expect(after(FTPPlay(FTPUpload(changed)), Answers.size(400)) == ["fail destinationExists"])
        point.owned = .free(upTo: 1000)
        var arrived = plan(.fail, facts: facts, resume: point)
        arrived.subject.hasArrived = true
        (point.owned, point.seen) = (nil, 100)
        for plan in [arrived, plan(.fail, facts: facts, resume: point)] {
            let own = FTPPlay(FTPUpload(plan))
            #expect(after(own, Answers.size(400), Answers.size(400)).last == "APPE f 400..<1000")
        }
    }

    @Test(
        "a digest is compared where the server can tell one, and asked for only when wanted",
        .tells(
            "h has the file but tells no SHA-256 of it",
            "h has other bytes than were sent (their SHA-256 differs): "))
    func digests() {
        let hex = String(repeating: "ab", count: 32)
        var upload = FTPPlay(FTPUpload(plan(verify: .digest)))
        upload.end(Answers.done("STOR", sent: 1000))
        upload.end(Answers.size(1000))
        #expect(upload.said == ["accepted 1000", "XSHA256 \(part)"])
        #expect(after(upload, Answers.refused(500, "XSHA256")) == ["fail integrity"])
        #expect(after(upload, Answers.refused(421, "XSHA256")) == ["wait backoff networkConnectionLost"])
        #expect(after(upload, Answers.done("XSHA256", text: "no idea")) == ["fail integrity"])
        upload.end(Answers.done("XSHA256", text: "\(hex.uppercased()) \(part)"))
        #expect(upload.said == ["digest"])
        var same = upload
        same.take(same.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: hex))))
        #expect(same.said == ["persist ftp", name])
        same.end(Answers.done("RNTO"))
        #expect(same.said == ["finish 1000 digest"])
        upload.take(upload.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: "00"))))
        #expect(upload.said.first == "over: the server has other bytes (their SHA-256 differs)")
        for end in [
            Answers.done("DELE"), Answers.done("STOR", sent: 1000), Answers.size(1000),
            Answers.done("XSHA256", text: "\(hex) \(part)"),
        ] { upload.end(end) }
        upload.take(upload.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: "00"))))
        #expect(upload.said == ["fail integrity"])
    }

    @Test("a digest that was compared before a rename whose answer was lost holds in the next attempt")
    func comparedBefore() throws {
        let digest = TransferDigest(algorithm: "sha-256", value: String(repeating: "ab", count: 32))
        var first = FTPPlay(FTPUpload(plan(.fail, verify: .digest)))
        for end in [Answers.missing, Answers.done("STOR", sent: 1000), Answers.size(1000)] { first.end(end) }
        first.end(Answers.done("XSHA256", text: "\(digest.value) \(part)"))
        first.take(first.machine.handle(.digested(digest)))
        first.end(Answers.missing)
        #expect(first.said == ["persist ftp", name])
        guard case .persist(let stored)? = first.last.first else { return #expect(Bool(false)) }
        let point = try #require(ResumePoint(encoded: stored.encoded)?.content(FTPResumePoint.self))
        #expect(point.compared == digest)
        let next = FTPPlay(FTPUpload(plan(.fail, verify: .digest, resume: point)))
        #expect(after(next, Answers.missing, Answers.size(1000)) == ["finish 1000 digest found"])
        // Not of bytes that are sent after it.
        var anew = next
        for end in [Answers.missing, Answers.missing] { anew.end(end) }
        #expect(anew.said.last == "STOR \(part) 0..<1000")
        for end in [Answers.done("STOR", sent: 1000), Answers.size(1000)] { anew.end(end) }
        #expect(anew.said.last == "XSHA256 \(part)")
        // What stood there is told by size and time alone.
        let stood = FTPPlay(FTPUpload(plan(.fail, verify: .digest)))
        #expect(after(stood, Answers.size(1000)) == ["fail destinationExists"])
    }

    @Test("the resume point survives its coding, and damage is no resume point")
    func coding() {
        var point = FTPResumePoint(temporary: RawPath([0xFF, 0x2F, 0x41]), generation: 3)
        point.seen = 5
        point.publishing = true
        #expect(ResumePoint(encoded: ResumePoint(point).encoded)?.content(FTPResumePoint.self) == point)
        point.generation = 0
        #expect(ResumePoint(encoded: ResumePoint(point).encoded)?.content(FTPResumePoint.self) == nil)
    }

    @Test("temporary names stay in the folder, hidden, and within 255 bytes")
    func temporaryNames() {
        func name(_ path: String, _ generation: Int = 1) -> String {
            TemporaryName.beside(RawPath(path), token: "0123456789ab", generation: generation).displayed
        }
        #expect(name("a/b/c") == "a/b/.c.01234567.martlet-part")
        #expect(name("/c", 12) == "/.c.01234567-12.martlet-part")
        let long = TemporaryName.beside(RawPath("x/" + String(repeating: "é", count: 127)), token: "0123456789ab")
        #expect(long.bytes.count <= 257)
        #expect(long.text != nil)
        #expect(long.displayed.hasSuffix("é.01234567.martlet-part"))
    }

    @Test(
        "addresses are taken apart",
        arguments: [
            ("ftp://h/a/b", "none h 21 a/b"), ("ftp://H:2121/a", "none h 2121 a"), ("ftps://h/", "implicit h 990 "),
            ("ftpes://h//etc/x", "explicit h 21 /etc/x"), ("ftp://h/%2Fetc/a%20b", "none h 21 /etc/a b"),
            ("ftp://[::1]:21/x", "none [::1] 21 x"), ("ftp://[::1]/x", "none [::1] 21 x"), ("ftp://h", "none h 21 "),
            ("ftp://u@h/a", nil), ("ftp://h/a%0D%0ADELE", nil), ("http://h/a", nil), ("ftp://h/a?b", nil),
            ("ftp:///a", nil), ("ftp://h:0/a", nil),
        ] as [(String, String?)])
    func addresses(text: String, expected: String?) {
        let address = FTPAddress(text)
        #expect(address.map { "\($0.security) \($0.host) \($0.port) \($0.path)" } == expected)
    }
}
