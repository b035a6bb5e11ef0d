package import TransferModel

/// Files that a filter found in a stretch of the queue, in the order of their numbers, folder by folder.
package struct FilterSlice: Sendable {
    package struct Hits: Sendable {
        package let place: FilterPlace
        package var tasks: [TaskID]
    }

    /// Files that matched, by the folder that they lie in directly.
    package var hits: [FolderID: Hits] = [:]
    /// Files looked at.
    package var examined: Int64 = 0
    /// Files there are.
    package var total: Int64 = 0
    /// The start of the next stretch; `nil`: this was the last.
    package var next: TaskID?
}

/// Progress of a task that moves, as far as a filter asks for it.
package struct FilterMotion: Sendable {
    package var state: TransferState
    package var sent: Int64
    package var bytesPerSecond: Int64
    package var secondsLeft: Int64?
    /// Nothing of it has moved for some seconds.
    package var isStalled: Bool

    package init(
        state: TransferState, sent: Int64, bytesPerSecond: Int64, secondsLeft: Int64?, isStalled: Bool = false
    ) {
        self.isStalled = isStalled
        self.state = state
        self.sent = sent
        self.bytesPerSecond = bytesPerSecond
        self.secondsLeft = secondsLeft
    }
}

/// Everything that a filter has found so far, as the tree wants it. Its size follows what matched, up to a bound.
package struct FilterMatches: Sendable {
    package struct Folder: Sendable {
        /// Files directly in it.
        package var count: Int64 = 0
        /// The first of them.
        package var first: [TaskID] = []
        /// Folders directly in it with something below, as they were found.
        package var folders: [FolderID] = []
    }

    package private(set) var count: Int64 = 0
    package private(set) var batches: Set<BatchID> = []
    package private(set) var folders: [FolderID: Folder] = [:]
    /// The room that files and folders take, of `most`.
    private var kept = 0
    /// Folders that stand in the one above.
    private var linked: Set<FolderID> = []

    /// As many as a section has rows, and in all folders together.
    static let mostInFolder = 1000
    static let most = 200_000
    /// The room of a folder with what it is linked by, in files.
    private static let folderRoom = 4

    package init() {}

    /// For a list of all: more than a screen shows and less than takes long to sort.
    var someFiles: [TaskID] {
        var files: [TaskID] = []
        for folder in folders.values where files.count < 20_000 { files += folder.first }
        return files
    }

    package mutating func add(_ slice: FilterSlice) {
        for (folder, hits) in slice.hits {
            count += Int64(hits.tasks.count)
            batches.insert(hits.place.batch)
            guard link(hits.place.chain) else { continue }
            var found = folders[folder] ?? Folder()
            found.count += Int64(hits.tasks.count)
            let room = min(Self.mostInFolder - found.first.count, Self.most - kept)
            if room > 0 {
                found.first += hits.tasks.prefix(room)
                kept += min(room, hits.tasks.count)
            }
            folders[folder] = found
        }
    }

    /// A folder that was found itself; the first of the chain.
    mutating func add(folder chain: [FolderID], of batch: BatchID) {
        batches.insert(batch)
        link(chain)
    }

    /// A batch that was found itself.
    mutating func add(batch: BatchID) { batches.insert(batch) }

    /// The folders above learn of it, up to one that knows.
    /// - Returns: false when there is no room for it.
    @discardableResult
    private mutating func link(_ chain: [FolderID]) -> Bool {
        let new = zip(chain, chain.dropFirst()).prefix { !linked.contains($0.0) }
        let room = new.count * Self.folderRoom
        guard kept + room <= Self.most else { return false }
        kept += room
        for (folder, parent) in new {
            linked.insert(folder)
            folders[parent, default: Folder()].folders.append(folder)
        }
        return true
    }
}

extension QueueReader {
    /// Looks through the next stretch of the queue.
    /// - Parameter motion: what moves; needed only when the filter's `needs` say so.
    package func search(
        _ filter: TransferFilter, after: TaskID = TaskID(rawValue: 0), motion: [TaskID: FilterMotion] = [:]
    ) throws(QueueError) -> FilterSlice {
        try view { try $0.search(filter, after: after, motion: motion) }
    }

    /// As `section(_:)`, but only what matched and what it lies in; nothing is folded.
    package func section(
        _ request: SectionRequest, of matches: FilterMatches, moving: MovingRows = MovingRows()
    ) throws(QueueError) -> TreeSection? {
        try view { try $0.section(request, of: matches, moving: moving) }
    }
}
