import SQLiteConnection
import TransferModel

@testable import TransferQueue

/// A queue in a directory of its own, with short words for what people change and take back.
struct ChangeBench {
    let sandbox: Sandbox
    let queue: TransferQueue

    init() throws {
        sandbox = try Sandbox()
        queue = try sandbox.open()
    }

    /// Fails when the queue's counters are not those of its rows.
    func close() async throws {
        let findings = try await queue.reader.check()
        try await queue.close()
        guard findings.isEmpty else { throw Failure(text: "\(findings)") }
    }

    struct Failure: Error { let text: String }

    var now: Timestamp { sandbox.clock.now }

    /// Time in seconds from now; 100 is later than all that happens in a test.
    func later(_ seconds: Int) -> Timestamp { now.advanced(by: .seconds(seconds)) }

    func task(_ number: Int64) -> NodeID { .task(TaskID(rawValue: number)) }

    // MARK: Changes

    @discardableResult
    func set(_ nodes: NodeID..., to settings: NodeSettings) async throws -> Int64 {
        try done(try await queue.writer.set(nodes, settings))
    }

    /// Gives nodes a time, in seconds from now, before which they may not run.
    @discardableResult
    func delay(_ nodes: NodeID..., by seconds: Int) async throws -> Int64 {
        try done(try await queue.writer.set(nodes, NodeSettings(notBefore: later(seconds))))
    }

    /// - Parameter joining: this is another page of that change; so for all that follow.
    @discardableResult
    func prefer(_ nodes: NodeID..., as priority: TransferPriority, joining: Int64? = nil) async throws -> Int64 {
        try done(try await queue.writer.set(nodes, NodeSettings(priority: priority), joining: joining))
    }

    @discardableResult
    func runNow(_ nodes: NodeID..., joining: Int64? = nil) async throws -> Int64 {
        try done(try await queue.writer.runNow(nodes, joining: joining))
    }

    @discardableResult
    func cancel(_ nodes: NodeID..., joining: Int64? = nil) async throws -> Int64 {
        try done(try await queue.writer.cancel(nodes, joining: joining))
    }

    @discardableResult
    func move(_ nodes: NodeID..., to place: MovePlace) async throws -> Int64 {
        try done(try await queue.writer.move(nodes, to: place))
    }

    /// - Parameter seconds: from now, when it goes on by itself.
    @discardableResult
    func pause(_ nodes: NodeID..., until seconds: Int? = nil) async throws -> Int64 {
        try done(try await queue.writer.pause(nodes, until: seconds.map { later($0) }))
    }

    @discardableResult
    func resume(_ nodes: NodeID...) async throws -> Int64 { try done(try await queue.writer.resume(nodes)) }

    // MARK: Taking back

    /// Takes a whole change back.
    @discardableResult
    func undo(_ operation: Int64) async throws -> NodeChange { try await undo(.operation(operation)) }

    /// Takes the last change of each of these nodes back, which may be a part of one.
    @discardableResult
    func undo(_ nodes: NodeID...) async throws -> NodeChange { try await undo(.nodes(nodes)) }

    @discardableResult
    func undoLast() async throws -> NodeChange { try await undo(.last) }

    private func undo(_ choice: UndoneChange) async throws -> NodeChange {
        let change = try await queue.writer.undo(choice, now: now)
        guard change.undone != nil else { throw Failure(text: "nothing was taken back: \(change.results)") }
        _ = try done(change)
        return change
    }

    private func done(_ change: NodeChange) throws -> Int64 {
        guard change.results.allSatisfy({ $0.result == .done }) else { throw Failure(text: "\(change.results)") }
        return change.operation ?? 0
    }

    // MARK: Looking

    /// The times of the tasks 1, 2 … in seconds from now; `nil`: it has none of its own.
    func delays() async throws -> [Int?] {
        try await queue.reader.tasks(limit: 100).map { task in
            guard task.waitReasons.contains(.notBefore), let time = task.retryAt else { return nil }
            return Int((time.milliseconds - now.milliseconds) / 1000)
        }
    }

    func states() async throws -> [TransferState] { try await queue.reader.tasks(limit: 100).map(\.state) }

    /// Priorities of the tasks 1, 2 …
    func priorities() async throws -> [TransferPriority] { try await queue.reader.tasks(limit: 100).map(\.priority) }

    /// A pause of a node itself.
    enum Pause: Equatable {
        case endless
        /// In seconds from now.
        case until(Int)
    }

    /// `nil`: it is not paused by itself.
    func pause(of node: NodeID) async throws -> Pause? {
        let database = try sandbox.database()
        let isPaused: String
        switch node {
        case .batch(let batch): isPaused = "SELECT paused FROM batches WHERE id = \(batch.rawValue)"
        case .task(let task): isPaused = "SELECT flags & \(flags: .paused) FROM tasks WHERE id = \(task.rawValue)"
        case .folder(let batch, let path):
            guard let name = path.components.last else { return nil }
            let hex = name.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            isPaused = "SELECT paused FROM folders WHERE batch = \(batch.rawValue) AND name = x'\(hex)'"
        }
        let ends = try database.rows("SELECT at FROM pause_ends WHERE node = ?", .text(try StoredJSON.text(node))) {
            $0.integer(0)
        }
        guard try database.integer(isPaused) ?? 0 != 0 else {
            guard ends.isEmpty else { throw Failure(text: "\(node) is not paused, and has an end of its pause") }
            return nil
        }
        return ends.first.map { .until(Int(($0 - now.milliseconds) / 1000)) } ?? .endless
    }

    func isHeld(_ node: NodeID) throws -> Bool {
        guard case .batch(let batch) = node else { return false }
        return try sandbox.database().integer("SELECT held FROM batches WHERE id = \(batch.rawValue)") == 1
    }

    /// The tasks of a batch that stand in line, or will when they go on, in their order.
    func line(of batch: BatchID) throws -> [Int64] {
        try sandbox.database().rows(
            """
            SELECT t.id FROM tasks t JOIN lanes l ON l.id = t.lane
            WHERE l.batch = ? AND t.state IN (\(states: [.queued, .waiting, .paused])) ORDER BY ifnull(t.rank, t.id << 24), t.id
            """, .integer(batch.rawValue)
        ) { $0.integer(0) }
    }

    /// The tasks that stand before all others because a person wants them now.
    func wantedNow() throws -> [Int64] {
        try sandbox.database().rows(
            "SELECT t.id FROM tasks t JOIN lanes l ON l.id = t.lane WHERE l.priority = \(LanePriority.now) ORDER BY t.id"
        ) { $0.integer(0) }
    }
}
