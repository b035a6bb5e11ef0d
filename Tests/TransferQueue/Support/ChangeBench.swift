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

    @discardableResult
    func runNow(_ nodes: NodeID...) async throws -> Int64 { try done(try await queue.writer.runNow(nodes)) }

    @discardableResult
    func cancel(_ nodes: NodeID...) async throws -> Int64 { try done(try await queue.writer.cancel(nodes)) }

    @discardableResult
    func move(_ nodes: NodeID..., to place: MovePlace) async throws -> Int64 {
        try done(try await queue.writer.move(nodes, to: place))
    }

    // MARK: Taking back

    /// Takes a whole change back.
    @discardableResult
    func undo(_ operation: Int64) async throws -> NodeChange { try await undo(.operation(operation)) }

    /// Takes the last change of each of these nodes back, which may be a part of one.
    @discardableResult
    func undo(_ nodes: NodeID...) async throws -> NodeChange { try await undo(.nodes(nodes)) }

    @discardableResult
    func undoLast() async throws -> NodeChange { try await undo(.last) }

    private func undo(_ choice: UndoChoice) async throws -> NodeChange {
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

    /// The tasks that stand before all others because a person wants them now.
    func wantedNow() throws -> [Int64] {
        try sandbox.database().rows(
            "SELECT t.id FROM tasks t JOIN lanes l ON l.id = t.lane WHERE l.priority = \(LanePriority.now) ORDER BY t.id"
        ) { $0.integer(0) }
    }
}
