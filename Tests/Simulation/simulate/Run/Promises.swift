import SQLiteConnection
import TransferModel
import TransferQueue

/// What the person was told, and what must therefore be true after any kill and any power cut.
final class Promises: @unchecked Sendable {
    private let world: World
    /// As the person saw them last.
    private(set) var tasks: [TaskSnapshot] = []
    private var states: [TaskID: TransferState] = [:]
    private var batches: Set<BatchID> = []
    private var purged: Set<BatchID> = []
    /// An act is under way whose answer the person may never get: what it changes may be so or not.
    var isActing = false

    init(in world: World) { self.world = world }

    /// The person has an answer, and sees the queue.
    func told(_ tasks: [TaskSnapshot], _ found: [BatchSnapshot]) {
        self.tasks = tasks
        let present = Set(found.map(\.id))
        purged.formUnion(batches.subtracting(present))
        // Taken back, a purge is none.
        purged.subtract(present)
        batches = present
        states = [:]
        for task in tasks {
            switch task.state {
            case .paused where task.pausedUntil == nil, .cancelled, .completed, .failed: states[task.id] = task.state
            default: break
            }
        }
        isActing = false
    }

    /// Another life of the engine has opened the queue.
    func check(_ reader: QueueReader, folder: String) async throws {
        for finding in try await reader.check() {
            world.fault("after a restart the queue does not agree with itself: \(finding)")
        }
        try checkSecrets(folder)
        let present = Set(try await reader.batches().map(\.id))
        let tasks = try await reader.tasks(limit: 10_000)
        if isActing {
            // Nobody was told whether it is done.
            isActing = false
            return told(tasks, try await reader.batches())
        }
        for batch in batches.subtracting(present).sorted() { world.fault("\(batch) was queued, and is gone") }
        for batch in purged.intersection(present).sorted() { world.fault("\(batch) was purged, and is back") }
        let found = Dictionary(tasks.map { ($0.id, $0.state) }) { first, _ in first }
        for (task, state) in states.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let now = found[task]
            // The last look finds what is gone at the server.
            let isTrue = now == state || state == .completed && now == .failed
            if !isTrue { world.fault("\(task) was told to be \(state), and is \(now.map { "\($0)" } ?? "gone")") }
        }
    }

    /// As the queue has them.
    static func resumePoints(in folder: String) throws -> [String] {
        let queue = try SQLiteConnection(path: Array("\(folder)/queue.sqlite".utf8), access: .readOnly)
        return try queue.rows("SELECT resume_point FROM task_details WHERE resume_point IS NOT NULL") { $0.text(0) }
    }

    /// The secrets that batches refer to are there.
    private func checkSecrets(_ folder: String) throws {
        func open(_ name: String) throws -> SQLiteConnection? {
            let path = Array("\(folder)/\(name)".utf8)
            return SimulatedDisk.names(in: folder).contains(name)
                ? try SQLiteConnection(path: path, access: .readOnly) : nil
        }
        guard let queue = try open("queue.sqlite") else { return }
        let wanted = try queue.rows(
            """
            SELECT id, uuid FROM batches WHERE kept_secrets NOT IN ('', '[]') AND finished_at IS NULL
            AND purged_at IS NULL AND let_go_at IS NULL
            """
        ) { ($0.integer(0), $0.bytes(1)) }
        if wanted.isEmpty { return }
        guard let secrets = try open("secrets.sqlite") else {
            return world.fault("the secrets of \(wanted.count) batches are gone with their file")
        }
        for (batch, uuid) in wanted {
            let found = try secrets.integer("SELECT 1 FROM batch_secrets WHERE batch = ?", .blob(uuid))
            if found == nil { world.fault("b\(batch) refers to secrets that are gone") }
        }
    }
}
