import Digests
import TransferModel
import WireOperations

/// Compares a file at a server with the beginning of the source: it is one when an attempt of this task has put it there, whole or cut.
///
/// A server that keeps what a cut PUT brought, and heeds no condition, shows by nothing else whose file that is. The first and the last
/// bytes are compared, up to `most` of each; where that is not the whole file, a run of one byte proves nothing.
struct BeginningLook: Hashable {
    private static let most: Int64 = 1 << 20

    /// The bytes that are compared next; empty: the file there is.
    private(set) var range: Range<Int64>
    private let length: Int64
    private var isTelling: Bool

    /// `nil`: of an unknown length, or longer than the source.
    init?(length: Int64?, sourceSize: Int64) {
        guard let length, length <= sourceSize else { return nil }
        self.length = length
        range = 0..<min(length, Self.most)
        isTelling = length <= Self.most
    }

    /// Fields of the GET for `range`. Of an empty file a byte is asked for: some servers call every file empty in their answers to HEAD.
    var headers: [HeaderField] {
        [HeaderField("Range", "bytes=\(range.lowerBound)-\(max(range.upperBound - 1, 0))")]
    }

    var sink: HTTPExchange.Sink { .document(limit: range.count + 1) }

    /// The meaning of the answer to that GET.
    enum Finding: Hashable {
        case empty
        /// Digest of the bytes in `range`.
        case bytes(TransferDigest)
        /// Another file, or one that the server does not give.
        case other
    }

    mutating func read(_ end: ExchangeEnd) -> Finding {
        guard let answer = end.answer, end.failure == nil else { return .other }
        if range.isEmpty { return answer.status == 416 || answer.status == 200 && end.body.isEmpty ? .empty : .other }
        guard end.body.count == range.count, starts(answer) else { return .other }
        isTelling = isTelling || end.body.contains { $0 != end.body[0] }
        return .bytes(
            TransferDigest(algorithm: "sha-256", value: DigestAlgorithm.sha256.digest(of: end.body).hex))
    }

    private func starts(_ answer: HTTPAnswer) -> Bool {
        switch answer.status {
        case 200: range.lowerBound == 0
        case 206: answer.field("content-range").flatMap(ContentRange.init)?.bytes?.lowerBound == range.lowerBound
        default: false
        }
    }

    /// After the bytes of `range` were found to be the source's. Returns true when that is proof enough, false when it is none, and `nil` when
    /// there are others to compare.
    mutating func matched() -> Bool? {
        if range.upperBound == length { return isTelling }
        range = max(range.upperBound, length - Self.most)..<length
        return nil
    }
}

extension ExchangeEnd {
    /// A failure after which the same request may be answered: the line broke, or the server has no time. `nil`: this is its answer.
    func passing(host: String) -> WaitDemand? {
        if let error = failure?.error, error.isRetryable, error.code != .badServerResponse {
            return WaitDemand(.backoff, error)
        }
        guard let answer, answer.status != 501 else { return nil }
        let meaning = AnswerMeaning(answer, host: host, hasAccepted: false, at: at)
        return if case .wait(let demand) = meaning { demand } else { nil }
    }
}
