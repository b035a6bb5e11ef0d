import DisplayText
import MartletKit
import Terminal

/// A question, asked only when the answer cannot be taken back or is about a lot.
struct Dialog: Sendable {
    /// The action that follows when the user says so.
    enum Intent: Hashable, Sendable {
        case act(NodeDeed, [NodeRow])
        /// To rows that were asked about once more, because they had grown: to what they hold by then.
        case actOnGrown(NodeDeed, [NodeRow])
        /// To everything that it is for: a retry to what failed.
        case everything(NodeDeed)
        /// A deed that a command named.
        case named(NodeDeed, SafeText, NodeChoice)
        /// From now on batches do this about what is there already; after it what failed of that is tried again.
        indirect case settleExisting(ExistingFilePolicy, of: [BatchID], then: Intent)
        case stopEngine(finishRunning: Bool)
        /// Sends a request of one page alone, and says meanwhile what it asks.
        case ask(AnyPageRequest, saying: SafeText)
        case leave
        /// Nothing is changed but what is shown.
        case sort(TreeOrder)

        /// True when only an engine that answers can do it.
        var needsEngine: Bool {
            switch self {
            case .act, .actOnGrown, .everything, .named, .settleExisting, .stopEngine: true
            case .ask(let asked, _): asked.request.needsEngine
            case .leave, .sort: false
            }
        }
    }

    struct Choice: Sendable {
        /// The letter that chooses it; `nil`: Esc.
        var letter: Unicode.Scalar?
        var text: String
        /// `nil`: nothing.
        var intent: Intent?
        /// The consequence of the choice, at the right.
        var note: SafeText = ""
        /// It is ticked or not, and the question stays.
        var isTick = false
    }

    /// So many files of something.
    struct NamedFiles: Sendable {
        var count: Int64
        var place: SafeText
    }

    enum Outcome: Sendable {
        /// The question stays.
        case open
        case answered(Intent?)
    }

    private(set) var title: SafeText
    /// The filter that it is about, whose files are counted while it is open.
    var counted: String?
    /// The files that it has named; `nil`: it names the filter.
    var named: NamedFiles?
    let lines: [SafeText]
    let choices: [Choice]
    /// True when the choices can all be taken back: the first is chosen, and a quick key counts.
    let isMenu: Bool
    /// At the left, so that the rows that it is about stay in sight.
    let isAtSide: Bool
    /// The line that Enter takes; at first the harmless one, which is the last.
    private(set) var selected: Int
    private var openedAt: Duration
    /// True when the line to tick is ticked.
    private(set) var isTicked = false

    /// A fast typist's next keys were not meant for a question that has just appeared.
    private static let guardTime = Duration.milliseconds(300)

    init(_ title: SafeText, _ lines: [SafeText], _ yes: Choice, no: String, at uptime: Duration) {
        self.title = title
        self.lines = lines
        choices = [yes, Choice(letter: nil, text: no, intent: nil)]
        selected = 1
        isMenu = false
        isAtSide = false
        openedAt = uptime
    }

    /// A menu of things to do.
    init(
        menu title: SafeText, _ lines: [SafeText], _ choices: [Choice], no: String, at uptime: Duration,
        isAtSide: Bool = false, selected: Int = 0
    ) {
        self.title = title
        self.lines = lines
        self.choices = choices + [Choice(letter: nil, text: no, intent: nil)]
        self.selected = selected
        self.isAtSide = isAtSide
        isMenu = true
        openedAt = uptime
    }

    /// - Parameter selected: what Enter takes at first; nothing that cannot be taken back.
    init(_ title: SafeText, _ lines: [SafeText], _ choices: [Choice], selected: Int, at uptime: Duration) {
        self.title = title
        self.lines = lines
        self.choices = choices
        self.selected = selected
        isMenu = false
        isAtSide = false
        openedAt = uptime
    }

    /// It has become known how many it is about.
    mutating func retitle(_ title: SafeText) { self.title = title }

    /// Asks once more, because it is about more than it has named: what was about to be answered was another question.
    mutating func askAgain(_ title: SafeText, at uptime: Duration) {
        self.title = title
        (selected, openedAt) = (choices.count - 1, uptime)
    }

    /// Takes a key. Other keys than the ones it shows do nothing.
    mutating func take(_ press: KeyPress, at uptime: Duration) -> Outcome {
        guard isMenu || uptime - openedAt >= Self.guardTime else { return .open }
        switch (press.key, press.modifiers) {
        case _ where ticks(press): isTicked.toggle()
        case (.character(let letter), []) where choices.contains { $0.letter == letter }:
            return .answered(choices.first { $0.letter == letter }?.intent)
        case (.escape, _), (.character("c"), .control), (.character("q"), []): return .answered(nil)
        case (.enter, _): return .answered(choices[selected].intent)
        case (.up, _), (.character("k"), []): selected = max(0, selected - 1)
        case (.down, _), (.character("j"), []): selected = min(choices.count - 1, selected + 1)
        case (.tab, _): selected = (selected + 1) % choices.count
        default: break
        }
        return .open
    }

    /// A click on a line chooses it, and one on the chosen line takes it: no answer is given by one click alone, unless it is the harmless
    /// one.
    mutating func click(_ index: Int, at uptime: Duration) -> Outcome {
        guard choices.indices.contains(index), isMenu || uptime - openedAt >= Self.guardTime else { return .open }
        guard index == selected else {
            selected = index
            return .open
        }
        return take(KeyPress(.enter), at: uptime)
    }

    /// Its letter ticks the line from anywhere; Space and Enter do so on it.
    private func ticks(_ press: KeyPress) -> Bool {
        switch (press.key, press.modifiers) {
        case (.character(" "), []), (.enter, _): choices[selected].isTick
        case (.character(let letter), []): choices.contains { $0.isTick && $0.letter == letter }
        default: false
        }
    }
}

extension Dialog: Layer {
    static var level: LayerLevel { .dialog }

    func take(_ press: KeyPress, in model: inout Model) { answer(in: &model) { $0.take(press, at: $1) } }

    func take(_ press: MousePress, in model: inout Model) {
        switch press.button {
        case .wheelDown: answer(in: &model) { $0.take(KeyPress(.down), at: $1) }
        case .wheelUp: answer(in: &model) { $0.take(KeyPress(.up), at: $1) }
        case .left:
            guard case .answer(let index)? = model.target(of: press) else { return }
            answer(in: &model) { $0.click(index, at: $1) }
        case .middle, .right: break
        }
    }

    /// Something was done in the question: it stays, or is answered.
    private func answer(in model: inout Model, _ body: (inout Dialog, Duration) -> Outcome) {
        var shown = self
        let outcome = body(&shown, model.now.uptime)
        model.dialog = shown
        guard case .answered(let intent) = outcome else { return }
        if intent != nil, shown.isTicked { model.setAskLeave(false) }
        model.dialog = nil
        if let intent { model.perform(intent) }
    }

    func draw(in drawing: inout Drawing) { drawing.dialog(self) }
}

extension Model {
    /// The question that is open.
    var dialog: Dialog? {
        get { layers[Dialog.self] }
        set { layers[Dialog.self] = newValue }
    }

    /// Asks whether something is to be done.
    /// - Parameter no: the harmless answer, which Enter takes.
    mutating func confirm(
        _ title: SafeText, _ lines: [SafeText], _ letter: Unicode.Scalar, _ yes: String, no: String,
        _ intent: Dialog.Intent
    ) {
        dialog = Dialog(
            title, lines, Dialog.Choice(letter: letter, text: yes, intent: intent), no: no, at: now.uptime)
    }
}
