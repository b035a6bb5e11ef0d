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

/// A change that was asked for and that the engine has not confirmed.
struct PendingDeed: Hashable, Sendable {
    var deed: Deed
    /// The request.
    var number: Int
    /// When it was asked for.
    var since: Duration
    /// The engine has it; the row's own news comes with the next update.
    var isConfirmed = false

    /// The time that the row claims to wait before that is an error.
    var patience = Outstanding.usualPatience

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

/// A request that was not answered yet.
struct Outstanding: Sendable {
    static let usualPatience = Duration.seconds(3)

    /// A change of a million files is made durable in some seconds; on a slow disk, or beside other work, in several times that.
    static func patience(files: Int64) -> Duration { usualPatience + .seconds(files / 50_000) }

    enum Purpose: Sendable {
        case deed(Deed, [NodeRow])
        /// Pause, resume, retry of everything that matches.
        case everything(Deed)
        /// A deed that a command named.
        case named(Deed, SafeText)
        /// A policy of batches for what is there already, and what is done after it.
        case settledExisting(ExistingFilePolicy, then: Dialog.Intent)
        /// A retry of what failed in these rows, once it is known whether something of its name is there.
        case retrying([NodeRow])
        /// Retry of what failed in a batch.
        case failed(of: SafeText)
        /// A server that is tried again before its time, and when.
        case askedServer(SafeText)
        /// Batches that are given another login.
        case lettingIn(SafeText)
        case clearFinished
        case undo(SafeText?)
        case undoable
        case throughput(of: BatchID?)
        case limits(LimitForm.Targets)
        case setLimits(LimitsWish)
        case why(NodeID, NodeRow, SafeText)
        /// The words name what is asked about.
        case verifying(SafeText, [NodeID])
        case task(TaskID)
        /// `scanning`: its folders were still being listed when this was asked.
        case sources(BatchID, scanning: Bool)
        case log
        case problems
        case serversUsed
        case history, finishedToday
        case returning
        case status
        /// A name, or the way to a row.
        case find
        case queueing(AddOrder)
        /// The request that queued a batch, to do it again.
        /// `inPlace`: to be cancelled when that is queued.
        case order(BatchID, inPlace: Bool)
        /// A check that another batch may still take the place of this one.
        case replacing(BatchID, by: SafeText)
        /// A batch is cancelled, because another one takes its place.
        case replaced(BatchID, by: SafeText)
        case destination(DestinationDeed)

        /// As what it stops what runs; `nil`: it does not.
        var stops: StoppingCost.Stop? {
            switch self {
            case .deed(let deed, _), .everything(let deed), .named(let deed, _): deed.stops
            case .replaced: .cancel
            default: nil
            }
        }
    }

    var purpose: Purpose
    /// The request as it was sent.
    var request: Request
    var sentAt: Duration
    /// True when the answer may take as long as it wants.
    var isPatient = false
    /// Else for how long.
    var patience = Self.usualPatience
    /// It was done before, and taken back.
    var isRedo = false
}
