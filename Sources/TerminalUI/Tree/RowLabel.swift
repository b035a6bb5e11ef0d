import DisplayText
import MartletKit
import Wording

/// The name of a group of files of one fate.
enum RowLabel {
    /// `240 waiting`, `14 failed: host answered 404`, `1,202 more, same error`.
    ///
    /// - Parameter above: a file of the same fate that stands above it.
    static func group(_ row: NodeRow, after above: NodeRow? = nil, _ appearance: Appearance) -> SafeText {
        let count = Figures.count(row.counts.total)
        let more = above == nil ? "" : "more "
        guard let error = row.error else { return SafeText("\(count) \(more)\(word(RowState(row)))") }
        if above?.error?.code == error.code { return SafeText("\(count) more, same error") }
        // The name of one file would stand for all of them.
        let what = row.counts.total > 1 && error.finding.isOfFile ? error.code.words : error.happening
        return SafeText("\(count) \(more)\(word(RowState(row))): ") + appearance.safe(what)
    }

    private static func word(_ state: RowState) -> String {
        switch state {
        case .queued: "waiting"
        case .held: "held"
        case .scanning, .running, .stalled, .unknown: "running"
        case .checking: "being checked"
        case .paused: "paused"
        case .retry: "to try again"
        case .auth: "need you"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .partly: "cancelled in part"
        case .skipped: "skipped"
        case .leftOut: "left out"
        case .done: "done"
        }
    }
}
