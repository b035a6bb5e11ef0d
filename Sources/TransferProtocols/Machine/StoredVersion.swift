import TransferModel
import WireOperations

/// The version of the source that a server has stored for us under the final name, by whichever protocol, and the lost answers of a PUT.
package struct StoredVersion: Codable, Hashable, Sendable {
    /// The server stored an earlier version of the source for us: the next PUT replaces it, whatever the rule for foreign files.
    package var stored: Bool
    /// The server's tag of that version.
    package var etag: String?
    /// Length and time of that version of the source; `nil`: a point of an older engine, or nothing is stored.
    package var version: NamedVersion?
    /// The server's own time for that version, in seconds since 1970: the time of modification that it showed, or its `Date` when it had
    /// stored it. For servers that do not keep the source's time.
    package var shown: Int64?
    /// Whole files that were sent, and whose answers were lost or proved nothing, one after the other.
    package var unanswered: Int?
    package init(stored: Bool, etag: String?, version: NamedVersion? = nil, shown: Int64? = nil) {
        self.stored = stored
        self.etag = etag
        self.version = version
        self.shown = shown
    }

    /// The version that the server has taken by that receipt.
    package init(_ receipt: Receipt, of subject: UploadSubject) {
        self.init(stored: true, etag: receipt.etag, version: NamedVersion(subject), shown: receipt.shown)
    }

    /// A tag that can be named in a condition; a weak one cannot.
    var strongTag: String? { etag.flatMap { $0.hasPrefix("\"") ? $0 : nil } }

    /// A point of an older engine, by which nothing can be compared.
    var isUntold: Bool { version == nil && etag == nil }
}

/// A file as a server shows it under the final name.
struct StandingFile: Hashable, Sendable {
    var size: Int64?
    /// Seconds since 1970.
    var modified: Int64?
    var etag: String?
}

extension StandingFile {
    /// Reads the answer to a HEAD.
    init(_ answer: HTTPAnswer) {
        self.init(
            size: answer.contentLength, modified: answer.lastModified.map { $0.milliseconds / 1000 },
            etag: answer.etag)
    }
}

extension StoredVersion {
    /// A server that does not keep the source's time shows one between the last byte and its answer.
    private static let delay: Int64 = 60

    /// Compares the version that was stored with what stands there now. That it was stored once is no licence: somebody else may have
    /// put a file there since.
    func standing(_ file: StandingFile) -> NamedVersion.Standing {
        if let version, let size = file.size, version.size != size { return .foreign }
        if let etag, let theirs = file.etag {
            if Self.opaque(etag) == Self.opaque(theirs) { return .ours }
            // Servers write a tag anew when it was weak, and some with the name.
            let areStrong = !etag.hasPrefix("W/") && !theirs.hasPrefix("W/")
            if version == nil, areStrong { return .foreign }
        }
        guard let version else { return .unknown }
        let standing = version.standing(size: file.size, modified: file.modified)
        guard standing == .unknown, file.size != nil, let shown, let modified = file.modified else { return standing }
        return (shown - Self.delay...shown + 1).contains(modified) ? .ours : .unknown
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
