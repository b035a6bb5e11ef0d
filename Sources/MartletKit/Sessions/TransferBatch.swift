public import FoundationEssentials
public import TransferModel

/// Transfers that were queued together. A handle: it holds no state and is worth as much after a restart of either side.
public struct TransferBatch: Sendable, Identifiable {
    public let id: BatchID
    /// The one that was made when it was queued.
    public let uuid: UUID
    public let connection: EngineConnection

    /// The batch at this instant.
    public var snapshot: BatchSnapshot {
        get async throws(RequestError) { try await connection.batch(id) }
    }

    /// The root of the batch's tree at this instant.
    public var progress: ProgressNode {
        get async throws(RequestError) { try await ProgressNode.current(.batch(id), on: connection) }
    }

    /// The root of the batch's tree now and whenever it changed, at most 10 times a second, until it is over.
    public func progressChanges() -> ProgressChanges { ProgressChanges(node: .batch(id), connection: connection) }

    /// Its transfers, in order, fetched page by page.
    public func tasks(states: [TransferState] = []) -> TaskSequence {
        connection.tasks(batch: id, states: states)
    }

    public func pause() async throws(RequestError) { try await connection.single(connection.pause, .batch(id)) }
    /// Takes back a pause, and starts a batch that was added `held`.
    public func resume() async throws(RequestError) { try await connection.single(connection.resume, .batch(id)) }
    public func cancel() async throws(RequestError) { try await connection.single(connection.cancel, .batch(id)) }
    /// A new run of what failed or was cancelled.
    public func retry() async throws(RequestError) { try await connection.single(connection.retry, .batch(id)) }

    /// The batch when all of it is over. Waits as long as that takes.
    public var value: BatchSnapshot {
        get async throws(RequestError) {
            _ = try await connection.wait(for: [.batch(id)], patient: true)
            return try await snapshot
        }
    }
}

/// One upload or download of one file. A handle, as ``TransferBatch``.
public struct TransferTask: Sendable {
    /// The task, or its batch when the batch has this task only.
    let node: NodeID
    public let batch: BatchID
    public let connection: EngineConnection

    /// The task at this instant; waits for the engine to have looked at the file, if it was queued just now.
    public var snapshot: TransferModel.TaskSnapshot {
        get async throws(RequestError) {
            if case .task(let id) = node { return try await connection.task(id) }
            for try await progress in ProgressChanges(node: node, connection: connection)
            where !progress.row.scanning && progress.itemCount > 0 {
                break
            }
            for try await task in connection.tasks(batch: batch) { return task }
            throw RequestError(.noSuchObject, "batch \(batch) has no task")
        }
    }

    /// Its number, unique in the queue and never used again.
    public var taskIdentifier: TaskID {
        get async throws(RequestError) { try await snapshot.id }
    }

    /// Starts or goes on: a task is suspended when it was made.
    public func resume() async throws(RequestError) { try await connection.single(connection.resume, node) }
    /// Stops for now; what was transferred is kept.
    public func suspend() async throws(RequestError) { try await connection.single(connection.pause, node) }
    public func cancel() async throws(RequestError) { try await connection.single(connection.cancel, node) }
    /// A new run of what failed or was cancelled.
    public func retry() async throws(RequestError) { try await connection.single(connection.retry, node) }

    /// The outcome, when the task is over. Waits as long as that takes.
    /// - Throws: what failed as `refused` with the message of the task's error; the snapshot has all of it.
    public var value: TransferModel.TaskSnapshot {
        get async throws(RequestError) {
            _ = try await connection.wait(for: [node], patient: true)
            let snapshot = try await snapshot
            if let error = snapshot.error, snapshot.state == .failed { throw RequestError(.refused, error.message) }
            return snapshot
        }
    }
}

extension BatchSnapshot {
    /// All of it is found, and that is one file.
    var isOneFile: Bool { !scanning && filesTotal == 1 }
}

extension EngineConnection {
    /// One action on one node; a refusal is thrown.
    nonisolated func single(
        _ action: (NodeChoice) async throws(RequestError) -> [NodeResult], _ node: NodeID
    ) async throws(RequestError) {
        guard let result = try await action(.ids([node])).first, result.result == .refused else { return }
        throw RequestError(result.code ?? .refused, result.message ?? "the engine refused it")
    }
}
