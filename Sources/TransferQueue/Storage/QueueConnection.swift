import FoundationEssentials
import SQLiteConnection
import TransferModel

/// The writing connection, and what all changes of one transaction share: the next numbers, differences of counters, and what listeners
/// are told. Lives on the writer's thread; `QueueStore` opens and ends the transactions.
final class QueueConnection {
    let database: SQLiteConnection
    let clock: @Sendable () -> Timestamp
    /// The queue's UUID; tasks' UUIDs are computed from it.
    let uuid: UUID

    var numbers: Numbers
    var ledger = CounterLedger()
    /// Changes since the last `QueueStore.takeChange`, with those of the open transaction, for listeners.
    var change = QueueChange()
    /// Batches whose end is looked for before the commit.
    var touched: Set<BatchID> = []
    /// Paths of folders, for the open transaction; renewed when a flag changes in it.
    private(set) var paths: FolderPaths

    init(_ database: SQLiteConnection, clock: @escaping @Sendable () -> Timestamp) throws {
        self.database = database
        self.clock = clock
        paths = FolderPaths(database)
        let stored = try database.first("SELECT value FROM meta WHERE name = 'uuid'") { $0.bytes(0) }
        if let uuid = stored.flatMap({ UUID(bytes: $0) }) {
            self.uuid = uuid
        } else {
            uuid = UUID()
            try database.run("INSERT OR REPLACE INTO meta VALUES ('uuid', ?)", .blob(uuid.bytes))
        }
        numbers = try Numbers(database)
    }

    /// Empties `paths`, whose contents are outdated.
    func forgetPaths() { paths = FolderPaths(database) }

    /// Notes for listeners that a batch is ordered otherwise, or has other settings.
    func noteSettings(_ batch: BatchID) {
        change.note(wholly: batch)
        change.mayRun = true
    }

    /// Forgets what a transaction gathered that was rolled back.
    /// - Parameter before: the numbers when it began.
    func rollBack(to before: Numbers) {
        database.rollBack()
        numbers = before
        ledger = CounterLedger()
        change = QueueChange()
        touched = []
    }
}

/// A part of the queue's rules: one subject with its statements. It names the other subjects that it calls.
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
    /// The next number of a change that can be undone.
    var operation: Int64

    init(_ database: SQLiteConnection) throws {
        func stored(_ name: String) throws -> Int64 {
            try Self.sound(try database.integer("SELECT value FROM meta WHERE name = ?", .text(name)) ?? 1, name)
        }
        task = try stored("next_task")
        folder = try stored("next_folder")
        event = try stored("next_event")
        let last = try Self.sound(try database.integer("SELECT max(operation) FROM undo") ?? 0, "the last operation")
        operation = max(try stored("next_operation"), last + 1)
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
    }
}
