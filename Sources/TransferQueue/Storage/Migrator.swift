import SQLiteConnection
import TransferModel

/// Brings a queue's schema up to date, or says why it cannot be used.
struct Migrator {
    let migrations: [Migration]
    let applicationID: Int64

    /// This program's.
    static var current: Migrator { Migrator(migrations: Schema.migrations, applicationID: Schema.applicationID) }

    /// Throws unless a queue is exactly as this program would make it. Changes nothing.
    static func verify(_ database: SQLiteConnection) throws {
        guard try database.integer("PRAGMA application_id") == Schema.applicationID else {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.notADatabase.rawValue, message: "a database of another program",
                sql: nil)
        }
        let applied = try database.rows("SELECT name FROM migrations ORDER BY number") { $0.text(0) }
        try current.refuseUnknown(applied)
    }

    private func refuseUnknown(_ applied: [String]) throws {
        for (place, name) in applied.enumerated() where place >= migrations.count || migrations[place].name != name {
            throw QueueOpenError.newer(found: name, known: migrations.last?.name ?? "nothing")
        }
    }

    /// Applies what is missing, each migration in its own transaction.
    /// Throws `QueueOpenError.newer` when the queue has a migration that is not among ours, and a `SQLiteError` of
    /// code `notADatabase` when the file belongs to another program.
    /// - Parameter check: looks through a queue of this program before anything in it is changed.
    func migrate(
        _ database: SQLiteConnection, now: Timestamp, after check: (SQLiteConnection) throws -> Void = { _ in }
    ) throws {
        let found = try database.integer("PRAGMA application_id") ?? 0
        let isEmpty = try database.integer("SELECT count(*) FROM sqlite_schema") == 0
        guard found == applicationID || (found == 0 && isEmpty) else {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.notADatabase.rawValue, message: "a database of another program",
                sql: nil)
        }
        if isEmpty {
            try database.execute(
                script: """
                    PRAGMA application_id = \(applicationID);
                    CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
                    """)
        }
        let applied = try database.rows("SELECT name FROM migrations ORDER BY number") { $0.text(0) }
        try refuseUnknown(applied)
        if !applied.isEmpty { try check(database) }
        for (place, migration) in migrations.enumerated().dropFirst(applied.count) {
            try database.transaction(.write) {
                try database.execute(script: migration.script)
                try database.run(
                    "INSERT INTO migrations VALUES (?, ?, ?)", .integer(Int64(place + 1)), .text(migration.name),
                    .integer(now.milliseconds))
                try database.execute(script: "PRAGMA user_version = \(place + 1)")
            }
        }
    }
}
