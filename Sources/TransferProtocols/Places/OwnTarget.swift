import TransferModel

/// The earlier version of the source that a task has put under the final name, for a machine that may replace it and nothing else.
///
/// Another client may have replaced the version that was stored once, so each request that gives the name comes after a look at what has it.
struct OwnTarget: Hashable, Sendable {
    /// `nil`: none is known.
    private(set) var version: StoredVersion?
    private var earlier: NamedVersion?
    private var isFresh: Bool
    /// The rule for existing files lets any be replaced.
    private let replacesAny: Bool
    /// The file that has the name may be replaced: the rule says so, or the last look found it to be ours.
    private(set) var mayReplace: Bool

    init(_ subject: UploadSubject) {
        version = subject.own
        earlier = subject.earlierVersion
        isFresh = subject.hasJustStored
        replacesAny = subject.ifExists == .replace
        mayReplace = replacesAny
    }

    /// True when the target has to be looked at right before it is replaced.
    var isKnown: Bool { version != nil }

    /// Notes an earlier version that was recognised there.
    mutating func found(_ file: StandingFile) {
        let seen = file.size.flatMap { size in file.modified.map { NamedVersion(size: size, modified: $0) } }
        version = StoredVersion(
            stored: true, etag: file.etag, version: seen ?? version?.version ?? earlier, shown: file.modified)
    }

    /// Notes that what is there is known to be this task's.
    mutating func recognised() { mayReplace = true }

    /// Forgets the last look: until the next one only the rule for existing files decides.
    mutating func forgetLook() { mayReplace = replacesAny }

    /// Notes that this version has been given the name.
    mutating func named(_ named: NamedVersion?) {
        version = StoredVersion(stored: true, etag: nil, version: named)
    }

    /// Compares it with what stands there; `nil`: none is known, and the rule for existing files decides. A look right after it was stored
    /// learns how the server shows it.
    mutating func standing(_ file: StandingFile) -> NamedVersion.Standing? {
        guard let own = version else { return nil }
        var standing = own.standing(file)
        if own.version == nil, own.etag == nil {
            // A point of an older engine: nothing but its length can show that it is not there any more.
            standing = earlier?.standing(size: file.size, modified: nil) == .foreign ? .unknown : .ours
        } else if standing == .unknown, isFresh, let size = own.version?.size, file.size == size {
            standing = .ours
        }
        if standing == .ours, own.version != nil, own.etag == nil || isFresh {
            version?.etag = file.etag
            version?.shown = file.modified
        }
        isFresh = false
        mayReplace = replacesAny || standing == .ours
        return standing
    }

    /// As `standing(_:)`, for an entry that may be a folder; a folder is never ours.
    mutating func standing(_ file: StandingFile, isFolder: Bool) -> NamedVersion.Standing? {
        guard isFolder, isKnown else { return standing(file) }
        forgetLook()
        return .foreign
    }

    /// The rule by which a temporary file that is gone explains a target (`RenameHistory.explains`): where our earlier version may still
    /// stand, that one has to be told apart.
    func rule(_ ifExists: ExistingFilePolicy, _ standing: NamedVersion.Standing?) -> ExistingFilePolicy {
        standing == nil || standing == .foreign ? ifExists : .replace
    }
}
