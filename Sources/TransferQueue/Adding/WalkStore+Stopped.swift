import SQLiteConnection
import TransferModel

/// The walks that a cancel stops, and that a retry or an undo takes up again.
///
/// Each cancel leaves a mark of its own, a number above 0, on what it stops: `folders.walk` becomes `-(mark << 32 | source)`, and
/// `sources.progress` becomes `3 + 2 * mark` where the source was new, `4 + 2 * mark` where it was being walked. An undo takes up what
/// bears the mark of its cancel, so that other cancels stand. Versions without marks left the mark 0. A folder that was cancelled and is
/// listed itself has the mark without a source, so that it is known which cancel named it.
extension WalkStore {
    /// Stops the listing below a folder, or (`nil`) in the whole batch.
    /// - Returns: the mark; `nil`: nothing was left to be listed.
    func stopWalks(_ batch: BatchID, below top: Int64?) throws -> Int64? {
        let isScanning = try database.integer("SELECT scanning FROM batches WHERE id = ?", .integer(batch.rawValue))
        guard isScanning == 1 else { return nil }
        let mark = queue.numbers.operation
        let stop = "UPDATE folders SET walk = -(walk | (?2 << 32)) WHERE"
        var count: Int64
        if let top {
            let below = TaskSets.below("?1")
            try database.run("\(stop) walk > 0 AND id IN (\(below))", .integer(top), .integer(mark))
            count = database.changes
            if count > 0 {
                try database.run(
                    "UPDATE folders SET walk = -(?2 << 32) WHERE id = ?1 AND walk IS NULL", .integer(top),
                    .integer(mark))
            }
        } else {
            try database.run(
                "\(stop) walk IN (SELECT id FROM sources WHERE batch = ?1)", .integer(batch.rawValue), .integer(mark))
            count = database.changes
            try database.run(
                "UPDATE sources SET progress = progress + 3 + 2 * ?2 WHERE batch = ?1 AND progress < \(progress: .done)",
                .integer(batch.rawValue), .integer(mark))
            count += database.changes
            try database.run(
                "UPDATE batches SET scanning = ? WHERE id = ?", .integer(ListingState.cutShort.rawValue),
                .integer(batch.rawValue))
        }
        if count == 0 { return nil }
        // No operation and no other mark gets this number.
        queue.numbers.operation += 1
        return mark
    }

    /// The marks of the cancels that named a folder, one that it is in, or the whole batch, and not only something in it.
    /// - Parameter folder: `nil`: the whole batch.
    func marksOfCancels(of batch: BatchID, folder: Int64?) throws -> [Int64] {
        var marks = try database.rows(
            "SELECT DISTINCT (progress - 3) >> 1 FROM sources WHERE batch = ? AND progress > \(progress: .done)",
            .integer(batch.rawValue)
        ) { $0.integer(0) }
        guard let folder else { return Array(marks.sorted().suffix(1)) }
        marks += try database.rows(
            """
            WITH RECURSIVE above (id, parent, walk) AS (
                SELECT id, parent, walk FROM folders WHERE id = ?
                UNION ALL SELECT f.id, f.parent, f.walk FROM above JOIN folders f ON f.id = above.parent
            )
            SELECT (-walk) >> 32 FROM above WHERE walk < 0
            """, .integer(folder)
        ) { $0.integer(0) }
        return Set(marks).sorted()
    }

    /// True of a folder that was being listed, or was to be, when a cancel stopped that.
    static let isUnlisted = "(walk < 0 AND (-walk) & 4294967295 <> 0)"

    /// Lets stopped walks below a folder go on from what the queue has. The caller settles the batch's sets.
    /// - Parameters:
    ///   - isWhole: the folder is the batch's root, so that sources nobody has looked at yet belong to it.
    ///   - mark: of the cancel that stopped them; `nil`: any.
    /// - Returns: whether there were such walks. If so, the engine has to be told (`NodeChange.walked`).
    func takeUpWalks(_ batch: BatchID, below top: Int64, isWhole: Bool, mark: Int64? = nil) throws -> Bool {
        try database.run(
            """
            UPDATE folders SET walk = NULL WHERE walk < 0 AND NOT \(Self.isUnlisted)
            AND (?2 IS NULL OR ((-walk) >> 32) = ?2) AND id IN (\(TaskSets.below("?1")))
            """, .integer(top), SQLiteValue(mark))
        try database.run(
            """
            UPDATE folders SET walk = (-walk) & 4294967295
            WHERE walk < 0 AND (?2 IS NULL OR ((-walk) >> 32) = ?2) AND id IN (\(TaskSets.below("?1")))
            """, .integer(top), SQLiteValue(mark))
        var count = database.changes
        if isWhole {
            try database.run(
                """
                UPDATE sources SET progress = (progress - 3) & 1
                WHERE batch = ?1 AND progress > \(progress: .done) AND (?2 IS NULL OR ((progress - 3) >> 1) = ?2)
                """, .integer(batch.rawValue), SQLiteValue(mark))
            count += database.changes
        }
        if count == 0 { return false }
        // Listings that were broken off begin again.
        queue.notes.walkedHere = []
        // A source is walked while one of its folders is, even one that was done, or whose other folders stay cancelled.
        try database.run(
            """
            UPDATE sources SET progress = \(progress: .walking) WHERE batch = ? AND progress <> \(progress: .walking)
            AND EXISTS (SELECT 1 FROM folders WHERE walk = sources.id)
            """, .integer(batch.rawValue))
        try database.run("UPDATE batches SET scanning = 1 WHERE id = ?", .integer(batch.rawValue))
        queue.touched.insert(batch)
        return true
    }
}
