package import FoundationEssentials
import LinuxSystem
import SQLiteConnection
package import TransferModel

/// The reading half of the queue: an actor on a thread of its own with a read-only connection, so that a long filter
/// never holds up a commit. Each call sees one committed state.
///
/// Speeds and what active tasks have sent beyond their checkpoints are not here: the service merges them in.
package actor QueueReader {
    private let loop: any ActorLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let database: SQLiteConnection
    let clock: @Sendable () -> Timestamp
    private(set) var isClosed = false
    /// Folders that are compared with what their servers list.
    var comparisons = FolderComparisons()
    private let sorted = SortedRows()
    /// A transaction is open, see `together`.
    private var isTogether = false

    init(loop: any ActorLoop, database: sending SQLiteConnection, clock: @escaping @Sendable () -> Timestamp) {
        self.loop = loop
        self.database = database
        self.clock = clock
    }

    deinit { loop.stop() }

    /// Opens the reading connection of a queue that exists.
    static func connect(_ files: QueueFiles) throws -> sending SQLiteConnection {
        let database = try SQLiteConnection(path: files.queue.bytes, access: .readOnly)
        database.setBusyTimeout(milliseconds: 2000)
        try database.execute(script: "PRAGMA cache_size = -6144; PRAGMA temp_store = FILE;")
        return database
    }

    /// One committed state, for the duration of `body`.
    func view<Result>(_ body: (QueueView) throws -> Result) throws(QueueError) -> Result {
        if isClosed { throw .closed }
        do {
            if isTogether { return try body(QueueView(database, now: clock(), sorted: sorted)) }
            return try database.transaction(.read) { try body(QueueView(database, now: clock(), sorted: sorted)) }
        } catch {
            throw QueueError(error)
        }
    }

    /// All calls that `body` makes see the same committed state.
    package func together<Result>(_ body: () throws -> Result) throws -> Result {
        if isClosed { throw QueueError.closed }
        if isTogether { return try body() }
        isTogether = true
        defer { isTogether = false }
        return try database.transaction(.read) { try body() }
    }

    /// Afterwards every call throws `closed`.
    func close() {
        isClosed = true
        database.forgetStatements()
    }

    // MARK: Batches and tasks

    /// Unfinished batches in the queue's order, then finished ones, the last first.
    package func batches(session: SessionName? = nil, limit: Int = 1000) throws(QueueError) -> [BatchSnapshot] {
        try view { try $0.batchRows(session: session, limit: limit).map($0.snapshot) }
    }

    package func batch(_ id: BatchID) throws(QueueError) -> BatchSnapshot? {
        try view { view in try view.batchRow(id).map(view.snapshot) }
    }

    /// The batch or session of a selector that is not there, in words; `nil`: both are, or none is named.
    package func unknown(in selector: NodeSelector) throws(QueueError) -> String? {
        try view { try $0.unknown(in: selector) }
    }

    /// The batch that was queued with this UUID; `nil`: none.
    package func batchID(uuid: UUID) throws(QueueError) -> BatchID? {
        try view { view in
            try view.database.integer("SELECT id FROM batches WHERE uuid = ? AND purged_at IS NULL", .blob(uuid.bytes))
                .map {
                    BatchID(rawValue: $0)
                }
        }
    }

    /// Tasks in the order of their numbers, `after` excluded.
    /// - Parameter states: as shown (a queued task of a paused batch is `paused`); empty: any.
    package func tasks(
        batch: BatchID? = nil, session: SessionName? = nil, states: [TransferState] = [], after: TaskID? = nil,
        limit: Int
    ) throws(QueueError) -> [TaskSnapshot] {
        try view { view in
            let choice = QueueView.TaskChoice(
                batch: batch, session: session, states: states, after: after, limit: limit)
            return try view.tasks(choice).map(view.snapshot)
        }
    }

    /// - Parameters:
    ///   - rules: with its batch's rules and the time of its source.
    ///   - hidden: also of a batch that a person has forgotten, while something of it still lies at a server.
    package func task(
        _ id: TaskID, history: Bool = false, response: Bool = false, rules: Bool = false, hidden: Bool = false
    ) throws(QueueError) -> TaskSnapshot? {
        try view { view in
            guard let row = try view.task(id, hidden: hidden) else { return nil }
            var snapshot = try view.snapshot(row)
            if history { snapshot.history = try view.history(of: row) }
            if rules { try view.tellRules(of: row, in: &snapshot) }
            if response { snapshot.response = StoredJSON.value(TransferResponse.self, row.details.response) }
            return snapshot
        }
    }

    /// The nodes that a selector means, page by page in the order of their numbers: tasks when it names states, else batches.
    package func nodes(
        matching selector: NodeSelector, after: NodeID? = nil, limit: Int
    ) throws(QueueError) -> [NodeID] {
        try view { try $0.nodes(matching: selector, after: after, limit: limit) }
    }

    // MARK: The tree

    /// The row of a node; `nil`: there is no such node.
    package func row(of node: NodeID) throws(QueueError) -> RowID? {
        try view { try $0.rowID(of: node) }
    }

    /// `nil`: it is gone.
    package func row(_ id: RowID) throws(QueueError) -> NodeRow? {
        try view { try $0.nodeRow(id) }
    }

    /// The node that a row of the tree stands for; `nil`: it is gone, or a group.
    package func node(_ id: RowID) throws(QueueError) -> NodeID? {
        try view { try $0.node(id) }
    }

    /// Nodes that a row of the screen stands for: the node itself, or the tasks of a group page by page in the order of
    /// their numbers. Empty: there is no such row (any more).
    package func nodes(in row: RowID, after: TaskID? = nil, limit: Int = 1000) throws(QueueError) -> [NodeID] {
        try view { try $0.nodes(in: row, after: after, limit: limit) }
    }

    /// Rows directly below a node, bounded by the request's limit. `nil`: the node is gone.
    ///
    /// Of a batch or folder: subfolders by name, then active tasks, then the first few that failed, wait or are paused,
    /// each with a group row for the rest, then groups of queued, completed and cancelled ones (listed one by one when they are few).
    /// Counts and bytes of a group are those of the tasks that it stands for. A group's identity bears the stored state.
    ///
    /// In another order than the queue's folders are sorted by their sums, and files by name or size stand one by one.
    /// - Parameter moving: what stands first when the order is of speeds.
    package func section(
        _ request: SectionRequest, moving: MovingRows = MovingRows()
    ) throws(QueueError) -> TreeSection? {
        try view { try $0.section(request, moving: moving) }
    }

    /// Returns true when a section since the last call was in an outdated order, good enough for a while: look at it again.
    package func takeBehind() -> Bool { sorted.takeBehind() }

    /// The folder and those above it, the batch's root last.
    package func chain(of folder: FolderID) throws(QueueError) -> [FolderID] {
        try view { try $0.paths.place(of: folder.rawValue)?.chain ?? [] }
    }

    // MARK: Sums

    /// Files and bytes of the batches that are not finished; of all, when all are. Problems are counted over all.
    /// - Parameter told: batches of which somebody else tells that nobody knows the name of their server.
    package func totals(
        besidesUnknownNamesOf told: Set<BatchID> = [], with waits: [WaitCount] = []
    ) throws(QueueError) -> QueueTotals {
        try view { try $0.totals(besidesUnknownNamesOf: told, with: waits) }
    }

    /// Bytes that are still to cross the wire without those of paused tasks, by batch that is not finished; unknown sizes count as 0.
    package func bytesLeft() throws(QueueError) -> [BatchID: Int64] {
        try view { try $0.bytesLeft() }
    }

    /// The same below one row; `nil`: it is no batch and no folder, or gone.
    package func bytesLeft(below row: RowID) throws(QueueError) -> Int64? {
        try view { try $0.bytesLeft(below: row) }
    }

    /// The same of all batches that are neither paused nor held, and whose time has come.
    package func bytesLeftInAll() throws(QueueError) -> Int64 {
        try view { try $0.bytesLeftInAll() }
    }

    package func statistics() throws(QueueError) -> QueueStatistics {
        try view { try $0.statistics() }
    }

    /// The facts that `why` reports of a node; `nil`: no such node.
    package func standing(of node: NodeID) throws(QueueError) -> NodeStanding? {
        try view { try $0.standing(of: node) }
    }

    /// Tasks of a batch that wait for a next try or for anything else, by their servers (as in `LaneSummary`).
    package func waitingTasks(of batch: BatchID) throws(QueueError) -> [String: Int64] {
        try view { try $0.waitingTasks(of: batch) }
    }

    // MARK: Events

    package func events(after sequence: EventSequence, limit: Int) throws(QueueError) -> [TransferEvent] {
        try view { try $0.events(after: sequence, limit: limit) }
    }

    /// 0 when there is none.
    package func lastEvent() throws(QueueError) -> EventSequence {
        try view { try $0.lastEvent() }
    }

    /// The last event that a consumer has acknowledged; 0 when it is not known.
    package func cursor(of consumer: String) throws(QueueError) -> EventSequence {
        try view { try $0.cursor(of: consumer) }
    }

    // MARK: Check

    /// Checks the queue: returns its faults, a sentence each, at most a hundred; empty when all agrees. Takes seconds for a million tasks.
    package func check() throws(QueueError) -> [String] {
        try view { try QueueCheck($0.database).findings() }
    }
}
