import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

/// `secrets.sqlite`: what must be kept for work to go on and may stand nowhere else. Lives on the writer's thread.
///
/// One order is right at every cut. A secret is durable before the row of the queue that refers to it is committed, and never overwrites
/// one that a committed row refers to: a new handle has a new number. It is deleted after the commit that takes the last such row away.
/// So a cut leaves a secret that nobody refers to, at worst, and the next start removes it (``keepOnly(at:_:needs:)``). The other way round, the
/// queue says which secrets there must be: work whose secrets are gone waits for a person instead of going out without them.
///
/// Secrets belong to a batch's UUID, which is never used again. The file is made when the first secret comes; freed pages are overwritten.
final class SecretStore {
    private let file: RawPath
    private var faults = CommitFaults(of: "secrets")
    private var opened: (database: SQLiteConnection, mark: FileMark)?
    /// The queue that the secrets are written for: those of another one, which was moved away and may come back, are not ours to remove.
    var queue: UUID?

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
        CREATE TABLE IF NOT EXISTS upload_handles (
            batch BLOB NOT NULL,
            task INTEGER NOT NULL,
            number INTEGER NOT NULL,
            handle TEXT NOT NULL,
            PRIMARY KEY (batch, task, number)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS batch_queues (
            batch BLOB PRIMARY KEY,
            queue BLOB NOT NULL
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

    /// Earlier versions kept one handle for each task, which a new one overwrote before its row was committed.
    private static let numbered = """
        INSERT OR IGNORE INTO upload_handles SELECT batch, task, 0, handle FROM task_handles;
        DROP TABLE task_handles;
        """

    /// Runs `body` with the database; `nil` without running it when there is none and it is not to be made.
    /// - Parameter make: false leaves a missing file missing.
    func withDatabase<Result>(make: Bool, _ body: (SQLiteConnection) throws -> Result) throws(SecretsFailure) -> Result?
    {
        do {
            guard let database = try database(make: make) else { return nil }
            return try body(database)
        } catch let error as SecretsFailure {
            throw error
        } catch {
            throw SecretsFailure(error, file: file)
        }
    }

    /// One transaction, durable on return.
    func change(make: Bool, _ body: (SQLiteConnection) throws -> Void) throws(SecretsFailure) {
        _ = try withDatabase(make: make) { database in
            try database.transaction(.write) {
                try body(database)
                faults.beforeCommit()
            }
            faults.afterCommit()
        }
    }

    private func database(make: Bool) throws -> SQLiteConnection? {
        if let opened {
            // What is written into a file without a name is lost with this process.
            guard make, !opened.mark.isStill(at: file) else { return opened.database }
            throw SecretsFailure.gone(file: file.displayed)
        }
        if !make, (try? System.lstat(file.bytes)) == nil { return nil }
        try QueueFiles.makePrivate(file)
        let database = try SQLiteConnection(path: file.bytes, access: .create)
        // EXTRA: the directory is synced when the journal is removed. Without that a power cut can bring the journal back, and with it
        // the state before a transaction whose end was told.
        try database.execute(
            script: """
                PRAGMA journal_mode = DELETE;
                PRAGMA synchronous = EXTRA;
                PRAGMA secure_delete = ON;
                PRAGMA cache_size = -256;
                """)
        try database.transaction(.write) {
            try database.execute(script: Self.schema)
            let isOld = try database.integer("SELECT 1 FROM sqlite_schema WHERE name = 'task_handles'") != nil
            if isOld { try database.execute(script: Self.numbered) }
        }
        database.forgetStatements()
        opened = (database, try FileMark(file))
        return database
    }

    // MARK: Batches

    /// Stores the secrets that a batch needs; `queries` are those of its downloads' URLs, by task. Durable on return.
    func write(
        batch: UUID, secrets: TransferSecrets, destinationQuery: String?, queries: [(task: TaskID, query: String)]
    ) throws(SecretsFailure) {
        if secrets.isEmpty, destinationQuery == nil, queries.isEmpty { return }
        try change(make: true) { database in
            try database.run(
                "INSERT OR REPLACE INTO batch_secrets VALUES (?, ?, ?)", .blob(batch.bytes),
                .text(try StoredJSON.text(secrets)), SQLiteValue(destinationQuery))
            try note(batch, database)
            for (task, query) in queries {
                try database.run(
                    "INSERT OR REPLACE INTO task_queries VALUES (?, ?, ?)", .blob(batch.bytes),
                    .integer(task.rawValue), .text(query))
            }
        }
    }

    /// Puts other secrets in the place of a batch's; `nil`: none. Durable on return.
    func replace(_ secrets: TransferSecrets?, of batch: UUID) throws(SecretsFailure) {
        try change(make: true) { database in
            guard let secrets else {
                return try database.run("DELETE FROM batch_secrets WHERE batch = ?", .blob(batch.bytes))
            }
            try database.run(
                """
                INSERT INTO batch_secrets (batch, secrets) VALUES (?1, ?2)
                ON CONFLICT (batch) DO UPDATE SET secrets = ?2
                """, .blob(batch.bytes), .text(try StoredJSON.text(secrets)))
            try note(batch, database)
        }
    }

    /// Notes which queue a batch belongs to. Everything that is written for one notes that: what belongs to none is taken for an orphan.
    private func note(_ batch: UUID, _ database: SQLiteConnection) throws {
        guard let queue else { return }
        try database.run(
            "INSERT OR REPLACE INTO batch_queues VALUES (?, ?)", .blob(batch.bytes), .blob(queue.bytes))
    }

    /// The secrets kept for a batch; `nil`: there are none, or none that can be read.
    func secrets(of batch: UUID) throws(SecretsFailure) -> (secrets: TransferSecrets, destinationQuery: String?)? {
        let found = try withDatabase(make: false) { database in
            try database.first(
                "SELECT secrets, destination_query FROM batch_secrets WHERE batch = ?", .blob(batch.bytes)
            ) { row in
                StoredJSON.value(TransferSecrets.self, row.text(0)).map { ($0, row.optionalText(1)) }
            }
        }
        return (found ?? nil) ?? nil
    }

    // MARK: Tasks

    func query(of task: TaskID, batch: UUID) throws(SecretsFailure) -> String? {
        try withDatabase(make: false) { database in
            try database.first(
                "SELECT query FROM task_queries WHERE batch = ? AND task = ?", .blob(batch.bytes),
                .integer(task.rawValue)
            ) { $0.text(0) }
        } ?? nil
    }

    /// The secret of a task's resume point: an upload URL that a server gave.
    struct Handle {
        var batch: UUID
        var task: TaskID
        /// Its number among the task's handles, counted up; the queue's row says which it refers to.
        var number: Int64
        var secret: String
    }

    /// Durable on return.
    func write(handles: [Handle]) throws(SecretsFailure) {
        if handles.isEmpty { return }
        try change(make: true) { database in
            for batch in Set(handles.map(\.batch)) { try note(batch, database) }
            for handle in handles {
                try database.run(
                    "INSERT OR REPLACE INTO upload_handles VALUES (?, ?, ?, ?)", .blob(handle.batch.bytes),
                    .integer(handle.task.rawValue), .integer(handle.number), .text(handle.secret))
            }
        }
    }

    func handle(of task: TaskID, batch: UUID, number: Int64) throws(SecretsFailure) -> String? {
        try withDatabase(make: false) { database in
            try database.first(
                "SELECT handle FROM upload_handles WHERE batch = ? AND task = ? AND number = ?", .blob(batch.bytes),
                .integer(task.rawValue), .integer(number)
            ) { $0.text(0) }
        } ?? nil
    }

    /// False when there cannot be any handle, as in most queues.
    var hasHandles: Bool { opened != nil || (try? System.lstat(file.bytes)) != nil }
}
