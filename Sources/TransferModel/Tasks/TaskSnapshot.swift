public import FoundationEssentials

/// A task at an instant: what `martlet list b7` and `martlet show t31` print as JSON. Keys are part of the command contract.
public struct TaskSnapshot: Codable, Hashable, Sendable, Identifiable {
    public var id: TaskID
    /// Computed from the queue's UUID and the task's number.
    public var uuid: UUID
    public var batch: BatchID
    public var session: SessionName
    public var direction: TransferDirection
    /// `put`, `get`, … once decided.
    @OrNull public var `protocol`: String?
    public var state: TransferState
    public var waitReasons: [WaitReason] = []
    @OrNull public var cause: TransferErrorCode?
    /// The task's own flag.
    public var paused: Bool = false
    /// When what pauses it, itself or what it is in, ends by itself; missing: when somebody resumes it.
    public var pausedUntil: Timestamp?
    public var priority: TransferPriority
    /// Bytes a second of this file; `nil`: no limit of its own.
    @OrNull public var limit: Int64?
    /// The file's name for a person; the folder is `folder`.
    public var name: String
    public var nameBase64: String?
    /// The folder's path in the batch, without slashes at the ends; empty at the root.
    public var folder: String
    public var folderBase64: String?
    /// Local path (upload) or URL without credentials and query (download); control and invalid bytes as `\xNN`.
    public var source: String
    public var sourceBase64: String?
    /// URL without credentials and query (upload) or local path (download).
    public var destination: String
    public var destinationBase64: String?
    @OrNull public var bytesTotal: Int64?
    public var bytesSent: Int64 = 0
    public var bytesAccepted: Int64 = 0
    public var bytesVerified: Int64 = 0
    public var bytesPerSecond: Int64 = 0
    @OrNull public var secondsLeft: Int64?
    /// Attempts of this task so far, the one that goes on included.
    public var attempts: Int = 0
    /// The offset of each attempt that went on where an earlier one stood.
    public var resumedFrom: [Int64] = []
    /// The number of times that it began again from zero.
    public var restarts: Int = 0
    /// Bytes that had to cross the wire more than once.
    public var bytesRepeated: Int64 = 0
    /// Completed because the same file was already there and `--if-exists skip` said so.
    public var skipped: Bool = false
    @OrNull public var retryAt: Timestamp?
    @OrNull public var error: TransferError?
    @OrNull public var digest: TransferDigest?
    public var verified: Verification = .none
    /// True when its server listed it as it was sent when it was last asked; `nil`: nobody has asked since, or nobody can.
    @OrNull public var listed: Bool?
    /// The path where a completed download ended up.
    @OrNull public var finalPath: String?
    public var finalPathBase64: String?
    /// The server's name for the stored version of a completed upload; missing where it did not say it.
    public var etag: String?
    /// The status by which the server said that it has a completed upload, where nothing was compared; missing otherwise, and where there is
    /// no such status.
    public var answered: Int?
    public var createdAt: Timestamp
    @OrNull public var startedAt: Timestamp?
    @OrNull public var finishedAt: Timestamp?
    /// The parts of a file that is being sent in several; missing otherwise, and in lists.
    public var parts: [PartRun]?
    /// While it runs; missing in lists.
    public var attempt: AttemptFigures?
    /// Missing in lists.
    public var rules: TaskRules?
    /// When the source was last changed, of an upload; missing in lists.
    public var modifiedAt: Timestamp?
    /// Filled by `show --history` only.
    public var history: [HistoryEntry]?
    /// Filled by `show --response` only.
    public var response: TransferResponse?

    public init(
        id: TaskID, uuid: UUID, batch: BatchID, session: SessionName, direction: TransferDirection,
        state: TransferState,
        priority: TransferPriority, name: RawPath, folder: RawPath, source: RawPath, destination: RawPath,
        bytesTotal: Int64?, createdAt: Timestamp
    ) {
        self.id = id
        self.uuid = uuid
        self.batch = batch
        self.session = session
        self.direction = direction
        _protocol = OrNull(wrappedValue: nil)
        self.state = state
        _cause = OrNull(wrappedValue: nil)
        self.priority = priority
        _limit = OrNull(wrappedValue: nil)
        (self.name, nameBase64) = name.shown
        (self.folder, folderBase64) = folder.shown
        (self.source, sourceBase64) = source.shown
        (self.destination, destinationBase64) = destination.shown
        _bytesTotal = OrNull(wrappedValue: bytesTotal)
        _secondsLeft = OrNull(wrappedValue: nil)
        _retryAt = OrNull(wrappedValue: nil)
        _error = OrNull(wrappedValue: nil)
        _digest = OrNull(wrappedValue: nil)
        _listed = OrNull(wrappedValue: nil)
        _finalPath = OrNull(wrappedValue: nil)
        self.createdAt = createdAt
        _startedAt = OrNull(wrappedValue: nil)
        _finishedAt = OrNull(wrappedValue: nil)
    }
}

/// The paths byte for byte: the strings are what a person is shown, and may be the names of other files.
extension TaskSnapshot {
    public var folderPath: RawPath { RawPath(shown: folder, base64: folderBase64) }
    public var sourcePath: RawPath { RawPath(shown: source, base64: sourceBase64) }
    public var destinationPath: RawPath { RawPath(shown: destination, base64: destinationBase64) }
    /// The path where a completed download ended up.
    public var finalPlace: RawPath? { finalPath.map { RawPath(shown: $0, base64: finalPathBase64) } }
}

/// The kind of check that a completed task has passed.
public enum Verification: String, Codable, Sendable {
    case none, size, digest
}

/// A digest of the whole file.
public struct TransferDigest: Codable, Hashable, Sendable {
    /// `sha-256`, `md5`, …
    public var algorithm: String
    /// Lower-case hexadecimal.
    public var value: String
    public init(algorithm: String, value: String) {
        self.algorithm = algorithm
        self.value = value
    }
}

/// One line of a task's history.
public struct HistoryEntry: Codable, Hashable, Sendable {
    public var time: Timestamp
    /// `queued`, `attempt`, `resumed`, `restarted`, `waiting`, `completed`, …
    public var what: String
    @OrNull public var cause: TransferErrorCode?
    @OrNull public var attempt: Int?
    /// For a person; harmless to print.
    @OrNull public var message: String?
    public init(time: Timestamp, what: String, cause: TransferErrorCode?, attempt: Int?, message: String?) {
        self.time = time
        self.what = what
        _cause = OrNull(wrappedValue: cause)
        _attempt = OrNull(wrappedValue: attempt)
        _message = OrNull(wrappedValue: message)
    }
}

/// The server's last answer to a task, kept up to a limit.
public struct TransferResponse: Codable, Hashable, Sendable {
    public var status: Int
    public var headers: [HeaderField]
    /// The body's beginning, up to 64 KiB, control and invalid bytes as `\xNN`.
    public var body: String?
    public init(status: Int, headers: [HeaderField], body: String?) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// One header field of a request or an answer, in the order in which it stood.
public struct HeaderField: Codable, Hashable, Sendable {
    public var name: String
    public var value: String
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
