import Digests
import Testing
import TransferModel
import TransferProtocols

let mebibyte: Int64 = 1 << 20
let ourToken = "0123456789abcdef0123456789abcdef"
let ourTime: Int64 = 1_700_000_000_123_456_789
let ourTimeText = "1700000000.123456789"
/// Head fields of an object that this run has put there.
let ourMarks = ["x-amz-meta-martlet-token: \(ourToken)", "x-amz-meta-mtime: \(ourTimeText)"]

func s3Plan(
    size: Int64 = 1000, ifExists: ExistingFilePolicy = .fail, verify: VerificationWish? = nil, begun: Timestamp? = nil,
    changed: Bool = false, endpoint: String? = "https://h", resume: S3ResumePoint? = nil,
    facts: HostFacts = HostFacts { $0.heedsConditions = true },
    chunk: Int64? = 5 * mebibyte, parallel: Int = 2
) -> S3Plan {
    var subject = UploadSubject(
        name: RawPath("f"), size: size, modifiedNanoseconds: ourTime, ifExists: ifExists, verify: verify,
        token: .digits(ourToken))
    subject.begunBefore = begun
    subject.hasChanged = changed
    return S3Plan(
        address: S3Address(bucket: "bkt", key: RawPath("f"), place: S3Place(endpoint: endpoint)), subject: subject,
        facts: facts, resume: resume, parallel: parallel, chunk: chunk)
}

/// The upload `U` of a file of that many bytes.
func s3Point(
    size: Int64, time: Int64 = ourTime, foreign: Bool = false, key: String = "f", endpoint: String = "https://h"
) -> S3ResumePoint {
    S3ResumePoint(
        address: S3Address(bucket: "bkt", key: RawPath(key), place: S3Place(endpoint: endpoint)), uploadID: "U",
        partSize: 5 * mebibyte, size: size, modifiedNanoseconds: time, hasForeignTags: foreign)
}

/// The MD5 that the tests' file has in that range: of the range's name.
func md5(_ range: Range<Int64>) -> [UInt8] { DigestAlgorithm.md5.digest(of: Array("\(range)".utf8)).bytes }
func tag(_ range: Range<Int64>) -> String { "\"\(Hexadecimal.encode(md5(range)))\"" }

/// The range of the part with that number, of parts of 5 MiB.
func part(_ number: Int64, of size: Int64) -> Range<Int64> {
    (number - 1) * 5 * mebibyte..<min(number * 5 * mebibyte, size)
}

/// The tag of an object of that size in parts of 5 MiB.
func composite(_ size: Int64) -> String {
    let count = (size + 5 * mebibyte - 1) / (5 * mebibyte)
    let sums = (1...count).flatMap { md5(part($0, of: size)) }
    return "\"\(DigestAlgorithm.md5.digest(of: sums).hex)-\(count)\""
}

func errorXML(_ code: String, _ more: String = "") -> String {
    "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>no</Message>\(more)</Error>"
}

func createdXML(_ id: String = "U") -> String {
    "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>bkt</Bucket><UploadId>\(id)"
        + "</UploadId></InitiateMultipartUploadResult>"
}

/// A page of parts: number, size, tag.
func listXML(_ parts: [(Int64, Int64, String)], next: Int64? = nil) -> String {
    let rows = parts.map {
        "<Part><PartNumber>\($0.0)</PartNumber><ETag>\($0.2.replacing("\"", with: "&quot;"))</ETag><Size>\($0.1)</Size></Part>"
    }
    return "<ListPartsResult><IsTruncated>\(next != nil)</IsTruncated>"
        + (next.map { "<NextPartNumberMarker>\($0)</NextPartNumberMarker>" } ?? "") + rows.joined()
        + "</ListPartsResult>"
}

func completedXML(_ tag: String) -> String {
    "\n  <CompleteMultipartUploadResult><ETag>\(tag.replacing("\"", with: "&#34;"))</ETag></CompleteMultipartUploadResult>"
}

/// An upload that is told what happens, one thing after the other. Digests are answered by themselves.
struct S3Script {
    var machine: any ProtocolMachine
    /// Everything said since the last look.
    private(set) var said: [String] = []
    /// Requests on their way, by their ids.
    private(set) var open: [Int: HTTPExchange] = [:]
    var answersDigests = true

    init(_ plan: S3Plan, begins: Bool = true) {
        machine = S3Upload(plan)
        if begins { tell(.began(at: noon)) }
    }

    mutating func tell(_ event: ProtocolEvent) {
        var events = [event]
        while !events.isEmpty {
            for action in machine.handle(events.removeFirst()) where action.isShown {
                said.append(Self.brief(action))
                switch action {
                case .perform(let id, .http(let exchange)): open[id.rawValue] = exchange
                case .abandon(let id): open[id.rawValue] = nil
                case .digestRange(let range, let algorithms) where answersDigests:
                    said.removeLast()
                    events.append(.rangeDigested(range, Self.digests(range, algorithms)))
                default: break
                }
            }
        }
    }

    static func digests(_ range: Range<Int64>, _ algorithms: [String]) -> [TransferDigest] {
        algorithms.map {
            TransferDigest(algorithm: $0, value: $0 == "md5" ? Hexadecimal.encode(md5(range)) : "sha-of-\(range)")
        }
    }

    /// Ends the request with that id, and looks at what is said to that.
    mutating func end(_ id: Int, _ end: ExchangeEnd) -> [String] {
        open[id] = nil
        said = []
        tell(.ended(ExchangeID(rawValue: id), end))
        return said
    }

    mutating func end(_ id: Int, _ status: Int, _ lines: [String] = [], body: String = "") -> [String] {
        end(id, answered(status, lines, sent: 1 << 40, body: body))
    }

    mutating func lose(_ id: Int, _ error: TransferError = lost, sent: Int64 = 1 << 40) -> [String] {
        end(id, unanswered(error, sent: sent))
    }

    mutating func fire(_ timer: ProtocolTimer) -> [String] {
        said = []
        tell(.timerFired(timer))
        return said
    }

    /// A request by its method and query, and the condition that it carries.
    static func brief(_ action: ProtocolAction) -> String {
        guard case .perform(let id, .http(let exchange)) = action else { return words([action])[0] }
        let query = exchange.url.target.split(separator: "?", maxSplits: 1).dropFirst().first.map { " ?\($0)" } ?? ""
        let conditions = exchange.headers.filter { $0.name.hasPrefix("If-") }.map { " \($0.name) \($0.value)" }
        return "\(id.rawValue) \(exchange.method.rawValue)\(query)" + conditions.joined()
    }
}

/// Four parts, the last one short.
let fourParts = 18 * mebibyte

func s3Listed(_ count: Int64) -> [(Int64, Int64, String)] {
    (1...count).map { ($0, Int64(part($0, of: fourParts).count), tag(part($0, of: fourParts))) }
}

/// An upload of four parts whose `U` is begun, with its first two parts on their way (ids 3 and 4).
func s3Begun(_ plan: S3Plan = s3Plan(size: fourParts)) -> S3Script {
    var script = S3Script(plan)
    _ = script.end(1, 404)
    _ = script.end(2, 200, body: createdXML())
    return script
}

/// One with all parts sent, whose Complete is on its way (id 7).
func s3Completing(_ plan: S3Plan = s3Plan(size: fourParts)) -> S3Script {
    var script = s3Begun(plan)
    for id in 3...6 { _ = script.end(id, 200, ["ETag: \(tag(part(Int64(id - 2), of: fourParts)))"]) }
    return script
}

/// One that is taken up again, with the list of its parts on its way (id 1).
func s3Resumed(_ plan: S3Plan = s3Plan(size: fourParts, resume: s3Point(size: fourParts))) -> S3Script {
    S3Script(plan)
}

func s3Sent(_ id: Int, _ number: Int) -> String { "\(id) PUT ?partNumber=\(number)&uploadId=U" }
let completeRequest = "POST ?uploadId=U If-None-Match *"

extension S3Region: ExpressibleByStringLiteral {
    /// For tests alone; traps on what is no region.
    public init(stringLiteral text: String) { self.init(rawValue: text)! }
}
