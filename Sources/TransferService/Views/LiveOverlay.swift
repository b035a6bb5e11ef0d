package import TransferEngine
package import TransferModel
import TransferQueue

/// Live figures, laid over what the queue has stored: the bytes since the last checkpoint, speeds, times left.
///
/// The queue is the truth for everything that stands still; of an active task it knows what was last recorded. The
/// difference is added to the task's row and to every folder above it, so that sums always are the sums of the parts.
package struct LiveOverlay: Sendable {
    /// The figures that a node gets on top of its stored ones.
    package struct Addition: Hashable, Sendable {
        package var sent: Int64 = 0
        package var accepted: Int64 = 0
        package var total: Int64 = 0
        /// Bytes more, or fewer, that are still to cross the wire, of what is not paused.
        package var left: Int64 = 0
        package var bytesPerSecond: Int64 = 0
        package var atRisk: Int64 = 0
        /// Tasks that are active and stored in another state, by the state they are stored in and the one they have.
        package var moved: [Move: Int64] = [:]

        package struct Move: Hashable, Sendable {
            var from: TransferState
            var to: TransferState
        }
    }

    package private(set) var tasks: [TaskID: LiveTask] = [:]
    /// Sent bytes of stopped uploads, until their servers have said what they have.
    private var brokenOff: [TaskID: Int64] = [:]
    private var folders: [FolderID: Addition] = [:]
    private var batches: [BatchID: Addition] = [:]
    private var all = Addition()
    /// Batches that stand still because of their hosts alone.
    package private(set) var held: [BatchID: HeldHost] = [:]
    /// Servers that have served nothing for a while, by the batches that wait for them.
    package private(set) var troubles: [BatchID: [HostTrouble]] = [:]
    /// Logins that were refused, by the batches that wait for them.
    private var refused: [BatchID: [RefusedLogin]] = [:]
    /// As of `LiveSnapshot`.
    package private(set) var full: [String: Int] = [:]
    package private(set) var fullPlaces: [HostTrouble.Place: Int] = [:]
    package private(set) var asked: Set<String> = []
    /// The engine ends when what runs is over: nothing starts any more.
    package private(set) var isStopping = false
    package private(set) var bytesPerSecondUp: Int64 = 0
    package private(set) var bytesPerSecondDown: Int64 = 0

    /// Nothing moves.
    package init() {}

    /// - Parameters:
    ///   - stored: the rows of the live tasks as the queue has them, read at the same time as what is overlaid.
    ///   - resting: folders that are over or paused; what they have moved a moment ago counts nowhere any more.
    ///   - troubles: with the files that wait now.
    ///   - refused: with the files that stand in line now.
    ///   - chain: a folder and those above it, the batch's root last.
    package init(
        _ live: LiveSnapshot, stored: [TaskID: NodeRow], resting: Set<FolderID> = [], troubles: [HostTrouble] = [],
        refused: [RefusedLogin] = [], chain: (FolderID) -> [FolderID]
    ) {
        self.troubles = Dictionary(grouping: troubles, by: \.place.batch)
        self.refused = Dictionary(grouping: refused, by: \.place.batch)
        held = live.held
        (full, fullPlaces, asked) = (live.full, live.fullPlaces, live.asked)
        isStopping = live.isStopping
        for task in live.tasks {
            // A task that is over in the queue has its final numbers there.
            guard let row = stored[task.task], !row.state.isTerminal else { continue }
            tasks[task.task] = task
            let addition = Self.addition(of: task, over: row)
            for folder in chain(task.folder) { folders[folder, default: Addition()].add(addition) }
            batches[task.batch, default: Addition()].add(addition)
            all.add(addition)
            count(addition.bytesPerSecond, task.direction)
        }
        for upload in live.unconfirmed {
            guard let row = stored[upload.task], !row.state.isTerminal, let shown = upload.shown,
                shown > row.bytes.sent
            else { continue }
            brokenOff[upload.task] = shown
            let sent = shown - row.bytes.sent
            let addition = Addition(sent: sent, left: row.effectivelyPaused ? 0 : -sent)
            for folder in chain(upload.folder) { folders[folder, default: Addition()].add(addition) }
            batches[upload.batch, default: Addition()].add(addition)
            all.add(addition)
        }
        for left in live.left where !resting.contains(left.folder) {
            let addition = Addition(bytesPerSecond: left.bytesPerSecond)
            for folder in chain(left.folder) { folders[folder, default: Addition()].add(addition) }
            batches[left.batch, default: Addition()].add(addition)
            count(left.bytesPerSecond, left.direction)
        }
    }

    private mutating func count(_ bytesPerSecond: Int64, _ direction: TransferDirection) {
        if direction == .upload { bytesPerSecondUp += bytesPerSecond } else { bytesPerSecondDown += bytesPerSecond }
    }

    private static func addition(of task: LiveTask, over row: NodeRow) -> Addition {
        var addition = Addition()
        addition.sent = max(0, task.bytesSent - row.bytes.sent)
        addition.accepted = max(0, task.bytesAccepted - row.bytes.accepted)
        addition.atRisk = task.bytesAtRisk
        // What was paused a moment ago is shown without a speed.
        if !row.effectivelyPaused { addition.bytesPerSecond = task.bytesPerSecond }
        if let total = task.bytesTotal { addition.total = max(0, total - row.bytes.total) }
        if !row.effectivelyPaused { addition.left = addition.total - addition.sent }
        if row.state != task.state, !row.effectivelyPaused {
            addition.moved = [.init(from: row.state, to: task.state): 1]
        }
        return addition
    }

    /// Batches and folders of which something moves.
    package var movingBatches: Set<BatchID> { Set(batches.keys) }
    package var movingFolders: Set<FolderID> { Set(folders.keys) }

    /// Batches of which the engine itself tells that nobody knows the name of their server.
    package var batchesOfUnknownNames: Set<BatchID> {
        Set(troubles.filter { $0.value.contains(where: \.isUnknownName) }.keys)
    }

    /// Files that stand in line for a refused login, as waits for a person.
    package var waitsForLogins: [WaitCount] { refused.values.joined().map(\.wait) }

    /// Something of this batch or folder moves.
    package func moves(_ row: RowID) -> Bool {
        switch row {
        case .batch(let id): batches[id] != nil
        case .folder(_, let id): folders[id] != nil
        case .task, .group: false
        }
    }

    // MARK: Laying it over

    /// - Parameter left: bytes of the batch that are still to cross the wire and not paused, as stored; `nil`: work it out of the sums.
    package func apply(to batch: inout BatchSnapshot, left: Int64? = nil) {
        defer {
            hold(&batch)
            tell(&batch)
        }
        guard let addition = batches[batch.id] else { return }
        batch.bytesTotal += addition.total
        batch.bytesSent = min(batch.bytesTotal, batch.bytesSent + addition.sent)
        batch.bytesAccepted = min(batch.bytesTotal, batch.bytesAccepted + addition.accepted)
        for (move, count) in addition.moved where !move.from.isActive && !move.from.isTerminal {
            let moved = min(count, batch.filesWaiting)
            batch.filesWaiting -= moved
            batch.filesActive += moved
        }
        if batch.filesActive > 0 { batch.state = .running }
        // What is over or paused has no speed, though the average has not fallen to 0 yet.
        if batch.state.isTerminal || batch.state == .paused { return }
        batch.bytesPerSecond = addition.bytesPerSecond
        let rest = left.map { $0 + addition.left } ?? (batch.bytesTotal - batch.bytesSent - (batch.bytesFound ?? 0))
        batch.secondsLeft = batch.scanning ? nil : Self.seconds(rest, at: batch.bytesPerSecond)
    }

    package func apply(to task: inout TransferModel.TaskSnapshot) {
        if let sent = brokenOff[task.id] { task.bytesSent = max(task.bytesSent, sent) }
        guard let live = tasks[task.id] else { return hold(&task) }
        if task.state != .paused { task.state = live.state }
        if let total = live.bytesTotal { task.bytesTotal = total }
        task.bytesSent = max(task.bytesSent, live.bytesSent)
        task.bytesAccepted = max(task.bytesAccepted, live.bytesAccepted)
        task.bytesRepeated = max(task.bytesRepeated, live.bytesRepeated)
        guard task.state != .paused else { return }
        task.bytesPerSecond = live.bytesPerSecond
        task.secondsLeft = live.secondsLeft
    }

    /// - Parameter left: as of a batch, of one or a folder that moves.
    package func apply(to row: inout NodeRow, left: Int64? = nil) {
        defer {
            hold(&row)
            tell(&row)
        }
        switch row.id {
        case .task(_, let id):
            if let sent = brokenOff[id] { row.bytes.sent = max(row.bytes.sent, sent) }
            guard let live = tasks[id] else { return }
            if !row.effectivelyPaused, row.state != live.state {
                row.counts[row.state] -= 1
                row.counts[live.state] += 1
                row.state = live.state
            }
            if let total = live.bytesTotal {
                row.bytes.total = total
                row.sizeKnown = true
            }
            row.bytes.sent = max(row.bytes.sent, live.bytesSent)
            row.bytes.accepted = max(row.bytes.accepted, live.bytesAccepted)
            row.bytesAtRisk = live.bytesAtRisk
            guard !row.effectivelyPaused else { return }
            row.bytesPerSecond = live.bytesPerSecond
            row.averageBytesPerSecond = live.averageBytesPerSecond
            row.secondsLeft = live.secondsLeft
        case .batch(let id): apply(batches[id], to: &row, left)
        case .folder(_, let id): apply(folders[id], to: &row, left)
        // What moves is listed one by one, never in a group.
        case .group: break
        }
    }

    private func apply(_ addition: Addition?, to row: inout NodeRow, _ left: Int64?) {
        guard let addition else { return }
        addition.apply(counts: &row.counts, bytes: &row.bytes)
        // How it ended is the queue's to say.
        let state = row.counts.state(scanning: row.scanning, paused: row.effectivelyPaused)
        if !state.isTerminal { row.state = state }
        if row.state.isTerminal || row.state == .paused { return }
        row.bytesPerSecond = addition.bytesPerSecond
        row.bytesAtRisk = addition.atRisk
        let rest = left.map { $0 + addition.left } ?? (row.bytes.total - row.bytes.done)
        row.secondsLeft = row.scanning ? nil : Self.seconds(rest, at: row.bytesPerSecond)
    }

    // MARK: What the engine or its host holds back

    /// The reason why queued files of this batch wait: nothing starts in an engine that is about to stop, or its hosts are all
    /// left alone for a while.
    private func hold(of batch: BatchID) -> (reason: WaitReason, host: HeldHost?)? {
        if isStopping { return (.draining, nil) }
        return held[batch].map { ($0.reason, $0) }
    }

    private func hold(_ row: inout NodeRow) {
        guard let (reason, host) = hold(of: row.id.batch), !row.effectivelyPaused else { return }
        // Its folders are not looked through any more, either.
        let isUnread = row.scanning && isStopping
        guard row.counts.queued > 0 || isUnread else { return }
        row.counts.waiting += row.counts.queued
        row.counts.queued = 0
        if !row.waitReasons.contains(reason) { row.waitReasons.append(reason) }
        row.retryAt = row.retryAt ?? host?.until
        if row.error == nil, row.counts.total == 1 { row.error = host?.error }
        let state = row.counts.state(scanning: row.scanning, paused: false)
        row.state = isUnread && row.counts.active == 0 ? .waiting : state
    }

    private func hold(_ task: inout TransferModel.TaskSnapshot) {
        guard let (reason, host) = hold(of: task.batch), task.state == .queued else { return }
        task.state = .waiting
        task.waitReasons = [reason]
        task.retryAt = host?.until
        if task.error == nil { task.error = host?.error }
    }

    private func hold(_ batch: inout BatchSnapshot) {
        // Running without an active file means that all that could run is queued, or still to be found.
        guard let (reason, _) = hold(of: batch.id), batch.state == .running, batch.filesActive == 0,
            !batch.scanning || isStopping
        else { return }
        batch.state = .waiting
        if !batch.waitReasons.contains(reason) { batch.waitReasons.append(reason) }
    }

    // MARK: What its server does not do

    /// Servers of one batch that are listed one by one, those with the most waiting files first; the rest is one sum. A batch of downloads
    /// may lead to thousands.
    package static let mostToldTroubles = 100

    private func tell(_ batch: inout BatchSnapshot) {
        let troubles = troubles[batch.id] ?? []
        // The queue counts only files that have been tried, and none while they are: here all are counted that wait for it.
        if troubles.contains(where: \.isUnknownName) { batch.waits.removeAll { $0.code == .cannotFindHost } }
        let told = troubles.count <= Self.mostToldTroubles ? troubles : troubles.sorted { $0.files > $1.files }
        for trouble in told.prefix(Self.mostToldTroubles) {
            var wait = WaitCount(
                reason: .hostBackoff, code: trouble.isAskedPause ? nil : trouble.error.code, count: trouble.files,
                finding: trouble.finding, lastAt: trouble.since,
                server: trouble.isUnknownName ? nil : trouble.place.server, retryAt: trouble.retryAt)
            (wait.said, wait.detail) = (trouble.error.said, trouble.error.detail)
            batch.waits.append(wait)
        }
        let rest = told.dropFirst(Self.mostToldTroubles)
        if !rest.isEmpty {
            batch.waits.append(
                WaitCount(
                    reason: .hostBackoff, count: ByteSum.of(rest.lazy.map(\.files)),
                    finding: Finding("\(rest.count) more servers do not answer or refuse service"),
                    lastAt: rest.map(\.since).max()))
        }
        // The queue counts only files that have tried a login: the others do not, and wait for the same.
        for wait in refused[batch.id, default: []].map(\.wait) {
            let same = batch.waits.firstIndex { $0.reason == wait.reason && $0.code == nil && $0.server == nil }
            if let same { ByteSum.add(wait.count, to: &batch.waits[same].count) } else { batch.waits.append(wait) }
        }
    }

    /// Adds a server's trouble to a row: what is said of one attempt is true of all that wait for that server.
    private func tell(_ row: inout NodeRow) {
        guard row.error == nil, !row.state.isTerminal, !row.effectivelyPaused,
            let trouble = troubles[row.id.batch]?.first
        else { return }
        switch row.id {
        case .batch: row.error = trouble.error
        case .folder: if trouble.isWhole { row.error = trouble.error }
        case .task, .group: break
        }
    }

    /// - Parameter left: bytes that are still to cross the wire and neither paused nor held, as stored.
    package func apply(to totals: inout QueueTotals, left: Int64) {
        all.apply(counts: &totals.counts, bytes: &totals.bytes)
        totals.bytesPerSecondUp = bytesPerSecondUp
        totals.bytesPerSecondDown = bytesPerSecondDown
        totals.stopping = isStopping
        let waiting = troubles.values.joined()
        let unknown = ByteSum.of(waiting.lazy.filter(\.isUnknownName).map(\.files))
        totals.needsServer = ByteSum.of(waiting.lazy.map(\.files)) - unknown
        totals.needsPerson = (totals.needsPerson ?? 0) + unknown
        totals.problems += (totals.needsServer ?? 0) + unknown
        totals.problemCauses += Int64(Set(waiting.map(\.cause)).count)
        totals.secondsLeft = Self.seconds(left + all.left, at: bytesPerSecondUp + bytesPerSecondDown)
    }

    private static func seconds(_ bytes: Int64, at speed: Int64) -> Int64? {
        speed > 0 && bytes >= 0 ? (bytes + speed - 1) / speed : nil
    }
}

extension LiveOverlay.Addition {
    fileprivate mutating func add(_ other: LiveOverlay.Addition) {
        sent += other.sent
        accepted += other.accepted
        total += other.total
        left += other.left
        bytesPerSecond += other.bytesPerSecond
        atRisk += other.atRisk
        moved.merge(other.moved, uniquingKeysWith: +)
    }

    fileprivate func apply(counts: inout FileCounts, bytes: inout ByteCounts) {
        bytes.total += total
        bytes.sent = min(bytes.total, bytes.sent + sent)
        bytes.accepted = min(bytes.total, bytes.accepted + accepted)
        for (move, count) in moved {
            let possible = min(count, counts[move.from])
            counts[move.from] -= possible
            counts[move.to] += possible
        }
    }
}

extension RefusedLogin {
    /// As the queue tells of a file that has tried it.
    fileprivate var wait: WaitCount {
        let finding = refusal.error.isToldApart(in: [refusal.reason]) ? refusal.error.finding : Finding("")
        var wait = WaitCount(reason: refusal.reason, count: files, finding: finding)
        (wait.said, wait.detail) = (refusal.error.said, refusal.error.detail)
        return wait
    }
}
