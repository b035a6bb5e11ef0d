/// A server's listing of one folder of a batch, compared with what was sent there: a part of the answer to `martlet verify`.
public struct VerifiedFolder: Codable, Hashable, Sendable {
    /// The place: the destination's URL with the folder behind it, without credentials and query.
    public var destination: String
    /// Files that were looked for: those that were completed, and those that were missing before.
    public var files: Int64
    /// Files that are there as they were sent.
    public var found: Int64
    /// Those that are not, at most a thousand of them.
    public var absent: [AbsentTask]
    /// The reason why nobody can say it of the whole folder, for a person; `nil`: the server listed all of it.
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
