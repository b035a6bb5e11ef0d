import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let files = HTTPAddress("http://h/files/")!
private let upload = HTTPAddress("http://h/files/1")!

private func known(
    _ extensions: [String] = [], checksums: [String] = [], chunk: Int64? = nil, body: Int64? = nil,
    tellsDigests: Bool? = nil
) -> HostFacts {
    var facts = HostFacts()
    facts.tellsDigests = tellsDigests
    facts.tusExtensions = ["creation"] + extensions
    facts.tusChecksums = checksums
    facts.chunk = chunk
    facts.largestBody = body
    return facts
}

private func plan(
    _ subject: UploadSubject = subject(1000), facts: HostFacts = known(), resume: TusResumePoint? = nil,
    chunk: Int64? = nil
) -> TusPlan {
    TusPlan(endpoint: files, subject: subject, facts: facts, resume: resume, chunk: chunk)
}

/// What an earlier attempt left.
private func point(
    _ size: Int64 = 1000, cut: UploadCut? = nil, checksum: String? = nil, expires: Timestamp? = nil
) -> TusResumePoint {
    TusResumePoint(
        parts: [TusResumePoint.Part(0..<size, url: upload, cut: cut)], checksum: checksum, begun: noon,
        expires: expires)
}

private let made = answered(201, ["Location: /files/1"], sent: 0)
private let ask = "1 HEAD http://h/files/1"

private func stands(_ offset: Int64, of length: Int64? = nil, status: Int = 204, sent: Int64 = 1000) -> ExchangeEnd {
    answered(
        status, ["Upload-Offset: \(offset)"] + (length.map { ["Upload-Length: \($0)"] } ?? []), sent: sent)
}

@Suite struct TusUploadTests {
    @Test("an upload is made, its address becomes durable, then everything goes in one request")
    func wholeWay() {
        var drive = Drive(TusUpload(plan()))
        #expect(drive.begin() == ["1 POST http://h/files/ | Upload-Length: 1000"])
        #expect(
            drive.end(made) == [
                "persist tus secret http://h/files/1", "2 PATCH http://h/files/1 | Upload-Offset: 0 | 0..<1000",
            ])
        #expect(drive.end(stands(1000)) == ["accepted 1000", "finish 1000 size"])
    }

    @Test("the digest that a server tells with the last answer is compared with the source's")
    func toldDigest() {
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        var drive = Drive(TusUpload(plan()))
        _ = drive.begin()
        _ = drive.end(made)
        #expect(
            drive.end(answered(204, ["Upload-Offset: 1000", offer]))
                == ["accepted 1000", "learned tellsDigests=true", "digest"])
        var twin = drive
        let zeros = TransferDigest(algorithm: "sha-256", value: String(repeating: "00", count: 32))
        let others = TransferDigest(algorithm: "sha-256", value: String(repeating: "01", count: 32))
        #expect(drive.tell(.digested(zeros)) == ["finish 1000 digest"])
        #expect(twin.tell(.digested(others)) == ["mismatch 1000 integrity"])
        for wish in [VerificationWish.none, .size] {
            var other = Drive(TusUpload(plan(subject(1000, verify: wish))))
            _ = other.begin()
            _ = other.end(made)
            let words = other.end(answered(204, ["Upload-Offset: 1000", offer]))
            #expect(words.last == "finish 1000 \(wish == .size ? "size" : "none")")
        }
    }

    @Test("a server that tells digests is asked for one where its last answer was lost")
    func lostDigest() {
        var facts = known()
        facts.tellsDigests = true
        var drive = Drive(TusUpload(plan(facts: facts, resume: point())))
        #expect(drive.begin() == [ask])
        #expect(
            drive.end(stands(1000, of: 1000, status: 200)).last
                == "2 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10")
        var (other, silent) = (drive, drive)
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        #expect(drive.end(answered(200, ["Content-Length: 1000", offer])) == ["digest"])
        let others = TransferDigest(algorithm: "sha-256", value: String(repeating: "01", count: 32))
        #expect(drive.tell(.digested(others)) == ["mismatch 1000 integrity"])
        #expect(other.end(answered(200, ["Content-Length: 1000"])).last == "finish 1000 size")
        #expect(silent.end(answered(503)).last == "finish 1000 size", "that the upload is whole was said before")
    }

    @Test(
        "after a kill that nothing survived it is said that the file begins anew, and bodies that are held back are met with chunks"
    )
    func killedBehindAProxy() {
        var killed = subject(50 * mebibyte)
        killed.unanswered = UploadCut(offset: 0, sent: 20 * mebibyte)
        let point = point(50 * mebibyte)
        #expect(
            Drive.run(TusUpload(plan(killed, resume: point)), [stands(0, status: 200)]) == [
                "learned chunk=16777216", "over: the server has nothing of what was sent",
                "persist tus secret http://h/files/1", "accepted 0",
                "2 PATCH http://h/files/1 | Upload-Offset: 0 | 0..<16777216",
            ])
        var gone = Drive(TusUpload(plan(killed, resume: point)))
        _ = gone.begin()
        #expect(gone.end(answered(404, ["Tus-Resumable: 1.0.0"])).first == "over: the server has lost the upload")
        #expect(!gone.end(made).contains { $0.hasPrefix("over: ") }, "it began anew once")
        let resumed = Drive.run(TusUpload(plan(killed, resume: point)), [stands(5, status: 200)])
        #expect(resumed.first == "resumed 5")
    }

    @Test("requests bear the version, the name, and a condition that only our own receiver heeds")
    func fields() {
        var whole = plan(subject(1000))
        whole.relativePath = RawPath("a/f")
        var upload = TusUpload(whole)
        #expect(
            headers(upload.handle(.began(at: noon))) == [
                [
                    "Tus-Resumable: 1.0.0", "Upload-Length: 1000",
                    "Upload-Metadata: filename Zg==,relativePath YS9m,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt",
                    "If-None-Match: *", "Want-Repr-Digest: sha-256=10",
                ]
            ])
        #expect(
            headers(upload.handle(.ended(ExchangeID(rawValue: 1), made))) == [
                ["Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Type: application/offset+octet-stream"]
            ])
        var replacing = TusUpload(plan(subject(1000, ifExists: .replace)))
        #expect(headers(replacing.handle(.began(at: noon)))[0].contains("If-None-Match: *") == false)
        var own = plan()
        own.stored = StoredVersion(stored: true, etag: nil)
        var ours = TusUpload(own)
        #expect(headers(ours.handle(.began(at: noon)))[0].contains("If-None-Match: *") == false)
    }

    @Test("a server of which nothing is known is asked once, and what it says is learnt")
    func discovery() {
        var drive = Drive(TusUpload(plan(facts: HostFacts())))
        #expect(drive.begin() == ["1 OPTIONS http://h/files/"])
        let answer = answered(
            204,
            [
                "Tus-Version: 1.0.0,0.2.2", "Tus-Extension: creation, checksum",
                "Tus-Checksum-Algorithm: sha1,md5", "Tus-Max-Size: 2000",
            ])
        #expect(
            drive.end(answer) == [
                "learned tusExtensions=[\"creation\", \"checksum\"] tusChecksums=[\"sha1\", \"md5\"]",
                "2 POST http://h/files/ | Upload-Length: 1000",
            ])
    }

    @Test("a server that does not say what it can is tried; one that cannot now is left for later")
    func silentDiscovery() {
        let asked = TusUpload(plan(facts: HostFacts()))
        for status in [200, 403, 404, 405, 501] {
            #expect(
                Drive.run(asked, [answered(status)]) == ["2 POST http://h/files/ | Upload-Length: 1000"], "\(status)")
        }
        #expect(Drive.run(asked, [answered(401)]) == ["wait auth http"])
        #expect(Drive.run(asked, [answered(503)]) == ["wait hostBackoff http"])
        #expect(Drive.run(asked, [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
        #expect(Drive.run(asked, [unanswered(badCertificate, sent: 0)]) == ["fail tlsFailure"])
        #expect(Drive.run(asked, [answered(308, ["Location: /up/"])]) == ["2 OPTIONS http://h/up/"])
        let small = ["Tus-Version: 1.0.0", "Tus-Max-Size: 999"]
        #expect(Drive.run(asked, [answered(204, small)]).last == "fail http 413")
    }

    @Test("an empty file is complete when it is made")
    func empty() {
        var drive = Drive(TusUpload(plan(subject(0))))
        #expect(drive.begin() == ["1 POST http://h/files/ | Upload-Length: 0"])
        #expect(drive.end(made) == ["finish 0 size"])
    }

    @Test("a small file goes along with its creation where a lost answer can be asked after, and nowhere else")
    func creationTwice() {
        for tells in [nil, false] {
            let small = TusUpload(plan(facts: known(["creation-with-upload"], tellsDigests: tells)))
            #expect(Drive.run(small, []) == ["1 POST http://h/files/ | Upload-Length: 1000"])
        }
    }

    @Test("a small file goes along with its creation where the server takes that, and a large one never")
    func creationWithUpload() {
        let facts = known(["creation-with-upload"], tellsDigests: true)
        let small = TusUpload(plan(facts: facts))
        #expect(Drive.run(small, []) == ["1 POST http://h/files/ | Upload-Length: 1000 | 0..<1000"])
        let there = answered(201, ["Location: /files/1", "Upload-Offset: 1000"])
        #expect(
            Drive.run(small, [there]) == [
                "accepted 1000", "2 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10",
            ])
        let half = answered(201, ["Location: /files/1", "Upload-Offset: 400"])
        #expect(
            Drive.run(small, [half]) == [
                "persist tus secret http://h/files/1", "accepted 400",
                "2 PATCH http://h/files/1 | Upload-Offset: 400 | 400..<1000",
            ])
        // It made the upload and passed over the bytes, or does not say: it is asked.
        #expect(Drive.run(small, [made]) == ["2 HEAD http://h/files/1"])
        // Something on the way takes no body of that size.
        #expect(Drive.run(small, [answered(413)]) == ["2 POST http://h/files/ | Upload-Length: 1000"])
        let large = TusUpload(plan(subject(mebibyte + 1), facts: facts))
        #expect(Drive.run(large, []) == ["1 POST http://h/files/ | Upload-Length: 1048577"])
        #expect(
            Drive.run(TusUpload(plan(facts: known(["creation-with-upload"], body: 999, tellsDigests: true))), [])
                == ["1 POST http://h/files/ | Upload-Length: 1000"])
    }

    @Test("a small file whose answer was lost is looked for at its own address before it is sent again")
    func lostCreation() {
        let small = TusUpload(plan(facts: known(["creation-with-upload"], tellsDigests: true)))
        let cut = unanswered(lost, sent: 1000)
        #expect(Drive.run(small, [cut]) == ["2 HEAD http://h/files/f"])
        let there = answered(200, ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"])
        #expect(Drive.run(small, [cut, there]) == ["3 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"])
        #expect(Drive.run(small, [cut, answered(404)]) == ["wake probeAgain 1.0 seconds"])
        #expect(Drive.run(small, [unanswered(lost, sent: 999)]) == ["wait backoff networkConnectionLost"])
    }

    @Test(
        "the answer to a creation decides",
        .tells(
            "h answered 405 and does not speak tus 1.0.0: check the address, or queue it again without --protocol and tus+"
        ),
        arguments: [
            (401, "wait auth http"), (403, "fail permissionDenied 403"), (404, "fail http 404"),
            (405, "fail unsupported 405"), (409, "fail http 409"), (413, "fail http 413"),
            (423, "wait backoff badServerResponse"),
            (429, "wait hostBackoff http"), (500, "wait backoff http"), (507, "wait remoteDiskSpace http"),
            (200, "fail unsupported 200"),
        ])
    func creationAnswers(status: Int, expected: String) {
        #expect(Drive.run(TusUpload(plan()), [answered(status)]) == [expected])
    }

    @Test("where there is no tus any more nothing is left by tus, so that a retry asks anew how the server takes files")
    func noTusAnyMore() {
        let actions = Drive.run(TusUpload(plan(resume: point())), [answered(404), answered(405)])
        #expect(
            actions.last == "fail unsupported 405" && actions.contains { $0.hasPrefix("persist put") }, "\(actions)")
        #expect(Drive.run(TusUpload(plan()), [answered(405)]) == ["fail unsupported 405"])
    }

    @Test("a creation without an answer waits; nothing was sent and nothing is known")
    func creationLost() {
        #expect(Drive.run(TusUpload(plan()), [unanswered(lost, sent: 0)]) == ["wait backoff networkConnectionLost"])
        #expect(Drive.run(TusUpload(plan()), [unanswered(badCertificate, sent: 0)]) == ["fail tlsFailure"])
    }

    @Test("a location may be relative, absolute or at another server, which sees no secrets")
    func locations() {
        func patch(_ location: String, from endpoint: HTTPAddress = files) -> String? {
            var plan = plan()
            plan.endpoint = endpoint
            return Drive.run(TusUpload(plan), [answered(201, ["Location: " + location])]).last
        }
        let rest = " | Upload-Offset: 0 | 0..<1000"
        #expect(patch("1") == "2 PATCH http://h/files/1" + rest)
        #expect(patch("../x?k=1") == "2 PATCH http://h/x?k=1" + rest)
        #expect(patch("https://o/1") == "2 PATCH https://o/1" + rest + " | bare")
        #expect(patch("ftp://h/1") == "fail unsupported 201")
        // A server behind a proxy that does not know that it is reached by https.
        let secure = HTTPAddress("https://h:8443/files/")!
        #expect(patch("http://h/files/1", from: secure) == "2 PATCH https://h:8443/files/1" + rest)
        #expect(patch("http://o/files/1", from: secure) == "fail unsupported 201")
    }

    @Test("redirects keep the method; a permanent one of an upload is durable")
    func redirects() {
        #expect(
            Drive.run(TusUpload(plan()), [answered(307, ["Location: /up/"])])
                == ["2 POST http://h/up/ | Upload-Length: 1000"])
        #expect(
            Drive.run(TusUpload(plan()), [made, answered(307, ["Location: /x"])])
                == ["3 PATCH http://h/x | Upload-Offset: 0 | 0..<1000"])
        #expect(
            Drive.run(TusUpload(plan()), [made, answered(308, ["Location: http://o/x"])]) == [
                "persist tus secret http://o/x", "3 PATCH http://o/x | Upload-Offset: 0 | 0..<1000 | bare",
            ])
        #expect(
            Drive.run(TusUpload(plan(resume: point())), [answered(307, ["Location: /x"])]) == ["2 HEAD http://h/x"])
        #expect(Drive.run(TusUpload(plan()), [made, answered(303, ["Location: /x"])]) == ["fail http 303"])
    }

    @Test("412 means a foreign file at our own receiver, and another version wherever the answer names versions")
    func preconditions() {
        let refused = answered(412, ["Tus-Resumable: 1.0.0"])
        #expect(
            Drive.run(TusUpload(plan()), [refused]) == ["2 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"])
        #expect(Drive.run(TusUpload(plan(subject(1000, ifExists: .skip))), [refused]) == ["finish 1000 none skipped"])
        #expect(
            Drive.run(TusUpload(plan(subject(1000, ifExists: .replace))), [refused]) == ["fail unsupported 412"])
        for told in [
            answered(412, ["Tus-Version: 0.2.2"]), answered(412, ["Tus-Version: 1.0.0"]),
            answered(412, body: "ERR_UNSUPPORTED_VERSION: x"),
        ] {
            #expect(Drive.run(TusUpload(plan()), [told]) == ["fail unsupported 412"])
            #expect(Drive.run(TusUpload(plan()), [made, told]) == ["fail unsupported 412"])
            #expect(Drive.run(TusUpload(plan(resume: point())), [told]) == ["fail unsupported 412"])
        }
    }

    @Test("412 to a creation, yet nothing is there: it is made once more, and what goes on like that is told as it is")
    func refusedWithoutReason() {
        let refused = answered(412)
        let machine = TusUpload(plan())
        #expect(
            Drive.run(machine, [refused, answered(404)]) == ["3 POST http://h/files/ | Upload-Length: 1000"])
        #expect(
            Drive.run(machine, [refused, answered(404), refused, answered(410)])
                == ["5 POST http://h/files/ | Upload-Length: 1000"])
        let rounds = [refused, answered(404), refused, answered(404), refused, answered(404)]
        #expect(Drive.run(machine, rounds) == ["fail http 412"])
    }

    @Test("an upload that was made to replace what is there is not gone on with once it may not")
    func mayNotReplace() {
        var drive = Drive(TusUpload(plan(subject(1000, ifExists: .replace), facts: known(["termination"]))))
        _ = drive.begin()
        _ = drive.end(made)
        let written = (drive.machine as? TusUpload)?.point.content(TusResumePoint.self)
        #expect(written?.replaces == true)
        var resume = point()
        resume.replaces = true
        drive = Drive(TusUpload(plan(subject(1000), facts: known(["termination"]), resume: resume)))
        #expect(drive.begin() == ["1 HEAD http://h/files/1"])
        #expect(
            drive.end(stands(500)) == [
                "over: it was begun to replace what is there, which it may not any more",
                "2 DELETE http://h/files/1",
            ])
        #expect(drive.end(answered(204)) == ["3 POST http://h/files/ | Upload-Length: 1000"])
        _ = drive.end(made)
        #expect((drive.machine as? TusUpload)?.point.content(TusResumePoint.self)?.replaces == nil)
        // What is whole has replaced it.
        drive = Drive(TusUpload(plan(subject(1000), facts: known(["termination"]), resume: resume)))
        _ = drive.begin()
        #expect(drive.end(stands(1000)).last?.hasPrefix("finish 1000") == true)
    }

    @Test("the name of an upload that was made was taken: with another rule by now it is ended and made anew")
    func takenName() {
        let able = known(["termination"])
        let refused = answered(412, ["Tus-Resumable: 1.0.0"])
        let over = "over: the server would not let that upload replace what is there"
        // At its first bytes, or when an earlier attempt's is asked after.
        for (before, id) in [([made], 3), ([], 2)] {
            let resume = before.isEmpty ? point() : nil
            let machine = TusUpload(plan(subject(1000, ifExists: .replace), facts: able, resume: resume))
            let taken = before + [refused]
            #expect(Drive.run(machine, taken) == [over, "\(id) DELETE http://h/files/1"])
            for end in [answered(204), answered(404), unanswered(lost, sent: 0)] {
                #expect(
                    Drive.run(machine, taken + [end]) == ["\(id + 1) POST http://h/files/ | Upload-Length: 1000"])
            }
            // Where nothing can be ended it is left to expire.
            let elsewhere = TusUpload(plan(subject(1000, ifExists: .replace), resume: resume))
            #expect(
                Drive.run(elsewhere, taken) == [over, "\(id) POST http://h/files/ | Upload-Length: 1000"])
            // A server that keeps to its 412 is quoted, and not for ever asked.
            let round = [answered(204), made, refused]
            #expect(Drive.run(machine, taken + round) == [over, "\(id + 3) DELETE http://h/files/1"])
            #expect(Drive.run(machine, taken + round + round) == ["fail http 412"])
        }
    }

    @Test(
        "what is looked at because the name was taken leaves no upload behind when it is as good, or to be left alone")
    func takenNameTidied() {
        let able = known(["termination"])
        let refused = answered(412, ["Tus-Resumable: 1.0.0"])
        for (before, id) in [([made], 3), ([], 2)] {
            let resume = before.isEmpty ? point() : nil
            let skipping = TusUpload(plan(subject(1000, ifExists: .skip), facts: able, resume: resume))
            let delete = "\(id) DELETE http://h/files/1"
            #expect(Drive.run(skipping, before + [refused]) == [delete])
            for end in [answered(204), answered(404), unanswered(lost, sent: 0)] {
                #expect(Drive.run(skipping, before + [refused, end]) == ["finish 1000 none skipped"])
            }
            let machine = TusUpload(plan(facts: able, resume: resume))
            let look = "\(id) HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"
            #expect(Drive.run(machine, before + [refused]) == [look])
            let other = answered(200, ["Content-Length: 7"])
            #expect(Drive.run(machine, before + [refused, other]) == ["fail destinationExists 412"])
            // It went meanwhile.
            #expect(
                Drive.run(machine, before + [refused, answered(404)]) == [
                    "over: the server refused that upload, yet nothing of its name is there",
                    "\(id + 1) DELETE http://h/files/1",
                ])
            var drive = Drive(machine)
            _ = drive.begin()
            for end in before + [refused] { _ = drive.end(end) }
            let same = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
            #expect(drive.end(answered(200, ["Content-Length: 1000", same])) == ["digest"])
            let digest = TransferDigest(algorithm: "sha-256", value: String(repeating: "00", count: 32))
            #expect(drive.tell(.digested(digest)) == ["\(id + 1) DELETE http://h/files/1"])
            #expect(drive.end(answered(204)) == ["finish 1000 digest found"])
        }
    }

    @Test("a file that an attempt before a kill may have brought there is recognised by its bytes alone")
    func ownFile() {
        let begun = TusUpload(plan(subject(1000, begun: noon)))
        let refused = answered(412)
        #expect(Drive.run(begun, [refused]) == ["2 HEAD http://h/files/f"])
        let there = answered(200, ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"])
        #expect(Drive.run(begun, [refused, there]) == ["3 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"])
        #expect(Drive.run(begun, [refused, there, there]) == ["4 GET http://h/files/f"])
        #expect(
            Drive.run(begun, [refused, answered(200, ["Content-Length: 7"])]) == [
                "persist tus", "fail unknownOutcome",
            ])
    }

    // MARK: Going on

    @Test("an upload goes on where the server stands, whatever we counted")
    func resume() {
        var drive = Drive(TusUpload(plan(resume: point())))
        #expect(drive.begin() == [ask])
        #expect(
            drive.end(stands(400, of: 1000)) == [
                "resumed 400", "2 PATCH http://h/files/1 | Upload-Offset: 400 | 400..<1000",
            ])
        #expect(drive.end(stands(1000)) == ["accepted 1000", "finish 1000 size"])
        let resumed = TusUpload(plan(resume: point()))
        #expect(
            Drive.run(resumed, [stands(0)]) == ["accepted 0", "2 PATCH http://h/files/1 | Upload-Offset: 0 | 0..<1000"])
        #expect(Drive.run(resumed, [stands(1000, status: 200)]) == ["resumed 1000", "finish 1000 size found"])
    }

    @Test(
        "the answer to a question decides; only what says that the upload is gone gives it up",
        arguments: [
            (401, "wait auth http"), (407, "wait auth http"), (403, "wait auth http"), (408, "wait backoff http"),
            (409, "wake repeatRequest 0.25 seconds"), (423, "wake repeatRequest 0.25 seconds"),
            (429, "wait hostBackoff http"), (500, "wait backoff http"), (503, "wait hostBackoff http"),
            (507, "wait remoteDiskSpace http"), (200, "wait backoff badServerResponse"), (410, "over"),
            (404, "doubt"), (400, "doubt"), (405, "doubt"),
        ])
    func questionAnswers(status: Int, expected: String) {
        let words = Drive.run(TusUpload(plan(resume: point())), [answered(status)])
        // A gateway says the same of a server that it does not find.
        if ["over", "doubt"].contains(expected) {
            #expect(
                words == (expected == "doubt" ? ["doubt"] : []) + [
                    "over: the server has lost the upload", "2 POST http://h/files/ | Upload-Length: 1000",
                ])
        } else {
            #expect(words == [expected])
        }
    }

    @Test(
        "403 from the tus server itself means that the upload is gone, yet the old address is kept until there is a new one"
    )
    func forbidden() {
        var drive = Drive(TusUpload(plan(resume: point())))
        _ = drive.begin()
        #expect(
            drive.end(answered(403, ["Tus-Resumable: 1.0.0"])).last == "2 POST http://h/files/ | Upload-Length: 1000")
        // The right to send is lost altogether: nothing was overwritten.
        #expect(drive.end(answered(403)) == ["wait auth http"])
    }

    @Test("an address that now belongs to another upload is given up")
    func otherUpload() {
        for answer in [stands(1001), stands(5, of: 900), stands(-1)] {
            #expect(
                Drive.run(TusUpload(plan(resume: point())), [answer]).first == "over: the server has lost the upload")
        }
    }

    @Test("an upload that is gone after its last byte is looked for, not sent again in silence")
    func goneAfterLastByte() {
        let whole = point(cut: UploadCut(offset: 400, sent: 600))
        let resumed = TusUpload(plan(resume: whole))
        #expect(
            Drive.run(resumed, [answered(404)]) == [
                "persist tus secret http://h/files/1", "doubt what became of it", "2 HEAD http://h/files/f",
            ])
        #expect(
            Drive.run(resumed, [answered(410)]) == ["persist tus secret http://h/files/1", "2 HEAD http://h/files/f"])
        #expect(Drive.run(resumed, [answered(404), answered(404)]) == ["persist tus", "fail unknownOutcome"])
        let there = answered(200, ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"])
        #expect(
            Drive.run(resumed, [answered(404), there]) == ["3 HEAD http://h/files/f | Want-Repr-Digest: sha-256=10"])
        // Where files are replaced anyway, sending again does no harm.
        let replaced = TusUpload(plan(subject(1000, ifExists: .replace), resume: whole))
        #expect(Drive.run(replaced, [answered(410)]).first == "over: the server has lost the upload")
        // Not for ever: each time may have left one more copy of it.
        var once = whole
        once.unanswered = 1
        let again = TusUpload(plan(subject(1000, ifExists: .replace), resume: once))
        #expect(
            Drive.run(again, [answered(410)]) == ["persist tus secret http://h/files/1", "2 HEAD http://h/files/f"])
        #expect(Drive.run(again, [answered(410), answered(404)]) == ["persist tus", "fail unknownOutcome"])
        // A person who looked and retries gets a new upload.
        #expect(
            Drive.run(TusUpload(plan(resume: TusResumePoint())), []) == ["1 POST http://h/files/ | Upload-Length: 1000"]
        )
    }

    @Test("an expired upload says so")
    func expired() {
        let old = point(expires: noon.advanced(by: .seconds(-1)))
        #expect(
            Drive.run(TusUpload(plan(resume: old)), [answered(410)]).first == "over: the upload expired at the server")
        // Bytes that came since kept it alive: it is something else that it died of.
        let prolonged = answered(
            204, ["Upload-Offset: 500", "Upload-Expires: Fri, 31 Dec 2100 23:59:59 GMT"], sent: 100)
        let standing = answered(200, ["Upload-Offset: 400", "Upload-Length: 1000"])
        #expect(
            Drive.run(TusUpload(plan(resume: old)), [standing, prolonged, answered(410, sent: 0)]).first
                == "over: the server has lost the upload")
    }

    @Test("a source that changed leaves nothing behind: the old upload is ended, whatever comes of that")
    func changedSource() {
        let machine = TusUpload(plan(subject(900, hasChanged: true), facts: known(["termination"]), resume: point()))
        #expect(Drive.run(machine, []) == ["1 DELETE http://h/files/1"])
        for end in [answered(204), answered(404), answered(500), unanswered(lost, sent: 0)] {
            #expect(Drive.run(machine, [end]) == ["2 POST http://h/files/ | Upload-Length: 900"])
        }
        // Who was not even asked is asked by the next attempt.
        #expect(Drive.run(machine, [unanswered(refused, sent: 0)]) == ["wait backoff cannotConnectToHost"])
        // Announced extensions without termination: it is left to expire.
        let elsewhere = TusUpload(plan(subject(900), facts: known(), resume: point()))
        #expect(Drive.run(elsewhere, []) == ["1 POST http://h/files/ | Upload-Length: 900"])
    }

    @Test("a resume point keeps its addresses apart from what may be read, and damage makes none of it")
    func resumePoint() {
        let stored = ResumePoint(point(cut: UploadCut(offset: 1, sent: 2), checksum: "sha1"))
        #expect(String(decoding: stored.encoded, as: UTF8.self).contains("files") == false)
        let read = ResumePoint(encoded: stored.encoded, secret: stored.secret)?.content(TusResumePoint.self)
        #expect(read == point(cut: UploadCut(offset: 1, sent: 2), checksum: "sha1"))
        let bare = ResumePoint(encoded: stored.encoded)?.content(TusResumePoint.self)
        #expect(bare?.parts.first?.url == nil)
        #expect(
            Drive.run(TusUpload(plan(resume: bare)), []) == [
                "over: the upload's address at the server is not known any more",
                "1 POST http://h/files/ | Upload-Length: 1000",
            ])
        var hostile = point()
        hostile.unanswered = -1
        #expect(!hostile.isPlausible)
        var gap = TusResumePoint(parts: [TusResumePoint.Part(0..<5), TusResumePoint.Part(6..<9)])
        #expect(!gap.isPlausible)
        gap.parts[1].start = 5
        #expect(gap.isPlausible)
        gap.parts[0].url = HTTPAddress("http://h/1")
        #expect(ResumePoint(gap).secret == "http://h/1\n")
        var back = gap
        back.parts[0].url = nil
        back.restore(secret: ResumePoint(gap).secret)
        #expect(back == gap)
    }
}
