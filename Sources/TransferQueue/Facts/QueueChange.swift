package import TransferModel

/// Changes by commits since a listener last looked. Bounded: beyond a limit of single tasks and folders it says
/// "everything in that batch".
package struct QueueChange: Sendable, Hashable {
    package var batches: Set<BatchID> = []
    /// With the folders above them.
    package var folders: Set<FolderID> = []
    package var tasks: Set<TaskID> = []
    /// Batches of which so much changed that single folders and tasks are not all named.
    package var wholly: Set<BatchID> = []
    package var removed: Set<BatchID> = []
    /// Batches that are over since then.
    package var finished: Set<BatchID> = []
    /// True when tasks may have become ready, or folders are to be walked: the scheduler looks again.
    package var mayRun = false
    /// Batches that a person gave a login, perhaps the one that they had: it is tried, whatever came of it before.
    package var loginsGiven: Set<BatchID> = []
    /// Folders at servers may be due for their last look.
    package var looksAreDue = false
    /// The last event stored; `nil` when there is no new one.
    package var lastEvent: EventSequence?
    package init() {}

    /// Number of single tasks, or folders, that are named before it becomes "everything in the batches that changed".
    static let limit = 1000

    package var isEmpty: Bool { self == QueueChange() }

    mutating func note(folder: FolderID) {
        folders.insert(folder)
        if folders.count > Self.limit { becomeCoarse() }
    }

    mutating func note(task: TaskID, in batch: BatchID) {
        batches.insert(batch)
        tasks.insert(task)
        if tasks.count > Self.limit { becomeCoarse() }
    }

    mutating func note(wholly batch: BatchID) {
        batches.insert(batch)
        wholly.insert(batch)
    }

    /// Adds a later change.
    mutating func merge(_ later: QueueChange) {
        batches.formUnion(later.batches)
        folders.formUnion(later.folders)
        tasks.formUnion(later.tasks)
        wholly.formUnion(later.wholly)
        removed.formUnion(later.removed)
        finished.formUnion(later.finished)
        mayRun = mayRun || later.mayRun
        loginsGiven.formUnion(later.loginsGiven)
        looksAreDue = looksAreDue || later.looksAreDue
        lastEvent = later.lastEvent ?? lastEvent
        if folders.count > Self.limit || tasks.count > Self.limit { becomeCoarse() }
    }

    // Whoever changed a folder or task named its batch, so nothing is lost.
    private mutating func becomeCoarse() {
        wholly.formUnion(batches)
        folders = []
        tasks = []
    }
}
