import DisplayText
import MartletKit

/// The batches that have ended, so that each end is told once.
struct Endings: Sendable {
    /// The batches as last heard of: true when over.
    private var over: [RowID: Bool] = [:]
    /// Batches that a filter hides are told of, too.
    fileprivate(set) var watches = false

    /// Those that were not over when they were heard of before.
    fileprivate mutating func take(_ rows: [NodeRow]) -> [NodeRow] {
        let ended = rows.filter { $0.isOver && over[$0.id] == false }
        for row in rows { over[row.id] = row.isOver }
        // Those that were cleared are forgotten; the list has at most as many as the engine was asked for.
        if over.count > 2 * rows.count + 1000 { over = Dictionary(rows.map { ($0.id, $0.isOver) }) { $1 } }
        return ended
    }
}

/// The end of a batch, for whoever looks elsewhere: a bell, a notification on the desktop.
extension Model {
    var tellsEnds: Bool { settings.ringsBell || settings.notifies }

    /// Several that end together are one message.
    mutating func noteEnds(of rows: [NodeRow]) {
        let ended = observed.endings.take(rows)
        guard tellsEnds, !input.isLookedAt(at: now.uptime), let first = ended.first else { return }
        if settings.ringsBell { requests.append(.bell) }
        guard settings.notifies else { return }
        let what: SafeText =
            ended.count == 1 ? appearance.safe(first.name) : "\(Figures.amount(Int64(ended.count), "batch", "batches"))"
        requests.append(.notify(what + ": " + Self.words(ended)))
    }

    private static func words(_ ended: [NodeRow]) -> SafeText {
        var counts = FileCounts()
        for row in ended {
            for state in [TransferState.completed, .failed, .cancelled] {
                ByteSum.add(row.counts[state], to: &counts[state])
            }
        }
        let files = Figures.amount(counts.completed + counts.failed + counts.cancelled, "file")
        if counts.failed > 0 { return "\(Figures.count(counts.failed)) of \(files) failed" }
        guard counts.cancelled > 0 || ended.contains(where: { $0.state == .cancelled }) else { return "done, \(files)" }
        return counts.completed > 0
            ? "cancelled, \(Figures.count(counts.completed)) of \(files) done" : "cancelled, \(files)"
    }

    /// A filter hides batches; their ends are wanted all the same, and how they stand when the screen is left.
    mutating func askForBatches() {
        let wanted = (filters.shown != nil || tree.isFlat) && isConnected
        if !wanted { filters.hiddenBatches = [] }
        guard wanted != observed.endings.watches else { return }
        observed.endings.watches = wanted
        requests.append(.watchBatches(wanted))
    }
}
