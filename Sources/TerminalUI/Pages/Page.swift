import Configuration
import DisplayText
import MartletKit
import Terminal

/// A page of the screen: its state, its keys, what they do, what it asks the engine and how it is drawn.
///
/// For whoever adds one: a folder below `Pages` with a type like `HistoryPage`, and its view in `KeyMap.View.allCases`, which is the register
/// of pages. Only what differs from the extension below has to be written. A page is a value: it changes itself, and the model that it gets.
/// The changed value stays open, unless `Model.go(to:)` has opened another page meanwhile. That is for keys: an answer offers a page.
protocol Page: Sendable {
    /// The view whose keys count on the page.
    static var view: KeyMap.View { get }
    /// The action that leads here from every page; `nil`: there is none.
    static var opener: Action? { get }
    /// The keys of that action: a letter, which counts on the list of transfers and leaves the page again, then a number, which counts on
    /// every page.
    static var openingKeys: [String] { get }
    /// The words behind `martlet` of the command that shows the same: advice names the page's key instead. `nil`: there is none.
    static var command: String? { get }
    /// Shows the page, for its `opener`.
    static func open(in model: inout Model)
    /// The reason why the page cannot be opened now; `nil`: it can.
    static func obstacle(in model: Model) -> SafeText?

    /// True when it stands over the steps of adding a batch.
    var coversAdding: Bool { get }
    /// The help of a form that is open on it; `nil`: the keys of the view are what helps.
    var formHelp: FormHelp? { get }
    /// Nodes that the engine is to tell of, whether they are in the list's window or not.
    var watchedNodes: [NodeID] { get }
    /// True when turns of the wheel may come as arrows.
    var hearsWheelAsArrows: Bool { get }
    /// True when clicks are wanted on it; else dragging selects text.
    func wantsMouse(in model: Model) -> Bool

    /// True while text is typed on it.
    var isTyping: Bool { get }
    /// Takes a key while text is typed on it; false: the key's action counts.
    mutating func typed(_ press: KeyPress, in model: inout Model) -> Bool
    /// Takes what is pasted while text is typed on it; false: it is none of its lines.
    mutating func paste(_ bytes: [UInt8], in model: inout Model) -> Bool
    mutating func clicked(_ press: MousePress, in model: inout Model)
    mutating func perform(_ action: Action, in model: inout Model)
    /// True when the action changes transfers on this page; such actions are off while the engine does not answer.
    func changesTransfers(_ action: Action) -> Bool

    /// The engine answers, for the first time or again.
    mutating func connected(in model: inout Model)
    /// The sums of the queue have come.
    mutating func totalsCame(after before: QueueTotals?, in model: inout Model)
    /// Rows have come, and the list has them already.
    mutating func rowsCame(_ update: ViewUpdate, in model: inout Model)
    /// All batches have come, which the page has asked for with `Model.askForBatches`.
    mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, in model: inout Model)
    /// The file of configured servers was read.
    mutating func destinationsCame(_ file: DestinationsFile, in model: inout Model)
    /// The engine has done a change that was asked for on this screen.
    mutating func changeWasMade(in model: inout Model)
    /// A line was added to what this screen has said.
    mutating func noted(_ line: LogLine, in model: inout Model)
    /// The time until `refresh` is due; `nil`: nothing on the page depends on time.
    func untilRefresh(in model: Model) -> Duration?
    mutating func refresh(in model: inout Model)

    func draw(in drawing: inout Drawing)
    /// The text that is copied: of what is under the cursor, or `all` that is shown.
    func copied(all: Bool, in drawing: Drawing) -> CopiedText
}

extension Page {
    static var opener: Action? { nil }
    static var openingKeys: [String] { [] }
    static var command: String? { nil }
    var isTyping: Bool { false }
    static func open(in model: inout Model) {}
    static func obstacle(in model: Model) -> SafeText? { nil }

    var coversAdding: Bool { false }
    var formHelp: FormHelp? { nil }
    var watchedNodes: [NodeID] { [] }
    var hearsWheelAsArrows: Bool { false }
    func wantsMouse(in model: Model) -> Bool { false }

    mutating func typed(_ press: KeyPress, in model: inout Model) -> Bool { false }
    mutating func paste(_ bytes: [UInt8], in model: inout Model) -> Bool { false }
    mutating func clicked(_ press: MousePress, in model: inout Model) {}
    func changesTransfers(_ action: Action) -> Bool { action.changesTransfers }

    mutating func connected(in model: inout Model) {}
    mutating func totalsCame(after before: QueueTotals?, in model: inout Model) {}
    mutating func rowsCame(_ update: ViewUpdate, in model: inout Model) {}
    mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, in model: inout Model) {}
    mutating func destinationsCame(_ file: DestinationsFile, in model: inout Model) {}
    mutating func changeWasMade(in model: inout Model) {}
    mutating func noted(_ line: LogLine, in model: inout Model) {}
    func untilRefresh(in model: Model) -> Duration? { nil }
    mutating func refresh(in model: inout Model) {}

    func copied(all: Bool, in drawing: Drawing) -> CopiedText { .shown(drawing.shownRows) }
}
