import TransferModel
import TransferQueue

/// The positions of uploads when they were broken off; what their servers have of them is known when they go on. A value of the engine.
struct UnconfirmedUploads {
    private var uploads: [TaskID: UnconfirmedUpload] = [:]

    /// Takes over what the queue has of an earlier engine.
    mutating func adopt(_ stored: [UnconfirmedUpload]) {
        for upload in stored { uploads[upload.task] = upload }
    }

    func contains(_ task: TaskID) -> Bool { uploads[task] != nil }

    /// Bytes that were sent; `nil`: nothing is unconfirmed.
    func sent(of task: TaskID) -> Int64? { uploads[task]?.sent }

    /// Those that are shown where they stood, by task, up to as many as a snapshot tells.
    var shown: [UnconfirmedUpload] {
        let stopped = uploads.values.filter { $0.shown != nil }
        return Array(stopped.sorted { $0.task < $1.task }.prefix(LiveSnapshot.mostUnconfirmed))
    }

    /// An upload is broken off where it stands.
    /// - Parameter isStopped: by a person or the engine's end; it is shown to stand there until its server has said otherwise.
    /// - Returns: bytes sent, by this attempt or one before.
    mutating func breakOff(_ task: ClaimedTask, at position: Int64, isStopped: Bool) -> Int64 {
        let before = uploads[task.id]
        let sent = max(position, before?.sent ?? 0)
        // An earlier attempt was broken off, too, and its server has said nothing since: the upload is shown where it was shown then.
        let shown = before.map(\.shown) ?? position
        uploads[task.id] = UnconfirmedUpload(
            task: task.id, batch: task.batch, folder: task.folder, sent: sent, shown: isStopped ? shown : nil)
        return sent
    }

    /// From here on the confirmed position is shown.
    mutating func showConfirmed(_ task: TaskID) { uploads[task]?.shown = nil }

    /// Bytes that were sent, whose fate is known now; `nil`: nothing was unconfirmed.
    mutating func take(_ task: TaskID) -> Int64? { uploads.removeValue(forKey: task)?.sent }

    mutating func forget(_ task: TaskID) { uploads[task] = nil }

    mutating func forget(_ batches: Set<BatchID>) {
        if !batches.isEmpty { uploads = uploads.filter { !batches.contains($0.value.batch) } }
    }
}
