import FoundationEssentials
package import TransferModel

/// The data that must be on disk so that a later attempt can go on: a protocol's own value, stored as one line of JSON with its kind and
/// version, and apart from it a secret.
package struct ResumePoint: Hashable, Sendable {
    /// Raised when an older engine could not read what is written.
    private static let version = 2

    /// The protocol that it belongs to: `put`, `get`, `tus` …
    package let kind: String
    /// The protocol's value as JSON, without its secret.
    private let content: [UInt8]
    /// An upload URL that a server gave: for the secrets store alone.
    package let secret: String?
    /// Times that the source was found changed.
    package var sourceChanges = 0
    /// It was made of an earlier version of the source: good for clearing up, never for going on.
    package var isOutdated = false

    /// The point of an upload that is about to be thrown away: an engine that finds it after a kill throws it away, too, and never goes on
    /// from it. It may be of another version of the source.
    static func outdated(_ content: some ResumePointContent) -> ResumePoint {
        var point = ResumePoint(content)
        point.isOutdated = true
        return point
    }
    /// The earlier version of the source that the server has under the final name: ours to replace, by whichever protocol.
    package var ownVersion: PutResumePoint?

    package init<Content: ResumePointContent>(_ content: Content) {
        kind = Content.kind
        secret = content.secret
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and Booleans only: there is nothing in it that JSON cannot say.
        self.content = (try? encoder.encode(content)).map(Array.init) ?? []
        ownVersion = (content as? PutResumePoint).flatMap { $0.stored ? $0 : nil }
    }

    /// `nil` for what another version of the engine wrote, or damage: the task then starts over.
    package init?(encoded: [UInt8], secret: String? = nil) {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(encoded)), line.v == Self.version else {
            return nil
        }
        kind = line.kind
        content = Array(line.point.utf8)
        sourceChanges = line.changes ?? 0
        isOutdated = line.outdated ?? false
        self.secret = secret
        let own = line.own.flatMap { $0.isPlausible ? $0 : nil }
        ownVersion = own ?? self.content(PutResumePoint.self).flatMap { $0.stored ? $0 : nil }
    }

    /// One line of JSON for the queue; nothing secret.
    package var encoded: [UInt8] {
        let line = Line(
            v: Self.version, kind: kind, changes: sourceChanges == 0 ? nil : sourceChanges,
            outdated: isOutdated ? true : nil, own: kind == PutResumePoint.kind ? nil : ownVersion,
            point: String(decoding: content, as: UTF8.self))
        return (try? JSONEncoder().encode(line)).map(Array.init) ?? []
    }

    /// The protocol's value; `nil` when it is another protocol's, or damaged.
    package func content<Content: ResumePointContent>(_ type: Content.Type) -> Content? {
        guard kind == Content.kind, var value = try? JSONDecoder().decode(Content.self, from: Data(content)) else {
            return nil
        }
        value.restore(secret: secret)
        return value.isPlausible ? value : nil
    }

    /// Without the claim that its upload's temporary file may have been renamed: durable before anything of ours removes that file, whose
    /// absence then proves nothing.
    package var disclaimed: ResumePoint {
        disclaimed(SFTPResumePoint.self) ?? disclaimed(FTPResumePoint.self) ?? disclaimed(DavResumePoint.self)
            ?? disclaimed(NextcloudResumePoint.self) ?? self
    }

    private func disclaimed<Content: RenamingResumePoint>(_ type: Content.Type) -> ResumePoint? {
        guard var content = content(type) else { return nil }
        content.disclaim()
        var point = ResumePoint(content)
        (point.sourceChanges, point.isOutdated, point.ownVersion) = (sourceChanges, isOutdated, ownVersion)
        return point
    }

    /// True when a transfer that was broken off goes on where it stood. PUT, POST and WebDAV send a file from its beginning.
    package var goesOn: Bool { ![PutResumePoint.kind, PostResumePoint.kind, DavResumePoint.kind].contains(kind) }

    private struct Line: Codable {
        var v: Int
        var kind: String
        var changes: Int?
        var outdated: Bool?
        var own: PutResumePoint?
        var point: String
    }
}

/// The data that one protocol must have to go on.
package protocol ResumePointContent: Codable, Hashable, Sendable {
    static var kind: String { get }
    /// The part of it that only the secrets store may hold; left out of its coding.
    var secret: String? { get }
    mutating func restore(secret: String?)
    /// False for numbers that cannot be: each one is within `ResumeBounds`, so that the machines may add to it.
    var isPlausible: Bool { get }
}

/// The bounds of the numbers in resume points. What lies beyond them on the disk is damage; no sum of two within them overflows.
enum ResumeBounds {
    /// Bytes, and offsets in a file.
    static let lengths: ClosedRange<Int64> = 0...1 << 53
    /// Bytes of one chunk or part.
    static let chunks: ClosedRange<Int64> = 1...1 << 53
    /// Numbers of temporary files, one after the other.
    static let generations = 1...1_000_000
    /// Times that something happened.
    static let counts = 0...1_000_000

    /// The pieces of `chunk` bytes, at least 1, that `size` bytes are cut into, the last one shorter.
    static func pieces(_ size: Int64, of chunk: Int64) -> Int64 { size / chunk + (size % chunk == 0 ? 0 : 1) }
}

/// Resume point of an upload whose bytes are gathered under another name than the final one.
package protocol RenamingResumePoint: ResumePointContent {
    /// Takes back that the final name may have been asked for.
    mutating func disclaim()
}

extension ResumePointContent {
    package var secret: String? { nil }
    package mutating func restore(secret: String?) {}
    package var isPlausible: Bool { true }
}

/// Resume point of a plain PUT, which cannot go on: the version of the source that it left there, and its lost answers.
package struct PutResumePoint: ResumePointContent {
    package static var kind: String { "put" }

    /// The server stored an earlier version of the source for us: the next PUT replaces it, whatever the rule for foreign files.
    package var stored: Bool
    /// The server's tag of that version.
    package var etag: String?
    /// Whole files that were sent, and whose answers were lost, one after the other.
    package var unanswered: Int?
    /// The file there was compared with the source and is another one, whatever marks of ours it bears.
    package var isOther: Bool?
    package init(stored: Bool, etag: String?) {
        self.stored = stored
        self.etag = etag
    }

    package var isPlausible: Bool { ResumeBounds.counts.contains(unanswered ?? 0) }
}

/// Resume point of a download: which version it is, and how much of it is on the disk.
package struct GetResumePoint: ResumePointContent {
    package static var kind: String { "get" }

    package var version: RemoteVersion
    /// Bytes of the temporary file that are on the disk.
    package var offset: Int64
    /// The final name, once decided.
    package var name: RawPath
    /// The temporary file beside it, its inode once it is made.
    package var partName: RawPath?
    package var partInode: UInt64?
    /// Digest that the whole file must have, by the word of the server or of a person.
    package var promised: TransferDigest?
    /// All bytes are there, and this is how they were checked: nothing is left to ask the server for.
    package var received: Verification?
    /// Looks at the server's version after the last byte that it left without an answer.
    package var silentLooks: Int?
    /// All bytes are there and checked; the temporary file is getting its final name.
    package var publishing = false

    package init(version: RemoteVersion, offset: Int64, name: RawPath) {
        self.version = version
        self.offset = offset
        self.name = name
    }

    /// Nothing of it but where it lies.
    package var forgotten: GetResumePoint {
        var point = GetResumePoint(version: RemoteVersion(), offset: 0, name: name)
        (point.partName, point.partInode) = (partName, partInode)
        return point
    }

    package var isPlausible: Bool {
        ResumeBounds.lengths.contains(offset) && ResumeBounds.counts.contains(silentLooks ?? 0)
    }

    /// That of an attempt that had all of it and was stopped before the file had its name; `nil` when there is still something to ask.
    func receipt(verify: VerificationWish?, expects: TransferDigest?) -> Receipt? {
        guard let received else { return nil }
        if let digest = expects ?? (received == .digest ? promised : nil) {
            return .received(offset, verified: .digest, digest: digest)
        }
        return verify == .digest || received == .digest ? nil : .received(offset, verified: received)
    }
}
