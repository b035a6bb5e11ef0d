import SQLiteConnection
import TransferModel

/// Files that stand for all below a folder: its reasons are theirs, not those of another folder of its batch.
extension QueueView {
    /// A file that waits.
    struct WaitingFile {
        let reasons: WaitReasons
        let retryAt: Int64?
        let since: Int64?
        let error: TransferError?
        let origin: String

        /// - Parameter row: `d.wait, d.retry_at, d.wait_since, d.error, l.origin`.
        init(_ row: SQLiteStatement) {
            reasons = WaitReasons(rawValue: Int32(truncatingIfNeeded: row.integer(0)))
            retryAt = row.optionalInteger(1)
            since = row.optionalInteger(2)
            error = StoredJSON.value(TransferError.self, row.optionalText(3))
            origin = row.text(4)
        }
    }

    /// Files that wait in the first folder that has such, from `folder` down.
    func waitingFiles(below folder: Int64) throws -> [WaitingFile] {
        guard let folder = try first(below: folder, .waiting, column: "waiting") else { return [] }
        return try waitingFiles(in: folder)
    }

    /// The first files of a folder's own that wait.
    func waitingFiles(in folder: Int64) throws -> [WaitingFile] {
        try database.rows(
            """
            SELECT d.wait, d.retry_at, d.wait_since, d.error, l.origin
            FROM (SELECT id, lane FROM tasks INDEXED BY tasks_of_folder WHERE folder = ? AND state = \(state: .waiting)
            ORDER BY id LIMIT 100) t JOIN task_details d ON d.task = t.id JOIN lanes l ON l.id = t.lane
            """, .integer(folder)
        ) { WaitingFile($0) }
    }

    /// The error of a failed file from `folder` down; it stands for the others.
    func failure(below folder: Int64) throws -> TransferError? {
        guard let folder = try first(below: folder, .failed, column: "failed") else { return nil }
        let text = try database.first(
            """
            SELECT d.error FROM tasks t INDEXED BY tasks_of_folder JOIN task_details d ON d.task = t.id
            WHERE t.folder = ? AND t.state = \(state: .failed) ORDER BY t.id LIMIT 1
            """, .integer(folder)
        ) { $0.optionalText(0) }
        return StoredJSON.value(TransferError.self, text ?? nil)
    }

    /// The first folder, from `folder` down, that has files of its own in that state. The sums lead there.
    private func first(below folder: Int64, _ state: TransferState, column: String) throws -> Int64? {
        var folder = folder
        while true {
            let own = try database.integer(
                "SELECT 1 FROM tasks INDEXED BY tasks_of_folder WHERE folder = ?1 AND state = ?2 LIMIT 1",
                .integer(folder), .integer(state.stored))
            if own != nil { return folder }
            let next = try database.integer(
                "SELECT id FROM folders INDEXED BY folders_tree WHERE parent = ? AND \(column) > 0 ORDER BY name LIMIT 1",
                .integer(folder))
            guard let next else { return nil }
            folder = next
        }
    }
}
