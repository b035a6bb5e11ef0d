package import TransferModel

/// Taking changes back.
extension QueueWriter {
    /// Sets the time during which a change can be undone; 10 s until it is set.
    package func setGraceTime(_ time: Duration) { store.undoLog.graceTime = time }

    /// The batches of which a cancel can still be taken back with all that had arrived, and until when: before that nothing of their cancelled
    /// files may go.
    package func endsOfCancels(now: Timestamp) throws(QueueError) -> [BatchID: Timestamp] {
        try look { try store.undoLog.endsOfCancels(now) }
    }

    /// Changes that can be undone, the last one first.
    package func undoSteps(now: Timestamp) throws(QueueError) -> [UndoStep] {
        try change { try store.undoLog.undoSteps(now: now) }
    }

    /// Takes changes back that are not longer ago than the grace time; cancels that are named, for a day.
    package func undo(_ choice: UndoneChange, now: Timestamp) throws(QueueError) -> NodeChange {
        try change { try store.undo.undo(choice, now: now) }
    }
}
