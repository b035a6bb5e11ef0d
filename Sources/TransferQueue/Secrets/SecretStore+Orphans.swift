import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

/// Secrets that no row of the queue refers to any more.
extension SecretStore {
    enum Orphan: Equatable {
        case batch(UUID)
        case task(TaskID, UUID)
        /// Secrets of the task's resume points before this number.
        case handles(TaskID, UUID, before: Int64)
        /// Secrets written for a row that never came, after this number.
        case newerHandles(TaskID, UUID, after: Int64)
    }

    /// Forgets all of these in one transaction.
    func remove(_ orphans: [Orphan]) throws(SecretsFailure) {
        if orphans.isEmpty { return }
        try change(make: false) { database in for orphan in orphans { try Self.remove(orphan, database) } }
    }

    private static func remove(_ orphan: Orphan, _ database: SQLiteConnection) throws {
        switch orphan {
        case .batch(let uuid):
            for table in ["batch_secrets", "batch_queues", "task_queries", "upload_handles"] {
                try database.run("DELETE FROM \(table) WHERE batch = ?", .blob(uuid.bytes))
            }
        case .task(let task, let uuid):
            for table in ["task_queries", "upload_handles"] {
                try database.run(
                    "DELETE FROM \(table) WHERE batch = ? AND task = ?", .blob(uuid.bytes), .integer(task.rawValue))
            }
        case .handles(let task, let uuid, let number):
            try database.run(
                "DELETE FROM upload_handles WHERE batch = ? AND task = ? AND number < ?", .blob(uuid.bytes),
                .integer(task.rawValue), .integer(number))
        case .newerHandles(let task, let uuid, let number):
            try database.run(
                "DELETE FROM upload_handles WHERE batch = ? AND task = ? AND number > ?", .blob(uuid.bytes),
                .integer(task.rawValue), .integer(number))
        }
    }

    /// Forgets secrets whose batch or task never came to be, or whose removal was cut short. After a start, before anything is written.
    /// - Parameters:
    ///   - now: by the wall clock; what expired before is forgotten, too.
    ///   - isKnown: whether there is such a batch.
    ///   - needs: what a task's row still refers to.
    func keepOnly(at now: Timestamp, _ isKnown: (UUID) throws -> Bool, needs: (TaskID) throws -> TaskNeeds) throws {
        let found = try withDatabase(make: false) { database in
            try expire(database, at: now.milliseconds)
            let batches = try ["batch_secrets", "task_queries", "upload_handles"].flatMap { try owners($0, database) }
            return (
                batches: Set(batches), handles: try newest("upload_handles", "number", database),
                queries: try newest("task_queries", "0", database)
            )
        }
        guard let found else { return }
        // The queue is asked outside of the store: what fails there is not the store's fault.
        let batches = try found.batches.filter { try !isKnown($0) }.map { Orphan.batch($0) }
        let handles = try found.handles.compactMap { row -> Orphan? in
            guard case .handle(let number) = try needs(row.task) else {
                return .handles(row.task, row.batch, before: .max)
            }
            if row.number == number { return nil }
            return row.number < number
                ? .handles(row.task, row.batch, before: number) : .newerHandles(row.task, row.batch, after: number)
        }
        let queries = try found.queries.filter { try needs($0.task) == .nothing }
        try remove(batches + handles + queries.map { .task($0.task, $0.batch) })
    }

    /// The batches that have secrets in a table, by one look into its key for each; those of another queue are left out.
    private func owners(_ table: String, _ database: SQLiteConnection) throws -> [UUID] {
        try database.rows(
            """
            WITH RECURSIVE owner (batch) AS (
                SELECT min(batch) FROM \(table)
                UNION ALL SELECT (SELECT min(batch) FROM \(table) WHERE batch > owner.batch) FROM owner WHERE batch IS NOT NULL)
            SELECT batch FROM owner WHERE batch IS NOT NULL AND batch NOT IN (SELECT batch FROM batch_queues WHERE queue <> ?)
            """, .blob(queue?.bytes ?? [])
        ) { UUID(bytes: $0.bytes(0)) }.compactMap { $0 }
    }

    /// Secrets of the newest tasks: what a crash left is among them, and a million URLs must not delay the start.
    private func newest(
        _ table: String, _ number: String, _ database: SQLiteConnection
    ) throws -> [(task: TaskID, batch: UUID, number: Int64)] {
        let batches = try owners(table, database).map { batch in
            (batch, try database.integer("SELECT max(task) FROM \(table) WHERE batch = ?", .blob(batch.bytes)) ?? 0)
        }
        var found: [(task: TaskID, batch: UUID, number: Int64)] = []
        for (batch, _) in batches.sorted(by: { $0.1 > $1.1 }) where found.count < Self.mostExamined {
            found += try database.rows(
                "SELECT task, \(number) FROM \(table) WHERE batch = ? ORDER BY task DESC LIMIT ?", .blob(batch.bytes),
                .integer(Int64(Self.mostExamined - found.count))
            ) { (TaskID(rawValue: $0.integer(0)), batch, $0.integer(1)) }
        }
        return found
    }

    /// The secrets that a task's row refers to.
    enum TaskNeeds: Equatable {
        /// There is no such task.
        case nothing
        /// Its URL's query.
        case query
        /// That, and what belongs to its resume point, by its number.
        case handle(Int64)
    }

    private static let mostExamined = 20_000
}
