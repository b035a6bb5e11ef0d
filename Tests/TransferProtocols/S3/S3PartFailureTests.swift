import Digests
import TestSupport
import Testing
import TransferModel
import TransferProtocols

private let size = fourParts

@Suite struct S3PartFailureTests {
    @Test(
        "a part that is cut is sent again at once; the third failure in a row ends the attempt when the rest has arrived"
    )
    func cuts() {
        var script = s3Begun()
        #expect(script.lose(3) == [s3Sent(5, 1)])
        #expect(script.lose(4) == [s3Sent(6, 2)])
        #expect(script.lose(5) == [])
        #expect(script.lose(6) == ["wait backoff networkConnectionLost"])
        // A success in between counts them anew.
        var other = s3Begun()
        _ = other.lose(3)
        _ = other.lose(4)
        _ = other.end(5, 200, ["ETag: \(tag(part(1, of: size)))"])
        #expect(other.lose(6) == [s3Sent(8, 2)])
    }

    @Test("a yes before the part was sent is none of the service's")
    func earlyAnswer() {
        var script = s3Begun()
        let tagged = ["ETag: \"x\""]
        #expect(script.end(3, answered(200, tagged, sent: 5)) == [s3Sent(5, 1)])
    }

    @Test(
        "what ends the attempt, and keeps the upload, lets the parts on their way arrive first",
        arguments: [
            (403, "AccessDenied", "wait auth http"), (400, "ExpiredToken", "wait auth http"),
            (503, "SlowDown", "wait hostBackoff http"), (403, "QuotaExceeded", "wait remoteDiskSpace http"),
            (401, "", "wait auth http"),
        ])
    func draining(status: Int, code: String, expected: String) {
        var script = s3Begun()
        #expect(script.end(3, status, body: code.isEmpty ? "" : errorXML(code)) == [])
        let said = script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"])
        #expect(said == ["accepted \(5 * mebibyte)", expected])
    }

    @Test("what cannot succeed breaks the others off")
    func fatal() {
        var script = s3Begun()
        #expect(script.end(3, 400, body: errorXML("InvalidArgument")) == ["abandon 4", "fail http 400"])
        var untrusted = s3Begun()
        #expect(untrusted.lose(3, badCertificate) == ["abandon 4", "fail tlsFailure"])
    }

    @Test(
        "damaged parts are sent again, three times at most",
        .tells("h got other bytes than were sent, three times"))
    func damage() {
        var script = s3Begun()
        // Hashed anew first, so the next one that is ready goes before it.
        #expect(script.end(3, 400, body: errorXML("BadDigest")) == [s3Sent(5, 3)])
        #expect(script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"]).last == s3Sent(6, 1))
        // The server takes anything, but its tags are digests: this one is of other bytes.
        #expect(script.end(6, 200, ["ETag: \(tag(0..<1))"]) == [s3Sent(7, 4)])
        // Somebody may have written to the source since its digests were computed.
        var machine = script.machine
        let last = machine.handle(.ended(ExchangeID(rawValue: 5), answered(400, body: errorXML("BadDigest"))))
        #expect(last.dropLast().last == .compareSource(keeping: nil))
        #expect(script.end(5, 400, body: errorXML("BadDigest")) == ["abandon 7", "fail integrity"])
    }

    @Test("region and clock are learnt once for all parts on their way")
    func lessons() {
        var script = s3Begun()
        let skewed = answered(403, ["Date: \(elevenText)"], body: errorXML("RequestTimeTooSkewed"))
        #expect(script.end(3, skewed) == ["learned clockSkewSeconds=-3600", s3Sent(5, 1)])
        #expect(script.end(4, skewed) == [s3Sent(6, 2)])
        #expect(script.end(5, skewed) == [s3Sent(7, 1)])
        _ = script.end(6, skewed)
        _ = script.end(7, skewed)
        #expect(script.open.count == 1)
    }

    @Test("a part's answer without a tag is no success")
    func withoutTag() {
        var script = s3Begun()
        #expect(script.end(3, 200) == [s3Sent(5, 1)])
    }

    @Test(
        "an upload that is gone was completed by us, or begins anew; never twice in one attempt",
        .tells(
            "look at its rules for unfinished uploads and whether something else there clears them away",
            "an earlier attempt may have reached h, but the upload is gone and it does not tell what is there"))
    func gone() {
        var script = s3Begun()
        #expect(script.end(3, 404, body: errorXML("NoSuchUpload")) == ["abandon 4", "5 HEAD"])
        #expect(
            script.end(5, 404) == [
                "over: the server does not know the upload any more", "persist s3", "6 POST ?uploads",
            ])
        _ = script.end(6, 200, body: createdXML())
        _ = script.end(7, 404, body: errorXML("NoSuchUpload"))
        #expect(script.end(9, 404) == ["wait backoff badServerResponse 60.0 seconds"])
        func look(_ end: ExchangeEnd) -> [String] {
            var script = s3Resumed()
            #expect(script.end(1, 404, body: errorXML("NoSuchUpload")) == ["2 HEAD"])
            return script.end(2, end)
        }
        let ours = ["Content-Length: \(size)", "ETag: \(composite(size))"] + ourMarks
        #expect(look(answered(200, ours)) == ["finish \(size) size found"])
        #expect(look(answered(200, ["Content-Length: \(size)"])).last == "fail destinationExists 412")
        #expect(look(answered(403)) == ["fail unknownOutcome"])
        // The advice then is to have it replaced: so said, it is sent again, and not for ever.
        var replacing = s3Resumed(s3Plan(size: size, ifExists: .replace, resume: s3Point(size: size)))
        _ = replacing.end(1, 404, body: errorXML("NoSuchUpload"))
        #expect(
            replacing.end(2, 403) == [
                "over: the server does not know the upload any more", "persist s3", "3 POST ?uploads",
            ])
        _ = replacing.end(3, 200, body: createdXML())
        _ = replacing.end(4, 404, body: errorXML("NoSuchUpload"))
        #expect(replacing.end(6, 403) == ["wait backoff badServerResponse 60.0 seconds"])
        var strict = s3Resumed(s3Plan(size: size, verify: .digest, resume: s3Point(size: size)))
        // A gateway says no code of S3.
        var gateway = s3Resumed()
        _ = gateway.end(1, 404)
        #expect(
            gateway.end(2, 404).prefix(2) == ["doubt", "over: the server does not know the upload any more"])
        // The engine keeps what may lie there known, as of every protocol (`UploadWork.leaveBelieved`).
        _ = gateway.end(3, 200, body: createdXML())
        #expect(gateway.machine.unremoved.isEmpty)
        var silent = s3Resumed()
        _ = silent.end(1, 404)
        #expect(silent.end(2, 403) == ["doubt what became of it", "fail unknownOutcome"])
        _ = strict.end(1, 404)
        #expect(strict.end(2, 200, ours) == ["finish \(size) digest found"])
    }

    @Test(
        "a bucket that is gone is not an upload that is gone",
        .tells("the bucket bkt is not at h: make it, or check its name"))
    func bucketGone() {
        var script = s3Resumed()
        #expect(script.end(1, 404, body: errorXML("NoSuchBucket")) == ["fail http 404"])
    }

    @Test(
        "the answer to the beginning is needed; without it nothing is sent",
        .tells("h sent an answer that cannot be read"))
    func create() {
        func create(_ end: ExchangeEnd) -> [String] {
            var script = S3Script(s3Plan(size: size, ifExists: .replace))
            return script.end(1, end)
        }
        #expect(create(unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(create(answered(200, body: "<x/>")) == ["wait backoff badServerResponse"])
        // Refused: nothing is there to look for.
        #expect(create(answered(403, body: errorXML("AccessDenied"))) == ["persist put", "fail permissionDenied 403"])
        #expect(create(answered(403, body: errorXML("SignatureDoesNotMatch"))) == ["persist put", "wait auth http"])
    }
}
