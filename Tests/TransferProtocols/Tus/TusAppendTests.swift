import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let files = HTTPAddress("http://h/files/")!
private let made = answered(201, ["Location: /files/1"], sent: 0)

private func known(_ extensions: [String] = [], checksums: [String] = []) -> HostFacts {
    var facts = HostFacts()
    facts.tusExtensions = ["creation"] + extensions
    facts.tusChecksums = checksums
    return facts
}

private func machine(
    _ size: Int64 = 1000, verify: VerificationWish? = nil, facts: HostFacts = known(), cut: UploadCut? = nil,
    resumes: Bool = false, chunk: Int64? = nil, checksum: String? = nil
) -> TusUpload {
    let part = TusResumePoint.Part(0..<size, url: HTTPAddress("http://h/files/1"), cut: cut)
    return TusUpload(
        TusPlan(
            endpoint: files, subject: subject(size, verify: verify), facts: facts,
            resume: resumes ? TusResumePoint(parts: [part], checksum: checksum, begun: noon) : nil, chunk: chunk))
}

private func stands(_ offset: Int64, sent: Int64 = 1000) -> ExchangeEnd {
    answered(204, ["Upload-Offset: \(offset)"], sent: sent)
}

/// To a question.
private func standing(_ offset: Int64) -> ExchangeEnd {
    answered(200, ["Upload-Offset: \(offset)", "Upload-Length: 1000"])
}

@Suite struct TusAppendTests {
    @Test(
        "the answer to bytes decides",
        arguments: [
            (401, "", "wait auth http"), (403, "", "3 HEAD http://h/files/1"),
            (412, "", "3 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"),
            (415, "", "fail http 415"), (423, "", "wake repeatRequest 0.25 seconds"),
            (409, "", "3 HEAD http://h/files/1"), (460, "", "3 HEAD http://h/files/1"),
            (204, "", "3 HEAD http://h/files/1"), (400, "no", "fail http 400"),
            (400, "ERR_UPLOAD_INTERRUPTED: x", "wake repeatRequest 0.25 seconds"),
            (400, "ERR_UNEXPECTED_EOF: x", "wake repeatRequest 0.25 seconds"),
            (400, "ERR_UPLOAD_STOPPED: x", "fail http 400"), (403, "ERR_UPLOAD_REJECTED: x", "fail http 403"),
            (408, "", "wait backoff http"), (429, "", "wait hostBackoff http"), (500, "", "wait backoff http"),
            (503, "", "wait hostBackoff http"), (507, "", "wait remoteDiskSpace http"),
        ])
    func answers(status: Int, body: String, expected: String) {
        #expect(Drive.run(machine(), [made, answered(status, sent: 0, body: body)]) == [expected])
    }

    @Test(
        "fewer bytes than were sent are believed, and the rest follows; more than there are never",
        .tells("h says it has 1001 bytes of 1000: look at what is there, then retry"))
    func partialAcceptance() {
        #expect(
            Drive.run(machine(), [made, stands(600)]) == [
                "accepted 600", "3 PATCH http://h/files/1 | Upload-Offset: 600 | 600..<1000",
            ])
        // Even fewer than it had before: a server that fell over.
        let fell = Drive.run(machine(), [made, stands(600), stands(200)])
        #expect(fell == ["accepted 200", "wake repeatRequest 0.25 seconds"])
        #expect(Drive.run(machine(), [made, stands(1001)]) == ["fail badServerResponse 204"])
    }

    @Test(
        "a 403 is a permission that is gone only if the server still has what it had: an earlier client's last bytes may have come in between"
    )
    func forbidden() {
        let forbidden = answered(403, sent: 1000)
        #expect(Drive.run(machine(), [made, forbidden, standing(0)]) == ["wait auth http"])
        #expect(Drive.run(machine(), [made, forbidden, standing(1000)]) == ["accepted 1000", "finish 1000 size"])
        #expect(
            Drive.run(machine(), [made, forbidden, standing(600)]) == [
                "accepted 600", "4 PATCH http://h/files/1 | Upload-Offset: 600 | 600..<1000",
            ])
        // Asked once for each refusal.
        #expect(Drive.run(machine(), [made, forbidden, standing(600), forbidden, standing(600)]) == ["wait auth http"])
        #expect(Drive.run(machine(), [made, forbidden, answered(403)]) == ["wait auth http"])
    }

    @Test("a cut becomes durable with what was sent, and the next attempt asks")
    func cut() {
        let words = Drive.run(machine(), [made, unanswered(lost, sent: 700)])
        #expect(words == ["persist tus secret http://h/files/1", "wait backoff networkConnectionLost"])
        #expect(Drive.run(machine(), [made, unanswered(badCertificate, sent: 0)]) == ["fail tlsFailure"])
        // The same when a proxy answers for the server that died.
        #expect(
            Drive.run(machine(), [made, answered(502, sent: 700)])
                == ["persist tus secret http://h/files/1", "wait backoff http"])
    }

    @Test("gone in the middle begins anew; gone with the last byte is looked for")
    func gone() {
        #expect(
            Drive.run(machine(), [made, answered(404, sent: 400)]) == [
                "doubt", "over: the server has lost the upload", "3 POST http://h/files/ | Upload-Length: 1000",
            ])
        #expect(
            Drive.run(machine(), [made, answered(410, sent: 1000)])
                == ["persist tus secret http://h/files/1", "3 HEAD http://h/files/f"])
        // Not for ever in one attempt.
        let again = [made, answered(404, sent: 0)]
        #expect(Drive.run(machine(), again + again + again) == ["wait backoff badServerResponse"])
    }

    @Test(
        "a locked upload is asked after at the same address, with growing pauses, then later",
        .tells("h still works at what it got last (423)"))
    func locked() {
        var drive = Drive(machine(resumes: true))
        _ = drive.begin()
        for pause in ["0.25", "1.0", "2.0", "5.0", "10.0"] {
            #expect(drive.end(answered(423)) == ["wake repeatRequest \(pause) seconds"])
            #expect(drive.fire().first?.hasSuffix("HEAD http://h/files/1") == true)
        }
        #expect(drive.end(answered(423)) == ["wait backoff badServerResponse"])
    }

    @Test("disagreement on the offset is settled by asking, not for ever; a byte gained starts the count anew")
    func disagreement() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made)
        for _ in 0..<5 {
            #expect(drive.end(answered(409, sent: 0)).last?.contains("HEAD") == true)
            #expect(drive.end(stands(0)).last?.contains("PATCH") == true)
        }
        #expect(drive.end(answered(409, sent: 0)) == ["wait backoff badServerResponse"])
        var gaining = Drive(machine())
        _ = gaining.begin()
        _ = gaining.end(made)
        for offset in 1...20 {
            #expect(gaining.end(answered(409, sent: 0)).last?.contains("HEAD") == true)
            #expect(gaining.end(stands(Int64(offset))).first == "accepted \(offset)")
        }
    }

    @Test("a server that says yes and takes nothing is not asked for ever")
    func standstill() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(made)
        var words: [String] = []
        for _ in 0..<5 {
            words = drive.end(stands(0))
            #expect(words.last?.hasPrefix("wake") == true)
            _ = drive.fire()
            words = drive.end(stands(0))
        }
        #expect(drive.end(stands(0)) == ["wait backoff networkConnectionLost"])
    }

    @Test("a server that takes a byte of each request is not asked for ever")
    func byteByByte() {
        var drive = Drive(machine(10 * mebibyte))
        _ = drive.begin()
        _ = drive.end(made)
        for offset in stride(from: Int64(1), through: 9, by: 2) {
            #expect(drive.end(stands(offset)).last?.hasPrefix("wake") == true)
            _ = drive.fire()
            _ = drive.end(stands(offset + 1))
        }
        #expect(drive.end(stands(11)).last == "wait backoff networkConnectionLost")
    }

    @Test("a proxy that refuses PATCH is met with a POST that says PATCH")
    func methodOverride() {
        for status in [405, 501] {
            #expect(
                Drive.run(machine(), [made, answered(status, sent: 0)]) == [
                    "3 POST http://h/files/1 | Upload-Offset: 0 | X-HTTP-Method-Override: PATCH | 0..<1000"
                ])
        }
        #expect(Drive.run(machine(), [made, answered(405, sent: 0), answered(405, sent: 0)]) == ["fail http 405"])
    }

    // MARK: Chunks

    @Test("a limit on bodies, given or learnt, cuts the file into chunks; the smallest counts")
    func chunks() {
        var facts = known()
        facts.chunk = 500
        facts.largestBody = 400
        let limited: [(TusUpload, Int64)] = [(machine(chunk: 300), 300), (machine(facts: facts), 400)]
        for (machine, size) in limited {
            #expect(
                Drive.run(machine, [made, stands(size)]) == [
                    "accepted \(size)",
                    "3 PATCH http://h/files/1 | Upload-Offset: \(size) | \(size)..<\(2 * size)",
                ])
        }
    }

    @Test("413 to bytes halves them, and the host is remembered for it, down to where it makes no sense")
    func tooLarge() {
        let size = 300 * mebibyte
        var drive = Drive(machine(size))
        _ = drive.begin()
        _ = drive.end(made)
        #expect(
            drive.end(answered(413, sent: 0)) == [
                "learned largestBody=67108864", "3 PATCH http://h/files/1 | Upload-Offset: 0 | 0..<67108864",
            ])
        #expect(drive.end(answered(413, sent: 0)).first == "learned largestBody=33554432")
        for _ in 0..<9 { #expect(drive.end(answered(413, sent: 0)).first?.hasPrefix("learned") == true) }
        #expect(drive.end(answered(413, sent: 0)) == ["fail http 413"])
        // Some hosts take multiples of 256 KiB only.
        let odd = Drive.run(machine(3 * mebibyte + 5), [made, answered(413, sent: 0)])
        #expect(odd.first == "learned largestBody=1572864")
    }

    @Test("a cut that lost everything shows a proxy that buffers: from then on a cut costs at most 16 MiB")
    func bufferingProxy() {
        let size = 100 * mebibyte
        let cut = UploadCut(offset: 5, sent: 9 * mebibyte)
        func resumed(at offset: Int64, chunk: Int64? = nil, cut: UploadCut = cut) -> [String] {
            Drive.run(machine(size, cut: cut, resumes: true, chunk: chunk), [stands(offset)])
        }
        #expect(
            resumed(at: 5) == [
                "learned chunk=16777216", "resumed 5", "2 PATCH http://h/files/1 | Upload-Offset: 5 | 5..<16777221",
            ])
        // It moved; too little was sent to tell; chunks are that small already.
        #expect(resumed(at: 6).first == "resumed 6")
        #expect(resumed(at: 5, cut: UploadCut(offset: 5, sent: 8 * mebibyte)).first == "resumed 5")
        #expect(resumed(at: 5, chunk: 16 * mebibyte).first == "resumed 5")
    }

    // MARK: Checksums

    @Test("with --verify digest each chunk bears its checksum, and the next is computed while one is on its way")
    func checksums() throws {
        let size = 9 * mebibyte
        var drive = Drive(machine(size, verify: .digest, facts: known(["checksum"], checksums: ["md5", "sha1"])))
        _ = drive.begin()
        #expect(drive.end(made) == ["persist tus secret http://h/files/1", "digest 0..<8388608 sha-1"])
        let digest = TransferDigest(algorithm: "sha-1", value: "00ff")
        #expect(
            drive.tell(.rangeDigested(0..<8_388_608, [digest])) == [
                "2 PATCH http://h/files/1 | Upload-Offset: 0 | Upload-Checksum: sha1 AP8= | 0..<8388608",
                "digest 8388608..<9437184 sha-1",
            ])
        #expect(drive.tell(.rangeDigested(8_388_608..<size, [digest])) == [])
        #expect(
            drive.end(stands(8_388_608)) == [
                "accepted 8388608",
                "3 PATCH http://h/files/1 | Upload-Offset: 8388608 | Upload-Checksum: sha1 AP8= | 8388608..<9437184",
            ])
        #expect(drive.end(stands(size)) == ["accepted \(size)", "finish \(size) digest"])
    }

    @Test("a server that tells now more and now less is left alone for a while")
    func unsteady() {
        var drive = Drive(machine())
        _ = drive.begin()
        var said = drive.end(made)
        var asked = 0
        while said.last?.hasPrefix("wait") != true, asked < 100 {
            said = drive.end(answered(409))
            if said.last?.hasPrefix("wait") == true { break }
            said = drive.end(stands(asked % 2 == 0 ? 600 : 0))
            asked += 1
        }
        #expect(asked < 20 && said.last?.hasPrefix("wait backoff") == true)
    }

    @Test(
        "a chunk that arrives damaged is sent again; the third time something is broken",
        .tells("check the disk and memory here, and what lies between"))
    func damaged() {
        var drive = Drive(machine(verify: .digest, facts: known(["checksum"], checksums: ["sha256"])))
        _ = drive.begin()
        _ = drive.end(made)
        let digest = TransferDigest(algorithm: "sha-256", value: "00")
        _ = drive.tell(.rangeDigested(0..<1000, [digest]))
        for round in 1...2 {
            #expect(drive.end(answered(460)) == ["\(2 * round + 1) HEAD http://h/files/1"])
            #expect(
                drive.end(stands(0)) == [
                    "\(2 * round + 2) PATCH http://h/files/1 | Upload-Offset: 0 | Upload-Checksum: sha256 AA== | 0..<1000"
                ])
        }
        // Other bytes than were hashed may be those of somebody who writes to the source.
        var machine = drive.machine
        #expect(machine.handle(.ended(ExchangeID(rawValue: 6), answered(460))).first == .compareSource(keeping: nil))
        #expect(drive.end(answered(460)) == ["fail integrity"])
    }

    @Test(
        "a digest that cannot be had is refused before anything is sent; one begun without is begun anew",
        .tells("h cannot check what it gets (it offers no checksums)"))
    func noChecksums() {
        #expect(Drive.run(machine(verify: .digest), []) == ["fail integrity"])
        let able = known(["checksum", "termination"], checksums: ["sha1"])
        #expect(
            Drive.run(machine(verify: .digest, facts: able, resumes: true), []) == [
                "over: it has to be sent with checksums", "1 DELETE http://h/files/1",
            ])
        #expect(
            Drive.run(machine(verify: .digest, facts: known(), resumes: true, checksum: "md5"), [stands(400)])
                == ["resumed 400", "digest 400..<1000 md5"])
    }

    @Test("what comes after the end, or from an exchange that is not under way, changes nothing")
    func lateEvents() {
        var drive = Drive(machine())
        #expect(drive.fire() == [])
        _ = drive.begin()
        #expect(drive.end(made, of: 9) == [])
        _ = drive.end(made)
        #expect(drive.end(made, of: 1) == [])
        #expect(drive.tell(.rangeDigested(0..<1000, [])) == [])
        #expect(drive.fire() == [])
        #expect(drive.end(stands(1000)).last == "finish 1000 size")
        #expect(drive.end(stands(1000)) == [])
        #expect(drive.begin() == [])
    }
}
