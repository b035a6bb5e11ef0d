import Digests
import TransferModel
import WireOperations

/// Digests that a server tells of a file with the file.
extension HTTPAnswer {
    /// The SHA-256 of the whole file, lower-case hexadecimal: `Repr-Digest` (RFC 9530), its forerunner `Digest` (RFC 3230), and, of an answer
    /// that is the whole file, `Content-Digest`.
    var fileDigest: TransferDigest? {
        let names = status == 200 ? ["repr-digest", "digest", "content-digest"] : ["repr-digest", "digest"]
        return names.lazy.compactMap(sha256(in:)).first
    }

    private func sha256(in name: String) -> TransferDigest? {
        for part in (field(name) ?? "").split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() }
            guard pair.count == 2, pair[0].lowercased() == "sha-256" else { continue }
            // A structured field has its bytes between colons, the older one has none.
            var text = pair[1]
            if text.hasPrefix(":"), text.hasSuffix(":"), text.count > 1 { text = text.dropFirst().dropLast() }
            guard let bytes = Base64.decode(text), bytes.count == 32 else { continue }
            return TransferDigest(algorithm: "sha-256", value: Hexadecimal.encode(bytes))
        }
        return nil
    }

    /// It tells a length that cannot be: nobody can say when all of it has come.
    var hasImpossibleLength: Bool {
        field("content-length") != nil && contentLength.map(FileSize.isPossible) != true
    }

    /// `text/html` for one: lower case, without parameters.
    var mediaType: String? {
        field("content-type").map { $0.prefix { $0 != ";" }.trimmingSpaces().lowercased() }
    }

    /// A page for people.
    var isPage: Bool { mediaType.map(Self.isPage) ?? false }

    /// A yes that is a page for people, with the status that a GET of one has. Networks that want a sign-in, and sites that show one page
    /// under each address, answer so whatever is asked of them.
    package var isPageForYes: Bool { status == 200 && isPage }

    static func isPage(_ mediaType: String) -> Bool {
        mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }
}
