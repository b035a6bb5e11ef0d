package import TransferModel

/// Data that a task which is over has left at a server.
package struct Remains: Sendable {
    /// Not claimed: only what is known of it.
    package var task: ClaimedTask
    /// Its state when this was read.
    package var state: TransferState
    /// As `LaneSummary.origin`.
    package var origin: String
    package var finishedAt: Timestamp?
}

/// An upload that was broken off, and how far it had come: what of it arrived, its server says when it goes on.
package struct UnconfirmedUpload: Sendable, Hashable {
    package var task: TaskID
    package var batch: BatchID
    /// The folder that the file lies in directly.
    package var folder: FolderID
    /// Bytes from the file's beginning.
    package var sent: Int64
    /// Position in bytes that is shown until its server has said it: where it stood when a person or the engine's end stopped it. `nil`:
    /// the confirmed position, for it broke off by itself.
    package var shown: Int64?

    package init(task: TaskID, batch: BatchID, folder: FolderID, sent: Int64, shown: Int64?) {
        self.task = task
        self.batch = batch
        self.folder = folder
        self.sent = sent
        self.shown = shown
    }
}
