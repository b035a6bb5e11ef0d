import CSQLite

/// Owns one prepared statement. Parameters count from 1, columns from 0.
///
/// Bound values are copied, so they need not outlive the call.
package final class SQLiteStatement {
    private let handle: OpaquePointer
    /// The connection keeps its statements, so they do not keep the connection; SQLite itself does, until the last
    /// statement is finalised (`sqlite3_close_v2`).
    private let database: OpaquePointer
    private let sql: String

    /// Corresponds to `sqlite3_prepare_v3` with `SQLITE_PREPARE_PERSISTENT`.
    init(_ database: OpaquePointer, _ sql: String) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let result = sqlite3_prepare_v3(
            database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK else { throw SQLiteError(lastOf: database, sql: sql) }
        guard let prepared else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "an empty statement", sql: sql)
        }
        handle = prepared
        self.database = database
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// True while rows are being read. Corresponds to `sqlite3_stmt_busy`.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    // MARK: Parameters

    package func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// NULL when there is none.
    package func bind(_ index: Int32, _ value: Int64?) throws(SQLiteError) {
        guard let value else { return try check(sqlite3_bind_null(handle, index)) }
        try check(sqlite3_bind_int64(handle, index, value))
    }

    package func bind(_ index: Int32, _ text: String) throws(SQLiteError) {
        try check(sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), Self.transient))
    }

    /// A blob, also when empty.
    package func bind(_ index: Int32, _ bytes: [UInt8]) throws(SQLiteError) {
        let result = bytes.withUnsafeBytes { buffer in
            // A null address would bind NULL.
            buffer.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob64(handle, index, buffer.baseAddress, UInt64(buffer.count), Self.transient)
        }
        try check(result)
    }

    package func bind(_ index: Int32, _ value: SQLiteValue) throws(SQLiteError) {
        switch value {
        case .null: try check(sqlite3_bind_null(handle, index))
        case .integer(let integer): try bind(index, integer)
        case .text(let text): try bind(index, text)
        case .blob(let bytes): try bind(index, bytes)
        }
    }

    func bind(all values: [SQLiteValue]) throws(SQLiteError) {
        for (offset, value) in values.enumerated() { try bind(Int32(offset + 1), value) }
    }

    // MARK: Running

    /// Steps to the next row; false when there is none. After false, or an error, the statement has to be reset. Corresponds to
    /// `sqlite3_step`.
    package func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteError(lastOf: database, sql: sql)
        }
    }

    /// Steps to the end and resets; bound values stay.
    package func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Back to before the first row; bound values stay. Corresponds to `sqlite3_reset`.
    package func reset() {
        // It repeats the error of the last step, which was thrown there.
        sqlite3_reset(handle)
    }

    func clear() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    // MARK: Columns

    /// 0 when NULL.
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A count or a size, whatever a damaged file has there: 0 to 2^53, so that a thousand of them can be added. 0 when NULL.
    package func count(_ column: Int32) -> Int64 { min(max(0, integer(column)), Self.largestCount) }

    /// `nil` when NULL.
    package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Empty when NULL; invalid UTF-8 is mended.
    package func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// `nil` when NULL.
    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Empty when NULL.
    package func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// `nil` when NULL.
    package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    // MARK: Inside

    // SQLITE_TRANSIENT, a cast that the importer refuses: SQLite copies the value before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static let largestCount: Int64 = 1 << 53

    private func check(_ result: Int32) throws(SQLiteError) {
        guard result == SQLITE_OK else { throw SQLiteError(lastOf: database, sql: sql) }
    }
}
