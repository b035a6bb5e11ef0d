// SQLiteConnection: owns SQLite's handles; no policy, no schema.
//
// For whom: TransferQueue, and tests that look into its files. Which thread: the one that made the connection. Start reading here; then
// `SQLiteStatement` (binding and stepping), `+Transaction`, and `ShortPath`, which lets a database lie at a path of any length.

import CSQLite
import Glibc

/// Owns one SQLite connection and its prepared statements. One thread at a time: not Sendable, and opened without
/// SQLite's own mutexes.
///
/// There is no query builder: SQL is written where it is used, and each text is prepared once and kept.
package final class SQLiteConnection {
    /// The access that the connection has to the file.
    package enum Access: Sendable {
        /// Reads and writes; makes the file when it is missing.
        case create
        case readWrite
        /// Reads; the file must exist. Beside a writer in WAL mode it sees the last commit.
        case readOnly
    }

    let handle: OpaquePointer
    /// The open directory that the file is reached by, see ``ShortPath``; -1 for none.
    private let directory: Int32
    private var statements: [String: SQLiteStatement] = [:]
    /// Statements that are kept prepared at most. A program's texts are fewer; with a value in one there would be another for each value.
    static let mostStatements = 500
    /// SQLite writes it in the middle of a commit; see ``logPages``.
    let logCount = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Opens `path`, without interpreting it as a URI. Corresponds to `sqlite3_open_v2`.
    /// - Parameter path: bytes without NUL.
    package init(path: [UInt8], access: Access) throws(SQLiteError) {
        let flags =
            switch access {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        Self.configured
        var opened: OpaquePointer?
        let place = ShortPath(path)
        let result = place.bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_open_v2($0.baseAddress, &opened, flags | SQLITE_OPEN_NOMUTEX, place.fileSystem)
            }
        }
        directory = place.directory
        logCount.initialize(to: 0)
        guard let opened else {
            if directory >= 0 { close(directory) }
            throw SQLiteError(extendedCode: result, message: "out of memory", sql: nil)
        }
        handle = opened
        sqlite3_extended_result_codes(opened, 1)
        guard result == SQLITE_OK else { throw SQLiteError(lastOf: opened, sql: nil) }
    }

    /// Once, before SQLite's first call: its count of allocated bytes costs a lock on each allocation, and nobody reads it.
    private static let configured: Void = {
        _ = CSQLite_config_memstatus(0)
    }()

    deinit {
        // Statements are finalised by their own deinit, perhaps after this; `_v2` waits for the last.
        statements = [:]
        let isLast = sqlite3_next_stmt(handle, nil) == nil
        sqlite3_close_v2(handle)
        // No statement that somebody still holds commits any more.
        logCount.deallocate()
        // A statement that somebody still holds keeps the file open: then its directory stays open too.
        if directory >= 0, isLast { close(directory) }
    }

    /// Sets how long a call waits for another connection's lock before it fails as `busy`. Corresponds to `sqlite3_busy_timeout`.
    package func setBusyTimeout(milliseconds: Int32) {
        sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Steps that SQLite's machine has made for the statements that are kept: a measure of work that is the same on each machine. For tests.
    /// Corresponds to `sqlite3_stmt_status`.
    package var steps: Int64 {
        var (steps, next) = (Int64(0), sqlite3_next_stmt(handle, nil))
        while let statement = next {
            steps += Int64(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
            next = sqlite3_next_stmt(handle, statement)
        }
        return steps
    }

    /// Runs one or more statements that give no rows and have no parameters. Corresponds to `sqlite3_exec`.
    package func execute(script: String) throws(SQLiteError) {
        guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else {
            throw SQLiteError(lastOf: handle, sql: script)
        }
    }

    /// The prepared statement for `sql`, reset and without bound values. The same object each time, so it must not
    /// be asked for again while its rows are still being read (a trap: our own bug).
    /// - Parameter sql: without values, which are bound: each text is kept prepared.
    package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        if let known = statements[sql] {
            precondition(!known.isBusy, "a statement is used while its rows are read: \(sql)")
            known.clear()
            return known
        }
        let made = try SQLiteStatement(handle, sql)
        if statements.count >= Self.mostStatements { forgetStatements() }
        statements[sql] = made
        return made
    }

    /// Finalises all prepared statements but those whose rows are being read.
    package func forgetStatements() { statements = [:] }

    /// Statements that are kept prepared. For tests.
    package var statementCount: Int { statements.count }

    /// Runs `sql` to its end and ignores its rows. Parameters are bound from 1 on.
    package func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) { try run(sql, all: values) }

    /// The same with values whose number the caller does not know.
    package func run(_ sql: String, all values: [SQLiteValue]) throws(SQLiteError) {
        let statement = try statement(sql)
        try statement.bind(all: values)
        try statement.run()
    }

    /// Calls `body` for each row.
    package func forEach(
        _ sql: String, _ values: SQLiteValue..., body: (SQLiteStatement) throws -> Void
    ) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(all: values)
        while try statement.step() { try body(statement) }
    }

    /// Returns the result of `body` for each row.
    package func rows<Row>(
        _ sql: String, _ values: SQLiteValue..., body: (SQLiteStatement) throws -> Row
    ) throws -> [Row] {
        try rows(sql, all: values, body: body)
    }

    /// The same with values whose number the caller does not know.
    package func rows<Row>(
        _ sql: String, all values: [SQLiteValue], body: (SQLiteStatement) throws -> Row
    ) throws -> [Row] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(all: values)
        var rows: [Row] = []
        while try statement.step() { rows.append(try body(statement)) }
        return rows
    }

    /// Returns the result of `body` for the first row; `nil` when there is none.
    package func first<Row>(
        _ sql: String, _ values: SQLiteValue..., body: (SQLiteStatement) throws -> Row
    ) throws -> Row? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(all: values)
        return try statement.step() ? try body(statement) : nil
    }

    /// The integer in the first column of the first row; `nil` when there is no row or it is NULL.
    package func integer(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(all: values)
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed. Corresponds to `sqlite3_changes64`.
    package var changes: Int64 { sqlite3_changes64(handle) }

    /// True when a transaction is open. Corresponds to `sqlite3_get_autocommit`.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}
