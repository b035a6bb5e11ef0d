extension SQLiteConnection {
    /// The way in which a transaction takes its locks.
    package enum TransactionKind: Sendable {
        /// A stable view; the first read decides which.
        case read
        /// The write lock at once.
        case write
    }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it or the commit throws.
    package func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try run(kind == .read ? "BEGIN DEFERRED" : "BEGIN IMMEDIATE")
        let result: Result
        do {
            result = try body()
            try run("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        return result
    }

    /// Ends an open transaction without its changes. After some failures (`full`, `inputOutput`) SQLite has done it already.
    package func rollBack() {
        guard isInTransaction else { return }
        // The first error is the one to tell; a failed rollback is repeated by SQLite when the file is next opened.
        try? run("ROLLBACK")
    }
}
