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

/// An upload whose bytes are gathered under a temporary name and then renamed.
protocol RenamingUpload: ProtocolMachine {
    associatedtype Point: RenamingResumePoint
    var point: Point { get set }
    var renames: RenameHistory { get set }
}

extension RenamingUpload {
    /// Before our temporary file is removed: from here on its absence proves no rename.
    /// - Parameter throwsAway: no later attempt is to go on from the point.
    mutating func disclaim(throwsAway: Bool = false) -> [ProtocolAction] {
        renames.forget()
        let old = point
        point.disclaim()
        return point == old ? [] : [.persist(throwsAway ? .outdated(point) : ResumePoint(point))]
    }

    /// The last action. When a no was all that came of the rename, the intent is taken back first: the next attempt must not take
    /// somebody else's file for ours.
    mutating func ending(_ action: ProtocolAction) -> [ProtocolAction] {
        if case .finish = action { return [action] }
        return (renames.isRefusal ? disclaim() : []) + [action]
    }
}

extension UploadSubject {
    /// True of the source's time, in whole seconds.
    func hasTime(_ modified: Timestamp?) -> Bool {
        modified.map { $0.milliseconds / 1000 == modifiedNanoseconds / 1_000_000_000 } ?? false
    }
}
