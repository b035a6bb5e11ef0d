import DisplayText
import MartletKit

/// Requests: those that one message has led to, and those whose answers the model waits for.
struct Requests: Sendable {
    /// Those of the message that is taken just now, in their order.
    private var made: [Request] = []
    /// By number; each until it is answered.
    var outstanding: [Int: Outstanding] = [:]
    private var lastNumber = 0
    private var lastShown: Request?

    mutating func append(_ request: Request) { made.append(request) }

    /// Takes those of the message out.
    mutating func takeMade() -> [Request] {
        defer { made = [] }
        return made
    }

    /// Makes a request that will be answered, and returns its number.
    /// - Parameter files: so many are changed by it at most.
    mutating func ask(
        _ purpose: Outstanding.Purpose, at uptime: Duration, files: Int64, isPatient: Bool, isRedo: Bool,
        _ request: (Int) -> Request
    ) -> Int {
        lastNumber += 1
        let asked = request(lastNumber)
        outstanding[lastNumber] = Outstanding(
            purpose: purpose, request: asked, sentAt: uptime, isPatient: isPatient,
            patience: Outstanding.patience(files: files), isRedo: isRedo)
        append(asked)
        return lastNumber
    }

    /// Asks for other rows than before.
    mutating func show(_ sections: [SectionRequest], nodes: [NodeID], filter: String?) {
        let wanted = Request.show(sections, nodes: nodes, filter: filter)
        guard wanted != lastShown else { return }
        lastShown = wanted
        append(wanted)
    }

    /// True while something is outstanding that has to be answered soon.
    var areUrgent: Bool { outstanding.values.contains { !$0.isPatient } }

    /// Since when the first of those has waited.
    func oldestAge(at uptime: Duration) -> Duration? {
        outstanding.values.filter { !$0.isPatient }.map(\.sentAt).min().map { uptime - $0 }
    }

    /// The engine answers one after the other: what is asked behind a change of many files waits for that, too.
    var patience: Duration { outstanding.values.map(\.patience).max() ?? Outstanding.usualPatience }
}

/// A request that was not answered yet.
struct Outstanding: Sendable {
    static let usualPatience = Duration.seconds(3)

    /// A change of a million files is made durable in some seconds; on a slow disk, or beside other work, in several times that.
    static func patience(files: Int64) -> Duration { usualPatience + .seconds(files / 50_000) }

    enum Purpose: Sendable {
        case deed(NodeDeed, [NodeRow])
        /// Pause, resume, retry of everything that matches.
        case everything(NodeDeed)
        /// A deed that a command named.
        case named(NodeDeed, SafeText)
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
        case limits(LimitForm.Targets)
        case setLimits(LimitsWish)
        case why(NodeID, NodeRow, SafeText)
        /// The words name what is asked about.
        case verifying(SafeText, [NodeID])
        /// All batches, for a page that shows them.
        case batches(for: KeyMap.View)
        /// A request of one page alone, which says itself what the answer does.
        case page(isChange: Bool)
        case finishedToday
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

        /// True when it changes what is queued, or its limits; false for a question.
        var isChange: Bool {
            switch self {
            case .deed, .everything, .named, .settledExisting, .failed, .askedServer, .lettingIn, .clearFinished, .undo,
                .setLimits, .queueing, .replaced:
                true
            case .page(let isChange): isChange
            default: false
            }
        }

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
    /// The time that the answer may take where it may not take as long as it wants.
    var patience = Self.usualPatience
    /// It was done before, and taken back.
    var isRedo = false
    /// The line under the cursor of the list when it was sent.
    var cursor: TreeItem.ID?

    /// When the answer is late.
    var due: Duration { sentAt + patience }
}
