/// One row of the tree: what the screen needs of a batch, a folder, a task, or a group of tasks of one fate.
public struct NodeRow: Codable, Hashable, Sendable {
    public var id: RowID
    /// Harmless text.
    public var name: String
    public var state: TransferState
    public var waitReasons: [WaitReason] = []
    /// Own flag.
    public var paused: Bool = false
    /// The time at which its pause, or the first pause of a part of it, ends by itself; missing when none does.
    public var pausedUntil: Timestamp?
    /// Own flag or an ancestor's.
    public var effectivelyPaused: Bool = false
    public var scanning: Bool = false
    public var counts: FileCounts
    public var bytes: ByteCounts
    /// True when `bytes.total` is known.
    public var sizeKnown: Bool = true
    public var bytesPerSecond: Int64 = 0
    /// The average of this try of a running file; missing until that says something.
    public var averageBytesPerSecond: Int64?
    /// Bytes on their way to servers that cannot resume: whoever stops it now has them sent again.
    public var bytesAtRisk: Int64 = 0
    @OrNull public var secondsLeft: Int64?
    @OrNull public var retryAt: Timestamp?
    @OrNull public var error: TransferError?
    /// True for a completed task that a rule skipped.
    public var skipped: Bool = false
    /// Full source and destination of a batch, folder or task, for the path line; harmless text.
    public var path: String = ""
    /// The beginning of `path` as it is, for a shell: the source of a task or folder, the destination of a batch and of a folder without a
    /// source on this machine. `path` can be cut nowhere: names may hold ` -> `, and what cannot be shown is written in another way there.
    public var source: RawPath?
    /// Its own, or its batch's.
    public var priority = TransferPriority.normal
    /// Bytes a second that all of it may use together; `nil`: no limit of its own.
    @OrNull public var limit: Int64?
    /// Starts nothing before this.
    @OrNull public var notBefore: Timestamp?
    /// The session of a batch, unless it is the default one.
    public var session: SessionName?
    /// The first start of a file that was begun.
    public var startedAt: Timestamp?
    /// Tries of a file that was begun, the try that runs included.
    public var attempts: Int?
    /// The means by which an arrived file was compared: `size`, or the digest's algorithm (`sha-256`, …).
    public var comparedBy: String?

    public init(id: RowID, name: String, state: TransferState, counts: FileCounts, bytes: ByteCounts) {
        self.id = id
        self.name = name
        self.state = state
        self.counts = counts
        self.bytes = bytes
        _secondsLeft = OrNull(wrappedValue: nil)
        _retryAt = OrNull(wrappedValue: nil)
        _error = OrNull(wrappedValue: nil)
        _limit = OrNull(wrappedValue: nil)
        _notBefore = OrNull(wrappedValue: nil)
    }
}

/// The identity of a row. Stays the same while rows move.
public enum RowID: Codable, Hashable, Sendable {
    case batch(BatchID)
    case folder(BatchID, FolderID)
    case task(BatchID, TaskID)
    /// The tasks of one fate directly in a folder that are not listed one by one.
    case group(BatchID, FolderID, Fate)

    /// The state, and with failures the cause, that tasks in one row have in common.
    public struct Fate: Hashable, Sendable {
        public var state: TransferState
        /// The cause of failed ones, where they failed for several causes; `nil`: any.
        public var cause: TransferErrorCode?

        public init(_ state: TransferState, cause: TransferErrorCode? = nil) {
            self.state = state
            self.cause = cause
        }
    }

    /// The batch that it is, or belongs to.
    public var batch: BatchID {
        switch self {
        case .batch(let id), .folder(let id, _), .task(let id, _), .group(let id, _, _): id
        }
    }
}

/// The rows directly below one node, bounded: what the screen shows when that node is open.
public struct TreeSection: Codable, Hashable, Sendable {
    /// The row whose children these are; `nil`: the root, whose rows are batches.
    public var parent: RowID?
    public var rows: [NodeRow]
    /// The number of rows without the bound; more than `rows.count` means "ask for more".
    public var total: Int64
    /// As asked for.
    public var order: TreeOrder?
    /// As asked for.
    public var flat: Bool?
    /// Flat list only: all of its files by their states.
    public var counts: FileCounts?
    public init(parent: RowID?, rows: [NodeRow], total: Int64) {
        self.parent = parent
        self.rows = rows
        self.total = total
    }
}

/// One section that a client wants to see.
public struct SectionRequest: Codable, Hashable, Sendable {
    public var parent: RowID?
    /// At most so many rows; 1…1000.
    public var limit: Int
    /// `nil`: the queue's.
    public var order: TreeOrder?
    /// True at the root for the files of all batches in one list, instead of the batches.
    public var flat: Bool?
    /// A row that is there in any case, behind the others when the limit leaves it out.
    public var showing: RowID?
    public init(
        parent: RowID?, limit: Int, order: TreeOrder? = nil, flat: Bool? = nil, showing: RowID? = nil
    ) {
        self.parent = parent
        self.limit = limit
        self.order = order
        self.flat = flat
        self.showing = showing
    }
}

/// The progress of a view's filter.
public struct FilterCount: Codable, Hashable, Sendable {
    /// The expression as the client sent it.
    public var text: String
    /// Files that match, of those looked at so far.
    public var matched: Int64
    /// Files there are.
    public var total: Int64
    /// True when all of them were looked at.
    public var complete: Bool

    public init(text: String, matched: Int64, total: Int64, complete: Bool) {
        self.text = text
        self.matched = matched
        self.total = total
        self.complete = complete
    }
}

/// Sums over everything a client sees, for the screen's first two lines.
public struct QueueTotals: Codable, Hashable, Sendable {
    public var batches: Int64 = 0
    /// Those that are not over: files of theirs go on, their folders are still listed, or their servers are asked what arrived.
    public var unfinished: Int64?
    public var counts = FileCounts()
    public var bytes = ByteCounts()
    public var bytesPerSecondUp: Int64 = 0
    public var bytesPerSecondDown: Int64 = 0
    @OrNull public var secondsLeft: Int64?
    /// Tasks that failed or wait for something that a person has to do, and how many different causes they have.
    public var problems: Int64 = 0
    public var problemCauses: Int64 = 0
    /// Those of `problems` that wait for what only a person can do: a sign-in, a host key.
    public var needsPerson: Int64?
    /// Those of `problems` that wait for room on a disk, here or at the other end. They look for it again by themselves.
    public var needsSpace: Int64?
    /// Those of `problems` that wait for a server which has served nothing for a while. It is tried again by itself.
    public var needsServer: Int64?
    /// Those of `problems` that gave up.
    package var failed: Int64 { max(0, problems - (needsPerson ?? 0) - (needsSpace ?? 0) - (needsServer ?? 0)) }
    /// Screens connected.
    public var viewers: Int64 = 0
    /// The engine ends when the active tasks are over; nothing starts any more.
    public var stopping = false
    /// The reason why the queue takes no changes now, and what to do: its disk is full, its file is gone. Harmless to print.
    public var trouble: String?
    /// The same as values.
    package var troubleFinding: Finding?
    /// The limits that hold now for the whole engine, bytes a second; `nil`: no limit.
    @OrNull public var limitUp: Int64?
    @OrNull public var limitDown: Int64?
    public init() {
        _secondsLeft = OrNull(wrappedValue: nil)
        _limitUp = OrNull(wrappedValue: nil)
        _limitDown = OrNull(wrappedValue: nil)
    }
}

/// `martlet engine status`.
public struct EngineStatus: Codable, Hashable, Sendable {
    public var running = true
    public var pid: Int32
    public var version: String
    /// Seconds since the start.
    public var uptime: Int64
    public var protocolVersion: String
    public var socket: String
    public var queuePath: String
    public var sessions: Int64
    public var batches: Int64
    public var tasksActive: Int64
    public var tasksWaiting: Int64
    public var bytesPerSecondUp: Int64
    public var bytesPerSecondDown: Int64
    public var residentBytes: Int64
    /// It ends when the active tasks are over; nothing starts any more.
    public var stopping = false

    public init(
        pid: Int32, version: String, uptime: Int64, protocolVersion: String, socket: String, queuePath: String,
        sessions: Int64, batches: Int64, tasksActive: Int64, tasksWaiting: Int64, bytesPerSecondUp: Int64,
        bytesPerSecondDown: Int64, residentBytes: Int64
    ) {
        self.pid = pid
        self.version = version
        self.uptime = uptime
        self.protocolVersion = protocolVersion
        self.socket = socket
        self.queuePath = queuePath
        self.sessions = sessions
        self.batches = batches
        self.tasksActive = tasksActive
        self.tasksWaiting = tasksWaiting
        self.bytesPerSecondUp = bytesPerSecondUp
        self.bytesPerSecondDown = bytesPerSecondDown
        self.residentBytes = residentBytes
    }
}
