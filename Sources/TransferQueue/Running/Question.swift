import FoundationEssentials
package import TransferModel

// What stands for a batch and a task where a server is only asked something: the engine's machinery has no other names for its exchanges.

extension BatchOrder {
    /// The order of no batch.
    /// - Parameters:
    ///   - destination: a URL without query.
    ///   - query: without its `?`.
    package init(asking destination: String, query: String?, _ options: TransferOptions, _ secrets: TransferSecrets) {
        self.init(
            batch: BatchID(rawValue: 0), session: .default, priority: .interactive, options: options, secrets: secrets,
            destination: destination, destinationQuery: query)
    }
}

extension ClaimedTask {
    /// No task of the queue.
    package init(asking id: TaskID) {
        self.init(
            id: id, generation: 0, uuid: UUID(), batch: BatchID(rawValue: 0), lane: LaneID(rawValue: 0),
            folder: FolderID(rawValue: 0),
            folders: [], place: 0,
            name: RawPath(""), work: .download(url: "", directory: RawPath("/"), fileName: nil), size: nil, accepted: 0,
            begunBefore: nil, resumePoint: nil, resumeSecret: nil, attempts: 0, failures: 0, restarts: 0,
            patienceSince: nil)
    }
}
