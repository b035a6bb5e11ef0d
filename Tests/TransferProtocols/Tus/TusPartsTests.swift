import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let files = HTTPAddress("http://h/files/")!
private let size = 64 * mebibyte

private func known(_ extensions: [String] = ["concatenation"]) -> HostFacts {
    var facts = HostFacts()
    facts.tusExtensions = ["creation"] + extensions
    return facts
}

private func machine(
    _ size: Int64 = size, parts: Int = 2, facts: HostFacts = known(), resume: TusResumePoint? = nil,
    begun: Timestamp? = nil, ifExists: ExistingFilePolicy = .fail
) -> TusUpload {
    TusUpload(
        TusPlan(
            endpoint: files, subject: subject(size, ifExists: ifExists, begun: begun), facts: facts, resume: resume,
            parts: parts))
}

private func point(isJoining: Bool = false, second: String? = "http://h/files/b") -> TusResumePoint {
    TusResumePoint(
        parts: [
            TusResumePoint.Part(0..<size / 2, url: HTTPAddress("http://h/files/a")),
            TusResumePoint.Part(size / 2..<size, url: second.flatMap { HTTPAddress($0) }),
        ], begun: noon, isJoining: isJoining)
}

private func made(_ name: String) -> ExchangeEnd { answered(201, ["Location: /files/" + name], sent: 0) }
private func stands(_ offset: Int64) -> ExchangeEnd { answered(204, ["Upload-Offset: \(offset)"], sent: offset) }

private let patches = [
    "3 PATCH http://h/files/a | Upload-Offset: 0 | 0..<33554432",
    "4 PATCH http://h/files/b | Upload-Offset: 0 | 33554432..<67108864",
]
private let persisted = "persist tus secret http://h/files/a\nhttp://h/files/b"

@Suite struct TusPartsTests {
    @Test("only a large file goes in parts, none smaller than 16 MiB, and together they are the file")
    func ranges() {
        #expect(TusUpload.ranges(64 * mebibyte - 1, parts: 4) == [0..<64 * mebibyte - 1])
        #expect(TusUpload.ranges(64 * mebibyte, parts: 9).count == 4)
        #expect(TusUpload.ranges(1 << 40, parts: 99).count == 16)
        for size in [64 * mebibyte, 64 * mebibyte + 1, 1_000_000_007, (1 << 40) + 12345] as [Int64] {
            for parts in 1...8 {
                let ranges = TusUpload.ranges(size, parts: parts)
                #expect(ranges.first?.lowerBound == 0)
                #expect(ranges.last?.upperBound == size)
                #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
                #expect(ranges.allSatisfy { $0.upperBound - $0.lowerBound >= 16 * mebibyte })
            }
        }
        #expect(Drive.run(machine(facts: known([])), []).count == 1)
        #expect(Drive.run(machine(parts: 1), []).count == 1)
    }

    @Test("parts are made, become durable together, fill side by side, and are joined in their order")
    func wholeWay() {
        var drive = Drive(machine())
        #expect(
            drive.begin() == [
                "1 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
                "2 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
            ])
        // The second is there first: nothing is sent before both are known and on the disk.
        #expect(drive.end(made("b"), of: 2) == [])
        #expect(drive.end(made("a"), of: 1) == [persisted] + patches)
        #expect(drive.end(stands(size / 2), of: 4) == ["accepted 33554432"])
        #expect(
            drive.end(stands(size / 2), of: 3) == [
                "accepted 67108864", persisted,
                "5 POST http://h/files/ | Upload-Concat: final;http://h/files/a http://h/files/b",
            ])
        #expect(drive.end(made("whole")) == ["finish 67108864 size"])
    }

    @Test("parts that the server keeps are removed when the file is there, and that it is there is durable before")
    func partsRemoved() {
        let tidy = known(["concatenation", "termination"])
        var drive = Drive(machine(facts: tidy, resume: point()))
        _ = drive.begin()
        _ = drive.end(stands(size / 2), of: 1)
        _ = drive.end(stands(size / 2), of: 2)
        #expect(drive.end(made("whole")) == [persisted, "4 DELETE http://h/files/a"])
        #expect(drive.end(answered(204)) == ["5 DELETE http://h/files/b"])
        #expect(drive.end(answered(404)) == ["finish 67108864 size"])
        // A kill in between: the file is not looked for, nor joined again.
        var joined = point(isJoining: true)
        joined.isJoined = true
        let after = ResumePoint(joined)
        let read = ResumePoint(encoded: after.encoded, secret: after.secret)?.content(TusResumePoint.self)
        var next = Drive(machine(facts: tidy, resume: read))
        #expect(next.begin() == ["1 DELETE http://h/files/a"])
        #expect(next.end(answered(404)) == ["2 DELETE http://h/files/b"])
        #expect(next.end(unanswered(lost, sent: 0)) == ["finish 67108864 size found"])
    }

    @Test("a large file goes in parts by itself where the server can join them and its answers come from afar")
    func partsByThemselves() {
        let large = 256 * mebibyte
        func requests(
            _ size: Int64, _ milliseconds: Int64?, _ extensions: [String] = ["concatenation"],
            _ rule: ExistingFilePolicy = .replace
        ) -> Int {
            var facts = known(extensions)
            facts.answerMilliseconds = milliseconds
            let plan = TusPlan(endpoint: files, subject: subject(size, ifExists: rule), facts: facts)
            return Drive.run(TusUpload(plan), []).count
        }
        #expect(requests(large, 100) == 4 && requests(large, 99) == 1 && requests(large, nil) == 1)
        #expect(requests(large - 1, 500) == 1 && requests(large, 500, []) == 1)
        // A join whose answer is lost is a question to the person where nothing may be replaced.
        #expect(requests(large, 500, ["concatenation"], .fail) == 1)
        // How far away it is shows in the first answer.
        var upload = TusUpload(TusPlan(endpoint: files, subject: subject(large, ifExists: .replace)))
        _ = upload.handle(.began(at: noon))
        var options = answered(204, ["Tus-Version: 1.0.0", "Tus-Extension: creation, concatenation"])
        options.at = noon.advanced(by: .milliseconds(120))
        let actions = upload.handle(.ended(ExchangeID(rawValue: 1), options))
        guard case .learned(let facts)? = actions.first else { return #expect(Bool(false)) }
        #expect(facts.answerMilliseconds == 120 && actions.count == 5)
    }

    @Test("the join bears the name and the condition, parts bear neither; it may take long")
    func joinFields() {
        var upload = machine(resume: point())
        _ = upload.handle(.began(at: noon))
        _ = upload.handle(.ended(ExchangeID(rawValue: 1), stands(size / 2)))
        let actions = upload.handle(.ended(ExchangeID(rawValue: 2), stands(size / 2)))
        let fields = headers(actions)[0]
        #expect(fields.contains("If-None-Match: *"))
        #expect(fields.contains { $0.hasPrefix("Upload-Metadata: filename Zg==") })
        #expect(!fields.contains { $0.hasPrefix("Upload-Length") })
        guard case .perform(_, .http(let exchange))? = actions.last else { return #expect(Bool(false)) }
        #expect(exchange.patience == .assembling)
        var first = machine()
        #expect(
            headers(first.handle(.began(at: noon)))[0]
                == ["Tus-Resumable: 1.0.0", "Upload-Length: 33554432", "Upload-Concat: partial"])
    }

    @Test("each part goes on where it stands, once the offsets of all are known")
    func resume() {
        var drive = Drive(machine(resume: point()))
        #expect(drive.begin() == ["1 HEAD http://h/files/a", "2 HEAD http://h/files/b"])
        #expect(drive.end(stands(100), of: 1) == [])
        #expect(
            drive.end(stands(size / 2), of: 2) == [
                "resumed 33554532", "3 PATCH http://h/files/a | Upload-Offset: 100 | 100..<33554432",
            ])
    }

    @Test("a part that was never made is made beside the questions")
    func halfMade() {
        var drive = Drive(machine(resume: point(second: nil)))
        #expect(
            drive.begin() == [
                "1 HEAD http://h/files/a", "2 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
            ])
        _ = drive.end(made("b"), of: 2)
        #expect(drive.end(stands(0), of: 1) == [persisted, "accepted 0"] + patches)
    }

    @Test("a creation that has to wait keeps what was made beside it")
    func interruptedCreation() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made("a"), of: 1)
        #expect(drive.end(answered(503), of: 2) == ["persist tus secret http://h/files/a\n", "wait hostBackoff http"])
    }

    @Test("one part that is cut goes on beside the others; when none goes on the attempt ends")
    func cut() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made("a"), of: 1)
        _ = drive.end(made("b"), of: 2)
        #expect(drive.end(unanswered(lost, sent: 5), of: 3) == ["wake repeatRequest 0.25 seconds"])
        #expect(drive.fire() == ["5 HEAD http://h/files/a"])
        #expect(
            drive.end(stands(70_000)) == [
                "accepted 70000", "6 PATCH http://h/files/a | Upload-Offset: 70000 | 70000..<33554432",
            ])
        #expect(drive.end(unanswered(lost, sent: 5), of: 4) == ["wake repeatRequest 0.25 seconds"])
        #expect(drive.end(unanswered(lost, sent: 5), of: 6) == ["wake repeatRequest 0.25 seconds"])
    }

    @Test("what fails for good ends everything, and what goes on is broken off")
    func failure() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made("a"), of: 1)
        _ = drive.end(made("b"), of: 2)
        #expect(drive.end(answered(415), of: 3) == ["abandon 4", "fail http 415"])
        #expect(drive.end(stands(5), of: 4) == [])
    }

    @Test("losing the right to send waits for what still goes on, and says so in the end")
    func revoked() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made("a"), of: 1)
        _ = drive.end(made("b"), of: 2)
        #expect(drive.end(answered(401, sent: 0), of: 3) == [])
        #expect(drive.end(stands(size / 2), of: 4) == ["accepted 33554432", "wait auth http"])
    }

    @Test("a part that is gone is made anew; the others keep what they have")
    func gonePart() {
        var drive = Drive(machine(resume: point()))
        _ = drive.begin()
        #expect(
            drive.end(answered(404), of: 1) == [
                "doubt", "3 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
            ])
        _ = drive.end(stands(9), of: 2)
        #expect(
            drive.end(made("c"), of: 3) == [
                "persist tus secret http://h/files/c\nhttp://h/files/b", "resumed 9",
                "4 PATCH http://h/files/c | Upload-Offset: 0 | 0..<33554432",
                "5 PATCH http://h/files/b | Upload-Offset: 9 | 33554441..<67108864",
            ])
        var both = Drive(machine(resume: point()))
        _ = both.begin()
        _ = both.end(answered(404), of: 1)
        _ = both.end(answered(404), of: 2)
        _ = both.end(made("a"), of: 3)
        #expect(
            both.end(made("b"), of: 4).prefix(3) == ["over: the server has lost the upload", persisted, "accepted 0"],
            "what is persisted before it would count as outdated")
    }

    @Test(
        "a name that was taken, with another rule by now: what goes on is broken off, all parts are ended, the file begins anew"
    )
    func takenName() {
        let facts = known(["concatenation", "termination"])
        var drive = Drive(machine(facts: facts, resume: point(), ifExists: .replace))
        _ = drive.begin()
        _ = drive.end(stands(5), of: 1)
        _ = drive.end(stands(5), of: 2)
        #expect(
            drive.end(answered(412), of: 3) == [
                "abandon 4", "over: the server would not let that upload replace what is there",
                "5 DELETE http://h/files/a",
            ])
        #expect(drive.end(answered(204)) == ["6 DELETE http://h/files/b"])
        #expect(
            drive.end(answered(204)) == [
                "7 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
                "8 POST http://h/files/ | Upload-Length: 33554432 | Upload-Concat: partial",
            ])
    }

    // MARK: Joining

    private func joining(
        _ end: ExchangeEnd, resume: TusResumePoint? = point(), ifExists: ExistingFilePolicy = .fail
    ) -> [String] {
        var drive = Drive(machine(resume: resume, ifExists: ifExists))
        _ = drive.begin()
        _ = drive.end(stands(size / 2), of: 1)
        _ = drive.end(stands(size / 2), of: 2)
        return drive.end(end, of: 3)
    }

    private static let join = "3 POST http://h/files/ | Upload-Concat: final;http://h/files/a http://h/files/b"

    @Test("a join whose answer was lost is not asked for again where the server keeps parts: the file is looked for")
    func lostJoin() {
        for end in [unanswered(lost, sent: 0), answered(504)] {
            #expect(joining(end).map { String($0.prefix(12)) } == ["wait backoff"])
        }
        // It was written down before: nothing new is.
        var drive = Drive(machine(resume: point(isJoining: true)))
        #expect(drive.begin() == ["1 HEAD http://h/files/a", "2 HEAD http://h/files/b"])
        _ = drive.end(stands(size / 2), of: 1)
        #expect(drive.end(stands(size / 2), of: 2) == ["resumed 67108864", "3 HEAD http://h/files/f"])
        // A person decides; the parts are kept for that.
        #expect(drive.end(answered(404), of: 3) == [persisted, "fail unknownOutcome"])
        #expect((drive.machine as? TusUpload)?.isJoining == false)

        // What may be replaced may be sent twice.
        drive = Drive(machine(resume: point(isJoining: true), ifExists: .replace))
        _ = drive.begin()
        _ = drive.end(stands(size / 2), of: 1)
        #expect(drive.end(stands(size / 2), of: 2) == ["resumed 67108864", Self.join])
    }

    @Test(
        "where a file may be replaced, a join whose answer is lost twice is not asked for again: the file is looked for",
        .tells(
            "may have the whole file, yet its last answer was lost again and again, as by a proxy that waits too short"),
        arguments: [unanswered(lost, sent: 0), answered(504), answered(522)])
    func unheardJoins(end: ExchangeEnd) throws {
        func next(_ resume: TusResumePoint) -> (Drive, [String]) {
            var drive = Drive(machine(resume: resume, ifExists: .replace))
            _ = drive.begin()
            _ = drive.end(stands(size / 2), of: 1)
            let said = drive.end(stands(size / 2), of: 2)
            return (drive, said)
        }
        var resume = point()
        for _ in 1...2 {
            var (drive, said) = next(resume)
            #expect(said.last == Self.join)
            said = drive.end(end)
            #expect(said.first == persisted && said.last?.hasPrefix("wait backoff") == true, "\(said)")
            let stored = try #require(drive.machine as? TusUpload).point
            resume = try #require(
                ResumePoint(encoded: stored.encoded, secret: stored.secret)?.content(TusResumePoint.self))
        }
        // What is there may be the old file, or nothing: neither tells.
        let old = answered(200, ["Content-Length: 7", "Last-Modified: \(elevenText)", "Date: \(noonText)"])
        for there in [answered(404), old] {
            var (drive, said) = next(resume)
            #expect(said == ["resumed 67108864", "3 HEAD http://h/files/f"])
            said = drive.end(there)
            #expect(said == [persisted, "fail unknownOutcome"])
            // A person has looked, and wants it joined.
            let stored = try #require(drive.machine as? TusUpload).point
            let kept = try #require(
                ResumePoint(encoded: stored.encoded, secret: stored.secret)?.content(TusResumePoint.self))
            #expect(next(kept).1.last == Self.join)
        }
        // Parts that the server has used up are not sent over and over, either.
        var drive = Drive(machine(resume: resume, ifExists: .replace))
        _ = drive.begin()
        #expect(drive.end(answered(404), of: 1) == [persisted, "doubt", "abandon 2", "3 HEAD http://h/files/f"])
        #expect(drive.end(answered(404)) == ["persist tus", "fail unknownOutcome"])
    }

    @Test("a page is no join")
    func pageInsteadOfJoin() {
        let page = answered(200, ["Content-Type: text/html"])
        #expect(joining(page).last == "wait backoff badServerResponse")
    }

    @Test("a join that never went out, or was refused, is asked for again without a question")
    func refusedJoinIsAskedAgain() {
        for end in [unanswered(refused, sent: 0), answered(401), answered(423), answered(503)] {
            var drive = Drive(machine(resume: point()))
            _ = drive.begin()
            _ = drive.end(stands(size / 2), of: 1)
            _ = drive.end(stands(size / 2), of: 2)
            #expect(drive.end(end, of: 3).first == persisted)
            #expect((drive.machine as? TusUpload)?.isJoining == false)
        }
    }

    @Test("parts that are gone after a join may be the file: it is looked for")
    func goneAfterJoin() {
        var drive = Drive(machine(resume: point(isJoining: true)))
        _ = drive.begin()
        #expect(
            drive.end(answered(404), of: 1) == [
                persisted, "doubt what became of it", "abandon 2", "3 HEAD http://h/files/f",
            ])
        #expect(drive.end(answered(404), of: 3) == ["persist tus", "fail unknownOutcome"])
        // The same when the server has used them up and refuses to join them once more.
        let again = joining(answered(400), resume: point(isJoining: true), ifExists: .replace)
        #expect(again == ["4 HEAD http://h/files/f"])
    }

    @Test(
        "the answer to the join decides",
        arguments: [
            (201, "", ["finish 67108864 size"]), (204, "", ["finish 67108864 size"]),
            (401, "", [persisted, "wait auth http"]), (403, "", [persisted, "wait auth http"]),
            (413, "", [persisted, "fail http 413"]), (423, "", [persisted, "wait backoff badServerResponse"]),
            (500, "", [persisted, "wait backoff http"]), (504, "", ["wait backoff http"]),
            (507, "", [persisted, "wait remoteDiskSpace http"]),
            (400, "ERR_UPLOAD_NOT_FINISHED: x", [persisted, "wait backoff networkConnectionLost"]),
            (412, "", ["4 HEAD http://h/files/f"]),
        ] as [(Int, String, [String])])
    func joinAnswers(status: Int, body: String, expected: [String]) {
        #expect(joining(answered(status, body: body)) == expected)
    }

    @Test("a join that is refused although nothing is there is asked for again; the parts stay")
    func refusedJoin() {
        var plain = point()
        plain.begun = nil
        var drive = Drive(machine(resume: plain))
        _ = drive.begin()
        _ = drive.end(stands(size / 2), of: 1)
        _ = drive.end(stands(size / 2), of: 2)
        for id in [4, 6] {
            #expect(drive.end(answered(412)) == ["\(id) HEAD http://h/files/f"])
            #expect(
                drive.end(answered(404)) == [
                    "\(id + 1) POST http://h/files/ | Upload-Concat: final;http://h/files/a http://h/files/b"
                ])
        }
        #expect(drive.end(answered(412)) == ["8 HEAD http://h/files/f"])
        #expect(drive.end(answered(404)) == ["fail http 412"])
    }

    @Test("a join that is refused for a file that is as good, or to be left alone, leaves no parts behind")
    func refusedJoinTidied() {
        var plain = point()
        plain.begun = nil
        var drive = Drive(
            machine(facts: known(["concatenation", "termination"]), resume: plain, ifExists: .skip))
        _ = drive.begin()
        _ = drive.end(stands(size / 2), of: 1)
        _ = drive.end(stands(size / 2), of: 2)
        #expect(drive.end(answered(412)) == ["4 DELETE http://h/files/a"])
        #expect(drive.end(answered(204)) == ["5 DELETE http://h/files/b"])
        #expect(drive.end(answered(204)) == ["finish 67108864 none skipped"])
    }

    @Test("a server that announces parts and cannot join them gets the file in one piece, now and from then on")
    func cannotJoin() {
        for status in [400, 404, 405] {
            // A gateway that does not find its server says nothing of parts.
            #expect(
                joining(answered(status)) == [
                    status == 404 ? "doubt" : "learned tusExtensions=[\"creation\"]",
                    "over: the server cannot join parts",
                    "4 POST http://h/files/ | Upload-Length: 67108864",
                ])
        }
        var drive = Drive(machine(facts: known(["concatenation", "termination"])))
        _ = drive.begin()
        _ = drive.end(made("a"), of: 1)
        #expect(
            drive.end(answered(400), of: 2) == [
                "learned tusExtensions=[\"creation\", \"termination\"]", "over: the server cannot join parts",
                "3 DELETE http://h/files/a",
            ])
        #expect(drive.end(answered(204)) == ["4 POST http://h/files/ | Upload-Length: 67108864"])
    }

    // MARK: Removal

    @Test(
        "what a cancelled upload left is removed, piece by piece; what is gone counts as removed",
        .tells("h answered with a web page, as no server of files does"))
    func removal() {
        // Parts are never the file.
        let page = answered(200, ["Content-Type: text/html"])
        #expect(Drive.run(UploadRemoval(point(), endpoint: files), [page]) == ["wait backoff badServerResponse"])
        var drive = Drive(UploadRemoval(point(), endpoint: files))
        #expect(drive.begin() == ["1 DELETE http://h/files/a"])
        #expect(drive.end(answered(204)) == ["2 DELETE http://h/files/b"])
        #expect(drive.end(answered(404)) == ["finish 0 none"])
        #expect(drive.end(answered(404)) == [])
        var whole = point(second: nil)
        whole.parts.removeLast()
        let half = ["Upload-Offset: 1"]
        let one = UploadRemoval(whole, endpoint: HTTPAddress("http://o/")!)
        #expect(Drive.run(one, []) == ["1 HEAD http://h/files/a | bare"])
        #expect(Drive.run(one, [answered(200, half)]) == ["2 DELETE http://h/files/a | bare"])
        #expect(Drive.run(one, [answered(200, half), answered(204)]) == ["finish 0 none"])
        #expect(Drive.run(one, [answered(404)]) == ["finish 0 none"])
        // Full it may be the file: that stays.
        #expect(Drive.run(one, [answered(200, ["Upload-Offset: \(size / 2)"])]) == ["finish 0 none"])
        #expect(Drive.run(one, [answered(200)]) == ["wait backoff networkConnectionLost"])
        #expect(Drive.run(one, [answered(423)]) == ["wait backoff badServerResponse"])
        #expect(Drive.run(one, [answered(503)]) == ["wait hostBackoff http"])
        #expect(Drive.run(one, [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
    }

    @Test("what a server does not remove stays known")
    func unremovable() {
        let one = UploadRemoval(point(second: nil), endpoint: HTTPAddress("http://o/")!)
        #expect(Drive.run(one, []) == ["1 DELETE http://h/files/a | bare"])
        #expect(Drive.run(one, [answered(410)]) == ["finish 0 none"])
        // What a server keeps stays known.
        #expect(Drive.run(one, [answered(403)]) == ["fail permissionDenied 403"])
        for status in [405, 501] { #expect(Drive.run(one, [answered(status)]) == ["fail unsupported \(status)"]) }
        for status in [409, 423] { #expect(Drive.run(one, [answered(status)]) == ["wait backoff badServerResponse"]) }
        #expect(Drive.run(one, [answered(503)]) == ["wait hostBackoff http"])
        #expect(Drive.run(one, [answered(401)]) == ["wait auth http"])
        #expect(Drive.run(one, [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
        #expect(Drive.run(one, [unanswered(badCertificate, sent: 0)]) == ["fail tlsFailure"])
        #expect(Drive.run(UploadRemoval(TusResumePoint(), endpoint: files), []) == ["finish 0 none"])
    }
}
