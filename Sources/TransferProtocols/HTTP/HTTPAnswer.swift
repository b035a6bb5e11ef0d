import Digests
package import TransferModel
package import WireOperations

extension HTTPAnswer {
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// `Content-Length`, when it is one number.
    package var contentLength: Int64? {
        field("content-length").flatMap { FileSize.read($0) }
    }

    /// `Date`, by the server's clock.
    package var date: Timestamp? { field("date").flatMap(HTTPDate.parse) }
    package var lastModified: Timestamp? { field("last-modified").flatMap(HTTPDate.parse) }

    /// Time that `Retry-After` wants us to stay away; dates are taken relative to the server's own clock where it shows it.
    package func retryAfter(now: Timestamp) -> Duration? {
        guard let value = field("retry-after") else { return nil }
        if let seconds = Int64(value) { return .seconds(min(max(0, seconds), 1 << 32)) }
        guard let date = HTTPDate.parse(value) else { return nil }
        return max(.zero, date.since(self.date ?? now))
    }

    /// The whole representation's SHA-256 from `Repr-Digest` (RFC 9530), lower-case hexadecimal.
    package var representationDigest: TransferDigest? {
        for part in (field("repr-digest") ?? "").split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() }
            guard pair.count == 2, pair[0].lowercased() == "sha-256", pair[1].hasPrefix(":"), pair[1].hasSuffix(":"),
                let bytes = Base64.decode(pair[1].dropFirst().dropLast()), bytes.count == 32
            else { continue }
            return TransferDigest(algorithm: "sha-256", value: Hexadecimal.encode(bytes))
        }
        return nil
    }

    /// `Want-Repr-Digest`: it would like the SHA-256 of what is sent there, so it knows what to do with one.
    var wantsDigests: Bool { field("want-repr-digest")?.lowercased().contains("sha-256") ?? false }

    /// As `representationDigest`, where it can be about a file that was sent: a server may digest the words of its answer instead
    /// (RFC 9530 appendix B.5).
    func digest(ofFileNotOf body: [UInt8]) -> TransferDigest? {
        guard let digest = representationDigest else { return nil }
        return digest.value == DigestAlgorithm.sha256.digest(of: body).hex ? nil : digest
    }
}

/// `Content-Range` of a 206 or a 416 (RFC 9110 section 14.4).
package struct ContentRange: Hashable, Sendable {
    /// `nil`: unsatisfied (`*`), on a 416.
    package var bytes: ClosedRange<Int64>?
    /// `nil`: the server does not say (`*`).
    package var total: Int64?

    /// `nil` for what is not a range of bytes, or contradicts itself.
    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        if halves[1] != "*" {
            guard let total = FileSize.read(halves[1]) else { return nil }
            self.total = total
        }
        if halves[0] != "*" {
            let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = FileSize.read(ends[0]), let last = FileSize.read(ends[1]), last >= first,
                FileSize.isPossible(last),
                total.map({ last < $0 }) ?? true
            else { return nil }
            bytes = first...last
        }
    }
}

extension StringProtocol {
    /// Without spaces and tabs at the ends.
    func trimmingSpaces() -> SubSequence {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let tail = drop(while: isSpace)
        guard let last = tail.lastIndex(where: { !isSpace($0) }) else { return tail }
        return tail[...last]
    }
}
