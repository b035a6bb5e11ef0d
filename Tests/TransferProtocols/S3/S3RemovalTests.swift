import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct S3RemovalTests {
    private func remove(_ end: ExchangeEnd, at endpoint: String = "https://h") -> [String] {
        var removal = S3Removal(s3Point(size: 20 * mebibyte, endpoint: endpoint))
        #expect(removal.handle(.began(at: noon)).map(S3Script.brief) == ["1 DELETE ?uploadId=U"])
        return removal.handle(.ended(ExchangeID(rawValue: 1), end)).map(S3Script.brief)
    }

    @Test("an upload that was cancelled is taken away; one that is gone counts as that")
    func removing() {
        #expect(remove(answered(204)) == ["finish 0 none"])
        #expect(remove(answered(404, body: errorXML("NoSuchUpload"))) == ["finish 0 none"])
        #expect(remove(answered(403, body: errorXML("AccessDenied"))) == ["wait auth http"])
        #expect(remove(answered(503)) == ["wait hostBackoff http"])
        #expect(remove(answered(405)) == ["fail http 405"])
        #expect(remove(unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(remove(unanswered(badCertificate, sent: 0)) == ["fail tlsFailure"])
        let page = answered(200, ["Content-Type: text/html"])
        #expect(remove(page, at: "http://h") == ["wait backoff badServerResponse"])
        #expect(
            remove(answered(301, ["x-amz-bucket-region: eu-west-1"])) == [
                "learned region=eu-west-1", "2 DELETE ?uploadId=U",
            ])
    }

    private func page(_ keys: [String], next: String? = nil, encoded: Bool = true) -> ExchangeEnd {
        let rows = keys.map {
            "<Upload><Key>\($0)</Key><UploadId>id-\($0.count)</UploadId><Initiated>2026-11-20T10:00:00.000Z</Initiated></Upload>"
        }
        let more = next.map { "<NextKeyMarker>\($0)</NextKeyMarker><NextUploadIdMarker>m</NextUploadIdMarker>" } ?? ""
        return answered(
            200,
            body: "<ListMultipartUploadsResult><IsTruncated>\(next != nil)</IsTruncated>\(more)"
                + (encoded ? "<EncodingType>url</EncodingType>" : "") + rows.joined() + "</ListMultipartUploadsResult>")
    }

    private func search(_ key: String = "a b/") -> S3LeftoverSearch {
        S3LeftoverSearch(S3Address(bucket: "bkt", key: RawPath(key), place: S3Place(endpoint: "http://h")))
    }

    @Test("pages that lead round in a circle are left")
    func circle() {
        var search = search()
        var step = search.begin()
        var asked = 0
        while case .ask = step, asked < 1000 {
            asked += 1
            step = search.took(page(["a"], next: "k\(asked % 7)"))
        }
        guard case .failed(let error) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(error.code == .badServerResponse && asked <= 32)
    }

    @Test("a search ends after so many pages, and after so many bytes of names, and says that there may be more")
    func bounds() {
        func found(_ answer: (Int) -> ExchangeEnd) -> (pages: Int, uploads: Int, isWhole: Bool)? {
            var search = search()
            var step = search.begin()
            var asked = 0
            while case .ask = step, asked < 3000 {
                asked += 1
                step = search.took(answer(asked))
            }
            guard case .found(let uploads, let isWhole) = step else { return nil }
            return (asked, uploads.count, isWhole)
        }
        let many = found { page(["a"], next: "k\($0)") }
        #expect(many?.pages == 200 && many?.uploads == 200 && many?.isWhole == false)
        let long = String(repeating: "k", count: 1000)
        let large = found { number in page((0..<100).map { _ in long }, next: "k\(number)") }
        #expect((70...90).contains(large?.pages ?? 0) && large?.isWhole == false, "8 MiB of names, 100 KB a page")
        let last = found { number in page(["a"], next: number < 200 ? "k\(number)" : nil) }
        #expect(last?.pages == 200 && last?.isWhole == true)
    }

    @Test("names that a service gives are taken up to a length and in bytes that go back to it as they are")
    func tokens() {
        func taken(_ id: String) -> Bool {
            S3Answers.uploadID(
                Array("<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>".utf8))
                == id
        }
        #expect(taken("2~aB.c-_/+=") && taken(String(repeating: "x", count: 2048)))
        #expect(!taken(String(repeating: "x", count: 2049)) && !taken("") && !taken("a\u{E4}") && !taken("a\tb"))
        let long = String(repeating: "k", count: 1025)
        #expect(S3Answers.uploads(page([long]).body) == nil && S3Answers.uploads(page(["k"], next: long).body) == nil)
        let part =
            "<Part><PartNumber>1</PartNumber><Size>5</Size><ETag>\(String(repeating: "e", count: 3000))</ETag></Part>"
        #expect(S3Answers.parts(Array("<ListPartsResult>\(part)</ListPartsResult>".utf8)) == nil)
    }

    @Test("leftovers are listed page by page, with keys as they are")
    func listing() throws {
        var search = search()
        guard case .ask(let first, learnt: nil) = search.begin() else {
            Issue.record("nothing asked")
            return
        }
        #expect(first.url.text == "http://h/bkt/?encoding-type=url&max-uploads=1000&prefix=a%20b%2F&uploads")
        #expect(first.signing?.v4?.payload == SignatureV4.emptyPayload)
        guard case .ask(let second, _) = search.took(page(["a+b/%C3%A4", "a+b/x%2By"], next: "a+b/x")) else {
            Issue.record("no second page")
            return
        }
        #expect(second.url.text.hasSuffix("&key-marker=a%20b%2Fx&upload-id-marker=m&uploads"))
        guard case .found(let leftovers, isWhole: true) = search.took(page(["a+b/z"])) else {
            Issue.record("nothing found")
            return
        }
        #expect(leftovers.map(\.key) == [RawPath("a b/\u{E4}"), RawPath("a b/x+y"), RawPath("a b/z")])
        #expect(leftovers[0].begun == Timestamp("2026-11-20T10:00:00Z"))
        let point = leftovers[2].point(
            at: S3Address(bucket: "bkt", key: RawPath(""), place: S3Place(endpoint: "http://h")))
        var removal = S3Removal(point)
        guard case .perform(_, .http(let exchange))? = removal.handle(.began(at: noon)).first else {
            Issue.record("nothing removed")
            return
        }
        #expect(exchange.url.text == "http://h/bkt/a%20b/z?uploadId=id-5" && exchange.method == .delete)
    }

    @Test("a server that does not encode keys is taken at its word; circles and refusals end the search")
    func edges() {
        var plain = search()
        #expect(plain.took(page(["a+b%"], encoded: false)) == .found([S3Leftover(key: "a+b%")], isWhole: true))
        var circle = search()
        _ = circle.took(page(["x"], next: "x"))
        for answer in [
            page(["x"], next: "x"), answered(403, body: errorXML("AccessDenied")), answered(200, body: "<x/>"),
        ] {
            guard case .failed = circle.took(answer) else {
                Issue.record("not failed")
                continue
            }
        }
        var moved = search()
        guard case .ask(let again, learnt: let facts?) = moved.took(answered(301, ["x-amz-bucket-region: r2"])) else {
            Issue.record("not asked again")
            return
        }
        #expect(facts.region == "r2" && again.signing?.v4?.region == "r2")
    }
}

extension S3Leftover {
    /// As the pages above name it.
    fileprivate init(key: String) {
        self.init(key: RawPath(key), uploadID: "id-\(key.count)", begun: Timestamp("2026-11-20T10:00:00Z"))
    }
}
