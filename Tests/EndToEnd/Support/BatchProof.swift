import Testing
import TransferModel

/// What has to be true of an uploaded batch whatever happened on the way, and what was already recorded at some moment of it.
struct BatchProof {
    let sandbox: Sandbox
    let tree: FileTree
    let batch: String
    /// What is at the server of it: each file by its path below the tree's folder, with its digest.
    let arrived: () throws -> [RawPath: String]
    private var recorded: [RawPath: Record] = [:]

    /// What must not change any more once a task is recorded as completed: had it been sent again, one of these would.
    private struct Record: Equatable {
        let attempts: Int64?
        let finishedAt: String?

        init(_ task: JSON) {
            attempts = task["attempts"].integer
            finishedAt = task["finishedAt"].text
        }
    }

    init(sandbox: Sandbox, tree: FileTree, batch: String, arrived: @escaping () throws -> [RawPath: String]) {
        self.sandbox = sandbox
        self.tree = tree
        self.batch = batch
        self.arrived = arrived
    }

    /// - Parameter folder: the tree's folder as it is at the server, without slashes at the ends.
    init(sandbox: Sandbox, nginx: Nginx, tree: FileTree, batch: String, folder: String) {
        self.init(sandbox: sandbox, tree: tree, batch: batch) {
            try digests(below: nginx.data.appending(RawPath(folder)))
        }
    }

    /// Waits until at least this many files are recorded as completed.
    func awaitCompleted(_ count: Int64, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try waitUntil("\(count) files of \(batch) are completed", sourceLocation: sourceLocation) {
            try (sandbox.batch(batch)["filesCompleted"].integer ?? 0) >= count
        }
    }

    /// Remembers which files are recorded as completed now: none of them may be sent again.
    mutating func remember() throws {
        for (path, task) in try tasksByPath() where task["state"].text == "completed" {
            recorded[path] = Record(task)
        }
    }

    private func tasksByPath() throws -> [RawPath: JSON] {
        let names = Dictionary(
            try digests(below: tree.root).keys.map { (tree.root.appending($0).displayed, $0) }, uniquingKeysWith: { $1 }
        )
        return try sandbox.tasks(batch).reduce(into: [:]) { found, task in
            guard let source = task["source"].text, let path = names[source] else {
                Issue.record("a task with an unknown source: \(task)")
                return
            }
            found[path] = task
        }
    }

    /// Waits for the end and looks at everything.
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let outcome = try sandbox.wait(batch)
        #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)

        let summary = try sandbox.batch(batch)
        #expect(summary["state"].text == "completed", sourceLocation: sourceLocation)
        #expect(summary["filesTotal"].integer == Int64(tree.count), sourceLocation: sourceLocation)
        #expect(summary["filesCompleted"].integer == Int64(tree.count), sourceLocation: sourceLocation)
        #expect(summary["bytesTotal"].integer == tree.bytes, sourceLocation: sourceLocation)
        #expect(summary["bytesAccepted"].integer == tree.bytes, sourceLocation: sourceLocation)

        let tasks = try sandbox.tasks(batch)
        #expect(tasks.count == tree.count, sourceLocation: sourceLocation)
        #expect(Set(tasks.compactMap { $0["id"].text }).count == tree.count, sourceLocation: sourceLocation)
        let unfinished = tasks.filter { $0["state"].text != "completed" }
        #expect(unfinished.isEmpty, sourceLocation: sourceLocation)

        try expectOneEndEach(tasks, sourceLocation)
        let (there, here) = (try arrived(), try digests(below: tree.root))
        let different = Set(there.keys).union(here.keys).filter { there[$0] != here[$0] }
            .map { "\($0.displayed): \(there[$0].map { "other bytes, \($0)" } ?? "missing")" }
        #expect(different.isEmpty, "the trees differ: \(different)", sourceLocation: sourceLocation)

        // The server's log cannot say this: what a killed engine had in flight may still arrive, long after its successor sent it again.
        let ended = try tasksByPath()
        for (path, record) in recorded {
            #expect(
                ended[path].map(Record.init) == record, "\(path) was recorded and worked on again",
                sourceLocation: sourceLocation)
        }
    }

    private func expectOneEndEach(_ tasks: [JSON], _ sourceLocation: SourceLocation) throws {
        let ends = try sandbox.events().reduce(into: [String: Int]()) { counts, event in
            if event["batch"].text == batch,
                ["taskCompleted", "taskFailed", "taskCancelled"].contains(event["type"].text ?? ""),
                let task = event["task"].text
            {
                counts[task, default: 0] += 1
            }
        }
        let ids = Set(tasks.compactMap { $0["id"].text })
        #expect(Set(ends.keys) == ids, "each task has a terminal event", sourceLocation: sourceLocation)
        #expect(ends.values.allSatisfy { $0 == 1 }, "and only one", sourceLocation: sourceLocation)
    }
}
