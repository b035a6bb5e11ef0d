import CSQLite

/// The write-ahead log, for whoever answers for what is in it.
extension SQLiteConnection {
    /// Leaves checkpoints to the caller from now on, who looks at ``logPages`` after a commit. SQLite's own come within a commit and keep
    /// their failures to themselves. Corresponds to `sqlite3_wal_hook`.
    package func keepLog() {
        sqlite3_wal_hook(
            handle,
            { count, _, _, pages in
                count?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, logCount)
    }

    /// Pages in the log after this connection's last commit, once ``keepLog()`` was called.
    package var logPages: Int { Int(logCount.pointee) }

    /// Writes all bytes of the log once more and syncs it. Without a log nothing is done.
    ///
    /// Linux tells of a failed fsync once, and then takes the pages that it could not write for written: no later fsync writes them, though
    /// whoever reads the log still finds them. Pages that are written again are on the disk after the next one.
    ///
    /// Not within a transaction. Corresponds to `SQLITE_FCNTL_JOURNAL_POINTER`.
    package func rewriteLog() throws(SQLiteError) {
        var found: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &found)
        guard let log = found, let methods = log.pointee.pMethods?.pointee else { return }
        func check(_ result: Int32) throws(SQLiteError) {
            if result == SQLITE_OK { return }
            throw SQLiteError(extendedCode: result, message: "the log cannot be written again", sql: nil)
        }
        var size: sqlite3_int64 = 0
        try check(methods.xFileSize(log, &size))
        if size == 0 { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 64)
        defer { buffer.deallocate() }
        var offset: sqlite3_int64 = 0
        while offset < size {
            let count = Int32(min(sqlite3_int64(buffer.count), size - offset))
            try check(methods.xRead(log, buffer.baseAddress, count, offset))
            try check(methods.xWrite(log, buffer.baseAddress, count, offset))
            offset += sqlite3_int64(count)
        }
        try check(methods.xSync(log, SQLITE_SYNC_NORMAL))
    }
}
