import TransferModel

/// The renames that an upload has asked for, to give its temporary file the final name: in this attempt, and in earlier ones.
///
/// The one rule for FTP, SFTP and WebDAV: only a rename that nobody said no to takes a temporary file away, and a server's no answers the
/// request that it was said to, never an earlier one, which may still be under way. Start at `RenamingUpload`.
struct RenameHistory: Hashable, Sendable {
    /// An earlier attempt wrote down that it would ask; how that ended is not known.
    private var wasIntended: Bool
    /// The answer to one of this attempt was not heard.
    private var isUnanswered = false
    /// The server said no to the last one of this attempt.
    private var isRefused = false

    init(wasIntended: Bool) {
        self.wasIntended = wasIntended
    }

    /// True when one of them may have happened, or may yet happen.
    var mayHaveHappened: Bool { wasIntended || isUnanswered }

    /// True when all that was asked for was refused: the temporary file's absence proves nothing then, for servers clear up, too.
    var isRefusal: Bool { isRefused && !mayHaveHappened }

    /// Returns true when a temporary file that is gone has become the target, which has the source's length.
    ///
    /// Where a file may be replaced, one of that length may be the old one: an intent of an earlier attempt says too little then, without our
    /// time.
    /// - Parameter hasOurTime: the target has the source's time, by the server.
    func explains(targetUnder policy: ExistingFilePolicy, hasOurTime: Bool) -> Bool {
        isUnanswered || wasIntended && (policy != .replace || hasOurTime)
    }

    mutating func asked() { isRefused = false }

    mutating func lostAnswer() { isUnanswered = true }

    mutating func refused() { isRefused = true }

    /// The temporary file is removed, or another one is begun: no earlier rename is about it.
    mutating func forget() { self = RenameHistory(wasIntended: false) }
}

/// The version of the source that a rename was to name. The source may change after that: this alone tells whether a file under the final
/// name is ours then, so nothing that shows it is thrown away before that was asked.
package struct NamedVersion: Codable, Hashable, Sendable {
    package var size: Int64
    /// Seconds since 1970.
    package var modified: Int64

    package init(size: Int64, modified: Int64) {
        (self.size, self.modified) = (size, modified)
    }

    package init(_ subject: UploadSubject) {
        self.init(size: subject.size, modified: subject.modifiedNanoseconds / 1_000_000_000)
    }

    /// The kind of a file that is under the final name after the temporary file has gone.
    enum Standing {
        /// This version: the rename happened, and it is ours to replace.
        case ours
        case foreign
        /// It has the length and another time: not every server keeps the time.
        case unknown
    }

    /// - Parameter modified: seconds since 1970.
    func standing(size: Int64?, modified: Int64?) -> Standing {
        guard let size else { return .unknown }
        guard size == self.size else { return .foreign }
        return modified == self.modified ? .ours : .unknown
    }

    var isPlausible: Bool { ResumeBounds.lengths.contains(size) && ResumeBounds.seconds.contains(modified) }
}

/// An upload whose bytes are gathered under a temporary name and then renamed.
protocol RenamingUpload: ProtocolMachine {
    associatedtype Point: RenamingResumePoint
    var point: Point { get set }
    var renames: RenameHistory { get set }
    var own: OwnTarget { get }
}

extension RenamingUpload {
    /// The point as it is to be made durable.
    var durable: ResumePoint { ResumePoint(point).owning(own.version) }

    /// The point as it is before an intent is written into it: a request that never goes out leaves no intent behind. Those that went out
    /// stay in it, unless all of them were refused.
    var unasked: ResumePoint {
        var kept = point
        if renames.isRefusal { kept.disclaim() }
        return ResumePoint(kept).owning(own.version)
    }

    /// When the attempt is broken off now, by whomever: a no that was all that came of the rename takes the intent back, as at an end.
    package var remains: ResumePoint? { renames.isRefusal ? unasked : nil }

    /// Before our temporary file is removed: from here on its absence proves no rename.
    /// - Parameters:
    ///   - throwsAway: no later attempt is to go on from the point.
    ///   - owns: an earlier version of the source was seen under the final name. With the evidence gone, only this says that it is ours.
    mutating func disclaim(throwsAway: Bool = false, owns: Bool = false) -> [ProtocolAction] {
        renames.forget()
        let old = point
        point.disclaim()
        if point == old, !owns { return [] }
        let kept = throwsAway ? .outdated(point) : ResumePoint(point)
        return [.persist(kept.owning(own.version))]
    }

    /// After our temporary file was found gone without having got its name: no later attempt is to ask for that again. Makes the point
    /// durable in any case.
    mutating func forgetRename() -> [ProtocolAction] {
        renames.forget()
        point.disclaim()
        return [.persist(durable)]
    }

    /// The last action. When a no was all that came of the rename, the intent is taken back first: the next attempt must not take
    /// somebody else's file for ours.
    mutating func ending(_ action: ProtocolAction) -> [ProtocolAction] {
        if case .finish = action { return [action] }
        return (renames.isRefusal ? disclaim() : []) + [action]
    }
}

extension UploadSubject {
    /// True of the source's time, in whole seconds, unless what is there is known to be another file with our marks.
    func hasTime(_ modified: Timestamp?) -> Bool {
        !targetIsOther && modified.map { $0.milliseconds / 1000 == modifiedNanoseconds / 1_000_000_000 } ?? false
    }
}
