package import TransferModel
package import TransferQueue

/// The transfers at an instant: the active tasks, and the speeds that files which are over have left in the last seconds. Speeds of
/// folders, batches and the whole are sums of these and of nothing else, so they always agree.
/// Bounded by the number of slots, and of uploads that were stopped in the middle, never by the length of the queue.
package struct LiveSnapshot: Sendable {
    package var tasks: [LiveTask]
    /// Speeds left by files that ended a moment ago.
    package var left: [LeftSpeed]
    /// Batches whose tasks that could run all belong to hosts which are held back now.
    package var held: [BatchID: HeldHost] = [:]
    /// Uploads that were stopped in the middle, and went on perhaps, and whose servers have not said since how much they have: until then
    /// they stand where they stood.
    package var unconfirmed: [UnconfirmedUpload] = []
    /// More than so many are not told; they stand where their servers have said.
    static let mostUnconfirmed = 64
    /// Servers that have served nothing for a while, by batch that waits for them.
    package var troubles: [HostTrouble] = []
    /// Logins that were refused, by batch that waits for them.
    package var refused: [RefusedLogin] = []
    /// Hosts, by origin, that take no more at once, and how many that is: their own share, when they were overloaded.
    package var full: [String: Int] = [:]
    /// As `full`, of batches that their own addresses of a host have shut out for a while, and are fewer for it.
    package var fullPlaces: [HostTrouble.Place: Int] = [:]
    /// Hosts that one file asks what they can: the others for them begin when that is known.
    package var asked: Set<String> = []
    /// The engine ends when what runs is over: nothing starts any more.
    package var isStopping = false

    /// Nothing is to be laid over what the queue has stored.
    package var isEmpty: Bool {
        tasks.isEmpty && left.isEmpty && held.isEmpty && unconfirmed.isEmpty && troubles.isEmpty
            && refused.isEmpty && !isStopping
    }

    package init(tasks: [LiveTask] = [], left: [LeftSpeed] = []) {
        self.tasks = tasks
        self.left = left
    }
}

/// The speed that a file which is over still adds to its folder and batch; it falls to 0 by itself, or lasts until another file
/// goes on in its place.
package struct LeftSpeed: Sendable, Hashable {
    package var batch: BatchID
    /// The folder that the file lies in directly.
    package var folder: FolderID
    package var direction: TransferDirection
    package var bytesPerSecond: Int64

    package init(batch: BatchID, folder: FolderID, direction: TransferDirection, bytesPerSecond: Int64) {
        self.batch = batch
        self.folder = folder
        self.direction = direction
        self.bytesPerSecond = bytesPerSecond
    }
}

/// An active task at an instant. The queue's row may be as old as the last commit; these numbers are the newer ones.
package struct LiveTask: Sendable, Hashable {
    package var task: TaskID
    package var batch: BatchID
    /// The folder that the file lies in directly.
    package var folder: FolderID
    package var direction: TransferDirection
    /// `running` or `finishing`.
    package var state: TransferState
    /// `nil`: not known yet.
    package var bytesTotal: Int64?
    /// Never more than `bytesTotal`.
    package var bytesSent: Int64
    package var bytesAccepted: Int64
    /// Bytes of this run that had to cross the wire more than once.
    package var bytesRepeated: Int64
    /// Bytes that are sent again when it is stopped now, because its server cannot resume.
    package var bytesAtRisk: Int64 = 0
    /// Smoothed; 0 while it stands still.
    package var bytesPerSecond: Int64
    /// Average of this attempt; `nil` until it says something.
    package var averageBytesPerSecond: Int64?
    /// `nil`: unknown.
    package var secondsLeft: Int64?
    /// Nothing moved for some seconds.
    package var isStalled: Bool

    package init(
        task: TaskID, batch: BatchID, folder: FolderID, direction: TransferDirection, state: TransferState,
        bytesTotal: Int64?, bytesSent: Int64, bytesAccepted: Int64, bytesRepeated: Int64, bytesPerSecond: Int64,
        secondsLeft: Int64?, isStalled: Bool
    ) {
        self.task = task
        self.batch = batch
        self.folder = folder
        self.direction = direction
        self.state = state
        self.bytesTotal = bytesTotal
        self.bytesSent = bytesSent
        self.bytesAccepted = bytesAccepted
        self.bytesRepeated = bytesRepeated
        self.bytesPerSecond = bytesPerSecond
        self.secondsLeft = secondsLeft
        self.isStalled = isStalled
    }
}
