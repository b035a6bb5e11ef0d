package import FoundationEssentials
package import TransferModel

/// Queueing, and looking through folders.
extension QueueWriter {
    /// Queues a batch: all of it, durably, or nothing. A request whose UUID is known returns the batch that is there.
    package func add(_ request: BatchRequest) throws(QueueError) -> AddedBatch {
        try change { try store.adding.add(request) }
    }

    /// The batch that was queued with this UUID; `nil`: none was.
    package func batch(with uuid: UUID) throws(QueueError) -> BatchID? {
        try look { try store.adding.batch(with: uuid) }
    }

    /// Sources of upload batches that are not completely in the queue: after start all, after `add` those of the batch.
    package func unscannedSources(of batch: BatchID? = nil) throws(QueueError) -> [WalkState] {
        try look { try store.walks.unscannedSources(of: batch) }
    }

    /// Batches with nothing left to walk that still count as scanned: a kill came before `finishScan`, which is to be called for them.
    package func walkedBatches() throws(QueueError) -> [BatchID] {
        try look { try store.walks.walkedBatches() }
    }

    /// Says what sources are. Directories are to be walked from then on: `foldersToWalk`. A source that is begun already is left alone.
    package func begin(_ sources: [FoundSource]) throws(QueueError) {
        try change { try store.walks.begin(sources) }
    }

    /// Directories of a source that are known and not completely listed, oldest first. Who asks lists each of them from
    /// its first entry.
    package func foldersToWalk(of source: SourceID, limit: Int) throws(QueueError) -> [FolderToWalk] {
        try look {
            let folders = try store.walks.foldersToWalk(of: source, limit: limit)
            for folder in folders { store.queue.notes.walkedHere.remove(folder.folder.rawValue) }
            return folders
        }
    }

    /// Links by which folders of a source are walked, the first found first. For a walk that begins again.
    /// - Returns: a page of them, and the `after` of the next; `nil`: there is none.
    package func linkedFolders(
        of source: SourceID, after: FolderID?, limit: Int
    ) throws(QueueError) -> (links: [LinkedFolder], last: FolderID?) {
        try look { try store.walks.linkedFolders(of: source, after: after, limit: limit) }
    }

    /// Takes what a walk found; at most some 5000 entries a call.
    /// - Returns: the next directories to walk of the same source, none when its walk is done; and whether all was taken. Of what was
    ///   cancelled meanwhile nothing is, and a directory that was listed in part then has to be listed from its beginning should the
    ///   cancel be taken back.
    @discardableResult
    package func insert(
        walked chunks: [WalkedChunk], next limit: Int = 64
    ) throws(QueueError) -> (folders: [FolderToWalk], isWhole: Bool) {
        let durability: QueueStore.Durability = WalkStore.needsDurability(chunks) ? .full : .later
        return try change(durability) {
            let (source, isWhole) = try store.walks.insert(walked: chunks)
            guard let source else { return ([], isWhole) }
            return (try store.walks.foldersToWalk(of: source, limit: limit), isWhole)
        }
    }

    /// Ends the scanning of a batch when nothing of it is left to be walked, and says whether that is so. Durable on return.
    @discardableResult
    package func finishScan(_ batch: BatchID) throws(QueueError) -> Bool {
        try change { try store.walks.finishScan(batch) }
    }
}
