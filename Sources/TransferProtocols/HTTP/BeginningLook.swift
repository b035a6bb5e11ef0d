import Digests
import TransferModel
import WireOperations

/// Compares a file at a server with the beginning of the source: it is one when an attempt of this task has put it there, whole or cut.
///
/// A server that keeps what a cut PUT brought, and heeds no condition, shows by nothing else whose file that is. All of it is compared, in
/// pieces, up to the first that differs: two files of one origin may be the same at both ends. Nothing is lost when what is all in the source
/// is replaced, and to read it back takes no longer than it took to send it.
struct BeginningLook: Hashable {
    /// Bytes of the first piece: of most files that are others a little tells.
    private static let first: Int64 = 1 << 20
    /// Bytes of each further piece.
    private static let most: Int64 = 4 << 20

    /// The bytes that are compared next; empty: the file there is.
    private(set) var range: Range<Int64>
    private let length: Int64
    /// The file there is as long as the source: when all is the same, nothing is missing.
    let isWhole: Bool

    /// `nil`: of an unknown length, or longer than the source.
    init?(length: Int64?, sourceSize: Int64) {
        guard let length, length <= sourceSize else { return nil }
        self.length = length
        isWhole = length == sourceSize
        range = 0..<min(length, Self.first)
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

    /// After the bytes of `range` were found to be the source's. Returns true when there are others to compare.
    mutating func goOn() -> Bool {
        if range.upperBound == length { return false }
        range = range.upperBound..<min(length, range.upperBound + Self.most)
        return true
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
