import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let version = RemoteVersion(lastModified: "77", isDateStrong: true, total: 1000)

private func point(_ offset: Int64, _ version: RemoteVersion = version) -> GetResumePoint {
    GetResumePoint(version: version, offset: offset, name: RawPath("f"))
}

private func plan(
    _ resume: GetResumePoint? = nil, verify: VerificationWish? = nil, expects: TransferDigest? = nil
) -> SFTPDownloadPlan {
    SFTPDownloadPlan(host: "h", path: RawPath("d/f"), verify: verify, expects: expects, resume: resume)
}

private func status(_ size: Int64?, _ modified: Int64?, isFolder: Bool = false) -> SFTPEnd.Outcome {
    .answered(.attributes(SFTPAttributes(size: size, modified: modified, isFolder: isFolder)))
}

private let opened = SFTPEnd.Outcome.answered(.opened(SFTPHandle(rawValue: 9)))
/// As it is printed inside of an operation.
private let handle = "WireOperations.SFTPHandle(rawValue: 9)"

/// Feeds the ends of the operations asked for, in their order; gives back the words of the last actions.
private func run(_ plan: SFTPDownloadPlan, _ ends: (SFTPEnd.Outcome, read: Int64)...) -> [String] { run(plan, ends) }

private func run(_ plan: SFTPDownloadPlan, _ ends: [(SFTPEnd.Outcome, read: Int64)]) -> [String] {
    var download = SFTPDownload(plan)
    var pending: [ExchangeID] = []
    var said: [String] = []
    func note(_ actions: [ProtocolAction]) {
        for case .perform(let id, _) in actions { pending.append(id) }
        if !actions.isEmpty { said = words(actions) }
    }
    note(download.handle(.began(at: noon)))
    for (outcome, read) in ends {
        guard !pending.isEmpty else { return ["nothing was asked"] }
        note(download.handle(.sftpEnded(pending.removeFirst(), SFTPEnd(outcome, bytesWritten: read, at: noon))))
    }
    return said
}

private func end(_ reply: SFTPReply, read: Int64 = 0) -> (SFTPEnd.Outcome, read: Int64) { (.answered(reply), read) }

private func end(_ outcome: SFTPEnd.Outcome, read: Int64 = 0) -> (SFTPEnd.Outcome, read: Int64) { (outcome, read) }

@Suite struct SFTPDownloadTests {
    private let file = RawPath("d/f")

    @Test("status and file are asked together; version and name are durable before the gate opens")
    func fresh() {
        #expect(run(plan()) == ["1 status(\(file))", "2 openForReading(\(file))"])
        #expect(
            run(plan(), end(status(1000, 77)), end(opened))
                == [
                    "persist f 0 -", "3 read(\(handle), from: 0)", "open 3 at 0 skip 0 of 1000",
                ])
    }

    @Test(
        "the local name is made harmless, as that of any download",
        arguments: [
            ("d/..", "download"), ("", "download"), ("d/.", "download"), ("d/a\n\u{202E}b", "ab"), ("d/-rf", "rf"),
            ("d/x\\y", "y"), ("d/a b", "a b"),
        ])
    func names(path: String, name: String) {
        let said = run(SFTPDownloadPlan(host: "h", path: RawPath(path)), end(status(1000, 77)), end(opened))
        #expect(said.first == "persist \(name) 0 -")
    }

    @Test("a large file that was written to a moment ago is waited for once, and never gone on with by that time")
    func written() {
        let now = noon.milliseconds / 1000
        let large: Int64 = 2 << 20
        #expect(
            run(plan(), end(status(large, now - 1)), end(opened)) == [
                "3 close(\(handle))", "wake probeAgain 1.0 seconds",
            ])
        #expect(run(plan(), end(status(large, now - 2)), end(opened)).last?.hasPrefix("open") == true)
        #expect(run(plan(), end(status(1000, now)), end(opened)).last?.hasPrefix("open") == true)
        var weak = point(400, RemoteVersion(lastModified: "\(now)", isDateStrong: false, total: 1000))
        let said = run(plan(weak), end(status(1000, now)), end(opened))
        #expect(said.first == "over: the server gave nothing to recognise the version by")
        // That is no change, for who wants the version that was begun.
        var insisting = plan(weak)
        insisting.ifChanged = .fail
        #expect(run(insisting, end(status(1000, now)), end(opened)).first == said.first)
        weak.version.isDateStrong = true
        #expect(run(plan(weak), end(status(1000, now)), end(opened)).first == "resumed 400")
    }

    @Test("it is done when the open file still has the version of the beginning")
    func whole() {
        let begun = [end(status(1000, 77)), end(opened), end(.done, read: 1000)]
        #expect(
            run(plan(), begun[0], begun[1], begun[2])
                == ["4 handleStatus(\(handle))", "5 close(\(handle))"])
        #expect(run(plan(), begun[0], begun[1], begun[2], end(status(1000, 77)), end(.done)) == ["finish 1000 size"])
        #expect(
            run(plan(verify: VerificationWish.none), begun[0], begun[1], begun[2], end(status(1000, 77)), end(.done))
                == ["finish 1000 none"])
        // A server that asks by the path: the file went away, and may have been written anew before that.
        let gone = end(.refused(.noSuchFile, ""))
        #expect(
            run(plan(), begun[0], begun[1], begun[2], gone, end(.done)) == ["persist f 1000 -", "fail sourceMissing"])
        #expect(
            run(plan(verify: VerificationWish.none), begun[0], begun[1], begun[2], gone, end(.done))
                == ["finish 1000 none"])
    }

    @Test(
        "a server that tells nothing of the open file, always or this once, is asked by the name",
        arguments: [SFTPStatus.unsupported, .failure])
    func untold(status refusal: SFTPStatus) {
        let begun = [
            end(status(1000, 77)), end(opened), end(.done, read: 1000), end(.refused(refusal, "")), end(.done),
        ]
        #expect(run(plan(), begun) == ["6 status(\(file))"])
        #expect(run(plan(), begun + [end(status(1000, 77))]) == ["finish 1000 size"])
        #expect(run(plan(), begun + [end(status(1000, 78))]).first == "over: changed at the server")
        #expect(run(plan(), begun + [end(.refused(.failure, ""))]).allSatisfy { !$0.hasPrefix("finish") })
        #expect(run(plan(verify: VerificationWish.none), begun) == ["finish 1000 none"])
    }

    @Test(
        "another size or time at the end begins again, unless it is to be taken as it comes",
        arguments: [status(1000, 78), status(1001, 77)])
    func changed(last: SFTPEnd.Outcome) {
        let ends = [end(status(1000, 77)), end(opened), end(.done, read: 1000), end(last), end(.done)]
        #expect(
            run(plan(), ends)
                == ["over: changed at the server", "6 status(\(file))", "7 openForReading(\(file))"])
        #expect(run(plan(verify: VerificationWish.none), ends) == ["finish 1000 none"])
        // What is compared must be one version, and what is cut while it is read is not all of it.
        var readBack = plan(verify: VerificationWish.none)
        readBack.takesAsItComes = false
        #expect(run(readBack, ends).first == "over: changed at the server")
        let cut = [end(status(1000, 77)), end(opened), end(.done, read: 500), end(last), end(.done)]
        #expect(run(plan(verify: VerificationWish.none), cut).first == "over: changed at the server")
    }

    @Test(
        "a file that has another length than its server tells is read once more, and then refused",
        .tells(
            "h says that the file has 0 bytes and gives another number of them, as files of /proc do",
            "h says that the file has 4096 bytes and gives another number of them, as files of /proc do"),
        arguments: [0, 4096] as [Int64])
    func otherLength(told: Int64) {
        func reading(_ bytes: Int64) -> [(SFTPEnd.Outcome, read: Int64)] {
            [end(status(told, 77)), end(opened), end(.done, read: bytes), end(status(told, 77)), end(.done)]
        }
        #expect(
            run(plan(), reading(5)) == [
                "over: the server sent another number of bytes than it told", "6 status(\(file))",
                "7 openForReading(\(file))",
            ])
        #expect(run(plan(), reading(5) + reading(6)) == ["fail unsupported"])
        #expect(run(plan(), reading(5) + reading(told)) == ["finish \(told) size"])
        let asItComes = run(plan(verify: VerificationWish.none), told == 0 ? reading(5) : reading(5) + reading(5))
        #expect(asItComes == ["finish 5 none"])
        let opening = run(plan(), Array(reading(5).prefix(2))).last
        #expect(opening == "open 3 at 0 skip 0 of \(told)" + (told == 0 ? " or more" : ""))
    }

    @Test("who wants the version that was begun gets no other one, at the beginning of an attempt or at its end")
    func changedUnwanted() {
        var begun = plan()
        begun.ifChanged = .fail
        let ended = run(
            begun, end(status(1000, 77)), end(opened), end(.done, read: 1000), end(status(1000, 78)), end(.done))
        let refused = ["over: changed at the server", "persist f 0 -", "fail sourceChanged"]
        #expect(ended == refused)
        var resumed = plan(point(400))
        resumed.ifChanged = .fail
        #expect(run(resumed, end(status(1001, 77)), end(opened)) == refused)
    }

    @Test("a size that no file can have is refused before a byte is written")
    func impossibleSize() {
        for size in [Int64.max, FileSize.largest + 1] {
            #expect(run(plan(), end(status(size, 77)), end(opened)) == ["fail badServerResponse"])
            #expect(run(plan(point(400)), end(status(size, 77)), end(opened)) == ["fail badServerResponse"])
        }
        #expect(run(plan(), end(status(FileSize.largest, 77)), end(opened)).first == "persist f 0 -")
    }

    @Test(
        "a file that changes under every reading is left alone for a while",
        .tells("the file at h changes while it is read"))
    func restless() {
        var download = SFTPDownload(plan())
        var pending: [ExchangeID] = []
        var said: [String] = []
        var actions = download.handle(.began(at: noon))
        var modified: Int64 = 0
        for _ in 0..<15 {
            for case .perform(let id, _) in actions { pending.append(id) }
            if !actions.isEmpty { said = words(actions) }
            if pending.isEmpty { break }
            modified += 1
            let id = pending.removeFirst()
            let outcome: SFTPEnd.Outcome =
                switch (id.rawValue - 1) % 5 {
                case 0, 3: status(1000, modified)
                case 1: opened
                default: .answered(.done)
                }
            actions = download.handle(.sftpEnded(id, SFTPEnd(outcome, bytesWritten: 1000, at: noon)))
        }
        for case .wait in actions { said = words(actions) }
        #expect(said == ["over: changed at the server", "wait backoff badServerResponse"])
    }

    @Test("it goes on only with the version that it began with")
    func resumes() {
        #expect(
            run(plan(point(400)), end(status(1000, 77)), end(opened)).suffix(3) == [
                "persist f 400 -", "3 read(\(handle), from: 400)", "open 3 at 400 skip 0 of 1000",
            ])
        #expect(run(plan(point(400)), end(status(1000, 77)), end(opened)).first == "resumed 400")
        for other in [status(1000, 78), status(999, 77), status(1000, nil)] {
            let said = run(plan(point(400)), end(other), end(opened))
            #expect(said.first == "over: changed at the server" && said.last?.hasPrefix("open 3 at 0") == true)
        }
        #expect(
            run(
                plan(point(400)), end(status(1000, 77)), end(opened), end(.done, read: 600), end(status(1000, 77)),
                end(.done))
                == ["finish 1000 size"])
    }

    @Test("a stop after the last byte leaves the question whether the file is still the same")
    func allButProved() {
        #expect(run(plan(point(1000))) == ["1 status(\(file))", "2 openForReading(\(file))"])
        #expect(
            run(plan(point(1000)), end(status(1000, 78)), end(opened)).first == "over: changed at the server")
        var proved = point(1000)
        proved.received = .size
        #expect(run(plan(proved)) == ["finish 1000 size"])
    }

    @Test("what is synced is made durable")
    func synced() {
        var download = SFTPDownload(plan())
        _ = download.handle(.began(at: noon))
        _ = download.handle(.sftpEnded(ExchangeID(rawValue: 1), SFTPEnd(status(1000, 77), at: noon)))
        _ = download.handle(.sftpEnded(ExchangeID(rawValue: 2), SFTPEnd(opened, at: noon)))
        #expect(words(download.handle(.synced(through: 300))) == ["persist f 300 -"])
        _ = download.handle(.sftpEnded(ExchangeID(rawValue: 3), SFTPEnd(.done, bytesWritten: 1000, at: noon)))
        #expect(words(download.handle(.synced(through: 700))) == ["persist f 700 -"])
        _ = download.handle(.sftpEnded(ExchangeID(rawValue: 4), SFTPEnd(status(1000, 77), at: noon)))
        #expect(
            words(download.handle(.sftpEnded(ExchangeID(rawValue: 5), SFTPEnd(.done, at: noon)))) == [
                "finish 1000 size"
            ])
    }

    @Test(
        "refusals and failures decide as the contract says",
        .tells(
            "d/f at h is a folder: queue the files in it",
            "h does not allow us to read it",
            "h has no such file"))
    func refusals() {
        let there = end(status(1000, 77))
        #expect(
            run(plan(), end(.refused(.noSuchFile, "")), end(.refused(.noSuchFile, ""))) == ["fail sourceMissing"])
        #expect(run(plan(), there, end(.refused(.permissionDenied, ""))) == ["fail permissionDenied"])
        #expect(run(plan(point(400)), there, end(.refused(.permissionDenied, ""))) == ["wait auth permissionDenied"])
        #expect(run(plan(), end(status(4096, 1, isFolder: true)), end(.refused(.failure, ""))) == ["fail unsupported"])
        #expect(run(plan(), there, end(opened), end(.refused(.failure, ""))) == ["wait backoff badServerResponse"])
        #expect(run(plan(), there, end(opened), end(.failed(.network(lost)))) == ["wait backoff networkConnectionLost"])
        let full = ExchangeFailure.sink(TransferError(.diskFull, ""), waits: .diskSpace)
        #expect(run(plan(), there, end(opened), end(.failed(full))) == ["wait diskSpace diskFull"])
        let key = TransferError(.pinMismatch, "")
        #expect(
            run(plan(), end(.notLetIn(.hostKey, key)), end(.notLetIn(.hostKey, key))) == ["wait hostKey pinMismatch"])
    }

    @Test(
        "a digest is compared when a person gave one, and refused when the server would have to tell it",
        .tells("h tells no digest of a file over SFTP"))
    func digests() {
        #expect(run(plan(verify: .digest)) == ["fail integrity"])
        let digest = TransferDigest(algorithm: "sha-256", value: "01")
        #expect(
            run(
                plan(verify: .digest, expects: digest), end(status(1000, 77)), end(opened), end(.done, read: 1000),
                end(status(1000, 77)), end(.done)) == ["finish 1000 digest"])
    }

    @Test("a server that tells neither size nor time is read to its end, and never gone on with")
    func knowsNothing() {
        #expect(
            run(plan(), end(status(nil, nil)), end(opened), end(.done, read: 5), end(status(nil, nil)), end(.done))
                == ["finish 5 none"])
        let blind = RemoteVersion(total: nil)
        #expect(
            run(plan(point(3, blind)), end(status(nil, nil)), end(opened)).first
                == "over: the server gave nothing to recognise the version by")
    }
}
