import FoundationEssentials
import TransferModel

/// The data that must be on disk so that a later attempt can go on: a protocol's own value, stored as one line of JSON with its kind and
/// version, and apart from it a secret.
package struct ResumePoint: Hashable, Sendable {
    /// Raised when an older engine could not read what is written.
    private static let version = 2

    /// The protocol that it belongs to: `put`, `get`, `tus` …
    package let kind: String
    /// The protocol's value as JSON, without its secret.
    private let json: [UInt8]
    /// An upload URL that a server gave: for the secrets store alone.
    package let secret: String?
    /// Times that the source was found changed.
    package var sourceChanges = 0
    /// It was made of an earlier version of the source: good for clearing up, never for going on.
    package var isOutdated = false
    /// The file there was compared with the source and is another one, whatever marks of ours it bears. It holds until the upload is over, by
    /// whichever protocol.
    package var targetIsOther = false
    /// The server's last answers that it knows nothing of the upload; `nil`: it does not say so.
    package var absence: Absence?
    /// The server was asked to remove what these name, and has not as far as anybody heard: temporary files of earlier versions of the source,
    /// and the like. The upload has no use for them; they are removed with what the point itself names.
    package private(set) var left: [ResumePoint] = []

    /// Keeps such points known.
    package mutating func leave(_ points: [ResumePoint]) {
        for point in points.flatMap({ [$0] + $0.left }) {
            var point = point
            point.left = []
            // A secret belongs to the task's present point.
            if point.secret == nil, !left.contains(point) { left.append(point) }
        }
        left = left.suffix(Self.mostLeft)
    }

    /// The same, without what was left before it.
    package var alone: ResumePoint {
        var point = self
        point.left = []
        return point
    }

    private static let mostLeft = 32

    /// The number of the next temporary file of a task: what is left under an earlier number may still be written to, or be removed.
    package static func nextGeneration(after left: [ResumePoint]) -> Int { (left.map(\.generation).max() ?? 0) + 1 }

    /// Returns true when both name the same folder or temporary file of one task.
    package func isNamed(as other: ResumePoint) -> Bool {
        kind == other.kind && generation > 0 && generation == other.generation
    }

    /// The number of the temporary file that it names; 0: such points have none.
    private var generation: Int {
        struct Numbered: Decodable { var generation: Int? }
        let number = (try? JSONDecoder().decode(Numbered.self, from: Data(json)))?.generation ?? 0
        return ResumeBounds.generations.contains(number) ? number : 0
    }

    /// The point of an upload of which only these are left; `nil`: nothing is.
    package init?(left points: [ResumePoint]) {
        guard var point = points.first else { return nil }
        point.isOutdated = true
        point.leave(Array(points.dropFirst()))
        self = point
    }

    /// The point of an upload that is about to be thrown away: an engine that finds it after a kill throws it away, too, and never goes on
    /// from it. It may be of another version of the source.
    static func outdated(_ content: some ResumePointContent) -> ResumePoint {
        var point = ResumePoint(content)
        point.isOutdated = true
        return point
    }
    /// The earlier version of the source that the server has under the final name: ours to replace, by whichever protocol.
    package var ownVersion: StoredVersion?

    /// The same, with an earlier version of the source that is known under the final name; `nil`: none that is not known already.
    func owning(_ own: StoredVersion?) -> ResumePoint {
        var point = self
        point.ownVersion = own ?? ownVersion
        return point
    }

    package init<Content: ResumePointContent>(_ content: Content) {
        kind = Content.kind
        secret = content.secret
        json = StableJSON.bytes(of: content)
        ownVersion = (content as? StoredVersion).flatMap { $0.stored ? $0 : nil }
    }

    /// `nil` for what another version of the engine wrote, or damage: the task then starts over.
    package init?(encoded: [UInt8], secret: String? = nil) {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(encoded)), line.v == Self.version,
            ResumeBounds.counts.contains(line.changes ?? 0)
        else { return nil }
        kind = line.kind
        json = Array(line.point.utf8)
        sourceChanges = line.changes ?? 0
        isOutdated = line.outdated ?? false
        self.secret = secret
        targetIsOther = line.other ?? Self.hadMark(line)
        absence = line.absent.map { Absence(last: Timestamp(milliseconds: $0), lasting: line.absentFor ?? 0) }
        left = (line.left ?? []).suffix(Self.mostLeft).compactMap { ResumePoint(encoded: Array($0.utf8)) }
        let own = line.own.flatMap { $0.isPlausible ? $0 : nil }
        ownVersion = own ?? self.content(StoredVersion.self).flatMap { $0.stored ? $0 : nil }
    }

    /// True of a line from before `other` was written: then a PUT's own value had the mark.
    private static func hadMark(_ line: Line) -> Bool {
        struct Marked: Decodable { var isOther: Bool? }
        let marked = try? JSONDecoder().decode(Marked.self, from: Data(line.point.utf8))
        return line.kind == StoredVersion.kind && marked?.isOther == true
    }

    /// One line of JSON for the queue; nothing secret.
    package var encoded: [UInt8] {
        let line = Line(
            v: Self.version, kind: kind, changes: sourceChanges == 0 ? nil : sourceChanges,
            outdated: isOutdated ? true : nil, other: targetIsOther ? true : nil,
            own: content(StoredVersion.self)?.stored == true ? nil : ownVersion,
            absent: absence?.last.milliseconds, absentFor: absence?.lasting,
            left: left.isEmpty ? nil : left.map { String(decoding: $0.encoded, as: UTF8.self) },
            point: String(decoding: json, as: UTF8.self))
        return StableJSON.bytes(of: line)
    }

    /// The protocol's value; `nil` when it is another protocol's, or damaged.
    package func content<Content: ResumePointContent>(_ type: Content.Type) -> Content? {
        guard kind == Content.kind, var value = try? JSONDecoder().decode(Content.self, from: Data(json)) else {
            return nil
        }
        value.restore(secret: secret)
        return value.isPlausible ? value : nil
    }

    /// Without the claim that its upload's temporary file may have been renamed: durable before anything of ours removes that file, whose
    /// absence then proves nothing.
    package var disclaimed: ResumePoint {
        (contentType as? any RenamingResumePoint.Type).flatMap { disclaimed($0) } ?? self
    }

    private func disclaimed<Content: RenamingResumePoint>(_ type: Content.Type) -> ResumePoint? {
        guard var content = content(type) else { return nil }
        content.disclaim()
        return replacing(content)
    }

    /// The same point with another value of its protocol.
    private func replacing(_ content: some ResumePointContent) -> ResumePoint {
        var point = ResumePoint(content)
        (point.sourceChanges, point.isOutdated, point.ownVersion) = (sourceChanges, isOutdated, ownVersion)
        (point.targetIsOther, point.left) = (targetIsOther, left)
        return point
    }

    /// The point that is left when nothing but the file itself, if anything, lies at the server any more: who tries again needs to know that an
    /// earlier version of ours has the final name, or another file. `nil`: neither is known.
    package var withoutParts: ResumePoint? {
        guard leavesParts || !left.isEmpty else { return self }
        guard targetIsOther || ownVersion != nil else { return nil }
        var point = ResumePoint(ownVersion ?? StoredVersion(stored: false, etag: nil))
        point.targetIsOther = targetIsOther
        return point
    }

    /// Its protocol's type for it; `nil`: another version of the engine had that protocol.
    private var contentType: (any ResumePointContent.Type)? { ProtocolDescriptor.began(self)?.resumePoint }

    package var afterCut: AfterCut { contentType?.afterCut ?? .goesOn }

    /// True when a transfer that was broken off goes on where it stood.
    package var goesOn: Bool { afterCut == .goesOn }

    /// True when what lies at the server is more than a whole file: somebody has to take it away.
    package var leavesParts: Bool { contentType?.leavesParts ?? true }

    /// The point from which a person's retry goes on after the upload has failed; `nil`: from this one.
    package var retried: ResumePoint? { contentType.flatMap { retried($0) } }

    private func retried<Content: ResumePointContent>(_ type: Content.Type) -> ResumePoint? {
        content(type)?.retried.map { replacing($0) }
    }

    /// True when it is only for who clears up: nobody knows whether what it names was made, and no upload goes on from it. None goes on
    /// from what is outdated either: that is cleared up first, whoever has noted it.
    package var isGuess: Bool {
        guard !isOutdated, let began = ProtocolDescriptor.began(self), began.guess != nil, let type = began.resumePoint
        else {
            return false
        }
        return isGuess(type)
    }

    private func isGuess<Content: ResumePointContent>(_ type: Content.Type) -> Bool { content(type)?.isGuess == true }

    private struct Line: Codable {
        var v: Int
        var kind: String
        var changes: Int?
        var outdated: Bool?
        var other: Bool?
        var own: StoredVersion?
        /// When the server said so last, and for how many milliseconds it has.
        var absent: Int64?
        var absentFor: Int64?
        var left: [String]?
        var point: String
    }
}

/// The next attempt's way with a transfer that was broken off in the middle.
package enum AfterCut: Sendable {
    /// It goes on where the server, or the file here, stands.
    case goesOn
    /// It sends all again; only where all was sent, and the answer is missing, the file may be found whole.
    case beginsAgain
    /// Each upload makes something new there. Nobody can ask whether this one did, and none replaces what another has made.
    case isUnknown
}

/// The data that one protocol must have to go on.
package protocol ResumePointContent: Codable, Hashable, Sendable {
    static var kind: String { get }
    /// The part of it that only the secrets store may hold; left out of its coding.
    var secret: String? { get }
    mutating func restore(secret: String?)
    /// False for numbers and names that cannot be: each number is within `ResumeBounds`, so that the machines may add to it, and a name leads
    /// out of no folder.
    var isPlausible: Bool { get }
    static var afterCut: AfterCut { get }
    /// False: nothing but whole files can lie at the server.
    static var leavesParts: Bool { get }
    /// As `ResumePoint.retried`.
    var retried: Self? { get }
    /// As `ResumePoint.isGuess`.
    var isGuess: Bool? { get }
}

/// The bounds of the numbers in resume points. What lies beyond them on the disk is damage; no sum of two within them overflows.
enum ResumeBounds {
    /// Bytes, and offsets in a file.
    static let lengths: ClosedRange<Int64> = 0...1 << 53
    /// Bytes of one chunk or part.
    static let chunks: ClosedRange<Int64> = 1...1 << 53
    /// Seconds since 1970: a time is compared, and may be of any year.
    static let seconds: ClosedRange<Int64> = -1 << 53...1 << 53
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
    /// Times that the server took the whole file and had it no more before it had its name; `nil`: none.
    var vanished: Int? { get set }
}

extension RenamingResumePoint {
    /// Counts such a loss. The count outlives the attempt and the engine: a server that eats each file is not fed for ever.
    /// - Returns: the last action, when the file is not to be sent again now; `nil`: now. A retry after the last one begins to count anew.
    mutating func vanish(at host: String) -> ProtocolAction? {
        let times = min(vanished ?? 0, Vanishing.most) + 1
        vanished = times < Vanishing.most ? times : nil
        if times >= Vanishing.most { return .fail(.keepsVanishing(at: host, isLast: true)) }
        return times > Vanishing.mostAtOnce ? .wait(WaitDemand(.backoff, .keepsVanishing(at: host))) : nil
    }
}

/// Bounds on whole files that a server takes and loses.
private enum Vanishing {
    /// Losses after which the file is sent again at once; after further ones the server is left alone for a while.
    static let mostAtOnce = 2
    /// Losses after which a person looks.
    static let most = 5
}

extension ResumePointContent {
    package var secret: String? { nil }
    package mutating func restore(secret: String?) {}
    package var isPlausible: Bool { true }
    package static var afterCut: AfterCut { .goesOn }
    package static var leavesParts: Bool { true }
    package var retried: Self? { nil }
    package var isGuess: Bool? { nil }
}
