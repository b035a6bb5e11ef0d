import DisplayText
import MartletKit
import Terminal

/// A question, asked only when the answer cannot be taken back or is about a lot.
struct Dialog: Sendable {
    /// What is done when the person says so.
    enum Intent: Hashable, Sendable {
        case cancel([NodeRow])
        case pause([NodeRow])
        case pauseAll
        case resumeAll
        case retryAll
        case clearFinished
        /// What a command named.
        case named(Deed, SafeText, NodeChoice)
    }

    struct Choice: Sendable {
        /// The letter that chooses it; `nil`: Esc.
        var letter: Unicode.Scalar?
        var text: String
        /// `nil`: nothing.
        var intent: Intent?
    }

    enum Outcome: Sendable {
        /// The question stays.
        case open
        case answered(Intent?)
    }

    let title: SafeText
    let lines: [SafeText]
    let choices: [Choice]
    /// The line that Enter takes; at first the harmless one, which is the last.
    private(set) var selected: Int
    private let openedAt: Duration

    /// A fast typist's next keys were not meant for a question that has just appeared.
    private static let guardTime = Duration.milliseconds(300)

    init(_ title: SafeText, _ lines: [SafeText], _ yes: Choice, no: String, at uptime: Duration) {
        self.title = title
        self.lines = lines
        choices = [yes, Choice(letter: nil, text: no, intent: nil)]
        selected = 1
        openedAt = uptime
    }

    /// Takes a key. Other keys than the ones it shows do nothing.
    mutating func take(_ press: KeyPress, at uptime: Duration) -> Outcome {
        guard uptime - openedAt >= Self.guardTime else { return .open }
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control), (.character("q"), []): return .answered(nil)
        case (.enter, _): return .answered(choices[selected].intent)
        case (.up, _), (.character("k"), []): selected = max(0, selected - 1)
        case (.down, _), (.character("j"), []): selected = min(choices.count - 1, selected + 1)
        case (.tab, _): selected = (selected + 1) % choices.count
        case (.character(let letter), []):
            if let choice = choices.first(where: { $0.letter == letter }) { return .answered(choice.intent) }
        default: break
        }
        return .open
    }
}
