import CSQLite
import Glibc

/// The error of a failed SQLite call.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's primary result codes that we tell apart; the names are SQLite's own.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// `SQLITE_BUSY`: another connection holds the lock.
        package static let busy = Code(rawValue: SQLITE_BUSY)
        /// `SQLITE_READONLY`
        package static let readOnly = Code(rawValue: SQLITE_READONLY)
        /// `SQLITE_INTERRUPT`
        package static let interrupted = Code(rawValue: SQLITE_INTERRUPT)
        /// `SQLITE_IOERR`
        package static let inputOutput = Code(rawValue: SQLITE_IOERR)
        /// `SQLITE_CORRUPT`: the file is damaged.
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        /// `SQLITE_FULL`: the disk is full.
        package static let full = Code(rawValue: SQLITE_FULL)
        /// `SQLITE_CANTOPEN`
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        /// `SQLITE_CONSTRAINT`
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        /// `SQLITE_NOTADB`: the file is something else.
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
    }

    /// The primary result code.
    package var code: Code { Code(rawValue: extendedCode & 0xFF) }
    /// The extended result code, as `sqlite3_extended_errcode` gave it.
    package let extendedCode: Int32
    /// SQLite's own words. They may hold names of tables and columns, never bound values.
    package let message: String
    /// The statement, without its bound values; `nil` when no statement was involved.
    package let sql: String?

    /// The error number of the operating system behind a failure of a file; 0: there is none.
    package let systemError: Int32

    package init(extendedCode: Int32, message: String, sql: String?, systemError: Int32 = 0) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
        self.systemError = systemError
    }

    /// The disk has no room. SQLite says `full` of a few writes alone, and an error of the disk of all others.
    package var isFullDisk: Bool { code == .full || isOfFile && systemError == ENOSPC }
    /// The user may have no more of the disk.
    package var isUsedUpQuota: Bool { isOfFile && systemError == EDQUOT }

    private var isOfFile: Bool { code == .inputOutput || code == .cannotOpen }

    /// The error that SQLite holds for the last failure on a connection.
    init(lastOf database: OpaquePointer, sql: String?) {
        self.init(
            extendedCode: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)),
            sql: sql, systemError: sqlite3_system_errno(database))
    }

    package var description: String {
        let statement = sql.map { " in: \($0)" } ?? ""
        return "SQLite error \(extendedCode): \(message)\(statement)"
    }
}
