import FoundationEssentials
package import TransferModel

/// What must be on disk so that a later attempt can go on. Stored as one line of JSON with its version.
package enum ResumePoint: Hashable, Sendable {
    case put(PutResumePoint)
    case get(GetResumePoint)

    /// Raised when an older engine could not read what is written.
    static let version = 1
}

/// Of a plain PUT only this: what a source that changed while it was sent has left behind.
package struct PutResumePoint: Codable, Hashable, Sendable {
    /// The server stored an earlier version of the source for us: the next PUT replaces it, whatever the rule for foreign files.
    package var stored: Bool
    /// What the server called that version.
    package var etag: String?
    /// How often the source was found changed.
    package var changes = 0
    package init(stored: Bool, etag: String?, changes: Int = 0) {
        self.stored = stored
        self.etag = etag
        self.changes = changes
    }
}

/// Of a download: which version it is, and how much of it is on the disk.
package struct GetResumePoint: Codable, Hashable, Sendable {
    package var version: RemoteVersion
    /// Bytes of the temporary file that are on the disk.
    package var offset: Int64
    /// The final name, once decided.
    package var name: RawPath
    /// The temporary file beside it, its inode once it is made.
    package var partName: RawPath?
    package var partInode: UInt64?
    /// All bytes are there and checked; the temporary file is getting its final name.
    package var publishing = false

    package init(version: RemoteVersion, offset: Int64, name: RawPath) {
        self.version = version
        self.offset = offset
        self.name = name
    }
}

extension ResumePoint {
    private struct Envelope: Codable {
        var v: Int
        var put: PutResumePoint?
        var get: GetResumePoint?
    }

    /// One line of JSON.
    package var encoded: [UInt8] {
        var envelope = Envelope(v: Self.version)
        switch self {
        case .put(let point): envelope.put = point
        case .get(let point): envelope.get = point
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and Booleans only: there is nothing in it that JSON cannot say.
        return (try? encoder.encode(envelope)).map(Array.init) ?? []
    }

    /// `nil` for what another version of the engine wrote, or damage: the task then starts over.
    package init?(encoded bytes: [UInt8]) {
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(bytes)),
            envelope.v == Self.version
        else { return nil }
        if let point = envelope.put {
            self = .put(point)
        } else if let point = envelope.get, point.offset >= 0 {
            self = .get(point)
        } else {
            return nil
        }
    }
}
