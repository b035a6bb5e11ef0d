import Configuration
import DisplayText
import MartletKit
import Terminal

/// Everything that can happen to the screen. The model changes by these and by nothing else.
enum Message: Sendable {
    /// A key, a press of the mouse, a paste.
    case input(Input)
    /// The number of files that match a filter that is counted.
    case counted(FilterCount)
    /// The batches as they are, whatever filter is on (`Request.watchBatches`).
    case batches([NodeRow])
    case resized(ScreenSize)
    /// The engine's tree has changed.
    case update(ViewUpdate)
    /// The connection to the engine has changed.
    case link(ConnectionState)
    /// The answer to a request of ours.
    case answer(RequestResult)
    /// Something about this machine's files became known.
    case local(LocalNews)
    /// Lines that something in this process printed, which would have hit the terminal.
    case printed([[UInt8]])
    /// A moment has come that the model asked for (`Model.nextWake`).
    case tick
}

extension Message {
    /// The engine has said it just now.
    var isHeardOfEngine: Bool {
        switch self {
        case .update, .link, .answer, .counted, .batches: true
        case .input, .resized, .local, .printed, .tick: false
        }
    }
}

/// An action that the model wants done. The edge does it; what comes of it is a `RequestResult`.
enum Request: Hashable, Sendable {
    /// From now on the engine is to tell of these, instead of those before.
    case show([SectionRequest], nodes: [NodeID], filter: String?)
    /// Change nodes; answered by `acted` with this number.
    case act(NodeDeed, NodeChoice, number: Int)
    /// Forget every batch that is over; answered by `acted`.
    case clearFinished(number: Int)
    /// Take back a change; answered by `acted`.
    case undo(UndoChoice, number: Int)
    /// Ask for the changes that can be taken back; answered by `undoable`.
    case undoable(number: Int)
    /// Ask for the limits of everything, and for the session of a batch; answered by `limits`.
    case limits(of: BatchID?, number: Int)
    /// Answered by `limitsSet`.
    case setLimits(LimitsWish, number: Int)
    case why(NodeID, number: Int)
    /// Asks whether all files are at their server; answered by `verified`, several times.
    case verify([NodeID], readsBack: Bool, number: Int)
    /// Ask for the place of a name in the queue; answered by `found`.
    case find(NameQuestion, number: Int)
    /// Ask for all batches; the purpose of the request says what for.
    case batches(number: Int)
    /// A request of one page alone; answered by `page`.
    case page(AnyPageRequest, number: Int)
    /// Ask how long the engine has run; answered by `status`.
    case status(number: Int)
    /// Ask for the request that queues the uploads of a batch again; answered by `ordered`.
    case order(of: BatchID, number: Int)
    /// Queue a batch; answered by `queued`.
    case queue(AddOrder, number: Int)
    /// Something about this machine's files; told as news.
    case local(LocalRequest)
    /// From now on the engine is to count what matches these filters, and no others.
    case count([String])
    /// True: tell of batches, too, while a filter hides them.
    case watchBatches(Bool)
    /// Give the filter of this name another text in `filters.conf`; `nil`: take it out.
    case changeFilter(String, to: String?)
    case reconnect
    case startEngine
    /// Colours for this background from now on.
    case theme(ScreenConfiguration.Theme)
    /// Forget what the terminal shows and send everything.
    case redraw
    case suspend
    case bell
    /// Into the clipboard; answered by `copied`.
    case copy(CopiedText)
    /// Into a file of this name beside the queue; answered by `written`.
    case write(String, name: String)
    /// In the person's pager, which has the terminal meanwhile.
    case showPlain(String)
    /// Show it on the desktop.
    case notify(SafeText)
    case leave
    /// Tell the engine to end, then leave.
    case stopEngine(finishRunning: Bool)
}

/// The result of a request.
enum RequestResult: Sendable {
    case acted(Result<NodesChanged, RequestError>, number: Int)
    case undoable(Result<[UndoStep], RequestError>, number: Int)
    case limits(Result<TransferLimits, RequestError>, session: SessionName?, number: Int)
    case limitsSet(Result<TransferLimits, RequestError>, number: Int)
    case why(Result<[WhyAnswer], RequestError>, number: Int)
    case verified(VerifyNews, number: Int)
    case found(Result<FoundRow, RequestError>, number: Int)
    case page(PageAnswer, number: Int)
    case ordered(Result<BatchRequest, RequestError>, number: Int)
    case batches(Result<[BatchSnapshot], RequestError>, number: Int)
    case status(Result<EngineStatus?, RequestError>, number: Int)
    case queued(Result<BatchSnapshot, RequestError>, number: Int)
    /// The file with the copied text; `nil`: it was handed to the terminal.
    case copied(CopiedText, file: String?)
    case written(file: String)
    /// The reason why a file could not be written, or a program not be started.
    case notSaved(String)
    /// No engine answered or could be started.
    case notConnected(RequestError)
    /// Nobody could ever continue us, so we did not stop.
    case cannotSuspend
}
