import ServiceWire
package import TransferModel

extension EngineConnection {
    /// The first tasks of a batch in the order of their numbers, for what can be said of it as a whole: as many as ``NamedSources``
    /// looks at.
    package nonisolated func firstTasks(of batch: BatchID) async throws(RequestError) -> [TaskSnapshot] {
        try await call(Methods.taskList, TaskListRequest(batch: batch, limit: NamedSources.sample)).tasks
    }
}
