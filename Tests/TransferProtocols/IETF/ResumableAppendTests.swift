import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let size = 10 * mebibyte
private let incomplete = "Upload-Complete: ?0"
private let complete = "Upload-Complete: ?1"
private let made = answered(201, ["Location: /u", incomplete], sent: 0)
private let persisted = "persist ietf secret http://h/u"

private func machine(
    _ length: Int64 = size, verify: VerificationWish? = nil, chunk: Int64? = nil, body: Int64? = nil,
    cut: UploadCut? = nil
) -> ResumableUpload {
    var facts = HostFacts()
    facts.interopVersion = 8
    facts.announcesResume = true
    facts.heedsConditions = true
    facts.largestBody = body
    let point = ResumableResumePoint(
        version: 8, length: length, url: HTTPAddress("http://h/u"), cut: cut, begun: noon)
    return ResumableUpload(
        ResumablePlan(
            address: HTTPAddress("http://h/f")!, subject: subject(length, verify: verify), facts: facts,
            resume: cut == nil ? nil : point, chunk: chunk))
}

private func stands(_ offset: Int64, _ more: String...) -> ExchangeEnd {
    answered(204, ["Upload-Offset: \(offset)"] + more, sent: 0)
}

@Suite struct ResumableAppendTests {
    @Test(
        "the answer to the closing append decides",
        arguments: [
            (200, [complete], "finish 10485760 none"), (200, [], "finish 10485760 none"),
            (200, ["Upload-Incomplete: ?0"], "finish 10485760 none"), (200, [incomplete], "3 HEAD http://h/u"),
            (401, [], "wait auth http"), (403, [], "wait auth http"), (400, [], "fail http 400"),
            (408, [], "wait backoff http"), (415, [], "fail http 415"), (429, [], "wait hostBackoff http"),
            (301, ["Location: /x"], "fail http 301"), (303, ["Location: /x"], "fail http 303"),
            (307, ["Location: /x"], "3 PATCH http://h/x | Upload-Offset: 0 | Upload-Complete: ?1 | 0..<10485760"),
            (409, [], "3 HEAD http://h/u"), (423, [], "wake repeatRequest 0.25 seconds"),
        ])
    func answers(status: Int, lines: [String], expected: String) {
        #expect(Drive.run(machine(), [made, answered(status, lines, sent: size)]).last == expected)
    }

    @Test("a refusal of the finished upload is the file's verdict: it is not gone on with")
    func verdict() {
        for (status, expected) in [
            (422, "fail http 422"), (500, "wait backoff http"), (507, "wait remoteDiskSpace http"),
        ] {
            #expect(
                Drive.run(machine(), [made, answered(status, [complete])])
                    == ["persist put", "over: the server refused the finished upload", expected])
        }
    }

    @Test("5xx or silence is asked after at the next attempt, with what was sent on the disk")
    func broken() {
        for status in [500, 502, 504] {
            #expect(
                Drive.run(machine(), [made, answered(status, sent: 7)]) == [persisted, "wait backoff http"])
        }
        #expect(
            Drive.run(machine(), [made, unanswered(lost, sent: 7)])
                == [persisted, "wait backoff networkConnectionLost"])
        #expect(
            Drive.run(machine(), [made, unanswered(badCertificate, sent: 0)]) == [persisted, "fail tlsFailure"])
    }

    @Test("a mismatching offset is taken from the answer, else asked for, and never for ever")
    func mismatch() {
        let body =
            "{\"type\":\"https://iana.org/assignments/http-problem-types#mismatching-upload-offset\",\"expected-offset\":9}"
        let problem = "Content-Type: application/problem+json"
        #expect(
            Drive.run(machine(), [made, answered(409, ["Upload-Offset: 9", problem], sent: 0, body: body)]) == [
                "accepted 9", "3 PATCH http://h/u | Upload-Offset: 9 | Upload-Complete: ?1 | 9..<10485760",
            ])
        #expect(Drive.run(machine(), [made, answered(409, [problem], body: body)]) == ["3 HEAD http://h/u"])
        // It is complete already, a server says: then that is asked for.
        #expect(
            Drive.run(machine(), [made, answered(409, ["Upload-Offset: \(size)", complete])]) == ["3 HEAD http://h/u"])
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made)
        for _ in 0..<5 {
            #expect(drive.end(answered(409, sent: 0)).last?.contains("HEAD") == true)
            #expect(drive.end(stands(0)).last?.contains("PATCH") == true)
        }
        #expect(drive.end(answered(409, sent: 0)) == ["wait backoff http"])
    }

    @Test(
        "the draft's kinds of refusal are told apart",
        .tells("h expects a file of another length: queue it again"))
    func problems() {
        func refused(_ kind: String) -> [String] {
            let body = "{\"type\":\"https://iana.org/assignments/http-problem-types#\(kind)\"}"
            return Drive.run(
                machine(),
                [made, answered(400, ["Content-Type: application/problem+json; charset=utf-8"], sent: 0, body: body)])
        }
        #expect(refused("inconsistent-upload-length") == ["fail badServerResponse 400"])
        #expect(refused("completed-upload") == ["3 HEAD http://h/u"])
        #expect(refused("else") == ["fail http 400"])
        #expect(
            Drive.run(machine(), [made, answered(400, sent: 0, body: "ERR_INVALID_UPLOAD_LENGTH")])
                == ["fail http 400"])
    }

    @Test("gone in the middle begins anew, with the last byte it is looked for")
    func gone() {
        #expect(
            Drive.run(machine(), [made, answered(404, sent: 5)])
                == ["doubt", "over: the server has lost the upload", "3 DELETE http://h/u"])
        #expect(Drive.run(machine(), [made, answered(410, sent: size)]) == ["3 HEAD http://h/f"])
    }

    @Test("limits that the server tells are kept: appends of that size, none smaller but the last")
    func limits() {
        let limited = answered(
            201, ["Location: /u", "Upload-Limit: max-append-size=4194304, min-append-size=1048576"], sent: 0)
        var drive = Drive(machine(chunk: 5))
        _ = drive.begin()
        #expect(
            drive.end(limited).last == "2 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?0 | 0..<1048576")
        #expect(
            drive.end(answered(204, [incomplete], sent: mebibyte)) == [
                "accepted 1048576",
                "3 PATCH http://h/u | Upload-Offset: 1048576 | Upload-Complete: ?0 | 1048576..<2097152",
            ])
        #expect(
            Drive.run(machine(), [limited]).last
                == "2 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?0 | 0..<4194304")
        // 9 MiB and a bit: the last is smaller, and says that it is.
        var odd = Drive(machine(4 * mebibyte + 5))
        _ = odd.begin()
        _ = odd.end(limited)
        #expect(
            odd.end(answered(201, [incomplete], sent: 4 * mebibyte)).last
                == "3 PATCH http://h/u | Upload-Offset: 4194304 | Upload-Complete: ?1 | 4194304..<4194309")
        #expect(
            Drive.run(machine(), [answered(201, ["Location: /u", "Upload-Limit: max-size=5"])]) == ["fail http 413"])
        #expect(Drive.run(machine(), [answered(413, ["Upload-Limit: max-size=5"], sent: 0)]) == ["fail http 413"])
    }

    @Test("a server that takes some bytes at once gets none of a larger file", arguments: [0, 1, 4095])
    func smallPieces(most: Int) {
        let limited = answered(201, ["Location: /u", "Upload-Limit: max-append-size=\(most)"], sent: 0)
        #expect(Drive.run(machine(), [limited]).last == "fail http 413")
    }

    @Test("an append that was not read to its end is asked after; an offset in the answer is believed")
    func partial() {
        let chunked = machine(chunk: 4 * mebibyte)
        #expect(Drive.run(chunked, [made, answered(204, [incomplete], sent: 5)]) == ["3 HEAD http://h/u"])
        #expect(
            Drive.run(chunked, [made, answered(204, ["Upload-Offset: 70000"], sent: 4 * mebibyte)]) == [
                "accepted 70000", "3 PATCH http://h/u | Upload-Offset: 70000 | Upload-Complete: ?0 | 70000..<4264304",
            ])
        #expect(
            Drive.run(chunked, [made, answered(204, ["Upload-Offset: 0"], sent: 4 * mebibyte)])
                == ["wake repeatRequest 0.25 seconds"])
    }

    @Test("a page that comes before the last bytes are out is no answer to them")
    func pageInBetween() {
        for early in [answered(200, sent: 5), answered(204, sent: 10 * mebibyte, failure: lost)] {
            #expect(Drive.run(machine(), [made, early]).last == "3 HEAD http://h/u")
        }
    }

    @Test("a server that takes a byte of each append is not asked for ever")
    func byteByByte() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made)
        var asked = 0
        for offset in Int64(1)..<40 {
            let said = drive.end(answered(204, ["Upload-Offset: \(offset)", incomplete], sent: 5 * mebibyte)).last
            asked += 1
            if said?.hasPrefix("wait backoff") == true { break }
            if said?.hasPrefix("wake") == true { _ = drive.fire() }
        }
        #expect(asked < 15)
    }

    @Test("413 to bytes makes them fewer, and the host is remembered for it")
    func tooLarge() {
        #expect(
            Drive.run(machine(), [made, answered(413, sent: 0)]) == [
                "learned largestBody=5242880",
                "3 PATCH http://h/u | Upload-Offset: 0 | Upload-Complete: ?0 | 0..<5242880",
            ])
        let floor = answered(201, ["Location: /u", "Upload-Limit: min-append-size=10485760"], sent: 0)
        #expect(Drive.run(machine(), [floor, answered(413, sent: 0)]) == ["fail http 413"])
        #expect(Drive.run(machine(body: 65536), [made, answered(413, sent: 0)]) == ["fail http 413"])
    }

    @Test("a cut that lost everything shows a proxy that buffers")
    func bufferingProxy() {
        let cut = UploadCut(offset: 5, sent: 9 * mebibyte)
        #expect(
            Drive.run(machine(100 * mebibyte, cut: cut), [stands(5, incomplete)]) == [
                "learned chunk=16777216", "resumed 5",
                "2 PATCH http://h/u | Upload-Offset: 5 | Upload-Complete: ?0 | 5..<16777221",
            ])
        #expect(Drive.run(machine(100 * mebibyte, cut: cut), [stands(6)]).first == "resumed 6")
    }

    @Test("a permanent redirect of the upload holds for the next attempt, too")
    func permanentRedirect() {
        let moved = [made, answered(308, ["Location: http://o/x"]), unanswered(lost, sent: 5)]
        #expect(
            Drive.run(machine(), moved) == ["persist ietf secret http://o/x", "wait backoff networkConnectionLost"])
    }

    @Test(
        "a locked upload is asked after with growing pauses, then later",
        .tells("h answered 423 Locked: it is locked there; retry when the lock is gone"))
    func locked() {
        var drive = Drive(machine(cut: UploadCut(offset: 0, sent: 0)))
        _ = drive.begin()
        for pause in ["0.25", "1.0", "2.0", "5.0", "10.0"] {
            #expect(drive.end(answered(423)) == ["wake repeatRequest \(pause) seconds"])
            _ = drive.fire()
        }
        #expect(drive.end(answered(423)) == ["wait backoff http"])
    }

    @Test(
        "the receipt does not repeat the upload's address, also where it is made after a look",
        arguments: [false, true])
    func receipt(looks: Bool) {
        var drive = Drive(machine(verify: looks ? .size : nil))
        _ = drive.begin()
        _ = drive.end(answered(201, ["Location: /uploads/24e533e0f", incomplete], sent: 0))
        let done = answered(
            200, [complete, "X: at /uploads/24e533e0f"], sent: size, body: "stored from /uploads/24e533e0f")
        var machine = drive.machine
        var actions = machine.handle(.ended(ExchangeID(rawValue: 2), done))
        if looks {
            let there = answered(200, ["Content-Length: \(size)"])
            actions = machine.handle(.ended(ExchangeID(rawValue: 3), there))
        }
        guard case .finish(let receipt)? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(receipt.response?.body == "stored from ...")
        #expect(receipt.response?.headers.last?.value == "at ...")
    }

    @Test("--verify digest compares what the server has with the source")
    func verify() {
        let checked = machine(verify: .digest)
        let done = answered(200, [complete], sent: size)
        #expect(Drive.run(checked, [made, done]) == ["3 HEAD http://h/f | Want-Repr-Digest: sha-256=10"])
        #expect(
            Drive.run(checked, [made, done, answered(200, ["Content-Length: \(size)"])]) == ["fail integrity"])
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        let told = answered(200, [complete, offer], sent: size)
        #expect(Drive.run(checked, [made, told]) == ["learned tellsDigests=true", "digest"])
        #expect(Drive.run(machine(), [made, told]) == ["learned tellsDigests=true", "digest"])
        #expect(Drive.run(machine(), [made, done]) == ["finish \(size) none"])
        #expect(Drive.run(machine(verify: .size), [made, done]) == ["3 HEAD http://h/f"])
    }

    @Test("what comes after the end, or from an exchange that is not under way, changes nothing")
    func lateEvents() {
        var drive = Drive(machine())
        #expect(drive.fire() == [])
        _ = drive.begin()
        #expect(drive.end(made, of: 9) == [])
        _ = drive.end(made)
        #expect(drive.end(made, of: 1) == [])
        #expect(drive.interim(["Upload-Draft-Interop-Version: 8", "Upload-Offset: 5"]) == [])
        #expect(drive.end(answered(422)) == ["fail http 422"])
        #expect(drive.end(answered(200)) == [])
    }
}
