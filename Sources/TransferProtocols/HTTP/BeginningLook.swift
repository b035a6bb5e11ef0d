import Digests
import TransferModel
import WireOperations

/// Compares the end of a file at a server with the source's bytes in the same place: they are the same when an attempt of this task has put it
/// there, whole or cut.
///
/// A server that keeps what a cut PUT brought, and heeds no condition, shows by nothing else whose file that is.
struct BeginningLook: Hashable {
    private static let most: Int64 = 1 << 20

    /// Bytes of the file there and of the source; empty: there is nothing in it.
    let range: Range<Int64>

    /// `nil`: of an unknown length, or longer than the source.
    init?(_ answer: HTTPAnswer, sourceSize: Int64) {
        self.init(length: answer.contentLength, sourceSize: sourceSize)
    }

    init?(length: Int64?, sourceSize: Int64) {
        guard let length, length <= sourceSize else { return nil }
        range = max(0, length - Self.most)..<length
    }

    func request(_ address: HTTPAddress, mayCarrySecrets: Bool) -> Exchange {
        .http(
            HTTPExchange(
                .get, address, headers: [HeaderField("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")],
                sink: .document(limit: range.count + 1), mayCarrySecrets: mayCarrySecrets))
    }

    /// Digest of what was read; `nil`: the server gave something else than was asked for.
    func digest(_ end: ExchangeEnd) -> TransferDigest? {
        guard let answer = end.answer, end.failure == nil, end.body.count == range.count, starts(answer) else {
            return nil
        }
        return TransferDigest(algorithm: "sha-256", value: DigestAlgorithm.sha256.digest(of: end.body).hex)
    }

    private func starts(_ answer: HTTPAnswer) -> Bool {
        switch answer.status {
        case 200: range.lowerBound == 0
        case 206: answer.field("content-range").flatMap(ContentRange.init)?.bytes?.lowerBound == range.lowerBound
        default: false
        }
    }
}
