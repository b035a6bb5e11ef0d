import Digests
import TransferModel
import TransferProtocols
import WireOperations

/// A bucket as a value: it takes the requests that a machine makes and keeps which ranges of the source it was sent.
struct S3BucketModel {
    struct Object: Equatable {
        var ranges: [Range<Int64>]
        var marks: [HeaderField]
    }

    private struct Upload {
        var parts: [Int: Range<Int64>] = [:]
        var marks: [HeaderField]
    }

    var object: Object?
    private var uploads: [String: Upload] = [:]
    /// Uploads that were begun.
    private(set) var begun = 0
    /// Bytes of bodies that arrived, also those whose answer was lost.
    private(set) var received: Int64 = 0
    var pageSize = 1000

    /// Uploads that are not finished.
    var unfinished: Int { uploads.count }

    /// Carries a request out.
    mutating func answer(_ exchange: HTTPExchange) -> ExchangeEnd {
        let query = Self.pairs(exchange.url.target)
        if case .source(let range) = exchange.body { received += Int64(range.count) }
        switch exchange.method {
        case .head: return head()
        case .put where query["uploadId"] == nil:
            return write(Object(ranges: Self.ranges(exchange), marks: Self.marks(exchange)), exchange)
        case .put: return part(exchange, query)
        case .post where query["uploads"] != nil:
            begun += 1
            uploads["U\(begun)"] = Upload(marks: Self.marks(exchange))
            return answered(200, body: createdXML("U\(begun)"))
        case .post: return complete(exchange, query["uploadId"] ?? "")
        case .get where query["uploads"] != nil: return answered(200, body: unfinishedXML)
        case .get: return list(query)
        case .delete: return answered(uploads.removeValue(forKey: query["uploadId"] ?? "") == nil ? 404 : 204)
        default: return answered(405)
        }
    }

    private func head() -> ExchangeEnd {
        guard let object else { return answered(404) }
        let size = object.ranges.reduce(0) { $0 + Int64($1.count) }
        return answered(
            200,
            ["Content-Length: \(size)", "ETag: \(Self.tag(object))"] + object.marks.map { "\($0.name): \($0.value)" })
    }

    private mutating func part(_ exchange: HTTPExchange, _ query: [String: String]) -> ExchangeEnd {
        guard let id = query["uploadId"], uploads[id] != nil, let number = query["partNumber"].flatMap({ Int($0) }),
            let range = Self.ranges(exchange).first
        else { return answered(404, body: errorXML("NoSuchUpload")) }
        uploads[id]?.parts[number] = range
        return answered(200, ["ETag: \(TransferProtocolsTests.tag(range))"], sent: 1 << 40)
    }

    private func list(_ query: [String: String]) -> ExchangeEnd {
        guard let id = query["uploadId"], let upload = uploads[id] else {
            return answered(404, body: errorXML("NoSuchUpload"))
        }
        let marker = query["part-number-marker"].flatMap { Int($0) } ?? 0
        let rest = upload.parts.filter { $0.key > marker }.sorted { $0.key < $1.key }
        let rows = rest.prefix(pageSize).map {
            (Int64($0.key), Int64($0.value.count), TransferProtocolsTests.tag($0.value))
        }
        return answered(200, body: listXML(rows, next: rest.count > pageSize ? rows.last?.0 : nil))
    }

    private var unfinishedXML: String {
        let rows = uploads.keys.sorted().map {
            "<Upload><Key>f</Key><UploadId>\($0)</UploadId><Initiated>2026-11-21T12:00:00Z</Initiated></Upload>"
        }
        return "<ListMultipartUploadsResult>\(rows.joined())</ListMultipartUploadsResult>"
    }

    private mutating func complete(_ exchange: HTTPExchange, _ id: String) -> ExchangeEnd {
        guard let upload = uploads[id] else { return answered(404, body: errorXML("NoSuchUpload")) }
        guard case .bytes(let body) = exchange.body else { return answered(400, body: errorXML("MalformedXML")) }
        let ranges = upload.parts.sorted { $0.key < $1.key }.map(\.value)
        let named = String(decoding: body, as: UTF8.self).split(separator: "<ETag>").count - 1
        guard named == ranges.count else { return answered(400, body: errorXML("InvalidPart")) }
        let end = write(Object(ranges: ranges, marks: upload.marks), exchange)
        guard end.answer?.status == 200, let object else { return end }
        uploads[id] = nil
        return answered(200, body: completedXML(Self.tag(object)))
    }

    private mutating func write(_ new: Object, _ exchange: HTTPExchange) -> ExchangeEnd {
        if exchange.headers.contains(HeaderField("If-None-Match", "*")), object != nil {
            return answered(412, body: errorXML("PreconditionFailed"))
        }
        object = new
        return answered(200, ["ETag: \(Self.tag(new))"], sent: 1 << 40)
    }

    private static func tag(_ object: Object) -> String {
        guard object.ranges.count > 1, let last = object.ranges.last else {
            return TransferProtocolsTests.tag(object.ranges.first ?? 0..<0)
        }
        return composite(last.upperBound)
    }

    private static func ranges(_ exchange: HTTPExchange) -> [Range<Int64>] {
        if case .source(let range) = exchange.body { [range] } else { [] }
    }

    private static func marks(_ exchange: HTTPExchange) -> [HeaderField] {
        exchange.headers.filter { $0.name.hasPrefix("x-amz-meta-") }
    }

    private static func pairs(_ target: String) -> [String: String] {
        let query = target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return query.split(separator: "&").reduce(into: [:]) { pairs, piece in
            let halves = piece.split(separator: "=", maxSplits: 1)
            pairs[String(halves[0])] = halves.count > 1 ? String(halves[1]) : ""
        }
    }
}
