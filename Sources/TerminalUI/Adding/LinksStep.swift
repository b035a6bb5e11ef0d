import DisplayText
import MartletKit
import Terminal

/// The URLs to download: a line that is typed, and the list of those that are in already.
struct LinksStep: Sendable {
    enum Outcome: Sendable {
        case editing
        case goOn
        case close
        case help
    }

    private(set) var urls: [String] = []
    /// The URLs of the list, by which another one is recognised: whole lists are pasted.
    private var known: Set<String> = []
    private(set) var field = TextField()
    /// A URL of the list, to be taken out; `nil`: the line.
    private(set) var selected: Int?
    var note: (text: SafeText, isError: Bool)?

    /// - Parameter check: why it cannot be downloaded.
    mutating func take(_ press: KeyPress, check: (String) -> SafeText?) -> Outcome {
        note = nil
        switch (press.key, press.modifiers) {
        case (.escape, _) where selected != nil: selected = nil
        case (.escape, _), (.character("c"), .control): return .close
        case (.function(1), _): return .help
        case (.function(2), _): return goOn(check)
        case (.enter, _) where field.isEmpty: return goOn(check)
        case (.enter, _): enter(check)
        case (.up, _): selected = urls.isEmpty ? nil : max(0, (selected ?? urls.count) - 1)
        case (.down, _): selected = selected.flatMap { $0 + 1 < urls.count ? $0 + 1 : nil }
        case (.delete, _), (.backspace, _), (.character("x"), []):
            if selected == nil { fallthrough }
            takeOut()
        default:
            if field.edit(press) { selected = nil }
        }
        return .editing
    }

    /// Every line is a URL.
    mutating func paste(_ bytes: [UInt8], check: (String) -> SafeText?) {
        note = nil
        selected = nil
        let words = bytes.split(whereSeparator: { $0 <= 0x20 }).map { String(decoding: $0, as: UTF8.self) }
        if words.count == 1, !field.isEmpty || check(words[0]) != nil { return field.insert(Array(words[0].utf8)) }
        var refused: [SafeText] = []
        for word in words {
            if let why = check(word) { refused.append(why) } else { add(word) }
        }
        if let first = refused.first {
            let more = refused.count > 1 ? " (and \(refused.count - 1) more)" : ""
            note = (first + SafeText(more), true)
        }
    }

    private mutating func goOn(_ check: (String) -> SafeText?) -> Outcome {
        if !field.isEmpty {
            enter(check)
            if !field.isEmpty { return .editing }
        }
        guard urls.isEmpty else { return .goOn }
        note = ("Type or paste a URL first.", true)
        return .editing
    }

    private mutating func enter(_ check: (String) -> SafeText?) {
        let text = String(decoding: field.bytes, as: UTF8.self)
        if let why = check(text) {
            note = (why, true)
        } else {
            add(text)
            field = TextField()
        }
    }

    private mutating func add(_ url: String) {
        if known.insert(url).inserted {
            urls.append(url)
        } else {
            note = ("It is in the list already.", false)
        }
    }

    private mutating func takeOut() {
        guard let row = selected, urls.indices.contains(row) else { return }
        known.remove(urls.remove(at: row))
        selected = urls.isEmpty ? nil : min(row, urls.count - 1)
    }
}
