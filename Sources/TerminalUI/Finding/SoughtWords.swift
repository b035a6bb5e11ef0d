import DisplayText
import Terminal

/// Words that a page is searched for, typed below it: only lines that have them are shown.
struct SoughtWords: Sendable {
    private(set) var field = TextField()
    private(set) var isTyping = false

    var isEmpty: Bool { field.isEmpty }
    var text: String? { field.text }
    /// Something of it is to be seen.
    var isShown: Bool { isTyping || !isEmpty }

    /// In small letters.
    var words: [String] { (text ?? "").lowercased().split(separator: " ").map(String.init) }

    mutating func begin() { isTyping = true }

    /// A key while they are typed: Enter keeps them, Esc forgets them.
    mutating func take(_ press: KeyPress) {
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control): self = SoughtWords()
        case (.enter, _): isTyping = false
        default: _ = field.edit(press)
        }
    }

    mutating func paste(_ bytes: [UInt8]) { field.paste(bytes) }
}

/// A page that is searched for words.
protocol SearchablePage: Page {
    var find: SoughtWords { get set }
    /// Other words are looked for.
    mutating func soughtOthers()
}

extension SearchablePage {
    var isTyping: Bool { find.isTyping }

    mutating func typed(_ press: KeyPress, in model: inout Model) -> Bool {
        guard isTyping else { return false }
        find.take(press)
        soughtOthers()
        return true
    }

    mutating func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        guard isTyping else { return false }
        find.paste(bytes)
        soughtOthers()
        return true
    }
}
