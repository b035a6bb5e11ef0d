import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let target = HTTPAddress("http://h/d/f")!
private let size = 10 * mebibyte

/// Facts of a server of which no more is known than that it heeds conditions.
private let heeding = HostFacts { $0.heedsConditions = true }

/// Facts of a server that announced that version.
private func known(_ version: Int = 8, announces: Bool = true) -> HostFacts {
    HostFacts { ($0.interopVersion, $0.announcesResume, $0.heedsConditions) = (version, announces, true) }
}

private func machine(
    _ subject: UploadSubject = subject(size), facts: HostFacts = known(), resume: ResumableResumePoint? = nil,
    chunk: Int64? = nil
) -> ResumableUpload {
    ResumableUpload(
        ResumablePlan(address: target, subject: subject, facts: facts, resume: resume, chunk: chunk))
}

private func point(
    version: Int = 8, length: Int64 = size, cut: UploadCut? = nil, expires: Timestamp? = nil
) -> ResumableResumePoint {
    ResumableResumePoint(
        version: version, length: length, url: HTTPAddress("http://h/u"), cut: cut, begun: noon, expires: expires)
}

private let made = answered(201, ["Location: /u", "Upload-Complete: ?0"], sent: 0)
private let persisted = "persist ietf secret http://h/u"
private let incomplete = "Upload-Complete: ?0"
private let complete = "Upload-Complete: ?1"

private func stands(_ offset: Int64, _ more: String..., status: Int = 204) -> ExchangeEnd {
    answered(status, ["Upload-Offset: \(offset)"] + more, sent: 0)
}

private let wish = "Want-Repr-Digest: sha-256=10"

@Suite struct ResumableUploadTests {
    @Test("where the draft was announced the upload is made empty, its address durable, then everything follows")
    func wholeWay() {
        var drive = Drive(machine())
        #expect(drive.begin() == ["1 PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"])
        #expect(
            drive.end(made) == [
                persisted, "2 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?1 | 0..<10485760",
            ])
        #expect(drive.end(answered(200, [complete], sent: size)) == ["finish 10485760 none"])
    }

    private func replaces(_ drive: Drive) -> Bool? {
        guard case .persist(let point)? = (drive.machine as? ResumableUpload)?.persist() else { return nil }
        return point.content(ResumableResumePoint.self)?.replaces
    }

    @Test("a plain PUT in its place whose answers are lost, time after time, is not sent for ever")
    func plainAnswersLost() {
        let (cut, there) = (unanswered(lost, sent: size), answered(200, ["Content-Length: \(size)"]))
        func run(after unanswered: Int?) -> (words: [String], point: ResumePoint?) {
            var stored = StoredVersion(stored: false, etag: nil)
            stored.unanswered = unanswered
            let job = UploadJob(
                destination: target, path: RawPath([]), subject: subject(size, ifExists: .replace),
                facts: known(announces: false),
                resume: unanswered.map { _ in ResumePoint(stored) }, options: TransferOptions())
            var drive = Drive(ResumableUpload(ResumablePlan(job, target)))
            _ = drive.begin()
            for end in [cut, there] { _ = drive.end(end) }
            var machine = drive.machine
            let actions = machine.handle(.ended(ExchangeID(rawValue: 3), there))
            let point = actions.lazy.compactMap { if case .persist(let point) = $0 { point } else { nil } }.first
            return (words(actions), point)
        }
        let first = run(after: nil)
        #expect(first.words.last == "wait backoff networkConnectionLost")
        #expect(first.point?.content(StoredVersion.self)?.unanswered == 1)
        #expect(run(after: 2).words == ["fail unknownOutcome"])
    }

    @Test("a page in the place of an answer says nothing of the bytes, and takes no upload's address away")
    func pageInstead() {
        let page = ["Content-Type: text/html", "Content-Length: 7"]
        for chunk in [nil, 4 * mebibyte] as [Int64?] {
            let machine = machine(facts: known(), chunk: chunk)
            let shown = answered(200, page, sent: chunk ?? size)
            #expect(Drive.run(machine, [made, shown]) == [persisted, "3 HEAD http://h/u"])
            #expect(Drive.run(machine, [made, shown, answered(200, page)]) == ["wait backoff networkConnectionLost"])
            #expect(Drive.run(machine, [made, shown, stands(0)]).last?.hasPrefix("4 PATCH http://h/u") == true)
        }
    }

    @Test("lost answers of uploads that may have become the file, which would be sent again each time, are counted")
    func answersLost() {
        func run(_ ifExists: ExistingFilePolicy = .replace, after unanswered: Int?) -> [String] {
            var resume = point(cut: UploadCut(offset: 0, sent: size))
            resume.unanswered = unanswered
            let job = UploadJob(
                destination: target, path: RawPath([]), subject: subject(size, ifExists: ifExists), facts: known(),
                resume: ResumePoint(resume), options: TransferOptions())
            let gone = answered(410, sent: 0)
            let there = answered(200, ["Content-Length: \(size)"])
            return Drive.run(ResumableUpload(ResumablePlan(job, target)), [gone, there, there])
        }
        #expect(run(after: nil).last?.contains("PUT") == true)
        #expect(run(after: 1).last?.contains("PUT") == true)
        #expect(run(after: 2) == ["fail unknownOutcome"])
        // Where nothing is replaced the server's own rule ends it.
        #expect(run(.fail, after: 2).last?.contains("PUT") == true)
    }

    @Test("an upload that was made to replace what is there is not gone on with once it may not")
    func mayNotReplace() {
        var drive = Drive(machine(subject(size, ifExists: .replace)))
        _ = drive.begin()
        _ = drive.end(made)
        var resume = point()
        resume.replaces = true
        #expect(replaces(drive) == true)
        var goesOn = Drive(machine(subject(size, ifExists: .replace), resume: resume))
        #expect(goesOn.begin() == ["1 HEAD http://h/u"])
        drive = Drive(machine(resume: resume))
        #expect(drive.begin() == ["1 HEAD http://h/u"])
        #expect(
            drive.end(stands(1000)) == [
                "over: it was begun to replace what is there, which it may not any more", "2 DELETE http://h/u",
            ])
        #expect(
            drive.end(answered(204)) == ["3 PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"])
        _ = drive.end(made)
        #expect(replaces(drive) == nil)
    }

    @Test(
        "a server that is not known to heed conditions is asked what has the name, once an attempt",
        .tells("h answered with a web page, as no server of resumable uploads does"))
    func lookFirst() {
        let facts = HostFacts { ($0.interopVersion, $0.announcesResume) = (8, true) }
        let creation = "2 PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"
        let there = answered(200, ["Content-Length: 7"])
        #expect(Drive.run(machine(facts: facts), []) == ["1 HEAD http://h/d/f"])
        #expect(Drive.run(machine(facts: facts), [there]) == ["2 HEAD http://h/d/f"])
        #expect(Drive.run(machine(facts: facts), [there, there]) == ["fail destinationExists 412"])
        let page = answered(200, ["Content-Type: text/html", "Content-Length: 7"])
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            let machine = machine(subject(size, ifExists: ifExists), facts: facts)
            #expect(Drive.run(machine, [page, page]) == ["3 HEAD http://h/d/martlet-01234567-f"])
            #expect(Drive.run(machine, [page, page, page]) == ["wait backoff badServerResponse"])
            let end = ifExists == .skip ? "finish 10485760 none skipped" : "fail destinationExists 412"
            #expect(Drive.run(machine, [page, page, answered(404)]) == [end])
        }
        let instead = [answered(404), page]
        #expect(Drive.run(machine(facts: facts), instead) == ["wait backoff badServerResponse"])
        #expect(Drive.run(machine(facts: facts), [answered(503)]) == ["wait hostBackoff http"])
        for status in [404, 403, 501] {
            #expect(Drive.run(machine(facts: facts), [answered(status)]) == [creation])
            #expect(Drive.run(machine(facts: facts), [answered(status), made]).last?.hasPrefix("3 PATCH") == true)
        }
        let receiver = answered(404, ["Server: martlet-receive"])
        #expect(Drive.run(machine(facts: facts), [receiver]) == ["learned heedsConditions=true", creation])
        // A redirect leads to another name.
        let moved = answered(307, ["Location: http://h/e/f"], sent: 0)
        #expect(Drive.run(machine(facts: facts), [answered(404), moved]) == ["3 HEAD http://h/e/f"])
        // Days may have passed since it was made.
        let resumed = machine(facts: facts, resume: point())
        #expect(Drive.run(resumed, [stands(5, incomplete)]) == ["resumed 5", "2 HEAD http://h/d/f"])
        #expect(Drive.run(resumed, [stands(5, incomplete), there, there]) == ["fail destinationExists 412"])
        #expect(
            Drive.run(resumed, [stands(5, incomplete), answered(404)]).last?.hasPrefix("3 PATCH http://h/u") == true)
        var replacing = subject(size)
        replacing.ifExists = .replace
        #expect(Drive.run(machine(replacing, facts: facts), []).first?.hasPrefix("1 PUT") == true)
        // Our earlier version is what may be replaced.
        let own = StoredVersion(stored: true, etag: "\"a\"")
        let replacement = creation.replacing("| Upload-Complete", with: "| If-Match: \"a\" | Upload-Complete")
        var plan = ResumablePlan(address: target, subject: subject(size), facts: facts)
        plan.stored = own
        #expect(Drive.run(ResumableUpload(plan), [answered(200, ["ETag: \"a\""])]) == [replacement])
        #expect(Drive.run(ResumableUpload(plan), [answered(200, ["ETag: \"b\""])]) == ["2 HEAD http://h/d/f"])
    }

    @Test("fields differ by version as the drafts say")
    func versions() {
        for (version, creation, append) in [
            (
                8, ["Upload-Complete: ?0", "Upload-Length: 10485760"],
                ["Upload-Complete: ?1", "Content-Type: application/partial-upload"]
            ),
            (
                6, ["Upload-Complete: ?0", "Upload-Length: 10485760"],
                ["Upload-Complete: ?1", "Content-Type: application/partial-upload"]
            ),
            (5, ["Upload-Complete: ?0"], ["Upload-Complete: ?1"]),
            (3, ["Upload-Incomplete: ?1"], ["Upload-Incomplete: ?0"]),
        ] {
            var upload = machine(facts: known(version))
            #expect(
                headers(upload.handle(.began(at: noon)))
                    == [["If-None-Match: *", wish, "Upload-Draft-Interop-Version: \(version)"] + creation])
            #expect(
                headers(upload.handle(.ended(ExchangeID(rawValue: 1), made)))
                    == [["Upload-Draft-Interop-Version: \(version)", "Upload-Offset: 0"] + append + [wish]])
            var resumed = machine(facts: known(), resume: point(version: version))
            #expect(
                headers(resumed.handle(.began(at: noon))) == [["Upload-Draft-Interop-Version: \(version)"]])
        }
    }

    @Test("a server that announced nothing, and any small file, gets a whole PUT with an offer")
    func optimistic() {
        let small = machine(subject(1000))
        #expect(Drive.run(small, []) == ["1 PUT http://h/d/f | Upload-Complete: ?1 | Upload-Length: 1000 | 0..<1000"])
        #expect(Drive.run(small, [answered(201)]) == ["finish 1000 none"])
        #expect(
            Drive.run(machine(facts: known(3, announces: false)), [])
                == ["1 PUT http://h/d/f | Upload-Incomplete: ?0 | 0..<10485760"])
        #expect(
            Drive.run(machine(subject(1000, begun: noon)), []) == ["1 HEAD http://h/d/f"])
    }

    @Test("a 104 of our version makes the address durable at once; the first one counts, and no other version")
    func interim() {
        var drive = Drive(machine(facts: known(8, announces: false)))
        _ = drive.begin()
        #expect(drive.interim(["Upload-Draft-Interop-Version: 6", "Location: /x"]) == [])
        #expect(drive.interim(["Location: /x"]) == [])
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Location: /x"], status: 103) == [])
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Upload-Offset: 5"]) == [])
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Location: /u"]) == [persisted])
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Location: /other"]) == [])
        #expect(drive.end(unanswered(lost, sent: 5)) == [persisted, "wait backoff networkConnectionLost"])
    }

    @Test("a server that announces nothing is offered the versions in turn, and the one that it takes up from then on")
    func offers() {
        var facts = heeding
        for (version, told) in [(8, 8), (6, 6), (5, 5), (3, 0)] {
            #expect(facts.versionToOffer == version && facts.isOfferATrial)
            var drive = Drive(machine(facts: facts))
            _ = drive.begin()
            #expect(drive.end(answered(405)).first == "learned offeredVersion=\(told)")
            facts.offeredVersion = told
        }
        #expect(facts.versionToOffer == 8 && !facts.isOfferATrial, "none is taken up: nothing is learnt any more")
        facts.offeredVersion = 8
        var drive = Drive(machine(facts: facts))
        _ = drive.begin()
        _ = drive.end(answered(405))
        #expect(
            drive.interim(["Upload-Draft-Interop-Version: 6", "Location: /u"])
                == ["learned interopVersion=6 offeredVersion=6", "persist ietf secret http://h/u"])
        facts.interopVersion = 6
        #expect(facts.versionToOffer == 6 && !facts.isOfferATrial)
    }

    @Test("of offers that are taken up side by side the newest version holds; what the server announces holds over all")
    func offersSideBySide() {
        var newest = HostFacts()
        (newest.interopVersion, newest.offeredVersion) = (8, 8)
        var later = HostFacts()
        (later.interopVersion, later.offeredVersion) = (6, 6)
        #expect(HostFacts().merged(with: newest).merged(with: later).interopVersion == 8)
        #expect(HostFacts().merged(with: later).merged(with: newest).interopVersion == 8)
        var announced = HostFacts()
        announced.interopVersion = 5
        #expect(HostFacts().merged(with: newest).merged(with: announced).interopVersion == 5)
    }

    @Test("a server that repeats the version that it was asked for speaks it, and gets no empty creation")
    func echo() {
        var drive = Drive(machine(facts: heeding))
        _ = drive.begin()
        _ = drive.end(answered(200))
        #expect(
            drive.end(answered(204, ["Upload-Draft-Interop-Version: 6"])) == [
                "learned uploadBy=ietf interopVersion=6 announcesResume=false",
                "3 PUT http://h/d/f | Upload-Complete: ?1 | Upload-Length: 10485760 | 0..<10485760",
            ])
    }

    @Test(
        "after a kill that nothing survived it is said that the file begins anew, and bodies that are held back are met with chunks"
    )
    func killedBehindAProxy() {
        var killed = subject(50 * mebibyte)
        killed.unanswered = UploadCut(offset: 0, sent: 20 * mebibyte)
        let point = point(length: 50 * mebibyte)
        #expect(
            Drive.run(machine(killed, resume: point), [stands(0, incomplete)]) == [
                "learned chunk=16777216", "over: the server has nothing of what was sent", persisted,
                "2 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?0 | 0..<16777216",
            ])
        #expect(Drive.run(machine(killed, resume: point), [stands(5, incomplete)]).first == "resumed 5")
    }

    @Test("versions are asked for one by one until the server knows one")
    func discovery() {
        var drive = Drive(machine(facts: heeding))
        #expect(drive.begin() == ["1 OPTIONS http://h/d/f"])
        #expect(drive.end(answered(200)) == ["2 OPTIONS http://h/d/f"])
        #expect(drive.end(answered(200)) == ["3 OPTIONS http://h/d/f"])
        #expect(
            drive.end(answered(200, ["Upload-Limit: min-size=0, max-append-size=7000000"])) == [
                "learned uploadBy=ietf interopVersion=5 announcesResume=true largestBody=7000000",
                "4 PUT http://h/d/f | Upload-Complete: ?0",
            ])
        #expect(
            Drive.run(machine(facts: heeding), [answered(405)])
                == [
                    "learned offeredVersion=8",
                    "2 PUT http://h/d/f | Upload-Complete: ?1 | Upload-Length: 10485760 | 0..<10485760",
                ])
        #expect(Drive.run(machine(facts: HostFacts()), [answered(503)]) == ["wait hostBackoff http"])
        #expect(
            Drive.run(machine(facts: HostFacts()), [answered(200, ["Upload-Limit: max-size=5"])]).last
                == "fail http 413")
        #expect(
            Drive.run(machine(facts: HostFacts()), [answered(200, ["Upload-Limit: min-size=10485761"])]).last
                == "fail http 400")
    }

    @Test(
        "the answer to an empty creation decides",
        arguments: [
            (401, "wait auth http"), (403, "fail permissionDenied 403"), (404, "fail http 404"),
            (405, "fail http 405"), (413, "fail http 413"), (429, "wait hostBackoff http"),
            (500, "wait backoff http"), (507, "wait remoteDiskSpace http"), (301, "fail http 301"),
            (302, "fail http 302"), (303, "fail http 303"),
            (412, "2 HEAD http://h/d/f"),
        ])
    func creationAnswers(status: Int, expected: String) {
        #expect(Drive.run(machine(), [answered(status, ["Location: /x"], sent: 0)]) == [expected])
    }

    @Test("a creation is repeated where 307 and 308 point; the address may come by 104 alone")
    func creationElsewhere() {
        for status in [307, 308] {
            #expect(
                Drive.run(machine(), [answered(status, ["Location: https://o/f"])])
                    == ["2 PUT https://o/f | Upload-Complete: ?0 | Upload-Length: 10485760 | bare"])
        }
        var drive = Drive(machine())
        _ = drive.begin()
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Location: /u"]) == [])
        #expect(drive.end(answered(201, [incomplete])).first == persisted)
        #expect(Drive.run(machine(), [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
    }

    @Test("a server that took the empty creation for the file is found out, and the file replaces it")
    func emptyFile() {
        let words = Drive.run(machine(), [answered(201, ["ETag: \"e\""])])
        #expect(
            words == [
                "learned announcesResume=false", "persist put",
                "2 PUT http://h/d/f | If-Match: \"e\" | Upload-Complete: ?1 | Upload-Length: 10485760 | 0..<10485760",
            ])
        // Without a tag it is no licence to replace whatever comes there.
        let untagged = Drive.run(machine(), [answered(201)])
        #expect(untagged.prefix(2) == ["learned announcesResume=false", "persist put"])
        #expect(
            untagged.dropFirst(2).allSatisfy { $0.contains("HEAD") || $0.contains("If-None-Match: *") }, "\(untagged)")
    }

    @Test(
        "an upload at an address that cannot be used is refused, and a page is no upload",
        .tells("h made the upload at an address that cannot be used: check the server's settings behind its proxy"))
    func unusable() {
        #expect(Drive.run(machine(), [answered(201, ["Location: ftp://other/u"])]) == ["fail unsupported 201"])
        #expect(
            Drive.run(machine(), [answered(200, ["Content-Type: text/html"])]) == ["wait backoff badServerResponse"])
    }

    // MARK: Going on

    @Test("an upload goes on where the server stands")
    func resume() {
        var drive = Drive(machine(resume: point()))
        #expect(drive.begin() == ["1 HEAD http://h/u"])
        #expect(
            drive.end(stands(400, incomplete)) == [
                "resumed 400", "2 PATCH http://h/u | Upload-Offset: 400 | Upload-Complete: ?1 | 400..<10485760",
            ])
        #expect(
            Drive.run(machine(resume: point()), [stands(0)]) == [
                "accepted 0", "2 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?1 | 0..<10485760",
            ])
    }

    @Test("an upload that is complete is done; one that has every byte and does not know it is told so")
    func lastStep() {
        let resumed = machine(resume: point())
        #expect(
            Drive.run(resumed, [stands(size, complete)]) == ["resumed 10485760", "finish 10485760 size found"])
        #expect(Drive.run(resumed, [answered(204, [complete])]) == ["resumed 10485760", "finish 10485760 none found"])
        // A server that mixes up the two names.
        #expect(Drive.run(resumed, [stands(size, "Upload-Incomplete: ?0")]).last == "finish 10485760 size found")
        #expect(
            Drive.run(resumed, [stands(size, incomplete)])
                == ["resumed 10485760", "2 PATCH http://h/u | Upload-Offset: 10485760 | Upload-Complete: ?1"])
        #expect(
            Drive.run(resumed, [stands(size, incomplete), answered(200, [complete])])
                == ["finish 10485760 none"])
    }

    @Test(
        "the answer to a question decides",
        arguments: [
            (401, "wait auth http"), (403, "wait auth http"), (408, "wait backoff http"),
            (409, "wake repeatRequest 0.25 seconds"), (423, "wake repeatRequest 0.25 seconds"),
            (429, "wait hostBackoff http"), (500, "wait backoff http"), (503, "wait hostBackoff http"),
            (200, "wait backoff networkConnectionLost"), (301, "fail http 301"), (307, "2 HEAD http://h/x"),
        ])
    func questionAnswers(status: Int, expected: String) {
        #expect(Drive.run(machine(resume: point()), [answered(status, ["Location: /x"])]) == [expected])
    }

    @Test("an upload that is gone begins anew; a leftover is ended first")
    func gone() {
        for answer in [answered(404), answered(410), answered(400), stands(size + 1), stands(5, "Upload-Length: 6")] {
            // A gateway says the same of a server that it does not find.
            let isOwnWord = ![400, 404].contains(answer.answer?.status)
            #expect(
                Drive.run(machine(resume: point()), [answer])
                    == (isOwnWord ? [] : ["doubt"]) + [
                        "over: the server has lost the upload", "2 DELETE http://h/u",
                    ])
        }
        #expect(
            Drive.run(machine(resume: point()), [answered(404), answered(404)])
                == ["3 PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"])
        let old = point(expires: noon.advanced(by: .seconds(-1)))
        #expect(
            Drive.run(machine(resume: old), [answered(404)]).first == "over: the upload expired at the server")
    }

    @Test("an upload that is gone after its last byte may be the file: that is looked for, and only then sent again")
    func goneAfterLastByte() {
        let resumed = machine(resume: point(cut: UploadCut(offset: 5, sent: size - 5)))
        #expect(
            Drive.run(resumed, [answered(404)]) == [
                "persist ietf secret http://h/u", "doubt what became of it", "2 HEAD http://h/d/f",
            ])
        #expect(Drive.run(resumed, [answered(410)]) == ["2 HEAD http://h/d/f"])
        let there = answered(200, ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(noonText)"])
        #expect(Drive.run(resumed, [answered(404), there]) == ["3 HEAD http://h/d/f | Want-Repr-Digest: sha-256=10"])
        #expect(
            Drive.run(resumed, [answered(404), answered(404)]) == [
                "over: the server has lost the upload",
                "3 PUT http://h/d/f | Upload-Complete: ?1 | Upload-Length: 10485760 | 0..<10485760",
            ])
    }

    @Test("an offset that goes back means a broken server: it begins anew")
    func backwards() {
        #expect(
            Drive.run(machine(resume: point(cut: UploadCut(offset: 500, sent: 5))), [stands(499)])
                == ["over: the server has lost bytes that it had confirmed", "2 DELETE http://h/u"])
    }

    @Test("a changed source ends the old upload first, whatever comes of that")
    func changedSource() {
        let changed = machine(subject(size, hasChanged: true), resume: point())
        #expect(Drive.run(changed, []) == ["1 DELETE http://h/u"])
        for end in [answered(204), answered(404), unanswered(lost, sent: 0)] {
            #expect(Drive.run(changed, [end]).first?.hasPrefix("2 PUT") == true)
        }
        // Who was not even asked is asked by the next attempt.
        #expect(Drive.run(changed, [unanswered(refused, sent: 0)]) == ["wait backoff cannotConnectToHost"])
        #expect(Drive.run(machine(resume: point(length: 5)), []) == ["1 DELETE http://h/u"])
    }

    @Test("the name of an upload that was made was taken: with another rule by now it is ended and made anew")
    func takenName() {
        let over = "over: the server would not let that upload replace what is there"
        let create = "PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"
        // At its first bytes, or when an earlier attempt's is asked after.
        for (before, id) in [([made], 3), ([], 2)] {
            let resume = before.isEmpty ? point() : nil
            let replacing = machine(subject(size, ifExists: .replace), resume: resume)
            let taken = before + [answered(412)]
            #expect(Drive.run(replacing, taken) == [over, "\(id) DELETE http://h/u"])
            #expect(Drive.run(replacing, taken + [answered(204)]) == ["\(id + 1) \(create)"])
            let round = [answered(204), made, answered(412)]
            #expect(Drive.run(replacing, taken + round) == [over, "\(id + 3) DELETE http://h/u"])
            #expect(Drive.run(replacing, taken + round + round) == ["fail http 412"])
        }
    }

    @Test(
        "what an earlier version of the source left there is as good as its rule: it decides nothing about a taken name"
    )
    func takenNameAfterOwnVersion() {
        for etag in ["\"a\"", nil] {
            var plan = ResumablePlan(address: target, subject: subject(size), facts: known(), resume: point())
            plan.stored = StoredVersion(stored: true, etag: etag)
            #expect(Drive.run(ResumableUpload(plan), [answered(412)]) == ["2 HEAD http://h/d/f"])
            plan.subject = subject(size, ifExists: .replace)
            #expect(Drive.run(ResumableUpload(plan), [answered(412)]).last == "2 DELETE http://h/u")
            plan.resume = nil
            #expect(Drive.run(ResumableUpload(plan), []).first?.contains("If-Match") == false)
        }
    }

    @Test(
        "what is looked at because the name was taken leaves no upload behind when it is as good, or to be left alone")
    func takenNameTidied() {
        for (before, id) in [([made], 3), ([], 2)] {
            let resume = before.isEmpty ? point() : nil
            let skipping = machine(subject(size, ifExists: .skip), resume: resume)
            #expect(Drive.run(skipping, before + [answered(412)]) == ["\(id) DELETE http://h/u"])
            for end in [answered(204), answered(404), unanswered(lost, sent: 0)] {
                #expect(Drive.run(skipping, before + [answered(412), end]) == ["finish 10485760 none skipped"])
            }
            let other = answered(200, ["Content-Length: 7"])
            let looking = machine(resume: resume)
            #expect(Drive.run(looking, before + [answered(412)]) == ["\(id) HEAD http://h/d/f"])
            #expect(Drive.run(looking, before + [answered(412), other]) == ["fail destinationExists 412"])
            // It went meanwhile.
            #expect(
                Drive.run(looking, before + [answered(412), answered(404)]) == [
                    "over: the server refused that upload, yet nothing of its name is there",
                    "\(id + 1) DELETE http://h/u",
                ])
            var drive = Drive(looking)
            _ = drive.begin()
            for end in before + [answered(412)] { _ = drive.end(end) }
            let same = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
            _ = drive.end(answered(200, ["Content-Length: \(size)", same]))
            let digest = TransferDigest(algorithm: "sha-256", value: String(repeating: "00", count: 32))
            #expect(drive.tell(.digested(digest)) == ["\(id + 1) DELETE http://h/u"])
            #expect(drive.end(answered(204)) == ["finish 10485760 digest found"])
        }
    }

    @Test("412 to a creation, yet nothing is there: it is made once more, and what goes on like that is told as it is")
    func refusedWithoutReason() {
        let round = [answered(412), answered(404)]
        let create = "PUT http://h/d/f | Upload-Complete: ?0 | Upload-Length: 10485760"
        #expect(Drive.run(machine(), round) == ["3 \(create)"])
        #expect(Drive.run(machine(), round + round + round) == ["fail http 412"])
    }

    @Test("an upload that a 104 announced is ended when the file is refused for its name and that is well")
    func takenNameAfterOffer() {
        for told in [[], [complete]] {
            var drive = Drive(machine(subject(size, ifExists: .skip), facts: known(8, announces: false)))
            _ = drive.begin()
            _ = drive.interim(["Upload-Draft-Interop-Version: 8", "Location: /u"])
            #expect(drive.end(answered(412, told, sent: size)) == ["2 DELETE http://h/u"])
            #expect(drive.end(answered(204)) == ["finish 10485760 none skipped"])
        }
    }

    @Test("an upload that is lost again and again is told so")
    func lostForEver() {
        let round = [answered(204), made, answered(404, sent: 5)]
        let begun = [answered(404)] + round + round
        #expect(Drive.run(machine(resume: point()), begun) == ["doubt", "wait backoff badServerResponse"])
    }

    @Test("a resume point keeps its address apart, and one of an unknown version is none")
    func resumePoint() {
        let stored = ResumePoint(point(cut: UploadCut(offset: 1, sent: 2)))
        #expect(stored.secret == "http://h/u")
        #expect(!String(decoding: stored.encoded, as: UTF8.self).contains("http"))
        let read = ResumePoint(encoded: stored.encoded, secret: stored.secret)?.content(ResumableResumePoint.self)
        #expect(read == point(cut: UploadCut(offset: 1, sent: 2)))
        #expect(ResumePoint(encoded: ResumePoint(point(version: 4)).encoded)?.content(ResumableResumePoint.self) == nil)
        var bare = point()
        bare.url = nil
        #expect(
            Drive.run(machine(resume: bare), []).first
                == "over: the upload's address at the server is not known any more")
    }

    @Test("what a cancelled upload left is looked at before it is removed: a complete one may be the file, and stays")
    func removal() {
        let one = UploadRemoval(point(), address: target)
        let delete = ["2 DELETE http://h/u"]
        #expect(Drive.run(one, []) == ["1 HEAD http://h/u"])
        for left in [stands(5, incomplete), stands(0), stands(size, incomplete), stands(5, "Upload-Incomplete: ?1")] {
            #expect(Drive.run(one, [left]) == delete)
            #expect(Drive.run(one, [left, answered(204)]) == ["finish 0 none"])
            #expect(Drive.run(one, [left, answered(405)]) == ["fail unsupported 405"])
        }
        let whole = [stands(size, complete), answered(204, [complete]), stands(size), stands(5, complete)]
        for kept in whole + [answered(404), answered(410)] {
            #expect(Drive.run(one, [kept]) == ["finish 0 none"])
        }
        // Nothing of the draft is in it: it is not the server that made the upload.
        #expect(Drive.run(one, [answered(200)]) == ["wait backoff networkConnectionLost"])
        for status in [409, 423] { #expect(Drive.run(one, [answered(status)]) == ["wait backoff badServerResponse"]) }
        #expect(Drive.run(one, [answered(503)]) == ["wait hostBackoff http"])
        #expect(Drive.run(one, [answered(401)]) == ["wait auth http"])
        #expect(Drive.run(one, [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
    }

    @Test("a removal speaks the upload's version, elsewhere without secrets, and asks nobody without an address")
    func removalRequests() {
        let elsewhere = HTTPAddress("http://o/d/f")!
        var removal = UploadRemoval(point(version: 6), address: elsewhere)
        let asked = words(removal.handle(.began(at: noon)))
        #expect(asked == ["1 HEAD http://h/u | Upload-Draft-Interop-Version: 6 | bare"])
        var nowhere = point()
        nowhere.url = nil
        #expect(Drive.run(UploadRemoval(nowhere, address: target), []) == ["finish 0 none"])
    }
}
