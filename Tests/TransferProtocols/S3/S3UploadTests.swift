import Digests
import TestSupport
import Testing
import TransferModel
import TransferProtocols

private let absent = "PUT If-None-Match *"
private let small = 0..<Int64(1000)

/// A small upload whose exchanges end one after the other; what was said last.
private func run(_ plan: S3Plan, _ ends: ExchangeEnd...) -> [String] {
    var script = S3Script(plan)
    var said = script.said
    for (index, end) in ends.enumerated() {
        if said.first?.hasPrefix("wake") == true { said = script.fire(.probeAgain) }
        said = script.end(index + 1, end)
    }
    return said
}

private func head(_ marks: [String], size: Int64 = 1000, tag: String = "\"x\"") -> ExchangeEnd {
    answered(200, ["Content-Length: \(size)", "ETag: \(tag)"] + marks)
}

private func no(_ status: Int, _ code: String, _ lines: [String] = [], more: String = "") -> ExchangeEnd {
    answered(status, lines, body: errorXML(code, more))
}

@Suite struct S3UploadTests {
    @Test("a small file goes in one request with its MD5 and our marks, conditional unless it may replace")
    func request() {
        var script = S3Script(s3Plan())
        #expect(script.said == ["1 \(absent)"])
        let put = script.open[1]
        #expect(put?.url.text == "https://h/bkt/f" && put?.body == .source(small))
        let sum = "Content-MD5: \(Base64.encode(md5(small)))"
        #expect(
            put?.headers.map { "\($0.name): \($0.value)" } == [
                "If-None-Match: *", "Content-Type: application/octet-stream",
            ] + ourMarks + [sum])
        #expect(put?.signing == RequestSigning.v4(region: "us-east-1", payload: "UNSIGNED-PAYLOAD"))
        #expect(script.end(1, 200, ["ETag: \(tag(small))"]) == ["finish 1000 digest"])
        #expect(S3Script(s3Plan(ifExists: .replace)).said == ["1 PUT"])
    }

    @Test("a service that is not known to heed conditions is asked before the object is sent")
    func mayIgnoreConditions() {
        let unknown = s3Plan(facts: HostFacts())
        #expect(run(unknown) == ["1 HEAD"])
        #expect(run(unknown, head([])) == ["fail destinationExists 412"])
        for status in [404, 403] { #expect(run(unknown, no(status, "")) == ["2 \(absent)"]) }
        let known = answered(404, ["Server: AmazonS3"])
        #expect(run(unknown, known) == ["learned heedsConditions=true", "2 \(absent)"])
        #expect(run(s3Plan(ifExists: .replace, facts: HostFacts())) == ["1 PUT"])
    }

    @Test(
        "a network's page is no service's answer, where nothing is encrypted",
        .tells("h answered with a web page, as no S3 service does"))
    func pages() {
        let page = answered(200, ["Content-Type: text/html", "ETag: W/\"5\""])
        let wait = ["wait backoff badServerResponse"]
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            #expect(run(s3Plan(ifExists: ifExists, endpoint: "http://h", facts: HostFacts()), page) == wait)
        }
        let replacing = s3Plan(ifExists: .replace, endpoint: "http://h")
        #expect(run(replacing, page).last?.hasPrefix("finish") == false)
        // An object that is a page.
        let object = answered(200, ["Content-Type: text/html", "ETag: \"x\"", "x-amz-request-id: 1"])
        let skipping = s3Plan(ifExists: .skip, endpoint: "http://h", facts: HostFacts())
        #expect(run(skipping, object) == ["finish 1000 none skipped"])
        // Some services do not say who they are.
        for tag in [tag(small), "\"\(tag(small).dropFirst().dropLast())-7\""] {
            #expect(run(skipping, head(["Content-Type: text/html"], tag: tag)) == ["finish 1000 none skipped"])
        }
        for tag in ["W/\(tag(small))", "\"5f3e-1a2b\"", "\"\(tag(small).dropFirst().dropLast())-x\""] {
            #expect(run(skipping, head(["Content-Type: text/html"], tag: tag)) == wait, "\(tag)")
        }
    }

    @Test(
        "a name that is not UTF-8 can be no key: it is refused by name before anything is sent, and says how to mend it"
    )
    func noKey() {
        var plan = s3Plan()
        plan.address.key = RawPath(Array("in/caf".utf8) + [0xE9, UInt8(ascii: ".")] + Array("mov".utf8))
        var upload = S3Upload(plan)
        let said = upload.handle(.began(at: noon))
        guard said.count == 1, case .fail(let error) = said[0] else { return #expect(Bool(false), "\(said)") }
        #expect(
            error.code == .unsupported && error.happening == "in/caf\\xe9.mov is not UTF-8, and a key of S3 has to be")
        #expect(error.finding.advice == "rename the file (convmv does it for whole trees), then queue it again")
        plan.address.key = RawPath("in/café.mov")
        #expect(S3Script(plan).said == ["1 \(absent)"])
    }

    @Test("over http the signed Content-MD5 vouches for the body; where none is wished, the signature's own SHA-256")
    func plainHTTP() {
        var script = S3Script(s3Plan(endpoint: "http://h"), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        #expect(script.said == ["digest 0..<1000 md5"])
        script.tell(.rangeDigested(small, S3Script.digests(small, ["md5"])))
        #expect(script.open[1]?.headers.contains { $0.name == "Content-MD5" } == true)
        #expect(script.open[1]?.signing?.v4?.payload == SignatureV4.unsignedPayload)
        for wish in [VerificationWish.none, .size] {
            var script = S3Script(s3Plan(verify: wish, endpoint: "http://h"), begins: false)
            script.answersDigests = false
            script.tell(.began(at: noon))
            #expect(script.said == ["digest 0..<1000 sha-256"])
            script.tell(.rangeDigested(small, S3Script.digests(small, ["sha-256"])))
            #expect(script.open[1]?.signing?.v4?.payload == "sha-of-0..<1000")
            #expect(S3Script(s3Plan(verify: wish)).said == ["1 \(absent)"])
        }
    }

    @Test("an empty file needs no digest of a range")
    func empty() {
        var script = S3Script(s3Plan(size: 0, endpoint: "http://h"), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        #expect(script.said == ["1 \(absent)"])
        #expect(script.open[1]?.headers.last == HeaderField("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="))
        #expect(script.open[1]?.signing?.v4?.payload == SignatureV4.emptyPayload)
        #expect(script.end(1, 200, ["ETag: \"d41d8cd98f00b204e9800998ecf8427e\""]) == ["finish 0 digest"])
    }

    @Test(
        "what was verified is told as it is",
        .tells("h took the file but has another one under its name"))
    func verification() {
        #expect(run(s3Plan(), answered(200, ["ETag: \"other\""])) == ["finish 1000 none"])
        let other = answered(200, ["ETag: \"other\""])
        #expect(run(s3Plan(verify: VerificationWish.none), other) == ["finish 1000 none"])
        // A page of somebody in between.
        for page in [
            answered(200), answered(200, ["ETag: \"o\""], sent: 5), answered(200, ["ETag: \"o\""], failure: lost),
        ] {
            #expect(run(s3Plan(), page) == ["2 HEAD"])
        }
        let stored = answered(200, ["ETag: \(tag(small))"])
        func looked(_ end: ExchangeEnd) -> [String] { run(s3Plan(verify: .size), stored, end) }
        #expect(run(s3Plan(verify: .size), stored) == ["2 HEAD"])
        #expect(looked(answered(200, ["Content-Length: 1000"] + ourMarks)) == ["finish 1000 size"])
        #expect(looked(answered(200, ["Content-Length: 10"] + ourMarks)) == ["mismatch 1000 integrity"])
        #expect(looked(answered(404)) == ["mismatch 1000 integrity"])
        #expect(looked(answered(405)) == ["fail integrity"])
        #expect(run(s3Plan(verify: .digest), answered(200, ["ETag: \"other\""])) == ["fail integrity"])
    }

    @Test(
        "refusals mean what S3 says they mean",
        .tells("h answered 301: the bucket is elsewhere; queue it again with its region or endpoint"),
        arguments: [
            (403, "AccessDenied", "fail permissionDenied 403"), (400, "ExpiredToken", "wait auth http"),
            (403, "ExpiredToken", "wait auth http"), (403, "InvalidAccessKeyId", "wait auth http"),
            (403, "SignatureDoesNotMatch", "wait auth http"), (503, "SlowDown", "wait hostBackoff http"),
            (503, "ServiceUnavailable", "wait hostBackoff http"), (429, "TooManyRequests", "wait hostBackoff http"),
            (500, "InternalError", "wait backoff http"), (502, "", "wait backoff http"),
            (400, "RequestTimeout", "wait backoff http"), (408, "", "wait backoff http"),
            (403, "QuotaExceeded", "wait remoteDiskSpace http"),
            (507, "XMinioStorageFull", "wait remoteDiskSpace http"),
            (507, "", "wait remoteDiskSpace http"), (404, "NoSuchBucket", "fail http 404"),
            (409, "ConditionalRequestConflict", "wait backoff http"), (409, "OperationAborted", "wait backoff http"),
            (400, "InvalidArgument", "fail http 400"), (413, "EntityTooLarge", "fail http 413"),
            (301, "PermanentRedirect", "fail http 301"), (401, "", "wait auth http"),
        ])
    func refusals(status: Int, code: String, expected: String) {
        #expect(run(s3Plan(), code.isEmpty ? answered(status) : no(status, code)) == [expected])
    }

    @Test("an error's code cannot bring anything into a message but a word")
    func hostileCode() {
        var upload = S3Upload(s3Plan(verify: VerificationWish.none))
        _ = upload.handle(.began(at: noon))
        let end = answered(400, body: "<Error><Code>a\u{202E}b c</Code></Error>")
        guard case .fail(let error)? = upload.handle(.ended(ExchangeID(rawValue: 1), end)).first else {
            Issue.record("not refused")
            return
        }
        #expect(error.message.allSatisfy { $0.isASCII } && !error.message.contains("b c"))
    }

    @Test("the region that the server names is learnt, and the request repeated there")
    func region() {
        var script = S3Script(s3Plan(endpoint: nil))
        #expect(script.open[1]?.url.text == "https://bkt.s3.us-east-1.amazonaws.com/f")
        let said = script.end(1, 301, ["x-amz-bucket-region: eu-west-1"], body: errorXML("PermanentRedirect"))
        #expect(said == ["learned region=eu-west-1", "2 \(absent)"])
        #expect(script.open[2]?.url.text == "https://bkt.s3.eu-west-1.amazonaws.com/f")
        #expect(script.open[2]?.signing?.v4?.region == "eu-west-1")
        // With an endpoint only the signature changes; the body may be the one to tell.
        var other = S3Script(s3Plan())
        #expect(
            other.end(1, 400, body: errorXML("AuthorizationHeaderMalformed", "<Region>garage</Region>"))
                == ["learned region=garage", "2 \(absent)"])
        #expect(other.open[2]?.url.text == "https://h/bkt/f" && other.open[2]?.signing?.v4?.region == "garage")
        #expect(S3Script(s3Plan(endpoint: nil)).open[1]?.signing?.v4?.region == "us-east-1")
        #expect(
            run(s3Plan(endpoint: nil), no(301, "PermanentRedirect", ["x-amz-bucket-region: evil/"])) == [
                "fail http 301"
            ])
    }

    @Test("what a server names as its region and is none is not learnt", arguments: ["a\u{1}b", "eu west", ""])
    func noRegion(name: String) {
        let long = String(repeating: "r", count: 65)
        for name in [name, long] {
            #expect(run(s3Plan(), no(301, "PermanentRedirect", ["x-amz-bucket-region: \(name)"])) == ["fail http 301"])
        }
        var script = S3Script(s3Plan())
        let said = script.end(1, 400, body: errorXML("AuthorizationHeaderMalformed", "<Region>\(long)</Region>"))
        #expect(said == ["fail http 400"])
    }

    @Test("a server that names a new region each time does not lead in circles")
    func regionCircle() {
        var script = S3Script(s3Plan())
        for (id, region) in ["a", "b", "a"].enumerated() {
            _ = script.end(id + 1, 301, ["x-amz-bucket-region: \(region)"], body: errorXML("PermanentRedirect"))
        }
        #expect(
            script.end(4, 301, ["x-amz-bucket-region: b"], body: errorXML("PermanentRedirect")) == ["fail http 301"])
    }

    @Test(
        "a clock that is wrong is learnt from the server's, once",
        .tells(
            "h answered 403 RequestTimeTooSkewed: its clock and ours do not agree; set them, Martlet tries again",
            "the clock of h is 25 hours ahead of the one of this machine: set the clock that is wrong, then retry"))
    func skew() {
        let expected = ["learned clockSkewSeconds=-3600", "2 \(absent)"]
        let skewed = no(403, "RequestTimeTooSkewed", ["Date: \(elevenText)"])
        #expect(run(s3Plan(), skewed) == expected)
        #expect(
            run(s3Plan(), no(403, "RequestTimeTooSkewed", more: "<ServerTime>2026-11-21T11:00:00Z</ServerTime>"))
                == expected)
        #expect(run(s3Plan(), skewed, skewed) == ["wait backoff http"])
        // Noon is the time here. 25 hours are believed, and not more, whether the answer names the clock or is a bare 403.
        let day = "<ServerTime>2026-11-22T13:00:00Z</ServerTime>"
        #expect(run(s3Plan(), no(403, "RequestTimeTooSkewed", more: day)).first == "learned clockSkewSeconds=90000")
        for far in ["2026-11-22T13:00:01Z", "2026-11-20T10:59:59Z", "2126-11-21T12:00:00Z"] {
            let more = "<ServerTime>\(far)</ServerTime>"
            #expect(run(s3Plan(), no(403, "RequestTimeTooSkewed", more: more)) == ["fail http 403"], "\(far)")
        }
        #expect(run(s3Plan(), answered(403, ["Date: Sat, 21 Nov 2020 12:00:00 GMT"])) == ["fail http 403"])
        var facts = HostFacts { $0.heedsConditions = true }
        facts.clockSkewSeconds = -3600
        #expect(run(s3Plan(facts: facts), skewed) == ["wait backoff http"])
    }

    @Test("a lost answer is resolved by the object's marks, never by an object alone")
    func lostAnswer() {
        let gone = unanswered(lost, sent: 1000)
        #expect(run(s3Plan(), gone) == ["2 HEAD"])
        #expect(run(s3Plan(), gone, head(ourMarks)) == ["finish 1000 size found"])
        #expect(run(s3Plan(), gone, head(ourMarks, tag: tag(small))) == ["finish 1000 digest found"])
        #expect(run(s3Plan(), gone, head([])) == ["wait backoff networkConnectionLost"])
        #expect(run(s3Plan(), gone, head(ourMarks, size: 999)) == ["wait backoff networkConnectionLost"])
        #expect(run(s3Plan(), gone, answered(403)) == ["wait backoff networkConnectionLost"])
        #expect(run(s3Plan(), gone, answered(404)) == ["wake probeAgain 1.0 seconds"])
        #expect(run(s3Plan(), gone, answered(404), head(ourMarks)) == ["finish 1000 size found"])
        #expect(run(s3Plan(), gone, answered(404), answered(404)) == ["wait backoff networkConnectionLost"])
        #expect(run(s3Plan(), unanswered(lost, sent: 999)) == ["wait backoff networkConnectionLost"])
        #expect(run(s3Plan(), unanswered(refused, sent: 1000)) == ["wait backoff cannotConnectToHost"])
        #expect(run(s3Plan(), unanswered(badCertificate, sent: 0)) == ["fail tlsFailure"])
    }

    @Test(
        "after a kill the first look is for what the earlier attempt may have put there",
        .tells("an earlier attempt may have reached h, but it does not tell which object is there"))
    func begunBefore() {
        let plan = s3Plan(begun: noon)
        #expect(run(plan) == ["1 HEAD"])
        #expect(run(plan, head(ourMarks)) == ["finish 1000 size found"])
        #expect(run(plan, answered(404)) == ["2 \(absent)"])
        #expect(run(plan, answered(403)) == ["2 \(absent)"])
        #expect(run(plan, answered(403), no(412, "PreconditionFailed"), answered(403)) == ["fail unknownOutcome"])
        #expect(run(plan, answered(503)) == ["wait hostBackoff http"])
        #expect(run(plan, head(["x-amz-meta-martlet-token: other"])) == ["fail destinationExists 412"])
    }

    @Test("an earlier version of the source that we put there is replaced, and only that")
    func earlierVersion() {
        let old = ["x-amz-meta-martlet-token: \(ourToken)", "x-amz-meta-mtime: 1600000000.5"]
        let plan = s3Plan(changed: true)
        #expect(run(plan, head(old, tag: "\"old\"")) == ["2 PUT If-Match \"old\""])
        #expect(run(plan, head(["x-amz-meta-martlet-token: \(ourToken)"])) == ["2 PUT If-Match \"x\""])
        #expect(run(plan, head(ourMarks)) == ["finish 1000 size found"])
        #expect(run(plan, head(old), no(412, "PreconditionFailed"), head([])) == ["fail destinationExists 412"])
        #expect(run(plan, head(old), no(404, "NoSuchKey"), answered(404)) == ["4 \(absent)"])
        // Where any file may be replaced, what somebody writes there meanwhile refuses nothing.
        let replaces = s3Plan(ifExists: .replace, changed: true)
        for there in [
            head(old), head(["x-amz-meta-martlet-token: \(ourToken)"]), head([]), answered(404), answered(403),
        ] {
            #expect(run(replaces, there) == ["2 PUT"])
        }
        #expect(run(replaces, head(old), no(412, "PreconditionFailed")) == ["fail http 412"])
    }

    @Test(
        "something that is there: skipped, compared, or refused as the rule says",
        .tells("h reports another write of the same object"))
    func occupied() {
        let full = no(412, "PreconditionFailed")
        #expect(run(s3Plan(), full) == ["2 HEAD"])
        #expect(run(s3Plan(), full, head(ourMarks)) == ["finish 1000 size found"])
        #expect(run(s3Plan(ifExists: .skip), full, head([])) == ["finish 1000 none skipped"])
        for policy in [ExistingFilePolicy.fail, .rename, .resume] {
            #expect(run(s3Plan(ifExists: policy), full, head([])) == ["fail destinationExists 412"])
            #expect(run(s3Plan(ifExists: policy), full, head([], tag: tag(small))) == ["finish 1000 digest found"])
            #expect(run(s3Plan(ifExists: policy), full, head([], size: 5)) == ["fail destinationExists 412"])
        }
        // Another tool's copy with the file's time, as rclone keeps it.
        #expect(run(s3Plan(), full, head([ourMarks[1]])) == ["finish 1000 size found"])
        #expect(run(s3Plan(verify: .digest), full, head([ourMarks[1]])) == ["fail destinationExists 412"])
        #expect(run(s3Plan(), full, answered(403)) == ["fail destinationExists 412"])
        #expect(run(s3Plan(), full, answered(404)) == ["3 \(absent)"])
        #expect(run(s3Plan(), full, answered(404), full, answered(404)) == ["wait backoff networkConnectionLost"])
    }

    @Test(
        "a server without conditional writes is asked what is there instead",
        .tells(
            "h can neither tell what is there nor refuse to replace it",
            "it does not take files by this method; check the address or the server's settings"))
    func withoutConditions() {
        let unknown = no(501, "NotImplemented")
        #expect(run(s3Plan(), unknown, answered(404)) == ["3 PUT"])
        #expect(run(s3Plan(), unknown, head([])) == ["fail destinationExists 412"])
        #expect(run(s3Plan(), unknown, answered(403)) == ["fail unsupported"])
        #expect(run(s3Plan(ifExists: .replace), unknown) == ["wait backoff http"])
    }

    @Test("a body that arrives damaged is hashed and sent again, three times at most")
    func damage() {
        let bad = no(400, "BadDigest")
        #expect(run(s3Plan(), bad) == ["2 \(absent)"])
        #expect(run(s3Plan(), bad, no(400, "XAmzContentSHA256Mismatch"), bad) == ["fail integrity"])
    }

    @Test("a wish for a digest is met for what was found, too")
    func foundWithDigest() {
        let plan = s3Plan(verify: .digest, begun: noon)
        #expect(run(plan, head(ourMarks, tag: tag(small))) == ["finish 1000 digest found"])
        #expect(run(plan, head(ourMarks)) == ["fail integrity"])
        #expect(run(plan, head(ourMarks, tag: tag(0..<1))) == ["fail integrity"])
    }

    @Test(
        "a region that is none is refused before anything is sent; what comes late is left alone",
        .tells("\"not a region\" is no region of S3: check AWS_REGION, then queue it again"))
    func edges() {
        var plan = s3Plan(endpoint: nil)
        plan.address.place.region = "not a region"
        #expect(S3Script(plan).said == ["fail unsupported"])
        plan = s3Plan()
        plan.address.place.region = "a\u{1}"
        #expect(S3Script(plan).said == ["fail unsupported"])
        var script = S3Script(s3Plan())
        _ = script.end(1, 200)
        #expect(script.end(1, 200) == [] && script.fire(.probeAgain) == [])
    }
}
