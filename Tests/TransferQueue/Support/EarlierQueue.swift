import FoundationEssentials
import SQLiteConnection
import TransferModel

@testable import TransferQueue

extension Sandbox {
    /// Makes the queue, which is closed, one of the version before a migration: its tables are those of that version, with the rows that are
    /// there as far as these tables have columns for them. The next `open` brings it up to date again.
    /// - Parameters:
    ///   - migration: the end of its name.
    ///   - script: what that version had written, too.
    func rewrite(before migration: String, _ script: String = "") throws {
        guard let place = Schema.migrations.firstIndex(where: { $0.name.hasSuffix(migration) }) else {
            throw ChangeBench.Failure(text: "there is no migration \(migration)")
        }
        let old = try SQLiteConnection(path: path("old.sqlite").bytes, access: .create)
        let earlier = Array(Schema.migrations.prefix(place))
        try Migrator(migrations: earlier, applicationID: Schema.applicationID).migrate(old, now: clock.now)
        try old.execute(script: "ATTACH '\(path("queue.sqlite").displayed)' AS present;")
        let tables = try old.rows(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'migrations'"
        ) { $0.text(0) }
        // A column that has had another name since.
        if try old.integer("SELECT 1 FROM pragma_table_info('undo_tasks', 'main') WHERE name = 'operation'") != nil {
            try old.execute(script: "ALTER TABLE present.undo_tasks RENAME COLUMN page TO operation;")
        }
        for table in tables {
            let columns = try old.rows(
                """
                SELECT name FROM pragma_table_info('\(table)', 'main')
                INTERSECT SELECT name FROM pragma_table_info('\(table)', 'present')
                """
            ) { $0.text(0) }.joined(separator: ", ")
            try old.execute(
                script: """
                    DELETE FROM main.\(table); INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM present.\(table);
                    """)
        }
        try old.execute(script: "\(script); DETACH present;")
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path("queue.sqlite\(suffix)").displayed)
        }
        try FileManager.default.removeItem(atPath: path("queue.sqlite").displayed)
        try FileManager.default.moveItem(
            atPath: path("old.sqlite").displayed, toPath: path("queue.sqlite").displayed)
    }
}
