import Digests
import Testing
import TransferModel
import TransferProtocols

/// Four parts, the last one short.
private let size = 18 * mebibyte

private func first(_ count: Int64) -> [(Int64, Int64, String)] {
    (1...count).map { ($0, Int64(part($0, of: size).count), tag(part($0, of: size))) }
}

/// An upload whose `U` is begun, with its first two parts on their way (ids 3 and 4).
private func begun(_ plan: S3Plan = s3Plan(size: size)) -> S3Script {
    var script = S3Script(plan)
    _ = script.end(1, 404)
    _ = script.end(2, 200, body: createdXML())
    return script
}

/// One with all parts sent, whose Complete is on its way (id 7).
private func completing(_ plan: S3Plan = s3Plan(size: size)) -> S3Script {
    var script = begun(plan)
    for id in 3...6 { _ = script.end(id, 200, ["ETag: \(tag(part(Int64(id - 2), of: size)))"]) }
    return script
}

/// One that is taken up again, with the list of its parts on its way (id 1).
private func resumed(_ plan: S3Plan = s3Plan(size: size, resume: s3Point(size: size))) -> S3Script { S3Script(plan) }

private func sent(_ id: Int, _ number: Int) -> String { "\(id) PUT ?partNumber=\(number)&uploadId=U" }
private let complete = "POST ?uploadId=U If-None-Match *"

@Suite struct S3PartsTests {
    @Test("a large file is begun, and its upload durable before the first part; then parts go side by side")
    func order() {
        var script = S3Script(s3Plan(size: size))
        #expect(script.said == ["1 HEAD"])
        #expect(script.end(1, 404) == ["2 POST ?uploads"])
        #expect(
            script.open[2]?.headers.map { "\($0.name): \($0.value)" } == ourMarks && script.open[2]?.body == .bytes([]))
        #expect(script.end(2, 200, body: createdXML()) == ["persist s3", sent(3, 1), sent(4, 2)])
        #expect(script.open[4]?.body == .source(part(2, of: size)))
        let sum = Base64.encode(md5(part(2, of: size)))
        #expect(script.open[4]?.headers == [HeaderField("Content-MD5", sum)])
        let step = 5 * mebibyte
        #expect(script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"]) == ["accepted \(step)", sent(5, 3)])
        #expect(script.end(3, 200, ["ETag: \(tag(part(1, of: size)))"]) == ["accepted \(2 * step)", sent(6, 4)])
        #expect(script.open[6]?.body == .source(part(4, of: size)))
        #expect(script.end(5, 200, ["ETag: \(tag(part(3, of: size)))"]) == ["accepted \(3 * step)"])
        #expect(script.end(6, 200, ["ETag: \(tag(part(4, of: size)))"]) == ["accepted \(size)", "7 \(complete)"])
        guard case .bytes(let body)? = script.open[7]?.body else {
            Issue.record("no body")
            return
        }
        let text = String(decoding: body, as: UTF8.self)
        let plain = Hexadecimal.encode(md5(part(2, of: size)))
        #expect(
            text.contains(
                "<Part><PartNumber>2</PartNumber><ETag>&quot;\(plain)&quot;</ETag></Part><Part><PartNumber>3<"))
        #expect(script.open[7]?.patience == .assembling)
        #expect(script.open[7]?.signing?.payload == DigestAlgorithm.sha256.digest(of: body).hex)
        #expect(script.end(7, 200, body: completedXML(composite(size))) == ["finish \(size) digest"])
    }

    @Test("nothing is sent before its digest is there, and digests run ahead of the parts that are sent")
    func pipeline() {
        var script = S3Script(s3Plan(size: size, ifExists: .replace, endpoint: "http://h"), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        let said = script.end(1, 200, body: createdXML())
        #expect(said.count == 5 && said[1] == "digest 0..<5242880 md5,sha-256")
        script.tell(.rangeDigested(part(2, of: size), S3Script.digests(part(2, of: size), ["md5", "sha-256"])))
        #expect(script.said.last == sent(2, 2))
        #expect(script.open[2]?.signing?.payload == "sha-of-\(part(2, of: size))")
    }

    @Test(
        "parts are equal, between 5 MiB and 5 GiB, and never too many",
        arguments: [
            (9 * mebibyte, nil, "8 MiB"), (9 * mebibyte, 1, "5 MiB"), (300 * mebibyte, 64, "64 MiB"),
            (8 * mebibyte * 9900, nil, "8 MiB"), (8 * mebibyte * 9900 + 1, nil, "9 MiB"),
            (10 * mebibyte << 20, nil, "1060 MiB"),
            (48 * mebibyte << 20, nil, "5085 MiB"), (50 * mebibyte << 20, nil, "fail unsupported"),
        ])
    func partSizes(size: Int64, chunk: Int64?, expected: String) {
        var script = S3Script(s3Plan(size: size, ifExists: .replace, chunk: chunk.map { $0 * mebibyte }))
        guard script.said == ["1 POST ?uploads"] else {
            #expect(script.said == [expected])
            return
        }
        _ = script.end(1, 200, body: createdXML())
        guard case .source(let range)? = script.open[2]?.body else {
            Issue.record("no part")
            return
        }
        #expect("\(Int64(range.count) / mebibyte) MiB" == expected)
    }

    @Test("a file of exactly one part goes in one request, one byte more in two parts")
    func border() {
        let replaced = { (size: Int64) in S3Script(s3Plan(size: size, ifExists: .replace)).said }
        #expect(replaced(5 * mebibyte) == ["1 PUT"] && replaced(5 * mebibyte + 1) == ["1 POST ?uploads"])
        #expect(S3Script(s3Plan(size: 8 * mebibyte, ifExists: .replace, chunk: nil)).said == ["1 PUT"])
    }

    @Test("what is there already is seen before anything is sent")
    func occupied() {
        func look(_ policy: ExistingFilePolicy, _ end: ExchangeEnd) -> [String] {
            var script = S3Script(s3Plan(size: size, ifExists: policy))
            return script.end(1, end)
        }
        let foreign = answered(200, ["Content-Length: \(size)", "ETag: \"x\""])
        #expect(look(.fail, foreign) == ["fail destinationExists 412"])
        #expect(look(.skip, foreign) == ["finish \(size) none skipped"])
        #expect(look(.fail, answered(403)) == ["2 POST ?uploads"])
        let same = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"])
        #expect(look(.fail, same) == ["finish \(size) digest found"])
        let otherParts = answered(200, ["Content-Length: \(size)", "ETag: \"\(String(repeating: "a", count: 32))-3\""])
        #expect(look(.fail, otherParts) == ["fail destinationExists 412"])
        let ours = answered(200, ["Content-Length: \(size)", "ETag: \"x\""] + ourMarks)
        #expect(look(.fail, ours) == ["finish \(size) size found"])
    }

    @Test("an upload goes on with the parts that the server lists, the missing ones first")
    func resuming() {
        var script = resumed()
        #expect(script.said == ["1 GET ?max-parts=1000&uploadId=U"])
        let there = 10 * mebibyte
        #expect(
            script.end(1, 200, body: listXML(first(2)))
                == ["resumed \(there)", "accepted \(there)", sent(2, 3), sent(3, 4)])
        _ = script.end(2, 200, ["ETag: \(tag(part(3, of: size)))"])
        #expect(script.end(3, 200, ["ETag: \(tag(part(4, of: size)))"]).last == "4 \(complete)")
        #expect(script.end(4, 200, body: completedXML(composite(size))) == ["finish \(size) digest"])
    }

    @Test("a list of several pages is read to its end, and one that leads in circles is not")
    func pages() {
        var script = resumed()
        #expect(
            script.end(1, 200, body: listXML(first(1), next: 1)) == [
                "2 GET ?max-parts=1000&part-number-marker=1&uploadId=U"
            ])
        let rest = Array(first(4).dropFirst())
        #expect(script.end(2, 200, body: listXML(rest)) == ["resumed \(size)", "accepted \(size)", "3 \(complete)"])
        var circle = resumed()
        _ = circle.end(1, 200, body: listXML(first(1), next: 1))
        #expect(circle.end(2, 200, body: listXML(first(1), next: 1)) == ["wait backoff badServerResponse"])
        var broken = resumed()
        #expect(
            broken.end(1, 200, body: "<ListPartsResult><Part/></ListPartsResult>") == ["wait backoff badServerResponse"]
        )
        #expect(broken.machine is S3Upload)
    }

    @Test("a part of another size, or of other bytes, is sent again")
    func unfitParts() {
        var script = resumed()
        var listed = first(4)
        listed[1].1 -= 1
        #expect(script.end(1, 200, body: listXML(listed)).last == sent(2, 2))
        var other = resumed()
        listed = first(4)
        listed[2].2 = "\"\(String(repeating: "0", count: 32))\""
        #expect(other.end(1, 200, body: listXML(listed)).last == sent(2, 3))
        #expect(other.end(2, 200, ["ETag: \(tag(part(3, of: size)))"]).last == "3 \(complete)")
    }

    @Test("tags that are no digests are recognised by sending one part again, and then believed")
    func foreignTags() {
        let listed = first(4).map { ($0.0, $0.1, "\"kms\($0.0)\"") }
        var script = resumed()
        let said = script.end(1, 200, body: listXML(listed))
        #expect(said.last == sent(2, 1) && said.count == 3)
        #expect(script.end(2, 200, ["ETag: \"kms1b\""]) == ["persist s3", "accepted \(size)", "3 \(complete)"])
        #expect(script.end(3, 200, body: completedXML("\"kms-4\"")) == ["finish \(size) size"])
        // Once known it is not tried again.
        var later = resumed(s3Plan(size: size, resume: s3Point(size: size, foreign: true)))
        #expect(later.end(1, 200, body: listXML(listed)).last == "2 \(complete)")
        // A wish for a digest cannot be met there.
        var strict = resumed(s3Plan(size: size, verify: .digest, resume: s3Point(size: size, foreign: true)))
        _ = strict.end(1, 200, body: listXML(listed))
        #expect(strict.end(2, 200, body: completedXML("\"kms-4\"")) == ["fail integrity"])
    }

    @Test("without a wish for digests parts that are there are not read again")
    func withoutDigests() {
        var script = S3Script(s3Plan(size: size, verify: .size, resume: s3Point(size: size)), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        #expect(script.end(1, 200, body: listXML(first(4))).last == "2 \(complete)")
        #expect(script.end(2, 200, body: completedXML(composite(size))) == ["finish \(size) size"])
    }

    @Test("an upload of another version of the file, or for another place, is thrown away first")
    func stale() {
        var changed = S3Script(s3Plan(size: size, changed: true, resume: s3Point(size: size)))
        #expect(changed.said == ["1 DELETE ?uploadId=U"])
        #expect(changed.end(1, 404) == ["2 HEAD"])
        #expect(changed.end(2, 404) == ["3 POST ?uploads"])
        for point in [s3Point(size: size, time: 5), s3Point(size: size + 1)] {
            #expect(S3Script(s3Plan(size: size, resume: point)).said == ["1 DELETE ?uploadId=U"])
        }
        var moved = S3Script(s3Plan(size: size, resume: s3Point(size: size, key: "g")))
        #expect(moved.said == ["over: the file goes to another place", "1 DELETE ?uploadId=U"])
        #expect(moved.open[1]?.url.text == "https://h/bkt/g?uploadId=U")
        #expect(moved.lose(1) == ["2 HEAD"])
    }

    @Test("a source that changed after its object was complete replaces that object")
    func changedAfterwards() {
        var script = S3Script(s3Plan(size: size, changed: true, resume: s3Point(size: size)))
        _ = script.end(1, 204)
        let old = [
            "Content-Length: 7", "ETag: \"old-2\"", "x-amz-meta-martlet-token: \(ourToken)", "x-amz-meta-mtime: 5",
        ]
        #expect(script.end(2, 200, old) == ["3 POST ?uploads"])
        _ = script.end(3, 200, body: createdXML())
        for id in 4...6 { _ = script.end(id, 200, ["ETag: \(tag(part(Int64(id - 3), of: size)))"]) }
        #expect(script.end(7, 200, ["ETag: \(tag(part(4, of: size)))"]).last == "8 POST ?uploadId=U If-Match \"old-2\"")
    }
}

@Suite struct S3PartFailureTests {
    @Test(
        "a part that is cut is sent again at once; the third failure in a row ends the attempt when the rest has arrived"
    )
    func cuts() {
        var script = begun()
        #expect(script.lose(3) == [sent(5, 1)])
        #expect(script.lose(4) == [sent(6, 2)])
        #expect(script.lose(5) == [])
        #expect(script.lose(6) == ["wait backoff networkConnectionLost"])
        // A success in between counts them anew.
        var other = begun()
        _ = other.lose(3)
        _ = other.lose(4)
        _ = other.end(5, 200, ["ETag: \(tag(part(1, of: size)))"])
        #expect(other.lose(6) == [sent(8, 2)])
    }

    @Test(
        "what ends the attempt, and keeps the upload, lets the parts on their way arrive first",
        arguments: [
            (403, "AccessDenied", "wait auth http"), (400, "ExpiredToken", "wait auth http"),
            (503, "SlowDown", "wait hostBackoff http"), (403, "QuotaExceeded", "wait remoteDiskSpace http"),
            (401, "", "wait auth http"),
        ])
    func draining(status: Int, code: String, expected: String) {
        var script = begun()
        #expect(script.end(3, status, body: code.isEmpty ? "" : errorXML(code)) == [])
        let said = script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"])
        #expect(said == ["accepted \(5 * mebibyte)", expected])
    }

    @Test("what cannot succeed breaks the others off")
    func fatal() {
        var script = begun()
        #expect(script.end(3, 400, body: errorXML("InvalidArgument")) == ["abandon 4", "fail http 400"])
        var untrusted = begun()
        #expect(untrusted.lose(3, badCertificate) == ["abandon 4", "fail tlsFailure"])
    }

    @Test("damaged parts are sent again, three times at most")
    func damage() {
        var script = begun()
        // Hashed anew first, so the next one that is ready goes before it.
        #expect(script.end(3, 400, body: errorXML("BadDigest")) == [sent(5, 3)])
        #expect(script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"]).last == sent(6, 1))
        // The server takes anything, but its tags are digests: this one is of other bytes.
        #expect(script.end(6, 200, ["ETag: \(tag(0..<1))"]) == [sent(7, 4)])
        #expect(script.end(5, 400, body: errorXML("BadDigest")) == ["abandon 7", "fail integrity"])
    }

    @Test("region and clock are learnt once for all parts on their way")
    func lessons() {
        var script = begun()
        let skewed = answered(403, ["Date: \(elevenText)"], body: errorXML("RequestTimeTooSkewed"))
        #expect(script.end(3, skewed) == ["learned clockSkewSeconds=-3600", sent(5, 1)])
        #expect(script.end(4, skewed) == [sent(6, 2)])
        #expect(script.end(5, skewed) == [sent(7, 1)])
        _ = script.end(6, skewed)
        _ = script.end(7, skewed)
        #expect(script.open.count == 1)
    }

    @Test("a part's answer without a tag is no success")
    func withoutTag() {
        var script = begun()
        #expect(script.end(3, 200) == [sent(5, 1)])
    }

    @Test("an upload that is gone was completed by us, or begins anew; never twice in one attempt")
    func gone() {
        var script = begun()
        #expect(script.end(3, 404, body: errorXML("NoSuchUpload")) == ["abandon 4", "5 HEAD"])
        #expect(script.end(5, 404) == ["over: the server does not know the upload any more", "6 POST ?uploads"])
        _ = script.end(6, 200, body: createdXML())
        _ = script.end(7, 404, body: errorXML("NoSuchUpload"))
        #expect(script.end(9, 404) == ["wait backoff networkConnectionLost"])
        func look(_ end: ExchangeEnd) -> [String] {
            var script = resumed()
            #expect(script.end(1, 404, body: errorXML("NoSuchUpload")) == ["2 HEAD"])
            return script.end(2, end)
        }
        let ours = ["Content-Length: \(size)", "ETag: \(composite(size))"] + ourMarks
        #expect(look(answered(200, ours)) == ["finish \(size) size found"])
        #expect(look(answered(200, ["Content-Length: \(size)"])).last == "fail destinationExists 412")
        #expect(look(answered(403)) == ["fail unknownOutcome"])
        var strict = resumed(s3Plan(size: size, verify: .digest, resume: s3Point(size: size)))
        _ = strict.end(1, 404)
        #expect(strict.end(2, 200, ours) == ["finish \(size) digest found"])
    }

    @Test("a bucket that is gone is not an upload that is gone")
    func bucketGone() {
        var script = resumed()
        #expect(script.end(1, 404, body: errorXML("NoSuchBucket")) == ["fail http 404"])
    }

    @Test("the answer to the beginning is needed; without it nothing is sent")
    func create() {
        func create(_ end: ExchangeEnd) -> [String] {
            var script = S3Script(s3Plan(size: size, ifExists: .replace))
            return script.end(1, end)
        }
        #expect(create(unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(create(answered(200, body: "<x/>")) == ["wait backoff badServerResponse"])
        #expect(create(answered(403, body: errorXML("AccessDenied"))) == ["fail permissionDenied 403"])
        #expect(create(answered(403, body: errorXML("SignatureDoesNotMatch"))) == ["wait auth http"])
    }
}

@Suite struct S3CompleteTests {
    @Test("the verdict is in the body, also of a 200")
    func errorWithin200() {
        func end(_ body: String) -> [String] {
            var script = completing()
            return script.end(7, 200, body: body)
        }
        #expect(end("  \n" + errorXML("InternalError")) == ["wait backoff http"])
        #expect(end(errorXML("SlowDown")) == ["wait hostBackoff http"])
        #expect(end(errorXML("AccessDenied")) == ["wait auth http"])
        #expect(end(errorXML("NoSuchUpload")) == ["8 HEAD"])
        #expect(end(errorXML("PreconditionFailed")) == ["8 HEAD"])
        #expect(end(errorXML("QuotaExceeded")) == ["wait remoteDiskSpace http"])
        #expect(end("   ") == ["8 HEAD"] && end("<html>") == ["8 HEAD"])
    }

    @Test("another tag than the one computed here is no digest that was verified")
    func tags() {
        func end(_ plan: S3Plan, _ tag: String) -> [String] {
            var script = completing(plan)
            return script.end(7, 200, body: completedXML(tag))
        }
        #expect(end(s3Plan(size: size), composite(size + 1)) == ["finish \(size) size"])
        #expect(end(s3Plan(size: size, verify: .digest), composite(size)) == ["finish \(size) digest"])
        #expect(end(s3Plan(size: size, verify: .digest), "\"x\"") == ["fail integrity"])
        #expect(end(s3Plan(size: size, verify: VerificationWish.none), composite(size)) == ["finish \(size) none"])
    }

    @Test("a lost answer is resolved by our marks; otherwise the attempt ends and the upload stays")
    func lostAnswer() {
        func look(_ end: ExchangeEnd) -> [String] {
            var script = completing()
            #expect(script.lose(7) == ["8 HEAD"])
            return script.end(8, end)
        }
        let there = ["Content-Length: \(size)", "ETag: \(composite(size))"]
        #expect(look(answered(200, there + ourMarks)) == ["finish \(size) digest found"])
        #expect(look(answered(200, ["Content-Length: \(size)"] + ourMarks)) == ["finish \(size) size found"])
        #expect(look(answered(200, there)) == ["wait backoff networkConnectionLost"])
        #expect(look(answered(404)) == ["wake probeAgain 1.0 seconds"])
        #expect(look(answered(403)) == ["wait backoff networkConnectionLost"])
        var never = completing()
        #expect(never.lose(7, refused, sent: 0) == ["wait backoff cannotConnectToHost"])
    }

    @Test("after a lost answer and a new start the gone upload is found complete")
    func lostAnswerThenGone() {
        var script = resumed()
        _ = script.end(1, 404, body: errorXML("NoSuchUpload"))
        #expect(
            script.end(2, 200, ["Content-Length: \(size)", "ETag: \"y\""] + ourMarks) == ["finish \(size) size found"])
    }

    @Test("parts that Complete does not like are looked at again, once")
    func repair() {
        for code in ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"] {
            var script = completing()
            #expect(script.end(7, 400, body: errorXML(code)) == ["8 GET ?max-parts=1000&uploadId=U"])
            #expect(script.end(8, 200, body: listXML(first(3))) == ["accepted \(15 * mebibyte)", sent(9, 4)])
            #expect(script.end(9, 200, ["ETag: \(tag(part(4, of: size)))"]) == ["accepted \(size)", "10 \(complete)"])
            #expect(script.end(10, 400, body: errorXML(code)) == ["fail http 400"])
        }
    }

    @Test("somebody was faster: skipped, compared or refused as the rule says, and our parts are taken away")
    func somebodyFaster() {
        func end(_ policy: ExistingFilePolicy, _ answer: ExchangeEnd) -> [String] {
            var script = completing(s3Plan(size: size, ifExists: policy))
            #expect(script.end(7, 412, body: errorXML("PreconditionFailed")) == ["8 HEAD"])
            let said = script.end(8, answer)
            return said.first?.hasPrefix("9 DELETE") == true ? ["abort"] + script.end(9, 204) : said
        }
        let foreign = answered(200, ["Content-Length: 5", "ETag: \"x\""])
        #expect(end(.skip, foreign) == ["abort", "finish \(size) none skipped"])
        // Kept: with another rule it goes on without sending anything again.
        #expect(end(.fail, foreign) == ["fail destinationExists 412"])
        let same = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"])
        #expect(end(.fail, same) == ["abort", "finish \(size) digest found"])
        let ours = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"] + ourMarks)
        #expect(end(.fail, ours) == ["finish \(size) digest found"])
        #expect(end(.fail, answered(404)) == ["9 \(complete)"])
    }

    @Test("a conflict wants a new upload; a server without conditions is asked what is there")
    func conflicts() {
        var script = completing()
        #expect(script.end(7, 409, body: errorXML("ConditionalRequestConflict")) == ["8 HEAD"])
        #expect(script.end(8, 404) == ["over: the server does not know the upload any more", "9 POST ?uploads"])
        var plain = completing()
        #expect(plain.end(7, 501, body: errorXML("NotImplemented")) == ["8 HEAD"])
        #expect(plain.end(8, 404) == ["9 POST ?uploadId=U"])
    }
}
