import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let token = "0123456789abcdef0123456789abcdef"
private let part = "a/.f.01234567.martlet-part"
private let second = "a/.f.01234567-2.martlet-part"
private let name = "*MFMT 20261121120000 \(part); RNFR \(part); RNTO a/f"

private typealias Answers = FTPAnswers

private func plan(
    size: Int64 = 1000, ifExists: ExistingFilePolicy = .replace, verify: VerificationWish? = nil,
    changed: Bool = false, facts: HostFacts = HostFacts(), resume: FTPResumePoint? = nil
) -> FTPUploadPlan {
    FTPUploadPlan(
        host: "h", path: RawPath("a/f"),
        subject: UploadSubject(
            name: RawPath("f"), size: size, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
            verify: verify, token: .digits(token), hasChanged: changed),
        facts: facts, resume: resume)
}

private func play(_ plan: FTPUploadPlan, _ ends: FTPEnd...) -> FTPPlay<FTPUpload> {
    var play = FTPPlay(FTPUpload(plan))
    for end in ends { play.end(end) }
    return play
}

private func left(_ seen: Int64 = 0, publishing: Bool = false) -> FTPResumePoint {
    var point = FTPResumePoint(temporary: RawPath(part))
    point.seen = seen
    point.publishing = publishing
    return point
}

@Suite struct FTPUploadTests {
    @Test("a file goes under a temporary name that is durable first, is measured, and gets its time and name")
    func straightThrough() {
        var upload = play(plan())
        #expect(upload.said == ["persist ftp", "STOR \(part) 0..<1000"])
        upload.end(Answers.done("STOR", sent: 1000))
        #expect(upload.said == ["SIZE \(part)"])
        upload.end(Answers.size(1000))
        #expect(upload.said == ["accepted 1000", "persist ftp", name])
        upload.end(Answers.done("RNTO"))
        #expect(upload.said == ["finish 1000 size"])
    }

    @Test("a login that a proxy refuses is waited for, and not shown again and again")
    func refusedByProxy() {
        let error = TransferError(.http, "the proxy wants another user", .queued("give it"), httpStatus: 407)
        let upload = play(plan(), FTPEnd(FTPAnswer(), failure: .network(error), at: noon))
        #expect(upload.said == ["wait auth http"])
    }

    @Test("an empty file is sent like any other, and nothing is said of a wish for no check")
    func edges() {
        let ends = [Answers.done("STOR"), Answers.size(0), Answers.done("RNTO")]
        var empty = play(plan(size: 0))
        #expect(empty.said.last == "STOR \(part) 0..<0")
        for end in ends { empty.end(end) }
        #expect(empty.said == ["finish 0 size"])
        let unchecked = play(
            plan(verify: VerificationWish.none), Answers.done("STOR", sent: 1000), Answers.size(1000),
            Answers.done("RNTO"))
        #expect(unchecked.said == ["finish 1000 none"])
    }

    @Test(
        "the rule for a file that is there is looked up before anything is sent",
        arguments: [
            (ExistingFilePolicy.fail, Answers.missing, ["persist ftp", "STOR \(part) 0..<1000"]),
            (.fail, Answers.size(7), ["fail destinationExists"]),
            (.rename, Answers.size(7), ["fail destinationExists"]),
            (.resume, Answers.size(7), ["fail destinationExists"]),
            // Size alone is never the same.
            (.fail, Answers.size(1000, modified: nil), ["fail destinationExists"]),
            (.fail, Answers.size(1000, modified: Timestamp(milliseconds: 0)), ["fail destinationExists"]),
            (.fail, Answers.size(1000), ["finish 1000 size found"]),
            (.skip, Answers.size(7), ["finish 1000 none skipped"]),
            (.skip, Answers.missing, ["persist ftp", "STOR \(part) 0..<1000"]),
            (.fail, Answers.noSize, ["fail integrity"]),
            (.fail, Answers.refused(530, "PASS"), ["wait auth http"]),
            (.fail, Answers.refused(421, "SIZE"), ["wait backoff networkConnectionLost"]),
            (.fail, Answers.refused(450, "SIZE"), ["wait backoff networkConnectionLost"]),
            (.fail, Answers.refused(553, "SIZE"), ["fail permissionDenied"]),
            // To forbid the question is not to say that nothing is there; a name may say what it likes.
            (.fail, Answers.refused(550, "SIZE", text: "f: Permission denied"), ["fail unsupported"]),
            (.skip, Answers.refused(550, "SIZE", text: "Access is denied."), ["fail unsupported"]),
            (
                .fail, Answers.refused(550, "SIZE", text: "a/f: No such file or directory"),
                ["persist ftp", "STOR \(part) 0..<1000"]
            ),
            (
                .fail, Answers.refused(550, "SIZE", text: "Datei nicht gefunden"),
                ["persist ftp", "STOR \(part) 0..<1000"]
            ),
            (.fail, Answers.refused(550, "SIZE", text: "Denied"), ["fail unsupported"]),
            (.fail, Answers.cut(error: refused), ["wait backoff cannotConnectToHost"]),
            (.fail, Answers.cut(error: badCertificate), ["fail tlsFailure"]),
        ])
    func existing(policy: ExistingFilePolicy, end: FTPEnd, expected: [String]) {
        let upload = play(plan(ifExists: policy))
        #expect(upload.said == ["SIZE a/f"])
        // What is known to be another file is no proof by its length and time.
        #expect(play(plan(ifExists: .fail, changed: true), Answers.size(1000)).said == ["fail destinationExists"])
        #expect(play(plan(ifExists: policy), end).said == expected)
    }

    @Test("a name that a refusal repeats says nothing of its reason")
    func names() {
        for (text, name, isFree) in [
            ("docs/permissions.md: No such file or directory", "docs/permissions.md", true),
            ("permissions.md: nicht gefunden", "docs/permissions.md", true),
            ("No such file: my permit list.txt", "my permit list.txt", true),
            ("No such file: my permit list.txt", "f", false), ("not found/f: Permission denied", "not found/f", false),
            ("Access denied", "denied", false), ("denied: denied", "denied", false), ("Forbidden", "f", false),
        ] {
            var end = Answers.refused(550, "SIZE", text: text)
            end.names = [RawPath(name)]
            #expect(end.isFree == isFree && end.isUntold != isFree, "\(text)")
        }
    }

    @Test(
        "a server that does not tell what has the name gets nothing, unless it may be replaced",
        .tells("h can neither tell what is there nor refuse to replace it"))
    func untold() {
        for policy in [ExistingFilePolicy.fail, .skip] {
            let upload = plan(ifExists: policy, verify: VerificationWish.none)
            #expect(play(upload, Answers.noSize).said == ["fail unsupported"])
            // It told before the bytes went, and does not any more: the temporary file goes.
            let sent = [Answers.missing, Answers.done("STOR", sent: 1000), Answers.size(1000)]
            var late = play(upload, sent[0], sent[1], sent[2])
            #expect(late.said.last == "SIZE a/f")
            late.end(Answers.refused(550, "SIZE", text: "Permission denied"))
            #expect(late.said.last == "*DELE \(part)")
            late.end(Answers.done("DELE"))
            #expect(late.said == ["fail unsupported"])
        }
    }

    @Test(
        "a refused STOR means what its reply says: 4xx passes, 5xx stays",
        .tells(
            "h answered 500 (no): it does not know that; send the file another way",
            "h answered 501 (no): check the address and the server's log, then retry"),
        arguments: [
            (421, "wait backoff networkConnectionLost"), (425, "wait backoff networkConnectionLost"),
            (426, "wait backoff networkConnectionLost"), (450, "wait backoff networkConnectionLost"),
            (451, "wait backoff networkConnectionLost"), (452, "wait remoteDiskSpace http"),
            (552, "wait remoteDiskSpace http"), (530, "wait auth http"), (532, "wait auth http"),
            (550, "fail permissionDenied"), (553, "fail permissionDenied"), (500, "fail unsupported"),
            (502, "fail unsupported"), (504, "fail unsupported"), (501, "fail http"), (522, "fail http"),
            (551, "fail http"),
        ])
    func refusals(reply: Int, expected: String) {
        #expect(play(plan(), Answers.refused(reply, sent: 10)).said == [expected])
    }

    @Test("a full disk has many words")
    func fullDisk() {
        for (reply, text) in [
            (451, "Failure writing to local file."), (426, "[Errno 28] No space left on device; transfer aborted."),
            (550, "Quota exceeded"), (452, "x"),
        ] {
            let end = Answers.refused(reply, text: text, sent: 10)
            #expect(play(plan(), end).said == ["wait remoteDiskSpace http"])
        }
    }

    @Test("a server that lets nobody in says so with many codes; too many users is no wrong password")
    func login() {
        var wrong = Answers.refused(430, "PASS")
        wrong.answer.isLoginRefused = true
        #expect(play(plan(), wrong).said == ["wait hostBackoff networkConnectionLost"])
        var full = Answers.refused(530, "USER", text: "Sorry, the maximum number of clients is connected")
        full.answer.isLoginRefused = true
        #expect(play(plan(), full).said == ["wait hostBackoff networkConnectionLost"])
        var never = Answers.refused(501, "PASS")
        never.answer.isLoginRefused = true
        #expect(play(plan(), never).said == ["wait auth http"])
    }

    @Test("a cut waits; the next attempt asks twice where the server stands, and appends from there")
    func resumes() {
        #expect(play(plan(), Answers.cut(sent: 400)).said == ["wait backoff networkConnectionLost"])
        var upload = play(plan(resume: left()))
        #expect(upload.said == ["SIZE \(part)"])
        upload.end(Answers.size(300))
        #expect(upload.said == ["wake probeAgain 0.25 seconds"])
        // A dead connection's bytes still arrive.
        upload.end(Answers.size(350))
        #expect(upload.said == ["wake probeAgain 0.5 seconds"])
        upload.end(Answers.size(350))
        #expect(upload.said == ["resumed 350", "accepted 350", "persist ftp", "APPE \(part) 350..<1000"])
        upload.end(Answers.done("APPE", sent: 650))
        upload.end(Answers.size(1000))
        // It was begun by another attempt: somebody may have put a file there. Replacing does not care.
        #expect(upload.said == ["accepted 1000", "persist ftp", name])
    }

    @Test("where nothing came of the last attempt a little is sent first, so that a full server can be heard")
    func stuck() {
        let stuck = plan(size: 100_000, resume: left(50_000))
        var upload = play(stuck, Answers.size(50_000), Answers.size(50_000))
        #expect(upload.said.last == "APPE \(part) 50000..<54096")
        var full = upload
        full.end(Answers.refused(552, "APPE", text: "No space left on device", sent: 4096))
        #expect(full.said == ["wait remoteDiskSpace http"])
        upload.end(Answers.done("APPE", sent: 4096))
        upload.end(Answers.size(54_096))
        #expect(upload.said == ["accepted 54096", "persist ftp", "APPE \(part) 54096..<100000"])
        // Little is left: it is all in there.
        let nearly = play(plan(resume: left(900)), Answers.size(900), Answers.size(900))
        #expect(nearly.said.last == "APPE \(part) 900..<1000")
    }

    @Test("an attempt that went on looks at the target once more before it takes the name")
    func looksAgain() {
        let ends = [Answers.size(300), Answers.size(300), Answers.done("APPE", sent: 700), Answers.size(1000)]
        var upload = FTPPlay(FTPUpload(plan(ifExists: .fail, resume: left())))
        for end in ends { upload.end(end) }
        #expect(upload.said == ["accepted 1000", "SIZE a/f"])
        var free = upload
        free.end(Answers.missing)
        #expect(free.said == ["persist ftp", name])
        var taken = upload
        taken.end(Answers.size(7))
        #expect(taken.said == ["*DELE \(part)"])
        taken.end(Answers.done("DELE"))
        #expect(taken.said == ["fail destinationExists"])
        var large = play(plan(size: 2 << 20, ifExists: .skip), Answers.missing, Answers.done("STOR", sent: 2 << 20))
        large.end(Answers.size(2 << 20))
        #expect(large.said == ["accepted 2097152", "SIZE a/f"])
    }

    @Test("what an earlier attempt left is taken as it is found")
    func leftovers() {
        #expect(play(plan(resume: left()), Answers.size(0)).said == ["STOR \(part) 0..<1000"])
        #expect(
            play(plan(resume: left()), Answers.size(1000)).said == [
                "resumed 1000", "accepted 1000", "persist ftp", name,
            ])
        #expect(play(plan(resume: left()), Answers.missing).said == ["persist ftp", "STOR \(part) 0..<1000"])
        #expect(
            play(plan(resume: left(300)), Answers.missing).said == [
                "over: the temporary file is not there any more", "persist ftp", "STOR \(part) 0..<1000",
            ])
        // Longer than the source: libcurl would call that a success.
        let longer = play(plan(resume: left()), Answers.size(1001))
        #expect(longer.said == ["over: the temporary file is longer than the source", "*DELE \(part)"])
        #expect(
            play(plan(resume: left()), Answers.size(1001), Answers.done("DELE")).said == [
                "persist ftp", "STOR \(second) 0..<1000",
            ])
        #expect(play(plan(resume: left()), Answers.cut()).said == ["wait backoff networkConnectionLost"])
        #expect(play(plan(resume: left(1)), Answers.refused(530, "PASS")).said == ["wait auth http"])
    }

    @Test("a source that changed is sent under another name, and the old file goes")
    func changedSource() {
        let upload = play(plan(changed: true, resume: left(300)))
        #expect(upload.said == ["*DELE \(part)"])
        for end in [Answers.done("DELE"), Answers.refused(550, "DELE"), Answers.cut()] {
            #expect(
                play(plan(changed: true, resume: left(300)), end).said == ["persist ftp", "STOR \(second) 0..<1000"])
        }
        // A file that is not gone by the server's word stays known.
        for (end, isLeft) in [
            (Answers.done("DELE"), false), (Answers.missing, false), (Answers.cut(), true),
            (Answers.refused(450, "DELE"), true), (Answers.refused(550, "DELE", text: "Permission denied"), true),
        ] {
            let old = ResumePoint(FTPResumePoint(temporary: RawPath(part)))
            #expect(play(plan(changed: true, resume: left(300)), end).machine.unremoved == (isLeft ? [old] : []))
        }
        // A server that was not reached is asked by the next attempt: until then the stored point names the old file.
        let unreached = play(plan(changed: true, resume: left(300)), Answers.cut(error: refused))
        #expect(unreached.said == ["wait backoff cannotConnectToHost"])
    }

    @Test("an answer that was lost after the last byte is asked after at once")
    func lostAnswer() {
        let cut = Answers.cut(sent: 1000)
        #expect(play(plan(), cut).said == ["SIZE \(part)"])
        #expect(play(plan(), cut, Answers.size(1000)).said == ["accepted 1000", "persist ftp", name])
        #expect(play(plan(), cut, Answers.size(900)).said == ["wait backoff networkConnectionLost"])
        #expect(play(plan(), cut, Answers.missing).said == ["wait backoff networkConnectionLost"])
        #expect(play(plan(), cut, Answers.cut(error: refused)).said == ["wait backoff cannotConnectToHost"])
        // 426 after everything was sent is the same.
        #expect(play(plan(), Answers.refused(426, sent: 1000)).said == ["SIZE \(part)"])
        #expect(play(plan(), Answers.refused(552, sent: 1000)).said == ["wait remoteDiskSpace http"])
    }

    @Test(
        "226 with less than everything is seen, and the tail is sent again",
        .tells(
            "h does not tell the size of a file (SIZE)",
            "h took the file, but it is not there",
            "h said that it has the file, but has 999 of 1000 bytes"))
    func lostTail() {
        let stored = Answers.done("STOR", sent: 1000)
        var upload = play(plan(), stored, Answers.size(980))
        #expect(upload.said == ["accepted 980", "persist ftp", "APPE \(part) 980..<1000"])
        upload.end(Answers.done("APPE", sent: 20))
        upload.end(Answers.size(995))
        #expect(upload.said == ["accepted 995", "persist ftp", "APPE \(part) 995..<1000"])
        upload.end(Answers.done("APPE", sent: 5))
        upload.end(Answers.size(999))
        upload.end(Answers.done("APPE", sent: 1))
        upload.end(Answers.size(999))
        #expect(upload.said == ["wait backoff badServerResponse"])
        #expect(
            play(plan(), stored, Answers.size(0)).said == ["over: the server has less than it said", "*DELE \(part)"])
        #expect(
            play(plan(), stored, Answers.size(1003)).said == [
                "over: the temporary file is longer than what was sent", "*DELE \(part)",
            ])
        #expect(
            play(plan(), stored, Answers.missing).said == ["persist ftp", "wait backoff networkConnectionLost"])
        #expect(play(plan(), stored, Answers.noSize).said == ["fail integrity"])
        #expect(play(plan(verify: VerificationWish.none), stored, Answers.noSize).said == ["persist ftp", name])
    }

    @Test("APPE that writes over, or is not known, is remembered, and the file goes whole")
    func cannotResume() {
        let going = [Answers.size(300), Answers.size(300)]
        for end in [Answers.size(700), Answers.size(300)] {
            var upload = FTPPlay(FTPUpload(plan(resume: left())))
            for end in going + [Answers.done("APPE", sent: 700), end] { upload.end(end) }
            #expect(
                upload.said == [
                    "learned cannotResume=true", "over: the server cannot go on in the middle", "*DELE \(part)",
                ])
            upload.end(Answers.done("DELE"))
            #expect(upload.said == ["persist ftp", "STOR \(second) 0..<1000"])
        }
        var unknown = FTPPlay(FTPUpload(plan(resume: left())))
        for end in going + [Answers.refused(502, "APPE")] { unknown.end(end) }
        #expect(unknown.said.first == "learned cannotResume=true")
        // Two writers at once prove nothing about APPE.
        var both = FTPPlay(FTPUpload(plan(resume: left())))
        for end in going + [Answers.done("APPE", sent: 700), Answers.size(1050)] { both.end(end) }
        #expect(both.said == ["over: the temporary file is longer than what was sent", "*DELE \(part)"])
        var facts = HostFacts()
        facts.cannotResume = true
        #expect(
            play(plan(facts: facts, resume: left()), Answers.size(300)).said == [
                "over: the server cannot go on in the middle", "*DELE \(part)",
            ])
        #expect(play(plan(facts: facts, resume: left()), Answers.size(1000)).said.last == name)
    }

    @Test("losing the right to send in the middle is a pause")
    func lostRight() {
        let going = [Answers.size(300), Answers.size(300)]
        for (reply, expected) in [
            (530, "wait auth http"), (550, "wait auth permissionDenied"), (552, "wait remoteDiskSpace http"),
        ] {
            var upload = FTPPlay(FTPUpload(plan(resume: left())))
            for end in going + [Answers.refused(reply, "APPE")] { upload.end(end) }
            #expect(upload.said == [expected])
        }
    }

    @Test("events of other exchanges and late ones change nothing")
    func lateEvents() {
        var upload = FTPUpload(plan())
        _ = upload.handle(.began(at: noon))
        #expect(upload.handle(.ftpEnded(ExchangeID(rawValue: 9), Answers.done("STOR"))).isEmpty)
        #expect(upload.handle(.timerFired(.probeAgain)).isEmpty)
        #expect(upload.handle(.began(at: noon)).isEmpty)
        #expect(upload.handle(.ftpEnded(ExchangeID(rawValue: 1), Answers.cut())).count == 1)
        #expect(upload.handle(.ftpEnded(ExchangeID(rawValue: 1), Answers.done("STOR"))).isEmpty)
    }

    @Test("a removal takes the temporary file, never the target")
    func removal() {
        var removal = FTPPlay(FTPRemoval(left(), target: RawPath("a/f"), host: "h"))
        #expect(removal.said == ["*DELE \(part)"])
        removal.end(Answers.done("DELE"))
        #expect(removal.said == ["finish 0 none"])
        var later = FTPPlay(FTPRemoval(left(), target: RawPath("a/f"), host: "h"))
        later.end(Answers.cut())
        #expect(later.said == ["wait backoff networkConnectionLost"])
        let straight = FTPPlay(FTPRemoval(FTPResumePoint(temporary: RawPath("a/f")), target: RawPath("a/f"), host: "h"))
        #expect(straight.said == ["finish 0 none"])
    }

    @Test("a reply's text is kept to its beginning, however long the line is")
    func longReplies() {
        for byte in ["a", "\u{1}", "\u{FFFD}"] {
            let reply = FTPReply(code: 550, text: String(repeating: byte, count: 250_000))
            #expect(!reply.text.isEmpty && reply.text.utf8.count <= 1200)
        }
    }
}
