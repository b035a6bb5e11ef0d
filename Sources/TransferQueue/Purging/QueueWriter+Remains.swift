package import TransferModel

/// Partial data that uploads have left at servers.
extension QueueWriter {
    /// Uploads that were broken off and whose server has not said yet how much it has, in the order of their numbers.
    package func unconfirmed(limit: Int = 1000) throws(QueueError) -> [UnconfirmedUpload] {
        try look { try store.remains.unconfirmed(limit: limit) }
    }

    /// Transfers in these states that have left something, in the order of their numbers.
    /// - Parameter claimed: those, too, that the engine has taken and may be about to go on with.
    package func remains(
        of direction: TransferDirection = .upload, in states: [TransferState], claimed: Bool = false,
        after: TaskID = TaskID(rawValue: 0), limit: Int = 500
    ) throws(QueueError) -> [Remains] {
        try look { try store.remains.remains(of: direction, in: states, claimed: claimed, after: after, limit: limit) }
    }

    /// Those of these tasks that are over and have left something, in the order of their numbers.
    package func remains(of tasks: [TaskID]) throws(QueueError) -> [Remains] {
        try look { try store.remains.remains(of: tasks) }
    }

    /// Remains of batches that were purged longer ago than the grace time.
    package func purgedRemains(
        now: Timestamp, after: TaskID = TaskID(rawValue: 0), limit: Int = 100
    ) throws(QueueError) -> [Remains] {
        try look { try store.remains.purgedRemains(now: now, after: after, limit: limit) }
    }

    /// Asks for leave to take away what a task has left. Afterwards its resume point is that; durable on return.
    /// False: its state is another one since the remains were read, because somebody goes on with it or is about to.
    package func leaveToRemove(_ remains: Remains, resumePoint: [UInt8]) throws(QueueError) -> Bool {
        try change { try store.remains.leaveToRemove(remains, resumePoint: resumePoint) }
    }

    /// Records that what a task has left is gone: there is nothing to go on from, and a retry begins anew. Durable on return.
    /// - Parameter knowledge: a resume point without parts and secrets that takes the place of the one there was.
    /// - Returns: false, as `leaveToRemove`: nothing has changed.
    @discardableResult
    package func forget(_ remains: Remains, keeping knowledge: [UInt8]? = nil) throws(QueueError) -> Bool {
        try change { try store.remains.forget(remains, keeping: knowledge) }
    }

    /// Records that nothing was left, as was guessed. Nothing happens to a task that runs, or was claimed anew since.
    package func forgetGuess(of claim: TaskClaim) throws(QueueError) {
        try change { try store.remains.forgetGuess(of: claim) }
    }
}
