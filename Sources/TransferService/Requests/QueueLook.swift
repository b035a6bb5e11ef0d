import TransferEngine
import TransferModel
import TransferQueue

/// Reads, in one visit to the reader, all that some views need, and lays over it what moves.
struct QueueLook: Sendable {
    struct Want: Sendable {
        var sections: [SectionRequest] = []
        var nodes: [NodeID] = []
        var totals = false
        /// The filter of the sections; `nil`: they show everything.
        var filter: (matches: FilterMatches, count: FilterCount)?
        init() {}
    }

    var looked: [LookedAt]
    var overlay: LiveOverlay
    /// An order in it was good enough for now: it is worth looking again soon.
    var isBehind = false
}

/// The folders above each folder; folders never move, so what was read once holds.
struct FolderChains: Sendable {
    private var known: [FolderID: [FolderID]] = [:]

    func of(_ folder: FolderID) -> [FolderID] { known[folder] ?? [folder] }

    /// Learns the chains of what moves. Bounded by forgetting all when there are too many.
    mutating func learn(_ live: LiveSnapshot, from reader: isolated QueueReader) throws {
        if known.count > 4096 { known = [:] }
        let folders = Set(live.tasks.map(\.folder)).union(live.unconfirmed.map(\.folder)).union(live.left.map(\.folder))
        for folder in folders where known[folder] == nil {
            known[folder] = try reader.chain(of: folder)
        }
    }
}

extension QueueReader {
    /// The overlay of what moves over what is stored now.
    func overlay(_ live: LiveSnapshot, _ chains: inout FolderChains) throws -> LiveOverlay {
        if live.isEmpty { return LiveOverlay() }
        try chains.learn(live, from: self)
        var stored: [TaskID: NodeRow] = [:]
        for task in live.tasks { stored[task.task] = try row(.task(task.batch, task.task)) }
        for upload in live.unconfirmed { stored[upload.task] = try row(.task(upload.batch, upload.task)) }
        var resting: Set<FolderID> = []
        for left in live.left {
            guard let row = try row(.folder(left.batch, left.folder)), !row.state.isTerminal, !row.effectivelyPaused
            else {
                resting.insert(left.folder)
                continue
            }
        }
        return LiveOverlay(
            live, stored: stored, resting: resting, troubles: try waiting(for: live.troubles),
            refused: try waiting(for: live.refused)
        ) {
            chains.of($0)
        }
    }

    /// With the files that stand in line now; those that have tried it are counted by the queue.
    private func waiting(for refused: [RefusedLogin]) throws -> [RefusedLogin] {
        try refused.compactMap { login in
            guard let row = try row(.batch(login.place.batch)), !row.state.isTerminal, !row.effectivelyPaused else {
                return nil
            }
            var login = login
            login.files = login.isWhole ? row.counts.queued : min(row.counts.queued, login.files)
            return login.files > 0 ? login : nil
        }
    }

    /// With the files that wait now: also those that do so for a try of their own.
    private func waiting(for troubles: [HostTrouble]) throws -> [HostTrouble] {
        // A batch may lead to thousands of servers: its waiting tasks are counted once for all of them.
        var waiting: [BatchID: [String: Int64]] = [:]
        func waitingTasks(at place: HostTrouble.Place) throws -> Int64 {
            let counts = try waiting[place.batch] ?? self.waitingTasks(of: place.batch)
            waiting[place.batch] = counts
            return counts[place.origin] ?? 0
        }
        return try troubles.compactMap { trouble in
            guard let row = try row(.batch(trouble.place.batch)), !row.state.isTerminal, !row.effectivelyPaused else {
                return nil
            }
            let unfinished = row.counts.queued + row.counts.waiting + row.counts.active
            var trouble = trouble
            if !trouble.isWhole {
                // Of a batch that leads to several servers each has its own.
                trouble.files += try waitingTasks(at: trouble.place)
            }
            trouble.files = trouble.isWhole ? unfinished : min(unfinished, trouble.files)
            trouble.isWhole = trouble.files == unfinished
            return trouble.files > 0 ? trouble : nil
        }
    }

    func look(
        _ wants: [QueueLook.Want], live: LiveSnapshot, chains: FolderChains
    ) throws -> (look: QueueLook, chains: FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            let looked = try wants.map { try look($0, overlay) }
            return (QueueLook(looked: looked, overlay: overlay, isBehind: takeBehind()), chains)
        }
    }

    private func look(_ want: QueueLook.Want, _ overlay: LiveOverlay) throws -> LookedAt {
        var looked = LookedAt()
        let moving = MovingRows(batches: overlay.movingBatches, folders: overlay.movingFolders)
        for request in want.sections {
            var section =
                if let matches = want.filter?.matches { try section(request, of: matches, moving: moving) } else {
                    try section(request, moving: moving)
                }
            if let rows = section?.rows {
                let moved = try rows.map { try overlaid($0, overlay) }
                section?.rows = request.order?.settled(moved) ?? moved
            }
            looked.sections.append((request.parent, section))
        }
        for node in want.nodes { looked.nodes.append((node, try self.node(node, overlay))) }
        if want.totals { looked.totals = try totals(overlay) }
        looked.filter = want.filter?.count
        return looked
    }

    /// A node's row with what moves; `nil`: no such node.
    func node(_ id: NodeID, _ overlay: LiveOverlay) throws -> NodeRow? {
        guard let rowID = try row(of: id), let row = try row(rowID) else { return nil }
        return try overlaid(row, overlay)
    }

    private func overlaid(_ row: NodeRow, _ overlay: LiveOverlay) throws -> NodeRow {
        var row = row
        overlay.apply(to: &row, left: overlay.moves(row.id) ? try bytesLeft(below: row.id) : nil)
        return row
    }

    func totals(_ overlay: LiveOverlay) throws -> QueueTotals {
        var totals = try totals(
            besidesUnknownNamesOf: overlay.batchesOfUnknownNames, with: overlay.waitsForLogins)
        overlay.apply(to: &totals, left: try bytesLeftInAll())
        return totals
    }
}
