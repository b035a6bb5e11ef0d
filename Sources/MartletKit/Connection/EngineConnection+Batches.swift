public import FoundationEssentials
import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Queues a batch; it is durable when this returns.
    ///
    /// If the answer is lost, connects again (starting an engine if allowed) and asks by the request's UUID, so the
    /// batch is queued once. An error means that nothing was queued, except `engineUnreachable` whose message names
    /// the UUID: then even that could not be found out, as when this task was cancelled before the answer came, and the same request may
    /// be made again.
    /// - Returns: the batch as it stands, and whether it was there before.
    public nonisolated func add(
        _ request: BatchRequest
    ) async throws(RequestError) -> (batch: BatchSnapshot, existed: Bool) {
        try await connect()
        if Task.isCancelled { throw Self.cancelled }
        var last = Self.lost
        for _ in 0..<3 {
            do {
                let added = try await call(Methods.batchAdd, request)
                return (added.batch, added.existed)
            } catch  where error.code == .engineUnreachable || error == Self.cancelled {
                last = error
                if Task.isCancelled { break }
            }
        }
        throw RequestError(
            .engineUnreachable,
            """
            \(last.message); whether batch \(request.uuid.uuidString.lowercased()) is queued is not known: \
            see \(quoted: .list) when the engine answers again
            """)
    }

    /// Batches: unfinished ones in the queue's order, then finished ones, the last first; at most 10,000.
    public nonisolated func batches(
        session: SessionName? = nil, states: [TransferState] = []
    ) async throws(RequestError) -> [BatchSnapshot] {
        try await call(
            Methods.batchList,
            BatchListRequest(session: session, states: states.isEmpty ? nil : states, limit: 10_000)
        ).batches
    }

    public nonisolated func batch(_ id: BatchID) async throws(RequestError) -> BatchSnapshot {
        try await call(Methods.batchShow, BatchShowRequest(batch: id)).batch
    }

    /// A batch with the AWS profile that its keys are of, for which its secrets are looked up.
    package nonisolated func batchWithKeys(_ id: BatchID) async throws(RequestError) -> BatchSnapshot {
        try await call(Methods.batchShow, BatchShowRequest(batch: id, keys: true)).batch
    }

    /// The batch that was queued with this UUID.
    public nonisolated func batch(uuid: UUID) async throws(RequestError) -> BatchSnapshot {
        try await call(Methods.batchShow, BatchShowRequest(uuid: uuid)).batch
    }

    /// A task; with its history or the server's last answer if wanted.
    public nonisolated func task(
        _ id: TaskID, history: Bool = false, response: Bool = false
    ) async throws(RequestError) -> TaskSnapshot {
        try await call(Methods.taskShow, TaskShowRequest(task: id, history: history, response: response)).task
    }

    /// The request that queues a batch's uploads again: its sources, place and options, without secrets; `like` has the engine add its
    /// login where it goes to the same server. Another UUID each time.
    public nonisolated func order(of batch: BatchID) async throws(RequestError) -> BatchRequest {
        try await call(Methods.batchOrder, BatchOrderRequest(batch: batch)).order
    }

    /// Tasks in the order of their numbers, fetched page by page while they are read.
    /// - Parameter filter: only what matches this expression, see the manual.
    public nonisolated func tasks(
        batch: BatchID? = nil, session: SessionName? = nil, states: [TransferState] = [], filter: String? = nil
    ) -> TaskSequence {
        TaskSequence(
            connection: self,
            request: TaskListRequest(
                batch: batch, session: session, states: states.isEmpty ? nil : states, filter: filter))
    }
}
