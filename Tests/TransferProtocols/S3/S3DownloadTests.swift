import TestSupport
import Testing
import TransferModel
@testable import TransferProtocols
import WireOperations

private let object = S3Address(bucket: "bkt", key: RawPath("a b"), place: S3Place())
private let first = "https://bkt.s3.us-east-1.amazonaws.com/a%20b"

/// A download from S3 that is told what comes; keeps what it performs.
private struct Script {
    var download: GetDownload
    var open: [Int: HTTPExchange] = [:]

    init?(_ object: S3Address = object, facts: HostFacts = HostFacts(), offset: Int64 = 0) {
        var point: GetResumePoint?
        if offset > 0 {
            point = GetResumePoint(
                version: RemoteVersion(etag: "\"a\"", total: 1000), offset: offset, name: RawPath("f"))
        }
        guard let channel = S3Channel(object, facts) else { return nil }
        var plan = GetPlan(address: channel.base, resume: point)
        plan.channel = channel
        download = GetDownload(plan)
    }

    mutating func tell(_ event: ProtocolEvent) -> [String] {
        let actions = download.handle(event)
        for case .perform(let id, .http(let exchange)) in actions { open[id.rawValue] = exchange }
        return words(actions)
    }

    mutating func head(_ id: Int, _ status: Int, _ lines: [String] = []) -> [String] {
        tell(.answered(ExchangeID(rawValue: id), HTTPAnswer(status: status, headers: fields(lines)), at: noon))
    }
}

@Suite struct S3DownloadTests {
    @Test("every request of a download from S3 is signed for the object's region")
    func signed() throws {
        var script = try #require(Script())
        #expect(script.tell(.began(at: noon)) == ["1 GET \(first)"])
        #expect(script.open[1]?.signing == RequestSigning.v4(region: "us-east-1", payload: SignatureV4.emptyPayload))
        #expect(script.head(1, 200, ["Content-Length: 1000", "ETag: \"a\""]).first == "persist a b 0 \"a\"")
        var resumed = try #require(Script(offset: 400))
        #expect(resumed.tell(.began(at: noon)) == ["1 GET \(first) | Range: bytes=400- | If-Range: \"a\""])
        #expect(resumed.head(1, 416, ["Content-Range: bytes */400"]) == ["abandon 1", "2 HEAD \(first)"])
        #expect(resumed.open[2]?.signing?.v4?.region == "us-east-1")
        var place = S3Place()
        place.region = "no region"
        #expect(Script(S3Address(bucket: "bkt", key: RawPath("k"), place: place)) == nil)
        #expect(GetDownload(GetPlan(address: HTTPAddress("http://h/f")!)).unsigned)
    }

    @Test("the region is learnt, and the same range asked for there")
    func region() throws {
        var script = try #require(Script(offset: 400))
        _ = script.tell(.began(at: noon))
        let there = "https://bkt.s3.eu-west-1.amazonaws.com/a%20b | Range: bytes=400- | If-Range: \"a\""
        #expect(
            script.head(1, 301, ["x-amz-bucket-region: eu-west-1"]) == [
                "abandon 1", "learned region=eu-west-1", "2 GET \(there)",
            ])
        #expect(script.open[2]?.signing?.v4?.region == "eu-west-1")
    }

    @Test("a wrong clock is learnt, from the head alone or from what the server says")
    func skew() throws {
        var script = try #require(Script())
        _ = script.tell(.began(at: noon))
        #expect(
            script.head(1, 403, ["Date: \(elevenText)"]) == [
                "abandon 1", "learned clockSkewSeconds=-3600", "2 GET \(first)",
            ])
        #expect(script.head(2, 403, ["Date: \(elevenText)"]) == ["abandon 2", "3 GET \(first) | Range: bytes=0-0"])
    }

    @Test(
        "a refusal's body is asked for, since the gate held it back",
        .tells(
            "the session of the keys is over; give it a login that it takes, with martlet set",
            "it does not take these keys; give it a login that it takes, with martlet set"),
        arguments: [
            (400, "ExpiredToken", "wait auth http"), (403, "InvalidAccessKeyId", "wait auth http"),
            (403, "AccessDenied", "fail permissionDenied 403"), (503, "SlowDown", "wait hostBackoff http"),
        ])
    func explanation(status: Int, code: String, expected: String) throws {
        var script = try #require(Script())
        _ = script.tell(.began(at: noon))
        let asked = script.head(1, status)
        guard status != 503 else {
            #expect(asked == ["abandon 1", expected])
            return
        }
        #expect(asked == ["abandon 1", "2 GET \(first) | Range: bytes=0-0"])
        #expect(script.open[2]?.signing != nil && script.open[2]?.sink == .kept)
        #expect(script.tell(.ended(ExchangeID(rawValue: 2), answered(status, body: errorXML(code)))) == [expected])
    }

    @Test("an explanation may name the region, or be none; it is asked for once")
    func afterExplanation() throws {
        var script = try #require(
            Script(S3Address(bucket: "bkt", key: RawPath("k"), place: S3Place(endpoint: "http://h"))))
        _ = script.tell(.began(at: noon))
        _ = script.head(1, 400)
        let body = errorXML("AuthorizationHeaderMalformed", "<Region>garage</Region>")
        #expect(
            script.tell(.ended(ExchangeID(rawValue: 2), answered(400, body: body)))
                == ["learned region=garage", "3 GET http://h/bkt/k"])
        #expect(script.open[3]?.signing?.v4?.region == "garage")
        #expect(script.head(3, 400) == ["abandon 3", "fail http 400"])
        var fickle = try #require(Script())
        _ = fickle.tell(.began(at: noon))
        _ = fickle.head(1, 403)
        #expect(fickle.tell(.ended(ExchangeID(rawValue: 2), answered(206))) == ["3 GET \(first)"])
        #expect(fickle.head(3, 403) == ["abandon 3", "fail permissionDenied 403"])
    }

    @Test("another host than the object's gets no signature")
    func redirect() throws {
        var script = try #require(Script())
        _ = script.tell(.began(at: noon))
        #expect(script.head(1, 307, ["Location: https://cdn/x"]) == ["abandon 1", "2 GET https://cdn/x | bare"])
        #expect(script.open[2]?.signing == nil)
        #expect(script.head(2, 403) == ["abandon 2", "fail permissionDenied 403"])
    }
}

extension GetDownload {
    /// Whether its first request carries no signature.
    fileprivate var unsigned: Bool {
        var copy = self
        guard case .perform(_, .http(let exchange))? = copy.handle(.began(at: noon)).first else { return false }
        return exchange.signing == nil
    }
}
