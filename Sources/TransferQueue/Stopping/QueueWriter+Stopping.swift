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

    // MARK: Attempts that were broken off

    /// Uploads to such origins that an engine was killed in, or that were taken from it before, and of which nothing says what it has left there.
    package func interruptedUploads(to origin: String) throws(QueueError) -> [Remains] {
        try look { try store.remains.interruptedUploads(to: origin) }
    }

    /// The same of downloads: a file that was made and not recorded may be in their folders.
    package func interruptedDownloads() throws(QueueError) -> [Remains] {
        try look { try store.remains.interruptedDownloads() }
    }

    /// Forgets them, once what they may have left is recorded. Durable on return, with all that was recorded before.
    /// - Parameter tasks: still to be looked after.
    package func forgetInterrupted(besides tasks: [TaskID]) throws(QueueError) {
        guard try look({ try store.remains.hasInterrupted() }) else { return }
        try change { try store.remains.forgetInterrupted(besides: tasks) }
    }

    /// Notes that all is recorded of attempts which were broken off. Durable on return, with all that was recorded before.
    package func forgetInterrupted(_ claims: [TaskClaim]) throws(QueueError) {
        try change { try store.remains.forgetInterrupted(claims) }
    }

    /// Downloads that were getting their final names when the last engine was killed. They are still claimed, so nothing has changed them
    /// since: whoever has looked whether they got these names records that they are completed, or requeues them.
    package func publishingDownloads() throws(QueueError) -> [ClaimedTask] {
        try look { try store.remains.publishingDownloads() }
    }
}
