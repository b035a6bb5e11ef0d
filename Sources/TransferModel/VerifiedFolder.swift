/// What a server lists of one folder of a batch, compared with what was sent there: a part of the answer to `martlet verify`.
public struct VerifiedFolder: Codable, Hashable, Sendable {
    /// Where it is: the destination's URL with the folder behind it, without credentials and query.
    public var destination: String
    /// Files that were looked for: those that were completed, and those that were missing before.
    public var files: Int64
    /// Files that are there as they were sent.
    public var found: Int64
    /// Those that are not, at most a thousand of them.
    public var absent: [AbsentTask]
    /// Why nobody can say it of the whole folder, for a person; `nil`: the server listed all of it.
    @OrNull public var unlisted: String?

    public init(destination: String, files: Int64, found: Int64, absent: [AbsentTask], unlisted: String? = nil) {
        self.destination = destination
        self.files = files
        self.found = found
        self.absent = absent
        _unlisted = OrNull(wrappedValue: unlisted)
    }
}

/// A file that was sent and confirmed, and is not at its server as it was sent.
public struct AbsentTask: Codable, Hashable, Sendable {
    public var task: TaskID
    /// Its path in the batch, for a person.
    public var path: String
    public var error: TransferError

    public init(task: TaskID, path: String, error: TransferError) {
        self.task = task
        self.path = path
        self.error = error
    }
}

/// How the bytes of one file at its server compare with those that were sent: an answer to `martlet verify --read-back`.
public struct ReadBack: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Sendable {
        /// All bytes are there.
        case same
        /// Others are there, or nothing is.
        case differs
        /// Nobody can say: the server did not give it, or there is nothing left to compare it with.
        case unknown
    }

    public var task: TaskID
    /// Its path in the batch, for a person.
    public var path: String
    public var outcome: Outcome
    /// Of the bytes at the server, where all of them came: lower-case hexadecimal.
    @OrNull public var sha256: String?
    public var bytes: Int64
    /// What was found, for a person; `nil` when all is well.
    @OrNull public var message: String?

    public init(task: TaskID, path: String, outcome: Outcome, sha256: String?, bytes: Int64, message: String?) {
        self.task = task
        self.path = path
        self.outcome = outcome
        _sha256 = OrNull(wrappedValue: sha256)
        self.bytes = bytes
        _message = OrNull(wrappedValue: message)
    }
}
