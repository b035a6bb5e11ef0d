import Testing
import TransferModel

@testable import TransferProtocols

private let size = fourParts
private let listing = "GET ?encoding-type=url&max-uploads=1000&prefix=f&uploads"

private var intent: S3ResumePoint {
    S3ResumePoint(intended: s3Plan(size: size), at: noon)
}

/// A list of uploads: key, ID, when they were begun.
private func page(_ uploads: (key: String, id: String, begun: String)..., date: String? = nil) -> ExchangeEnd {
    let rows = uploads.map {
        "<Upload><Key>\($0.key)</Key><UploadId>\($0.id)</UploadId><Initiated>\($0.begun)</Initiated></Upload>"
    }
    return answered(
        200, date.map { ["Date: \($0)"] } ?? [],
        body:
            "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>\(rows.joined())</ListMultipartUploadsResult>")
}

/// What a Create whose answer nobody heard has left.
@Suite struct S3SweepTests {
    @Test("that an upload is to be begun is durable before it is")
    func intended() {
        var script = S3Script(s3Plan(size: size, ifExists: .replace))
        #expect(script.said == ["persist s3", "1 POST ?uploads"])
        #expect(script.lose(1) == ["wait backoff networkConnectionLost"])
        let coded = ResumePoint(encoded: ResumePoint(intent).encoded)?.content(S3ResumePoint.self)
        #expect(coded == intent && coded?.uploadID == "")
        // What surely was not begun leaves no intent.
        var unheard = S3Script(s3Plan(size: size, ifExists: .replace))
        #expect(unheard.lose(1, refused) == ["persist put", "wait backoff cannotConnectToHost"])
    }

    @Test("the next attempt takes away what is of that key, as new, and without parts, and then begins")
    func sweeps() {
        var script = S3Script(s3Plan(size: size, ifExists: .replace, begun: noon, resume: intent))
        #expect(script.said == ["1 \(listing)"])
        let said = script.end(
            1,
            page(
                ("f", "early", "2026-11-21T11:59:57Z"), ("f", "ours", "2026-11-21T12:00:00.500Z"),
                ("f", "later", "2026-11-21T12:11:00Z"), ("f.txt", "alien", "2026-11-21T12:00:01Z")))
        #expect(said == ["2 GET ?max-parts=1000&uploadId=ours"])
        #expect(script.end(2, 200, body: listXML([])) == ["3 DELETE ?uploadId=ours"])
        #expect(script.end(3, 204) == ["4 HEAD"])
        #expect(script.end(4, 404) == ["persist s3", "5 POST ?uploads"])
    }

    @Test("what somebody else may be at work on stays")
    func others() {
        let begun = ("f", "a", "2026-11-21T12:00:00.500Z")
        // One of two is somebody else's.
        var two = S3Script(s3Plan(size: size, ifExists: .replace, resume: intent))
        #expect(two.end(1, page(begun, ("f", "b", "2026-11-21T12:00:30Z"))) == ["persist s3", "2 POST ?uploads"])
        var parts = S3Script(s3Plan(size: size, ifExists: .replace, resume: intent))
        _ = parts.end(1, page(begun))
        #expect(parts.end(2, 200, body: listXML([(1, 7, "\"x\"")])) == ["persist s3", "3 POST ?uploads"])
        // A minute later no request of ours can arrive any more.
        var late = S3Script(s3Plan(size: size, ifExists: .replace, resume: intent))
        #expect(late.end(1, page(("f", "a", "2026-11-21T12:01:30Z"))) == ["persist s3", "2 POST ?uploads"])
    }

    @Test("the server's clock counts")
    func skew() {
        func looks(at begun: String) -> Bool {
            var script = S3Script(s3Plan(size: size, resume: intent))
            return script.end(1, page(("f", "U", begun), date: elevenText)).first?.contains("max-parts") == true
        }
        #expect(looks(at: "2026-11-21T11:00:00Z"))
        #expect(!looks(at: "2026-11-21T10:59:50Z"))
    }

    @Test("whoever may not look begins all the same; a server that wants to be left alone is")
    func refusals() {
        func after(_ end: ExchangeEnd) -> [String] {
            var script = S3Script(s3Plan(size: size, ifExists: .replace, resume: intent))
            return script.end(1, end)
        }
        let begins = ["persist s3", "2 POST ?uploads"]
        for answer in [
            page(), answered(403, body: errorXML("AccessDenied")), answered(501), answered(500), answered(404),
            answered(200, body: "<x/>"), page(("f", "no time", "")),
        ] {
            #expect(after(answer) == begins)
        }
        #expect(after(answered(503, body: errorXML("SlowDown"))) == ["wait hostBackoff http"])
        #expect(after(answered(403, body: errorXML("InvalidAccessKeyId"))) == ["wait auth http"])
        #expect(after(unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(
            after(answered(301, ["x-amz-bucket-region: eu-west-1"])) == ["learned region=eu-west-1", "2 \(listing)"])
    }

    @Test("one that is given up takes it away, too")
    func removal() {
        var removal = S3Removal(intent)
        #expect(removal.handle(.began(at: noon)).map(S3Script.brief) == ["1 \(listing)"])
        func tell(_ id: Int, _ end: ExchangeEnd) -> [String] {
            removal.handle(.ended(ExchangeID(rawValue: id), end)).map(S3Script.brief)
        }
        #expect(tell(1, page(("f", "U", "2026-11-21T12:00:00Z"))) == ["2 GET ?max-parts=1000&uploadId=U"])
        #expect(tell(2, answered(200, body: listXML([]))) == ["3 DELETE ?uploadId=U"])
        #expect(tell(3, answered(204)) == ["finish 0 none"])
        var none = S3Removal(intent)
        _ = none.handle(.began(at: noon))
        #expect(
            none.handle(.ended(ExchangeID(rawValue: 1), page())).map(S3Script.brief) == ["finish 0 none"])
    }
}
