package import TransferModel

/// Forgetting what is over.
extension QueueWriter {
    /// Forgets terminal batches, which can be taken back, and tasks that have left nothing.
    /// - Parameter bare: resume points that name nothing that is left: they are forgotten with their tasks.
    package func purge(
        _ nodes: [NodeID], joining: Int64? = nil, bare: [TaskID: [UInt8]] = [:]
    ) throws(QueueError) -> NodeChange {
        try change { try store.purging.purge(nodes, joining: joining, bare: bare) }
    }

    /// The tasks among some nodes that `purge` would forget now, but for what they have left.
    package func purgeable(_ nodes: [NodeID]) throws(QueueError) -> [TaskID] {
        try look { try store.purging.purgeable(nodes) }
    }

    /// Forgets all finished batches, which can be taken back.
    package func purgeFinished() throws(QueueError) -> NodeChange {
        try change { try store.purging.purgeFinished() }
    }

    /// Puts batches that are over and without failures out of the list and into the history, which can be taken back.
    package func clear(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.purging.clear(nodes, joining: joining) }
    }

    /// All that are over, and in the list.
    package func clearFinished() throws(QueueError) -> NodeChange {
        try change { try store.purging.clearFinished() }
    }

    /// Forgets what finished so many days before this engine's start, as `forget(finishedBefore:except:)`. A clock that was years ahead then makes
    /// nothing old.
    package func forgetOld(days: Int, except kept: Set<BatchID>) throws(QueueError) {
        guard let now = store.queue.notes.surelyNow else { return }
        try forget(finishedBefore: now.advanced(by: .seconds(-86_400 * Int64(days))), except: kept)
    }

    /// Forgets batches that finished before a time, their events and their secrets, for good.
    /// - Parameter kept: stay whatever their age.
    package func forget(finishedBefore time: Timestamp, except kept: Set<BatchID> = []) throws(QueueError) {
        try change { try store.purging.forget(finishedBefore: time, except: kept) }
    }

    /// Forgets for good what was purged longer ago than the grace time and has left nothing at a server. - Returns: when the next one
    /// is due.
    package func forgetPurged(now: Timestamp) throws(QueueError) -> Timestamp? {
        try change { try store.purging.forgetPurged(now: now) }
    }
}
