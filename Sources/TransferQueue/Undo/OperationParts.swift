import SQLiteConnection
import TransferModel

/// The steps of changes that are taken back, as far as they stand. Several of one page may be of the same task, as of a file and its folder:
/// what was so of the task before the page is put back when the last of these goes.
///
/// For one undo, which tells it of each step that goes.
final class OperationParts {
    /// Steps of one page of a change, counted by what they are of.
    private struct Nodes {
        var steps = 0
        /// By the folders in which they lie.
        var tasks: [Int64: [Int64: Int]] = [:]
        var folders: [Int64: Int] = [:]
        /// The root folders of batches.
        var roots: [Int64: Int] = [:]
    }

    /// The state of a task that a change notes.
    enum Noted {
        /// Its lane or its place. A step of a batch changes those of none of its tasks.
        case place
        /// The time of its own.
        case time
    }

    private var pages: [Int64: Nodes] = [:]
    /// The nodes of the steps that were added; `nil`: there is none any more.
    private var targets: [Int64: NodeTarget?] = [:]
    /// A folder and those above it.
    private var above: [Int64: [Int64]] = [:]

    /// Adds a step of a page that has several.
    func add(_ step: UndoneStep, _ target: NodeTarget?) {
        targets[step.row] = .some(target)
        count(step, target, 1)
    }

    /// The step goes; one that was not added is the only one of its page.
    func remove(_ step: UndoneStep) {
        if let target = targets.removeValue(forKey: step.row) { count(step, target, -1) }
    }

    private func count(_ step: UndoneStep, _ target: NodeTarget?, _ one: Int) {
        func count(_ id: Int64, _ counts: inout [Int64: Int]) {
            let sum = (counts[id] ?? 0) + one
            counts[id] = sum > 0 ? sum : nil
        }
        pages[step.page.number, default: Nodes()].steps += one
        switch target {
        case .task(let row):
            count(row.id.rawValue, &pages[step.page.number, default: Nodes()].tasks[row.folder, default: [:]])
        case .folder(_, let folder, _): count(folder, &pages[step.page.number, default: Nodes()].folders)
        case .batch(_, let root): count(root, &pages[step.page.number, default: Nodes()].roots)
        case nil: break
        }
    }

    /// Rows of `undo_tasks` that go with a step that has been removed; `nil`: none.
    func records(
        of step: UndoneStep, _ target: NodeTarget, _ noted: Noted, in database: SQLiteConnection
    ) throws -> UndoRecords? {
        let page = SQLiteValue.integer(step.page.number)
        guard let others = pages[step.page.number], others.steps > 0 else {
            // A group of files is one step, by the name of its first: the last step takes all that is left.
            return UndoRecords(condition: "page = ?1", values: [page])
        }
        func isPart(_ folder: Int64) -> Bool {
            others.folders[folder] != nil || noted == .time && others.roots[folder] != nil
        }
        func isCovered(_ folder: Int64) throws -> Bool {
            if others.folders.isEmpty, others.roots.isEmpty { return false }
            return try above(folder, in: database).contains { isPart($0) }
        }
        switch target {
        case .task(let row):
            if try others.tasks[row.folder]?[row.id.rawValue] != nil || isCovered(row.folder) { return nil }
            return UndoRecords(
                condition: "page = ?1 AND task = ?2", values: [page, .integer(row.id.rawValue)])
        case .folder(_, let folder, _), .batch(_, let folder):
            if try isCovered(folder) { return nil }
            let below = try database.rows(TaskSets.below("?"), .integer(folder)) { $0.integer(0) }
            let tasks = below.flatMap { others.tasks[$0].map { Array($0.keys) } ?? [] }
            return UndoRecords(
                condition: """
                    page = ?1 AND task NOT IN (SELECT value FROM json_each(?3))
                    AND task IN (SELECT id FROM tasks WHERE folder IN (WITH RECURSIVE below (id) AS (VALUES (?2)
                    UNION ALL SELECT f.id FROM folders f JOIN below ON f.parent = below.id
                    WHERE f.id NOT IN (SELECT value FROM json_each(?4))) SELECT id FROM below))
                    """,
                values: [
                    page, .integer(folder), .text(try StoredJSON.text(tasks)),
                    .text(try StoredJSON.text(below.filter { isPart($0) })),
                ])
        }
    }

    /// A folder and those above it.
    func above(_ folder: Int64, in database: SQLiteConnection) throws -> [Int64] {
        if let known = above[folder] { return known }
        let found = try database.rows(
            """
            WITH RECURSIVE above (id, parent) AS (SELECT id, parent FROM folders WHERE id = ?
            UNION ALL SELECT f.id, f.parent FROM above JOIN folders f ON f.id = above.parent) SELECT id FROM above
            """, .integer(folder)
        ) { $0.integer(0) }
        above[folder] = found
        return found
    }
}

/// Rows of `undo_tasks`.
struct UndoRecords {
    let condition: String
    let values: [SQLiteValue]
}
