import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

/// The writing connection, and what all changes of one transaction share: the next numbers, differences of counters, and what listeners
/// are told. Lives on the writer's thread; `QueueStore` opens and ends the transactions.
final class QueueConnection {
    let database: SQLiteConnection
    let clock: @Sendable () -> Timestamp
    private let platform: any Platform
    /// The queue's UUID; tasks' UUIDs are computed from it.
    let uuid: UUID

    var numbers: Numbers
    var ledger = CounterLedger()
    /// Changes since the last `QueueStore.takeChange`, with those of the open transaction, for listeners.
    var change = QueueChange()
    /// Batches whose end is looked for before the commit.
    var touched: Set<BatchID> = []
    /// Batches of which sets of tasks were moved; counted once before the commit, however many sets those were.
    var moved: Set<BatchID> = []
    /// State that the subjects keep in memory beside the tables.
    var notes = TransactionNotes()
    /// Paths of folders, for the open transaction; renewed when a flag changes in it.
    private(set) var paths: FolderPaths

    init(_ database: SQLiteConnection, clock: @escaping @Sendable () -> Timestamp, _ platform: any Platform) throws {
        self.database = database
        self.platform = platform
        self.clock = clock
        paths = FolderPaths(database)
        let stored = try database.first("SELECT value FROM meta WHERE name = 'uuid'") { $0.bytes(0) }
        if let uuid = stored.flatMap({ UUID(bytes: $0) }) {
            self.uuid = uuid
        } else {
            uuid = UUID(random: platform)
            try database.run("INSERT OR REPLACE INTO meta VALUES ('uuid', ?)", .blob(uuid.bytes))
        }
        numbers = try Numbers(database)
    }

    /// A UUID that nothing has yet.
    func newUUID() -> UUID { UUID(random: platform) }

    /// Empties `paths`, whose contents are outdated.
    func forgetPaths() { paths = FolderPaths(database) }

    /// Notes for listeners that a batch is ordered otherwise, or has other settings.
    func noteSettings(_ batch: BatchID) {
        change.note(wholly: batch)
        change.mayRun = true
    }

    /// All that is in memory beside the tables and follows the transactions.
    struct Standing {
        let numbers: Numbers
        fileprivate let ledger: CounterLedger
        fileprivate let change: QueueChange
        fileprivate let touched: Set<BatchID>
        fileprivate let moved: Set<BatchID>
        fileprivate let notes: TransactionNotes
    }

    /// As it is now. Before a transaction begins.
    var standing: Standing {
        Standing(numbers: numbers, ledger: ledger, change: change, touched: touched, moved: moved, notes: notes)
    }

    /// Undoes a transaction, in the tables and in memory.
    /// - Parameter before: the standing when it began.
    func rollBack(to before: Standing) {
        database.rollBack()
        numbers = before.numbers
        ledger = before.ledger
        change = before.change
        touched = before.touched
        moved = before.moved
        notes = before.notes
    }
}

/// State that the subjects keep in memory beside the tables. One value, so that a transaction that is rolled back leaves all of it as it was:
/// the subjects themselves are structs without state.
struct TransactionNotes {
    // Of the open transaction; empty between two.

    /// Folders in which a task was completed.
    var completedFolders: Set<Int64> = []
    /// Tasks that are forgotten: their events go together, since no index leads to those of one.
    var forgotten: [BatchID: [TaskID]] = [:]
    /// Secrets of its resume points, for the secrets store.
    var handles: [SecretStore.Handle] = []
    /// Credentials of batches as they were before others took their place; `nil`: there were none.
    var replaced: [UUID: TransferSecrets?] = [:]

    // Beyond it.

    /// Secrets that lost their last row, and are removed after the commit.
    var orphans: [SecretStore.Orphan] = []
    /// When the attempts that go on began.
    var starts: [TaskID: Timestamp] = [:]
    /// Tasks whose `begun_at` was set by the claim they are in: given back unstarted, they lose it again.
    var freshClaims: Set<TaskID> = []
    /// Claimed tasks of which nothing that is confirmed counts yet (`ProgressRule.isInDoubt`).
    var inDoubt: Set<TaskID> = []
    /// Claims that were taken back before the engine had said that they began. Forgetting one only costs the proof that it never began.
    var freshStops: Set<TaskClaim> = []
    /// Begun folders whose entries all come from one listing that goes on: nothing of them can come twice.
    var walkedHere: Set<Int64> = []
    /// Known answers of `LastLookStore.looksAtLast`; what decides them never changes.
    var lookingBatches: [BatchID: Bool] = [:]
    /// The time at the start by which something may be called old (`QueueStore.surelyNow`).
    var surelyNow: Timestamp?
    /// Known parents of folders.
    var parents: [Int64: Int64?] = [:]
}

/// A part of the queue's rules: one subject with its statements. It names the other subjects that it calls. What it keeps in memory is in
/// `QueueConnection.notes`.
protocol QueueSubject {
    var queue: QueueConnection { get }
}

extension QueueSubject {
    var database: SQLiteConnection { queue.database }
    var paths: FolderPaths { queue.paths }
    func clock() -> Timestamp { queue.clock() }
}

/// The next free numbers of what is never numbered twice, also after a purge. Written with the rows that use them.
struct Numbers: Equatable {
    var task: Int64
    var folder: Int64
    var event: Int64
    /// The next number of a change that can be undone, and of a page of one.
    var operation: Int64
    /// Times that the wall clock was seen to be set back: the number of the clock that goes now.
    var clock: Int64

    init(_ database: SQLiteConnection) throws {
        func stored(_ name: String) throws -> Int64 {
            try Self.sound(try database.integer("SELECT value FROM meta WHERE name = ?", .text(name)) ?? 1, name)
        }
        task = try stored("next_task")
        folder = try stored("next_folder")
        event = try stored("next_event")
        let last = try Self.sound(
            try database.integer("SELECT max(max(operation, page)) FROM undo") ?? 0, "the last operation")
        operation = max(try stored("next_operation"), last + 1)
        clock = try Self.sound(try database.integer("SELECT value FROM meta WHERE name = 'clock'") ?? 0, "clock")
    }

    /// A stored number that others are counted up from. Throws that the queue is damaged when it is negative, or higher than any was given.
    static func sound(_ number: Int64, _ name: String) throws(SQLiteError) -> Int64 {
        guard (0..<FileSize.largest).contains(number) else {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.corrupt.rawValue, message: "\(name) has the number \(number)", sql: nil)
        }
        return number
    }

    /// Writes what is not as it was before.
    func write(to database: SQLiteConnection, after before: Numbers) throws {
        try database.run(
            "INSERT OR REPLACE INTO meta VALUES ('next_task', ?), ('next_folder', ?), ('next_event', ?)",
            .integer(task), .integer(folder), .integer(event))
        if operation != before.operation {
            try database.run("INSERT OR REPLACE INTO meta VALUES ('next_operation', ?)", .integer(operation))
        }
        if clock != before.clock {
            try database.run("INSERT OR REPLACE INTO meta VALUES ('clock', ?)", .integer(clock))
        }
    }
}
