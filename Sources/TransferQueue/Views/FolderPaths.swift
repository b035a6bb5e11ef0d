import SQLiteConnection
import TransferModel

/// Paths of folders: in the batch, on this machine and at the other end. Remembers what it looked up, so it lives for
/// one transaction.
final class FolderPaths {
    struct Place: Hashable {
        let batch: BatchID
        /// In the batch's tree, without slashes at the ends; empty at the root.
        let tree: RawPath
        /// The local directory; `nil` where several sources meet.
        let local: SourcePlace?
        /// Below the batch's destination.
        let remote: RawPath
        /// By its own flag or that of a folder above.
        let isPaused: Bool
        /// Folders from here to the root, this one first.
        let chain: [FolderID]
        /// Those of them whose own flag is set.
        let pausedBy: [RawPath]
        /// Priority, and below it rank, of tasks that are found in it: those of the nearest folder that has one.
        let priority: Int64?
        let rank: Int64?
    }

    private let database: SQLiteConnection
    private var known: [Int64: Place] = [:]

    init(_ database: SQLiteConnection) { self.database = database }

    /// `nil`: there is no such folder.
    func place(of folder: Int64) throws -> Place? {
        if let place = known[folder] { return place }
        if known.count > 4096 { known = [:] }
        let found = try database.first(
            """
            SELECT f.batch, f.parent, f.name, f.hidden, f.paused, s.path, f.priority, f.rank
            FROM folders f LEFT JOIN sources s ON s.id = f.source WHERE f.id = ?
            """, .integer(folder)
        ) { row in
            (
                batch: BatchID(rawValue: row.integer(0)), parent: row.optionalInteger(1), name: RawPath(row.bytes(2)),
                isHidden: row.integer(3) != 0, isPaused: row.integer(4) != 0,
                source: row.optionalBytes(5).map { RawPath($0) }, priority: row.optionalInteger(6),
                rank: row.optionalInteger(7)
            )
        }
        guard let found else { return nil }
        let above: Place? = if let parent = found.parent { try self.place(of: parent) } else { nil }
        let tree = above?.tree.appending(found.name) ?? RawPath("")
        let remote = above?.remote ?? RawPath("")
        let place = Place(
            batch: found.batch, tree: tree,
            local: found.source.map { SourcePlace(named: $0) } ?? above?.local?.appending(found.name),
            remote: found.isHidden || above == nil ? remote : remote.appending(found.name),
            isPaused: found.isPaused || above?.isPaused == true,
            chain: [FolderID(rawValue: folder)] + (above?.chain ?? []),
            pausedBy: (found.isPaused ? [tree] : []) + (above?.pausedBy ?? []),
            priority: found.priority ?? above?.priority, rank: found.rank ?? above?.rank)
        known[folder] = place
        return place
    }

    func isPaused(_ folder: Int64) throws -> Bool { try place(of: folder)?.isPaused == true }

    /// The folders of a batch whose files lie in one folder of the server. Several sources may fill it: hidden folders, which lie in the root,
    /// have no name there.
    func folders(remote names: [RawPath], below root: Int64) throws -> [Int64] {
        var found =
            try [root]
            + database.rows("SELECT id FROM folders WHERE parent = ? AND hidden = 1", .integer(root)) { $0.integer(0) }
        for name in names {
            found = try found.flatMap { parent in
                try database.rows(
                    "SELECT id FROM folders WHERE parent = ? AND name = ? AND hidden = 0", .integer(parent),
                    .blob(name.bytes)
                ) { $0.integer(0) }
            }
        }
        return found
    }

    /// The folder at a path of a batch.
    func folder(_ path: RawPath, in batch: BatchID) throws -> Int64? {
        var folder = try database.integer("SELECT root FROM batches WHERE id = ?", .integer(batch.rawValue))
        for name in path.components {
            guard let parent = folder else { return nil }
            folder = try database.integer(
                "SELECT id FROM folders WHERE parent = ? AND name = ? LIMIT 1", .integer(parent), .blob(name.bytes))
        }
        return folder
    }
}
