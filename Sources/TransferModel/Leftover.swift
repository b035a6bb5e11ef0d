/// What an upload that has not succeeded still has at a server: a part of the file, under another name or in parts.
public struct Leftover: Codable, Hashable, Sendable {
    public var task: TaskID
    public var batch: BatchID
    /// `failed` and `cancelled` ones are of use to nobody but a retry; the others go on from them.
    public var state: TransferState
    /// By which it was sent: `tus`, `s3`, `sftp` …
    public var `protocol`: String
    /// Of the file that it would become; harmless to print.
    public var destination: String
    /// Since when it lies there unused; unknown for work that is not over.
    @OrNull public var since: Timestamp?

    public init(
        task: TaskID, batch: BatchID, state: TransferState, protocol name: String, destination: String,
        since: Timestamp?
    ) {
        self.task = task
        self.batch = batch
        self.state = state
        self.protocol = name
        self.destination = destination
        _since = OrNull(wrappedValue: since)
    }
}
