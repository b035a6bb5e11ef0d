import DisplayText
import MartletKit
import Terminal

/// The destination of uploads: one line that is typed, with everything known below it to choose from.
struct DestinationStep: Sendable {
    /// Something that can be chosen.
    struct Choice: Hashable, Sendable {
        /// The text that it puts into the line.
        var text: String
        /// Said behind it.
        var detail: String
        /// Comes from `destinations.conf`, not from memory.
        var isConfigured = false
    }

    enum Outcome: Sendable {
        case editing
        /// This is where to.
        case entered(String)
        case back
        case close
        case help
    }

    private(set) var field = TextField()
    private(set) var choices: [Choice] = []
    /// The selected row of `shown`; `nil`: the line was typed by hand.
    private(set) var selected: Int?
    var note: SafeText?
    /// The line was touched: what becomes known later changes nothing in it.
    private var isTouched = false
    /// True while the line holds its text from the beginning: typing replaces it, until it is edited or another is chosen.
    private var isProposal = true
    /// The text typed by hand; the choices that have it in them are shown.
    private var typed: [UInt8] = []

    /// Takes the known destinations to choose from; proposes the first while nothing was typed.
    mutating func offer(_ choices: [Choice]) {
        self.choices = choices
        if !isTouched, let first = choices.first {
            selected = 0
            field = TextField(Array(first.text.utf8))
        } else if let selected, !shown.indices.contains(selected) {
            self.selected = nil
        }
    }

    /// The choices that what was typed is in; all of them when it is in none.
    var shown: [Choice] {
        guard !typed.isEmpty else { return choices }
        let pattern = NamePattern(typed)
        return choices.filter { pattern.matches(Array($0.text.utf8)) }
    }

    /// The step begins once more.
    mutating func begin() { isProposal = true }

    mutating func put(_ text: String) {
        field = TextField(Array(text.utf8))
        (selected, isTouched, isProposal, typed) = (nil, true, false, [])
    }

    mutating func take(_ press: KeyPress) -> Outcome {
        note = nil
        switch (press.key, press.modifiers) {
        case (.escape, _): return .back
        case (.character("c"), .control): return .close
        case (.function(1), _): return .help
        case (.enter, _), (.function(2), _): return entered()
        case (.down, _), (.tab, []): choose((selected ?? -1) + 1)
        case (.up, _), (.tab, .shift): choose((selected ?? shown.count) - 1)
        default:
            // What is typed replaces a proposal, as what is pasted does; one that was chosen, or is edited, goes on.
            var edited = isProposal && press.types ? TextField() : field
            guard edited.edit(press) else { break }
            field = edited
            (selected, isTouched, isProposal) = (nil, true, false)
            typed = field.bytes
        }
        return .editing
    }

    mutating func paste(_ bytes: [UInt8]) {
        note = nil
        // A proposal gives way to what is pasted.
        if selected != nil || isProposal { field = TextField() }
        field.insert(bytes.filter { $0 > 0x20 && $0 != 0x7F })
        (selected, isTouched, isProposal, typed) = (nil, true, false, [])
    }

    private mutating func choose(_ row: Int) {
        let shown = shown
        guard shown.indices.contains(row) else { return }
        (selected, isTouched, isProposal) = (row, true, false)
        field = TextField(Array(shown[row].text.utf8))
    }

    private mutating func entered() -> Outcome {
        guard !field.isEmpty else {
            note = "Type a URL, such as sftp://host/folder/ or https://host/folder/."
            return .editing
        }
        guard let text = field.text else {
            note = "The URL is not UTF-8: percent-encode it."
            return .editing
        }
        return .entered(text)
    }
}
