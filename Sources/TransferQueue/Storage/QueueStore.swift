import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

/// The writing side of the queue: its subjects, made with what each needs of the others, and the transactions in which they change the
/// tables. Lives on the writer's thread.
///
/// Every change is made inside `transact`, which brings counters, lanes, finished batches and numbers up to date
/// before it commits. No transaction is open between two calls.
final class QueueStore: QueueSubject {
    let queue: QueueConnection
    let secrets: SecretStore

    // What a transaction ends with.
    private let counters: CounterStore
    private let sets: TaskSets
    private let ends: BatchEnds
    let references: SecretReferences

    // What the engine does.
    let walks: WalkStore
    let running: RunningStore
    let waits: WaitStore
    let facts: FactStore
    let looks: LastLookStore
    let arrival: ArrivalStore
    let remains: RemainsStore
    let memory: EngineMemory

    // What people ask for.
    let adding: AddingStore
    let pauses: PauseStore
    let cancels: CancelStore
    let retries: RetryStore
    let ordering: OrderingStore
    let urgent: UrgentStore
    let settings: SettingsStore
    let limits: LimitStore
    let logins: LoginStore
    let undo: UndoStore
    let undoLog: UndoLog
    let purging: PurgingStore

    /// Transactions committed; for tests.
    private(set) var commits = 0
    private var faults = CommitFaults(of: "queue")
    private var durability = Durability.full
    /// The disk has failed: the log may have parts that are read, and are not on the disk.
    private var isLogDoubtful = false
    /// Pages of the log that are copied into the database.
    private static let longLog = 2000
    /// Paths of the queue's files; `marks` tells which files these were. `nil`: in memory.
    var files: QueueFiles?
    var marks = QueueMarks()

    /// The place that the data of a commit has reached when it returns.
    enum Durability {
        /// On the disk when it returns (WAL, synchronous=FULL: one fdatasync of the log).
        case full
        /// In the log; on the disk with the next full commit, because the log is written in order. For walked
        /// entries without events, which a walk finds again after a power cut.
        case later
    }

    init(
        database: SQLiteConnection, secrets: SecretStore, clock: @escaping @Sendable () -> Timestamp,
        platform: any Platform
    ) throws {
        queue = try QueueConnection(database, clock: clock, platform)
        self.secrets = secrets
        secrets.queue = queue.uuid
        looks = LastLookStore(queue)
        counters = CounterStore(queue, looks: looks)
        ends = BatchEnds(queue: queue, looks: looks)
        let tasks = TaskStore(queue)
        sets = TaskSets(queue: queue, tasks: tasks, counters: counters)
        references = SecretReferences(queue, secrets: secrets)
        let attempts = AttemptStore(queue, tasks: tasks, references: references)
        let finder = NodeFinder(queue: queue, counters: counters, tasks: tasks)
        undoLog = UndoLog(queue, sets: sets)
        limits = LimitStore(queue: queue, undoLog: undoLog)
        let lanes = LaneStore(queue: queue, counters: counters, sets: sets, undoLog: undoLog)
        pauses = PauseStore(
            queue: queue, tasks: tasks, sets: sets, attempts: attempts, finder: finder, undoLog: undoLog)
        waits = WaitStore(queue: queue, tasks: tasks, pauses: pauses)
        purging = PurgingStore(
            queue, tasks: tasks, sets: sets, references: references, finder: finder, undoLog: undoLog, limits: limits)
        walks = WalkStore(queue, tasks: tasks, attempts: attempts, lanes: lanes)
        running = RunningStore(queue, secrets: secrets, tasks: tasks, attempts: attempts)
        remains = RemainsStore(
            queue: queue, tasks: tasks, references: references, undoLog: undoLog, running: running)
        facts = FactStore(
            queue: queue, tasks: tasks, attempts: attempts, references: references, looks: looks)
        arrival = ArrivalStore(queue: queue, tasks: tasks, attempts: attempts, finder: finder)
        settings = SettingsStore(
            queue: queue, tasks: tasks, sets: sets, attempts: attempts, finder: finder, undoLog: undoLog,
            limits: limits, lanes: lanes)
        ordering = OrderingStore(queue: queue, tasks: tasks, sets: sets, finder: finder, undoLog: undoLog)
        urgent = UrgentStore(
            queue: queue, sets: sets, finder: finder, undoLog: undoLog, lanes: lanes, waits: waits)
        cancels = CancelStore(
            queue: queue, tasks: tasks, sets: sets, attempts: attempts, finder: finder,
            undoLog: undoLog, looks: looks, walks: walks)
        retries = RetryStore(
            queue: queue, tasks: tasks, sets: sets, finder: finder, walks: walks, looks: looks,
            purging: purging)
        undo = UndoStore(
            queue: queue, counters: counters, sets: sets, attempts: attempts, finder: finder, undoLog: undoLog,
            pauses: pauses, limits: limits, settings: settings, looks: looks, walks: walks, purging: purging)
        adding = AddingStore(queue: queue, secrets: secrets, lanes: lanes, limits: limits, walks: walks)
        logins = LoginStore(
            queue: queue, secrets: secrets, references: references, finder: finder, waits: waits)
        memory = EngineMemory(queue: queue)
    }

    // MARK: Transactions

    /// Makes changes: all of them, or none when it throws.
    func transact<Result>(
        _ durability: Durability = .full, _ body: () throws -> Result
    ) throws(QueueError) -> Result {
        let before = queue.standing
        do {
            if isLogDoubtful { try mendLog() }
            if durability != self.durability {
                try database.run(durability == .full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
                self.durability = durability
            }
            try database.run("BEGIN IMMEDIATE")
            queue.forgetPaths()
            let result = try body()
            try purging.forgetEvents()
            try endChange()
            // Before the rows that refer to them are.
            try references.write()
            if queue.numbers != before.numbers { try queue.numbers.write(to: database, after: before.numbers) }
            // Rows in a file without a name are nobody's: what is said to be queued could be found by no later engine.
            if let files, durability == .full, let lost = marks.lost(at: files) {
                throw QueueError.gone(lost.displayed)
            }
            faults.beforeCommit()
            try database.run("COMMIT")
            faults.afterCommit()
            queue.notes.replaced = [:]
            commits += 1
            copyLogIfLong()
            return result
        } catch {
            let replaced = queue.notes.replaced
            queue.rollBack(to: before)
            // Whoever hears that it was not done is not to find it done at the next start.
            for (batch, secrets) in replaced { try? self.secrets.replace(secrets, of: batch) }
            if (error as? SQLiteError)?.code == .inputOutput {
                isLogDoubtful = true
                // Before anybody hears that it was not done. A disk that fails again is tried before the next transaction.
                try? mendLog()
            }
            throw QueueError(error)
        }
    }

    /// After a sync that failed: takes what was rolled back out of the log, where the next engine would find it whole, and puts the rest on
    /// the disk, which the kernel will not do by itself.
    private func mendLog() throws {
        durability = .full
        try database.run("PRAGMA synchronous = FULL")
        try database.transaction(.write) {
            let count = try database.integer("SELECT value FROM meta WHERE name = 'mended'") ?? 0
            // It comes to lie over the beginning of the transaction that failed, whose rest then follows nothing.
            try database.run("INSERT OR REPLACE INTO meta VALUES ('mended', ?)", .integer(count + 1))
        }
        try database.rewriteLog()
        isLogDoubtful = false
    }

    /// Copies a long log into the database. The transaction that made it long is durable, or will be with the next, whatever comes of this.
    private func copyLogIfLong() {
        guard database.logPages >= Self.longLog else { return }
        do {
            try database.run("PRAGMA wal_checkpoint(PASSIVE)")
        } catch {
            isLogDoubtful = true
        }
    }

    /// Returns the changes committed since the last call.
    func takeChange() -> QueueChange {
        defer { queue.change = QueueChange() }
        return queue.change
    }

    /// Writes what the ledger gathered, counts what was moved, then ends the batches that are over.
    private func endChange() throws {
        try counters.write()
        try sets.finishMoves()
        for batch in queue.touched.sorted() { try ends.finishIfOver(batch) }
        queue.touched = []
    }
}

extension QueueError {
    /// Gives an error of the store its name. Anything but SQLite's and our own is JSON that cannot be written: our bug.
    init(_ error: any Error) {
        switch error {
        case let error as QueueError: self = error
        case let error as SQLiteError: self = .database(error)
        case let error as SecretsFailure: self = .secrets(error)
        default:
            self = .badRequest("cannot be stored: \(error)")
        }
    }
}
