package import TransferModel

/// Changes that people ask for: durable, and most of them with a number to undo them by.
extension QueueWriter {
    /// - Parameters:
    ///   - until: they go on by themselves then.
    ///   - changesEnds: what is paused already has this end from now on.
    ///   - joining: the `operation` of a change that this goes on with, as the next page of what one request means: both are taken
    ///     back together. So for all that follow.
    package func pause(
        _ nodes: [NodeID], until: Timestamp? = nil, changesEnds: Bool = true, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.pauses.pause(nodes, until: until, changesEnds: changesEnds, joining: joining) }
    }

    /// Also starts a held batch.
    package func resume(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.pauses.resume(nodes, joining: joining) }
    }

    package func cancel(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.cancels.cancel(nodes, joining: joining) }
    }

    /// A new run of what failed or was cancelled; what waits tries again now. Of a batch or folder what was cancelled
    /// comes back only when nothing failed or waits.
    package func retry(_ nodes: [NodeID]) throws(QueueError) -> NodeChange {
        try change { try store.retries.retry(nodes) }
    }

    /// Changes the order of batches, or of what is in a batch.
    /// - Parameters:
    ///   - asOne: the tasks are one group and stand together.
    ///   - rank: `NodeChange.rank` of the group's page before.
    package func move(
        _ nodes: [NodeID], to place: MovePlace, asOne: Bool = false, rank: Int64? = nil, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.ordering.move(nodes, to: place, asOne: asOne, rank: rank, joining: joining) }
    }

    /// Changes priority, limit, time and the like of what is not over.
    package func set(
        _ nodes: [NodeID], _ settings: NodeSettings, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.settings.set(nodes, settings, joining: joining) }
    }

    /// Puts what lets batches in in the place of what did. Durable on return.
    package func renew(_ nodes: [NodeID], by secrets: TransferSecrets) throws(QueueError) -> NodeChange {
        try change { try store.renew(nodes, by: secrets) }
    }

    /// Requeues every task of these batches that waits for credentials.
    package func letIn(_ batches: [BatchID]) throws(QueueError) { try change { try store.letIn(batches) } }

    /// Lets nodes run before all others, once, in spite of times and waits.
    package func runNow(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.urgent.runNow(nodes, joining: joining) }
    }

    /// Changes that can be undone, the last one first.
    package func undoSteps(now: Timestamp) throws(QueueError) -> [UndoStep] {
        try change { try store.undoLog.undoSteps(now: now) }
    }

    /// Takes changes back that are not longer ago than the grace time; cancels that are named, for a day.
    package func undo(_ choice: UndoChoice, now: Timestamp) throws(QueueError) -> NodeChange {
        try change { try store.undo.undo(choice, now: now) }
    }

    /// Forgets terminal batches, which can be taken back, and tasks.
    package func purge(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.purging.purge(nodes, joining: joining) }
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

    /// Forgets batches that finished before a time, their events and their secrets, for good.
    /// - Parameter kept: stay whatever their age.
    package func forget(finishedBefore time: Timestamp, except kept: Set<BatchID> = []) throws(QueueError) {
        try change { try store.purging.forget(finishedBefore: time, except: kept) }
    }

    /// Sets the time during which a change can be undone; 10 s until it is set.
    package func setGraceTime(_ time: Duration) { store.undoLog.graceTime = time }

    /// Forgets for good what was purged longer ago than the grace time and has left nothing at a server. - Returns: when the next one
    /// is due.
    package func forgetPurged(now: Timestamp) throws(QueueError) -> Timestamp? {
        try change { try store.purging.forgetPurged(now: now) }
    }
}
