/// The data that an upload still has at a server beside its file, or instead of it: a part of it, under another name or in parts.
public struct Leftover: Codable, Hashable, Sendable {
    public var task: TaskID
    public var batch: BatchID
    public var state: TransferState
    /// By which it was sent: `tus`, `s3`, `sftp` …
    public var `protocol`: String
    /// The destination of the file that it would become; harmless to print.
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

    /// False while its task goes on from it.
    public var canBeRemoved: Bool { state.isTerminal }
}

/// An upload that was begun in a bucket of S3 and neither finished nor taken away, by whomever.
public struct BucketUpload: Codable, Hashable, Sendable {
    /// The destination of the object that it would become; harmless to print.
    public var destination: String
    public var uploadID: String
    /// By the service's clock.
    @OrNull public var begun: Timestamp?
    /// The task of this queue; `null`: it is somebody else's, or of a queue that has forgotten it.
    @OrNull public var task: TaskID?
    /// The outcome for an upload that was to be taken away.
    public var result: NodeResult.Outcome?
    /// The reason why it is still there.
    public var message: String?

    public init(destination: String, uploadID: String, begun: Timestamp?, task: TaskID?) {
        self.destination = destination
        self.uploadID = uploadID
        _begun = OrNull(wrappedValue: begun)
        _task = OrNull(wrappedValue: task)
    }
}

/// The unfinished uploads that were found in a bucket.
public struct BucketUploads: Hashable, Sendable {
    public var uploads: [BucketUpload]
    /// False: there may be more of them, which a longer prefix finds.
    public var isWhole: Bool

    public init(_ uploads: [BucketUpload], isWhole: Bool = true) {
        self.uploads = uploads
        self.isWhole = isWhole
    }
}
