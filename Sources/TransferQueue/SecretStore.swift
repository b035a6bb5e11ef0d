import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

/// `secrets.sqlite`: what must be kept for work to go on and may stand nowhere else. Lives on the writer's thread.
///
/// Secrets are written, durably, before the row of the queue that refers to them, and belong to a batch's UUID, which
/// is never used again: one that lost its batch in a crash harms nobody and is removed at the next start. The file is
/// made when the first secret comes; freed pages are overwritten.
final class SecretStore {
    private let file: RawPath
    private var opened: SQLiteConnection?

    init(file: RawPath) { self.file = file }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS batch_secrets (
            batch BLOB PRIMARY KEY,
            secrets TEXT NOT NULL,
            destination_query TEXT
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS task_queries (
            batch BLOB NOT NULL,
            task INTEGER NOT NULL,
            query TEXT NOT NULL,
            PRIMARY KEY (batch, task)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS task_handles (
            batch BLOB NOT NULL,
            task INTEGER NOT NULL,
            handle TEXT NOT NULL,
            PRIMARY KEY (batch, task)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS destination_secrets (
            name TEXT PRIMARY KEY,
            secrets TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS removed_destination_secrets (
            name TEXT PRIMARY KEY,
            secrets TEXT NOT NULL,
            removed_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// - Parameter make: false leaves a missing file missing.
    func database(make: Bool) throws -> SQLiteConnection? {
        if let opened { return opened }
        if !make, (try? System.stat(file.bytes)) == nil { return nil }
        try QueueFiles.makePrivate(file)
        let database = try SQLiteConnection(path: file.bytes, access: .create)
        try database.execute(
            script: """
                PRAGMA journal_mode = DELETE;
                PRAGMA synchronous = FULL;
                PRAGMA secure_delete = ON;
                PRAGMA cache_size = -256;
                """)
        try database.execute(script: Self.schema)
        opened = database
        return database
    }

    /// What a batch needs; `queries` are those of its downloads' URLs, by task. Durable on return.
    func write(
        batch: UUID, secrets: TransferSecrets, destinationQuery: String?, queries: [(task: TaskID, query: String)]
    ) throws {
        if secrets.isEmpty, destinationQuery == nil, queries.isEmpty { return }
        guard let database = try database(make: true) else { return }
        try database.transaction(.write) {
            try database.run(
                "INSERT OR REPLACE INTO batch_secrets VALUES (?, ?, ?)", .blob(batch.bytes),
                .text(try StoredJSON.text(secrets)), SQLiteValue(destinationQuery))
            for (task, query) in queries {
                try database.run(
                    "INSERT OR REPLACE INTO task_queries VALUES (?, ?, ?)", .blob(batch.bytes),
                    .integer(task.rawValue), .text(query))
            }
        }
    }

    /// Puts other secrets in the place of a batch's. Durable on return.
    func replace(_ secrets: TransferSecrets, of batch: UUID) throws {
        guard let database = try database(make: true) else { return }
        try database.run(
            "INSERT INTO batch_secrets (batch, secrets) VALUES (?1, ?2) ON CONFLICT (batch) DO UPDATE SET secrets = ?2",
            .blob(batch.bytes), .text(try StoredJSON.text(secrets)))
    }

    func secrets(of batch: UUID) throws -> (secrets: TransferSecrets, destinationQuery: String?) {
        guard let database = try database(make: false) else { return (TransferSecrets(), nil) }
        return try database.first(
            "SELECT secrets, destination_query FROM batch_secrets WHERE batch = ?", .blob(batch.bytes)
        ) { row in
            (StoredJSON.value(TransferSecrets.self, row.text(0)) ?? TransferSecrets(), row.optionalText(1))
        } ?? (TransferSecrets(), nil)
    }

    func query(of task: TaskID, batch: UUID) throws -> String? {
        try database(make: false)?.first(
            "SELECT query FROM task_queries WHERE batch = ? AND task = ?", .blob(batch.bytes), .integer(task.rawValue)
        ) { $0.text(0) }
    }

    /// What belongs to tasks' resume points, upload URLs that servers gave. Durable on return.
    func write(handles: [(batch: UUID, task: TaskID, secret: String)]) throws {
        guard !handles.isEmpty, let database = try database(make: true) else { return }
        try database.transaction(.write) {
            for (batch, task, secret) in handles {
                try database.run(
                    "INSERT OR REPLACE INTO task_handles VALUES (?, ?, ?)", .blob(batch.bytes),
                    .integer(task.rawValue), .text(secret))
            }
        }
    }

    func handle(of task: TaskID, batch: UUID) throws -> String? {
        try database(make: false)?.first(
            "SELECT handle FROM task_handles WHERE batch = ? AND task = ?", .blob(batch.bytes), .integer(task.rawValue)
        ) { $0.text(0) }
    }

    /// Whether there may be any handle: most queues have none.
    var hasHandles: Bool { (try? database(make: false)) != nil }

    /// Forgets all of these in one transaction.
    func remove(_ orphans: [QueueStore.OrphanedSecret]) throws {
        guard !orphans.isEmpty, let database = try database(make: false) else { return }
        try database.transaction(.write) {
            for orphan in orphans {
                switch orphan {
                case .batch(let uuid):
                    for table in Self.tables {
                        try database.run("DELETE FROM \(table) WHERE batch = ?", .blob(uuid.bytes))
                    }
                case .task(let task, let uuid):
                    for table in Self.tables.dropFirst() {
                        try database.run(
                            "DELETE FROM \(table) WHERE batch = ? AND task = ?", .blob(uuid.bytes),
                            .integer(task.rawValue))
                    }
                case .handle(let task, let uuid):
                    try database.run(
                        "DELETE FROM task_handles WHERE batch = ? AND task = ?", .blob(uuid.bytes),
                        .integer(task.rawValue))
                }
            }
        }
    }

    /// The first is by batch, the others by batch and task.
    private static let tables = ["batch_secrets", "task_queries", "task_handles"]

    /// Forgets secrets whose batch or task never came to be, or whose removal was cut short.
    /// - Parameters:
    ///   - isKnown: whether there is such a batch.
    ///   - needs: what a task's row still refers to.
    func keepOnly(_ isKnown: (UUID) throws -> Bool, needs: (TaskID) throws -> TaskNeeds) throws {
        guard let database = try database(make: false) else { return }
        try expire(database, at: WallClock.milliseconds)
        let batches = try database.rows(
            "SELECT batch FROM batch_secrets UNION SELECT batch FROM task_queries UNION SELECT batch FROM task_handles"
        ) { UUID(bytes: $0.bytes(0)) }
        try remove(try batches.compactMap { $0 }.filter { try !isKnown($0) }.map { .batch($0) })
        func owners(_ table: String) throws -> [(task: TaskID, batch: UUID)] {
            // The newest: what a crash left is among them, and a million URLs must not delay the start.
            try database.rows(
                "SELECT task, batch FROM \(table) ORDER BY task DESC LIMIT \(Self.mostExamined)"
            ) { row in UUID(bytes: row.bytes(1)).map { (TaskID(rawValue: row.integer(0)), $0) } }.compactMap { $0 }
        }
        let handles = try owners("task_handles").filter { try needs($0.task) != .handle }
        let queries = try owners("task_queries").filter { try needs($0.task) == .nothing }
        try remove(handles.map { .handle($0.task, $0.batch) } + queries.map { .task($0.task, $0.batch) })
    }

    /// What a task's row refers to.
    enum TaskNeeds {
        /// There is no such task.
        case nothing
        /// Its URL's query.
        case query
        /// That, and what belongs to its resume point.
        case handle
    }

    private static let mostExamined = 20_000
}
