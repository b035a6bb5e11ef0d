import DisplayText
import MartletKit

/// A change that was asked for and that the row does not show yet.
struct PendingDeed: Sendable {
    var deed: NodeDeed
    /// The row when it was asked for.
    var before: NodeRow
    /// The number of the request.
    var number: Int
    /// The request as it was sent: for its patience the row claims to wait, then that is an error.
    var asked: Outstanding
    /// The engine has it; the row's own news comes with the next update.
    var isConfirmed = false

    /// Returns true when the row shows that it is done.
    func isShown(in row: NodeRow) -> Bool {
        switch deed {
        case .pause, .pauseUntil: row.standsStill
        // Its folder or batch may still be paused.
        case .resume: !row.standsStill || before.paused && !row.paused
        case .cancel: row.isOver
        case .retry: row.counts.triable < before.counts.triable
        case .move, .set, .runNow, .purge: true
        }
    }

    /// The word in the state's place.
    var word: SafeText {
        switch deed {
        case .pause, .pauseUntil: "pause?"
        case .resume: "go on?"
        case .cancel: "cancl?"
        case .retry: "retry?"
        case .move: "move?"
        case .set: "set?"
        case .runNow: "now?"
        case .purge: "out?"
        }
    }
}

/// Changes of this screen: those that rows do not show yet, and those that can be taken back or done again.
struct Changes: Sendable {
    var pending: [RowID: PendingDeed] = [:]
    var history = UndoHistory()
}
