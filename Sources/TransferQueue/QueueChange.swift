package import TransferModel

/// What commits changed since a listener last looked. Bounded: beyond a limit of single tasks and folders it says
/// "everything in that batch".
package struct QueueChange: Sendable, Hashable {
    package var batches: Set<BatchID> = []
    /// With the folders above them.
    package var folders: Set<FolderID> = []
    package var tasks: Set<TaskID> = []
    /// Batches of which so much changed that single folders and tasks are not named.
    package var wholly: Set<BatchID> = []
    package var removed: Set<BatchID> = []
    /// Whether tasks may be ready that were not: the scheduler looks again.
    package var mayRun = false
    /// The last event stored; `nil` when there is no new one.
    package var lastEvent: EventSequence?
    package init() {}
}
