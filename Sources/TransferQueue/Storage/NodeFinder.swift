import SQLiteConnection
import TransferModel

/// A node that exists.
enum NodeTarget {
    case batch(BatchID, root: Int64)
    case folder(BatchID, Int64, path: RawPath)
    case task(TaskRow)

    var batch: BatchID {
        switch self {
        case .batch(let batch, _), .folder(let batch, _, _): batch
        case .task(let row): row.batch
        }
    }

    /// The folder with everything of it, a batch's root included; `nil`: it is a task.
    var folder: Int64? {
        switch self {
        case .batch(_, let folder), .folder(_, let folder, _): folder
        case .task: nil
        }
    }
}

/// Finds the nodes that people name, and says why nothing can be done with one.
struct NodeFinder: QueueSubject {
    let queue: QueueConnection
    let counters: CounterStore
    let tasks: TaskStore

    /// `nil`: there is no such node, or a person has forgotten its batch.
    func target(_ node: NodeID) throws -> NodeTarget? {
        let found: NodeTarget? =
            switch node {
            case .batch(let batch):
                try database.integer("SELECT root FROM batches WHERE id = ?", .integer(batch.rawValue)).map {
                    .batch(batch, root: $0)
                }
            case .folder(let batch, let path):
                try paths.folder(path, in: batch).map { .folder(batch, $0, path: path) }
            case .task(let id):
                try tasks.task(id).map { .task($0) }
            }
        guard let found else { return nil }
        let isPurged = try database.integer(
            "SELECT 1 FROM batches WHERE id = ? AND purged_at IS NOT NULL", .integer(found.batch.rawValue))
        return isPurged == nil ? found : nil
    }

    private func absence(of node: NodeID) throws -> Advice {
        if case .folder(let batch, let path) = node, let name = path.components.last {
            let parent = path.components.dropLast().reduce(RawPath("")) { $0.appending($1) }
            let file = try paths.folder(parent, in: batch).flatMap { folder in
                try database.integer(
                    "SELECT id FROM tasks WHERE folder = ? AND name = ? LIMIT 1", .integer(folder), .blob(name.bytes))
            }
            if let file { return "\(node) is a file: call it \(TaskID(rawValue: file))" }
        }
        return "there is no \(node): \(quoted: .list) shows what there is"
    }

    /// Does `body` for each node that exists and gathers what became of it.
    func forEach(
        _ nodes: [NodeID], _ body: (NodeID, NodeTarget, inout NodeChange) throws -> NodeResult
    ) throws -> NodeChange {
        var nodeChange = NodeChange()
        for node in nodes {
            guard let target = try target(node) else {
                nodeChange.results.append(NodeResult(id: node, refused: .noSuchObject, try absence(of: node)))
                continue
            }
            nodeChange.results.append(try body(node, target, &nodeChange))
        }
        return nodeChange
    }

    func refused(_ node: NodeID, _ advice: Advice) -> NodeResult {
        NodeResult(id: node, refused: .refused, advice)
    }

    /// Returns true when every task below a folder is over and the batch is not being walked any more.
    func isOver(folder: Int64, in batch: BatchID) throws -> Bool {
        try !isScanning(batch) && areTasksOver(below: folder)
    }

    /// Returns true while files of a batch may still be found.
    func isScanning(_ batch: BatchID) throws -> Bool {
        try database.integer("SELECT scanning FROM batches WHERE id = ?", .integer(batch.rawValue)) == 1
    }

    /// Returns true when every task that is known below a folder is over.
    func areTasksOver(below folder: Int64) throws -> Bool {
        try counters.write()
        let sums = try database.first(
            "SELECT \(FolderSums.list) FROM folders WHERE id = ?", .integer(folder)
        ) { FolderSums($0) }
        return sums?.files.total == sums?.files.terminal
    }

    /// Refuses what comes too late: all bytes are here, and the file is a moment from its final name.
    func tooLate(_ node: NodeID) -> NodeResult {
        refused(node, "\(node) is getting its final name at this moment: look again")
    }
}
