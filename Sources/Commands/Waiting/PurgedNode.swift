import MartletKit

/// The end of something that a person has forgotten (`purge`) since it was last seen, by the stored events: only what is over can be
/// forgotten. Events of a batch stay for the time in which the purge can be undone, those of a single file go with it.
struct PurgedNode {
    private let id: NodeID
    /// Files of a batch that were cancelled, and have not completed since.
    private var cancelled: Set<TaskID> = []
    private var end: TransferState?

    init(_ id: NodeID) { self.id = id }

    /// Events in their order: a new run makes an earlier end void.
    mutating func take(_ event: TransferEvent) {
        switch id {
        case .task(let task):
            guard event.task == task else { return }
            switch event.type {
            case .taskCompleted: end = .completed
            case .taskFailed: end = .failed
            case .taskCancelled: end = .cancelled
            default: break
            }
        case .batch(let batch), .folder(let batch, _):
            guard event.batch == batch else { return }
            switch event.type {
            case .taskCancelled: if let task = event.task { cancelled.insert(task) }
            case .taskCompleted: if let task = event.task { cancelled.remove(task) }
            case .batchFinished: end = event.payload.state
            default: break
            }
        }
    }

    /// True when all of it completed; `nil`: no event says it any more. The events of a folder are those of its batch.
    var isCompleted: Bool? { end.map { $0 == .completed && cancelled.isEmpty } }
}
