package import TransferModel

/// Pausing, cancelling and trying again: durable, and most of it with a number to undo it by.
extension QueueWriter {
    /// - Parameters:
    ///   - until: they go on by themselves then.
    ///   - changesEnds: what is paused already has this end from now on.
    ///   - joining: the `operation` of a change that this goes on with, as the next page of what one request means: both are taken
    ///     back together. So for every change that has it.
    package func pause(
        _ nodes: [NodeID], until: Timestamp? = nil, changesEnds: Bool = true, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.pauses.pause(nodes, until: until, changesEnds: changesEnds, joining: joining) }
    }

    /// Takes back a pause; starts a held batch, too.
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
}
