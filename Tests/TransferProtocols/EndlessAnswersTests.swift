import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

/// Servers that answer each kind of request in one or two ways, right or wrong, for ever: whatever they say, an attempt comes to its end, or
/// to a pause that the engine can count. In between nobody asks how long it has gone on.
@Suite struct EndlessAnswersTests {
    private static let size: Int64 = 12 << 20
    /// A server that takes 100 kB at once, with a refusal and a question between, needs hundreds.
    private static let mostRequests = 1500
    /// Nextcloud is asked for an hour what became of a file.
    private static let mostPauses = 1000

    /// The most bytes of a resume point, which is kept for each file: sixteen parts, each with an address of its own.
    private static let longestPoint = 17 * HTTPAddress.longestLocation

    /// Random numbers that a seed decides.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// One way to answer: a status, fields and a body, how much of the request's body was taken, and whether the connection broke.
    private struct Manner {
        var status: Int
        var fields: [String]
        var body: String
        var takes: Int64
        var breaks: Bool
        /// Offsets that it tells in turn; `nil`: those that are right.
        var offsets: [Int64]?
    }

    private static let statuses = [
        200, 201, 202, 204, 207, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 416,
        422,
        423, 425, 429, 460, 500, 501, 502, 503, 504, 507,
    ]

    private static let bodies = [
        "", "no", "<Error><Code>InternalError</Code></Error>", "<Error><Code>NoSuchUpload</Code></Error>",
        "<Error><Code>SlowDown</Code></Error>", "<Error><Code>BadDigest</Code></Error>",
        "<Error><Code>ConditionalRequestConflict</Code></Error>", "<Error><Code>InvalidPart</Code></Error>",
        "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>",
        "<CompleteMultipartUploadResult><ETag>\"a-3\"</ETag></CompleteMultipartUploadResult>",
        "<ListPartsResult><UploadId>u1</UploadId><IsTruncated>false</IsTruncated></ListPartsResult>",
        "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>",
        """
        <d:multistatus xmlns:d="DAV:"><d:response><d:href>/d/f</d:href><d:propstat><d:prop>
        <d:getcontentlength>12582912</d:getcontentlength><d:getetag>"b"</d:getetag></d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
        """,
        """
        <d:multistatus xmlns:d="DAV:"><d:response><d:href>/d/f/</d:href><d:propstat><d:prop>
        <d:resourcetype><d:collection/></d:resourcetype></d:prop>
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
        """,
    ]

    /// The way in which a server that means well answers, as far as one kind of server can stand for all.
    private static func right(_ method: HTTPExchange.Method) -> Manner {
        var manner = Manner(status: 204, fields: ["ETag: \"a\""], body: "", takes: size, breaks: false, offsets: nil)
        switch method {
        case .post: (manner.status, manner.fields) = (201, ["Location: /u/1"])
        case .put: (manner.status, manner.fields) = (201, ["ETag: \"a\"", "Location: /u/1", "Upload-Complete: ?0"])
        case .head, .get: manner.status = 200
        case .propfind: (manner.status, manner.body) = (207, bodies[12])
        default: break
        }
        return manner
    }

    /// Fields with much too much in them; a relative address makes each redirect longer than the last.
    private static func endless(using dice: inout Dice) -> [String] {
        guard Int.random(in: 0..<8, using: &dice) == 0 else { return [] }
        let long = String(repeating: "a", count: 8100)
        return ["Location: \(long)/", "Location: /\(long)/u"]
            + ["ETag", "Content-Type", "Content-Encoding", "OC-ETag", "OC-FileId", "x-amz-version-id", "Last-Modified"]
            .map { "\($0): \(long)\(long)" }
    }

    private static func any(_ dice: inout Dice) -> Manner {
        var fields: [String] = []
        let all =
            [
                "Location: /u/1", "Location: /u/2", "Location: https://other/x", "Retry-After: 0", "ETag: \"a\"",
                "ETag: \"b\"",
                "Upload-Complete: ?0", "Upload-Complete: ?1", "Upload-Length: \(size)", "Content-Length: \(size)",
                "Upload-Limit: max-append-size=\([100_000, 1 << 20, 5 << 20].randomElement(using: &dice) ?? 0)",
                "Last-Modified: Sat, 21 Nov 2026 12:00:00 GMT",
                "x-amz-bucket-region: r\(Int.random(in: 1...2, using: &dice))",
            ] + endless(using: &dice)
        for field in all where Int.random(in: 0..<3, using: &dice) == 0 { fields.append(field) }
        let places: [Int64] = [0, 1, 2, 70_000, size / 2, size - 1, size]
        var offsets: [Int64] = []
        for _ in 0..<Int.random(in: 1...3, using: &dice) { offsets.append(places.randomElement(using: &dice) ?? 0) }
        return Manner(
            status: statuses.randomElement(using: &dice) ?? 500, fields: fields,
            body: bodies.randomElement(using: &dice) ?? "",
            takes: [0, 1, 100_000, size].randomElement(using: &dice) ?? 0,
            breaks: Int.random(in: 0..<5, using: &dice) == 0,
            offsets: Bool.random(using: &dice) ? offsets : nil)
    }

    private struct Server {
        var dice: Dice
        private var manners: [HTTPExchange.Method: [Manner]] = [:]
        private var turns: [HTTPExchange.Method: Int] = [:]
        private var held: Int64 = 0

        init(seed: UInt64) { dice = Dice(state: seed) }

        mutating func answer(_ exchange: HTTPExchange) -> ExchangeEnd {
            let method = exchange.method
            if manners[method] == nil {
                manners[method] = (0..<Int.random(in: 1...2, using: &dice)).map { _ in
                    Int.random(in: 0..<5, using: &dice) < 3 ? right(method) : any(&dice)
                }
            }
            let turn = turns[method, default: 0]
            turns[method] = turn + 1
            guard let known = manners[method] else { return unanswered(lost, sent: 0) }
            let manner = known[turn % known.count]
            var (begin, length): (Int64, Int64) = (0, 0)
            switch exchange.body {
            case .source(let range), .framed(_, let range, _):
                (begin, length) = (range.lowerBound, range.upperBound - range.lowerBound)
            case .bytes, .none: break
            }
            let sent = min(manner.takes, length)
            if length > 0 { held = begin + sent }
            let offset = manner.offsets.map { (told: [Int64]) in told[turn % told.count] } ?? held
            if manner.breaks { return unanswered(lost, sent: sent) }
            let fields = manner.fields + ["Upload-Offset: \(offset)"]
            return answered(manner.status, fields, sent: sent, body: manner.body)
        }
    }

    /// Plays an attempt to its end.
    /// - Returns: what was asked, when it does not come to one.
    private static func endless(_ machine: any ProtocolMachine, seed: UInt64) -> [String]? {
        var machine = machine
        var server = Server(seed: seed)
        var waiting: [(ExchangeID, HTTPExchange)] = []
        var events: [ProtocolEvent] = [.began(at: noon)]
        var story: [String] = []
        var (requests, pauses) = (0, 0)
        var timer: ProtocolTimer?
        while requests <= mostRequests, pauses <= mostPauses {
            if events.isEmpty {
                if !waiting.isEmpty {
                    let (id, exchange) = waiting.removeFirst()
                    let end = server.answer(exchange)
                    story.append("\(exchange.method.rawValue) \(exchange.url.target) -> \(end.answer?.status ?? 0)")
                    events = [.ended(id, end)]
                } else if let due = timer {
                    timer = nil
                    events = [.timerFired(due)]
                } else {
                    return ["it stands still"] + story.suffix(20)
                }
            }
            let event = events.removeFirst()
            for action in machine.handle(event) {
                switch action {
                case .perform(let id, .http(let exchange)):
                    requests += 1
                    waiting.append((id, exchange))
                case .abandon(let id): waiting.removeAll { $0.0 == id }
                case .wake(let due, _):
                    pauses += 1
                    timer = due
                case .digestSource: events.append(.digested(TransferDigest(algorithm: "sha-256", value: "00")))
                case .digestRange(let range, let algorithms):
                    events.append(
                        .rangeDigested(
                            range,
                            algorithms.map { TransferDigest(algorithm: $0, value: "d41d8cd98f00b204e9800998ecf8427e") })
                    )
                case .persist(let point):
                    let length = point.encoded.count + (point.secret?.utf8.count ?? 0)
                    if length > longestPoint { return ["a resume point has \(length) bytes"] + story.suffix(20) }
                case .finish, .fail, .wait, .mismatch: return nil
                default: break
                }
            }
        }
        return story.suffix(30)
    }

    @Test(
        "no answers keep an attempt going for ever",
        arguments: [
            ("http://h/d/", HTTPUploadProtocol.put), ("http://h/d/", .tus), ("http://h/d/", .ietf),
            ("http://h/d/", .post), ("http://h/d/", nil), ("tus+http://h/files/", nil), ("dav://h/d/", nil),
            ("davs://h/remote.php/dav/files/ana/", nil), ("s3://bucket/d/", nil),
        ])
    func ends(url: String, by way: HTTPUploadProtocol?) throws {
        var options = TransferOptions()
        options.uploadBy = way
        let base = try #require(RemotePlace(url))
        let place = try #require(base.appending(RawPath("f")))
        for seed in 1...UInt64(6000) {
            var dice = Dice(state: seed &* 77)
            var subject = UploadSubject(
                name: RawPath("f"), size: Self.size, ifExists: [.fail, .replace].randomElement(using: &dice) ?? .fail,
                verify: [nil, VerificationWish.none, .size, .digest].randomElement(using: &dice) ?? nil,
                begunBefore: Bool.random(using: &dice) ? noon : nil, token: "0123456789abcdef0123456789abcdef",
                hasChanged: Int.random(in: 0..<8, using: &dice) == 0)
            subject.hasArrived = Bool.random(using: &dice)
            let job = UploadJob(
                destination: base.address, path: RawPath("f"), subject: subject, facts: HostFacts(), resume: nil,
                options: options)
            let machine = try #require(place.upload(job))
            let story = Self.endless(machine, seed: seed)
            #expect(story == nil, "seed \(seed): \(story ?? [])")
        }
    }
}
