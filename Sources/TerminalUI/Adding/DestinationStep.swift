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
    /// True while the line holds its text from the beginning: what is typed goes on behind it, and takes its place once it is an address of
    /// its own.
    private var isProposal = true
    /// The proposal behind which something was typed; `nil`: the line was edited in another way.
    private var proposal: [UInt8]?
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
        (selected, isTouched, isProposal, proposal, typed) = (nil, true, false, nil, [])
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
            let before = field.bytes
            guard field.edit(press) else { break }
            if isProposal { proposal = press.types ? before : nil }
            (selected, isTouched, isProposal) = (nil, true, false)
            leaveProposal()
        }
        return .editing
    }

    mutating func paste(_ bytes: [UInt8]) {
        note = nil
        // A name may have blanks in it; those around it, and ends of lines, came along.
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let trimmed = bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        let pasted = trimmed.filter { $0 >= 0x20 && $0 != 0x7F }
        // A proposal gives way to an address.
        if selected != nil || isProposal, pasted.contains(UInt8(ascii: ":")) { field = TextField() }
        field.insert(pasted)
        (selected, isTouched, isProposal, proposal, typed) = (nil, true, false, nil, [])
    }

    /// Notes what was typed by hand. Behind a proposal it goes on; once it is a URL or names a server it stands alone.
    private mutating func leaveProposal() {
        guard let before = proposal, field.bytes.starts(with: before) else {
            (proposal, typed) = (nil, field.bytes)
            return
        }
        typed = Array(field.bytes.dropFirst(before.count))
        let isURL = typed.suffix(3).elementsEqual("://".utf8)
        guard isURL || choices.contains(where: { $0.text.hasSuffix(":") && Array($0.text.utf8) == typed }) else {
            return
        }
        (field, proposal) = (TextField(typed), nil)
    }

    private mutating func choose(_ row: Int) {
        let shown = shown
        guard shown.indices.contains(row) else { return }
        (selected, isTouched, isProposal, proposal) = (row, true, false, nil)
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
