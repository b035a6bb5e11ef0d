import DisplayText
import MartletKit

/// The end of a batch, for whoever looks elsewhere: a bell, a notification on the desktop.
extension Model {
    /// Compares the batches with what they were; several that end together are one message.
    mutating func noteEnds(in sections: [TreeSection]) {
        guard ringsBell || notifies, hasFocus != true, let root = sections.first(where: { $0.parent == nil }) else {
            return
        }
        let ended = root.rows.filter { row in
            guard row.isOver, let before = tree.row(row.id) else { return false }
            return !before.isOver
        }
        guard let first = ended.first else { return }
        if ringsBell { requests.append(.bell) }
        guard notifies else { return }
        let failed = ended.reduce(0) { $0 + $1.counts.failed }
        let what: SafeText =
            ended.count == 1 ? look.safe(first.name) : "\(Figures.amount(Int64(ended.count), "batch", "batches"))"
        let files = ended.reduce(0) { $0 + $1.counts.completed }
        let end: SafeText =
            failed > 0
            ? "\(Figures.count(failed)) of \(Figures.amount(files + failed, "file")) failed"
            : "done, \(Figures.amount(files, "file"))"
        requests.append(.notify(what + ": " + end))
    }
}
