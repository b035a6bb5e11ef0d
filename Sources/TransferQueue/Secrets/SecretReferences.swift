import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Secrets that rows begin or cease to refer to with the open transaction: the first are written before its commit, the others removed
/// after it.
final class SecretReferences: QueueSubject {
    let queue: QueueConnection
    private let secrets: SecretStore
    /// Secrets that lose their last row with the open transaction.
    private var orphans: [SecretStore.Orphan] = []
    /// Secrets of this transaction's resume points, for the secrets store.
    private var handles: [SecretStore.Handle] = []

    init(_ queue: QueueConnection, secrets: SecretStore) {
        self.queue = queue
        self.secrets = secrets
    }

    // MARK: With the transaction

    /// Writes the new secrets. Before the rows that refer to them are committed.
    func write() throws {
        try secrets.write(handles: handles)
        handles = []
    }

    /// Forgets what a transaction gathered that was rolled back.
    func rollBack() {
        orphans = []
        handles = []
    }

    /// Secrets that nothing refers to any more: after the commit, because rows may not refer to what is gone. What is left by a crash in between goes at the next start.
    func removeOrphans() throws(QueueError) {
        do {
            try secrets.remove(orphans)
            orphans = []
        } catch {
            throw QueueError(error)
        }
    }

    // MARK: In the transaction

    /// Notes that rows refer to a secret no more.
    func orphan(_ orphan: SecretStore.Orphan) { orphans.append(orphan) }

    func uuid(of batch: BatchID) throws -> UUID? {
        try database.first("SELECT uuid FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            UUID(bytes: $0.bytes(0))
        } ?? nil
    }

    func dropResumePoint(_ details: inout TaskDetails, of row: TaskRow) throws {
        guard details.resumePoint != nil else { return }
        details.resumePoint = nil
        handles.removeAll { $0.task == row.id }
        if secrets.hasHandles, let uuid = try uuid(of: row.batch) {
            orphans.append(.handles(row.id, uuid, before: details.handle + 1))
        }
    }

    /// Gives a resume point's secret a number of its own: until the row that refers to it is committed, the one before counts.
    func keep(_ secret: String, _ details: inout TaskDetails, of row: TaskRow) throws {
        guard let uuid = try uuid(of: row.batch) else { return }
        let pending = handles.last { $0.task == row.id }?.secret
        if pending == secret { return }
        if pending == nil, try secrets.handle(of: row.id, batch: uuid, number: details.handle) == secret {
            // A restart in the same transaction gave it up; it is needed on.
            orphans.removeAll { $0 == .handles(row.id, uuid, before: details.handle + 1) }
            return
        }
        handles.removeAll { $0.task == row.id }
        details.handle += 1
        handles.append(SecretStore.Handle(batch: uuid, task: row.id, number: details.handle, secret: secret))
        orphans.append(.handles(row.id, uuid, before: details.handle))
    }
}
