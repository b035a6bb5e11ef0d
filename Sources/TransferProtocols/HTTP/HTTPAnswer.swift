import Digests
package import TransferModel
package import WireOperations

extension HTTPAnswer {
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// No file has the name that was asked for.
    var isAbsence: Bool { status == 404 || status == 410 }

    /// `Content-Length`, when it is one number.
    package var contentLength: Int64? {
        field("content-length").flatMap { FileSize.read($0) }
    }

    /// `Date`, by the server's clock.
    package var date: Timestamp? { field("date").flatMap(HTTPDate.parse) }
    package var lastModified: Timestamp? { field("last-modified").flatMap(HTTPDate.parse) }

    /// `ETag`, quotes and `W/` included; `nil`, too, for one that tells no versions apart or could not be sent back.
    package var etag: String? { field("etag").flatMap(Validator.tag) }
    /// As `etag`; ownCloud and Nextcloud tell that of a file that they have just stored in a field of their own.
    var cloudTag: String? { field("oc-etag").flatMap(Validator.tag) ?? etag }
    /// `Last-Modified` as the server wrote it; `nil`, too, for one that could not be sent back.
    var lastModifiedText: String? { field("last-modified").flatMap(Validator.date) }

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

    /// It comes from a server that is known to heed `If-None-Match: *`: Amazon's S3, and our own receiver.
    var heedsConditions: Bool { ["AmazonS3", "martlet-receive"].contains(field("server") ?? "") }

    /// As `representationDigest`, where it can be about a file that was sent: a server may digest the words of its answer instead
    /// (RFC 9530 appendix B.5).
    func digest(ofFileNotOf body: [UInt8]) -> TransferDigest? {
        guard let digest = representationDigest else { return nil }
        return digest.value == DigestAlgorithm.sha256.digest(of: body).hex ? nil : digest
    }
}

/// The values by which a server tells versions of a file apart (RFC 9110 section 8.8). They are stored at each checkpoint and sent back, so
/// that only what a header may have is taken, and nothing long.
enum Validator {
    /// An empty tag tells nothing apart, nor does one whose bytes all become the same character when they are read.
    static func tag(_ text: String) -> String? {
        let value = text.hasPrefix("W/") || text.hasPrefix("w/") ? text.dropFirst(2) : text[...]
        let isPlain = value.utf8.count <= 1024 && value.utf8.allSatisfy { (33...126).contains($0) }
        return isPlain && !value.isEmpty && value != "\"\"" ? text : nil
    }

    /// A type, or codings. They are kept for each file: nobody's have more characters than that.
    static func word(_ text: String) -> String? {
        text.utf8.count <= 256 && text.utf8.allSatisfy { (32...126).contains($0) } ? text : nil
    }

    /// The longest of the three forms, with the longest weekday, has 33 characters.
    static func date(_ text: String) -> String? {
        !text.isEmpty && text.utf8.count <= 64 && text.utf8.allSatisfy { (32...126).contains($0) } ? text : nil
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
