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
    ///   - isKnown: whether there is such a batch.
    ///   - needs: what a task's row still refers to.
    func keepOnly(_ isKnown: (UUID) throws -> Bool, needs: (TaskID) throws -> TaskNeeds) throws {
        let found = try withDatabase(make: false) { database in
            try expire(database, at: WallClock.milliseconds)
            let batches = try database.rows(
                """
                SELECT batch FROM (SELECT batch FROM batch_secrets UNION SELECT batch FROM task_queries
                UNION SELECT batch FROM upload_handles) WHERE batch NOT IN (SELECT batch FROM batch_queues WHERE queue <> ?)
                """, .blob(queue?.bytes ?? [])
            ) { UUID(bytes: $0.bytes(0)) }.compactMap { $0 }
            return (
                batches: batches, handles: try owners("upload_handles", "number", database),
                queries: try owners("task_queries", "0", database)
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

    private func owners(
        _ table: String, _ number: String, _ database: SQLiteConnection
    ) throws -> [(task: TaskID, batch: UUID, number: Int64)] {
        // The newest: what a crash left is among them, and a million URLs must not delay the start. Those of another queue have tasks
        // of their own.
        try database.rows(
            """
            SELECT task, batch, \(number) FROM \(table) WHERE batch NOT IN (SELECT batch FROM batch_queues WHERE queue <> ?)
            ORDER BY task DESC LIMIT \(Self.mostExamined)
            """, .blob(queue?.bytes ?? [])
        ) { row in
            UUID(bytes: row.bytes(1)).map { (TaskID(rawValue: row.integer(0)), $0, row.integer(2)) }
        }.compactMap { $0 }
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
