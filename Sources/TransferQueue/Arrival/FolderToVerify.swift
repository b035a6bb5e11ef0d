import SQLiteConnection
package import TransferModel

/// A folder whose files are compared with what their server lists, because somebody asks.
package struct FolderToVerify: Sendable, Hashable {
    package var look: DueLook
    /// For a person: the destination with the folder behind it.
    package var destination: String
}

/// The next folder of a node to verify, or the reason why there is none.
package enum FolderChoice: Sendable, Hashable {
    case folder(FolderToVerify)
    /// No further one.
    case none
    /// There is no such node.
    case unknown
    /// For this reason, for a person.
    case refused(Advice)
}

extension QueueWriter {
    /// The next folder, in the order of their numbers, that holds completed files of a node, or some that were missing. Others use the queue
    /// between the pages of a search among a million folders.
    package nonisolated func folderToVerify(_ node: NodeID, after: Int64?) async throws(QueueError) -> FolderChoice {
        var after = after
        while true {
            switch try await folderSearch(node, after: after) {
            case .found(let choice): return choice
            case .further(let last): after = last
            }
        }
    }

    private func folderSearch(_ node: NodeID, after: Int64?) throws(QueueError) -> FolderSearch {
        try look { try store.arrival.folderToVerify(node, after: after) }
    }
}

/// A page of the search for the next folder.
enum FolderSearch: Sendable {
    case found(FolderChoice)
    /// None up to this one.
    case further(after: Int64)
}

extension ArrivalStore {
    /// - Parameter limit: folders of the queue that are looked at, 1 or more.
    func folderToVerify(_ node: NodeID, after: Int64?, limit: Int = 1000) throws -> FolderSearch {
        guard let target = try finder.target(node) else { return .found(.unknown) }
        let top: Int64
        switch target {
        case .batch(_, let root): top = root
        case .folder(_, let folder, _): top = folder
        case .task(let row):
            top = row.folder
            guard row.state == .completed || row.state == .failed else {
                return .found(
                    .refused(
                        "\(node) is not completed: \(quoted: AdvisedCommand("why", [node])) says what it waits for"))
            }
        }
        let batch = SQLiteValue.integer(target.batch.rawValue)
        let order = try database.first(
            """
            SELECT direction, destination, (SELECT origin FROM lanes WHERE batch = ?1 LIMIT 1),
            EXISTS (SELECT 1 FROM sources WHERE batch = ?1 AND placement = \(placement: .exactly))
            FROM batches WHERE id = ?1
            """, batch
        ) { row in
            (
                direction: TransferDirection(stored: row.integer(0)), destination: row.text(1), origin: row.text(2),
                isExact: row.integer(3) != 0
            )
        }
        guard let order else { return .found(.unknown) }
        guard order.direction == .upload else {
            return .found(.refused("\(node) was received: its files are on this machine"))
        }
        guard TransferScheme(of: order.destination)?.lists == true else {
            return .found(
                .refused(
                    """
                    \(TransferScheme.server(of: order.destination)) does not list folders: look there whether all of it \
                    has arrived
                    """))
        }
        let isTask = node.isTask
        var last = isTask ? top - 1 : after ?? 0
        for _ in 0..<limit {
            guard let (folder, owner) = try sentFolder(after: last), !isTask || folder == top else {
                return .found(.none)
            }
            last = folder
            guard owner == target.batch.rawValue, let place = try paths.place(of: folder) else { continue }
            guard isTask || place.chain.contains(FolderID(rawValue: top)) else { continue }
            // No look that is due is answered by it.
            let look = DueLook(
                folder: FolderID(rawValue: folder), batch: target.batch, origin: order.origin, remote: place.remote,
                isExact: order.isExact, due: 0)
            let destination = order.destination + PercentEncoding.encode(place.remote.bytes, keepingSlashes: true)
            return .found(.folder(FolderToVerify(look: look, destination: RawPath(destination).displayed)))
        }
        return .further(after: last)
    }

    /// The next folder of any batch that holds completed files, or some that were missing.
    private func sentFolder(after: Int64) throws -> (folder: Int64, batch: Int64)? {
        try database.first(
            """
            SELECT o.folder, f.batch FROM own_counts o JOIN folders f ON f.id = o.folder
            WHERE o.folder > ?1 AND o.files > 0
            AND (o.state = \(state: .completed) OR o.state = \(state: .failed) AND EXISTS (
                SELECT 1 FROM tasks t JOIN task_details d ON d.task = t.id WHERE t.folder = o.folder AND t.state = \(state: .failed)
                AND d.cause = \(cause: .notThere)))
            ORDER BY o.folder LIMIT 1
            """, .integer(after)
        ) { (folder: $0.integer(0), batch: $0.integer(1)) }
    }
}

extension QueueReader {
    /// Completed tasks directly in a folder.
    package func completedFiles(in folder: FolderID, only task: TaskID?) throws(QueueError) -> Int64 {
        try view { view in
            try view.database.integer(
                "SELECT count(*) FROM tasks WHERE folder = ?1 AND state = \(state: .completed) AND (?2 IS NULL OR id = ?2)",
                .integer(folder.rawValue), SQLiteValue(task?.rawValue)) ?? 0
        }
    }

    /// Tasks directly in a folder that failed because their files were not there: they were looked for, too.
    package func absentFiles(in folder: FolderID, only task: TaskID? = nil) throws(QueueError) -> Int64 {
        try view { view in
            try view.database.integer(
                """
                SELECT count(*) FROM tasks t JOIN task_details d ON d.task = t.id WHERE t.folder = ?1 AND t.state = \(state: .failed)
                AND d.cause = \(cause: .notThere) AND (?2 IS NULL OR t.id = ?2)
                """, .integer(folder.rawValue), SQLiteValue(task?.rawValue)) ?? 0
        }
    }

    /// The same, one by one in the order of their numbers.
    package func absentTasks(
        in folder: FolderID, only task: TaskID?, limit: Int
    ) throws(QueueError) -> [AbsentTask] {
        try view { view in
            let place = try view.paths.place(of: folder.rawValue)
            return try view.database.rows(
                """
                SELECT t.id, t.name, d.error FROM tasks t JOIN task_details d ON d.task = t.id WHERE t.folder = ?1
                AND t.state = \(state: .failed) AND d.cause = \(cause: .notThere) AND (?2 IS NULL OR t.id = ?2)
                ORDER BY t.id LIMIT ?3
                """, .integer(folder.rawValue), SQLiteValue(task?.rawValue), .integer(Int64(limit))
            ) { row in
                AbsentTask(
                    task: TaskID(rawValue: row.integer(0)),
                    path: (place?.tree ?? RawPath("")).appending(RawPath(row.bytes(1))).displayed,
                    error: StoredJSON.value(TransferError.self, row.optionalText(2))
                        ?? TransferError(.notThere, "it was not at its server", .retry("retry sends it again")))
            }
        }
    }
}
