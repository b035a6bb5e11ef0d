import TransferEngine
import TransferModel
import TransferQueue

/// The service's part for one life of the engine: durable in the queue first, then the engine is told, then the person has the answer.
/// As `TransferService+Changes` does it.
struct Front {
    let queue: TransferQueue
    let engine: TransferEngine

    func add(_ request: BatchRequest) async throws -> BatchID {
        let added = try await queue.writer.add(request)
        if !added.existed { await engine.batchAdded(added.batch) }
        return added.batch
    }

    @discardableResult
    func take(_ change: NodeChange) async throws -> NodeChange {
        await engine.follow(change)
        if !change.loginsGiven.isEmpty { try await queue.writer.requeueWaitingForLogin(change.loginsGiven) }
        await engine.queueChanged()
        return change
    }

    /// As `nodes.set` of the service.
    func set(_ nodes: [NodeID], _ settings: NodeSettings) async throws {
        try await take(try await queue.writer.set(nodes, settings))
    }

    /// As `nodes.set` of the service with a new login.
    func renew(_ batch: BatchID, by secrets: TransferSecrets) async throws {
        try await take(try await queue.writer.replaceSecrets(of: [.batch(batch)], by: secrets))
    }

    func retry(_ nodes: [NodeID]) async throws {
        try await take(try await queue.writer.retry(nodes))
        await engine.tryAgain()
    }

    /// As `nodes.verify` of the service, folder by folder.
    func verify(_ node: NodeID) async throws {
        var last: Int64?
        while case .folder(let folder) = try await queue.writer.folderToVerify(node, after: last) {
            let only: TaskID? = if case .task(let id) = node { id } else { nil }
            _ = try await engine.verify(folder.look, only: only)
            if only != nil { return }
            last = folder.look.folder.rawValue
        }
    }

    /// As `nodes.readBack` of the service, one file after the other.
    func readBack(_ node: NodeID) async throws {
        var last: Int64?
        while case .folder(let folder) = try await queue.writer.folderToVerify(node, after: last) {
            let only: TaskID? = if case .task(let id) = node { id } else { nil }
            let files = try await queue.reader.filesToReadBack(
                in: folder.look.folder, only: only, after: nil, limit: 100)
            for file in files { _ = try await engine.readBack(file, in: folder.look, ReadBackMeter()) }
            if only != nil { return }
            last = folder.look.folder.rawValue
        }
    }

    /// As `leftovers abort` of all that are over.
    func abortLeftovers() async throws {
        for remains in try await queue.writer.remains(in: Remains.over, limit: 500) {
            _ = await engine.remove(remains, for: .cleanup)
        }
        await engine.queueChanged()
    }

    /// As `nodes.purge`: what a single task has left goes first, or it stays.
    func purge(_ node: NodeID) async throws {
        let cleared = try await engine.clearRemains(of: [node], in: queue)
        guard cleared.kept.isEmpty else { return }
        try await take(try await queue.writer.purge([node], bare: cleared.bare))
    }
}
