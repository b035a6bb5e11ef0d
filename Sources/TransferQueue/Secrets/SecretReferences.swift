import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Secrets that rows begin or cease to refer to with the open transaction: the first are written before its commit, the others removed
/// after it.
struct SecretReferences: QueueSubject {
    let queue: QueueConnection
    private let secrets: SecretStore

    init(_ queue: QueueConnection, secrets: SecretStore) {
        self.queue = queue
        self.secrets = secrets
    }

    // MARK: With the transaction

    /// Writes the new secrets. Before the rows that refer to them are committed.
    func write() throws {
        try secrets.write(handles: queue.notes.handles)
        queue.notes.handles = []
    }

    /// Secrets that nothing refers to any more: after the commit, because rows may not refer to what is gone. What is left by a crash in between goes at the next start.
    func removeOrphans() throws(QueueError) {
        do {
            try secrets.remove(queue.notes.orphans)
            queue.notes.orphans = []
        } catch {
            throw QueueError(error)
        }
    }

    // MARK: In the transaction

    /// Notes that rows refer to a secret no more.
    func orphan(_ orphan: SecretStore.Orphan) { queue.notes.orphans.append(orphan) }

    func uuid(of batch: BatchID) throws -> UUID? {
        try database.first("SELECT uuid FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            UUID(bytes: $0.bytes(0))
        } ?? nil
    }

    func dropResumePoint(_ details: inout TaskDetails, of row: TaskRow) throws {
        guard details.resumePoint != nil else { return }
        details.resumePoint = nil
        queue.notes.handles.removeAll { $0.task == row.id }
        if secrets.hasHandles, let uuid = try uuid(of: row.batch) {
            queue.notes.orphans.append(.handles(row.id, uuid, before: details.handle + 1))
        }
    }

    /// Gives a resume point's secret a number of its own: until the row that refers to it is committed, the one before counts.
    func keep(_ secret: String, _ details: inout TaskDetails, of row: TaskRow) throws {
        guard let uuid = try uuid(of: row.batch) else { return }
        let pending = queue.notes.handles.last { $0.task == row.id }?.secret
        if pending == secret { return }
        if pending == nil, try secrets.handle(of: row.id, batch: uuid, number: details.handle) == secret {
            // A restart in the same transaction gave it up; it is needed on.
            queue.notes.orphans.removeAll { $0 == .handles(row.id, uuid, before: details.handle + 1) }
            return
        }
        queue.notes.handles.removeAll { $0.task == row.id }
        details.handle += 1
        queue.notes.handles.append(
            SecretStore.Handle(batch: uuid, task: row.id, number: details.handle, secret: secret))
        queue.notes.orphans.append(.handles(row.id, uuid, before: details.handle))
    }
}
