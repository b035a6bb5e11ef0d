import DisplayText
import MartletKit

/// The last message, which stays until the next key; what can still be undone stays as long as it can.
struct Notice: Hashable, Sendable {
    var text: SafeText
    var isError = false
    /// The change that can be taken back, and until when (by the engine's clock, so a little earlier here).
    var undo: Undo?

    struct Undo: Hashable, Sendable {
        var choice: UndoChoice
        var name: SafeText
        var until: Duration
    }
}

/// A change that was asked for and that the row does not show yet.
struct PendingDeed: Hashable, Sendable {
    var deed: Deed
    /// The row when it was asked for.
    var before: NodeRow
    /// The request.
    var number: Int
    /// When it was asked for.
    var since: Duration
    /// The engine has it; the row's own news comes with the next update.
    var isConfirmed = false

    /// The time that the row claims to wait before that is an error.
    var patience = Outstanding.usualPatience

    /// Returns true when the row shows that it is done.
    func isShown(in row: NodeRow) -> Bool {
        switch deed {
        case .pause, .pauseUntil: row.standsStill
        // Its folder or batch may still be paused.
        case .resume: !row.standsStill || before.paused && !row.paused
        case .cancel: row.isOver
        case .retry: row.counts.triable < before.counts.triable
        case .move, .set, .runNow, .leaveOut: true
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
        case .leaveOut: "out?"
        }
    }
}

/// Changes of this screen: those that rows do not show yet, and those that can be taken back or done again.
struct Changes: Sendable {
    var pending: [RowID: PendingDeed] = [:]
    var history = UndoHistory()
}
