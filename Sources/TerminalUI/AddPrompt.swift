import DisplayText
import MartletKit
import Terminal

/// Queueing uploads from the screen, one line at a time: first what, then where to.
struct AddPrompt: Sendable {
    enum Step: Hashable, Sendable {
        case sources
        /// Of these, which can be sent.
        case destination([[UInt8]])
    }

    enum Outcome: Sendable {
        case editing
        case closed
        /// Enter: `field` is to be looked at.
        case entered
        /// Tab: this word may be continued.
        case completes([UInt8])
    }

    private(set) var step = Step.sources
    private(set) var field = TextField()
    /// What is wrong with the line, or how many names would fit.
    var note: SafeText?
    private let lastDestination: [UInt8]
    /// What was in the field when a completion was asked for, and by which request.
    private var completing: (line: [UInt8], number: Int)?

    init(destination: [UInt8]) { lastDestination = destination }

    /// What is asked for.
    var label: SafeText {
        switch step {
        case .sources: "Upload which files? "
        case .destination: "To which URL? "
        }
    }

    mutating func take(_ press: KeyPress, _ words: ShellWords) -> Outcome {
        note = nil
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control):
            guard case .destination(let sources) = step, press.key == .escape else { return .closed }
            // One thing at a time: back to the line before.
            step = .sources
            field = TextField(Self.line(sources))
        case (.enter, _):
            guard field.isEmpty else { return .entered }
            note =
                step == .sources ? "Type a path first, or Esc to close." : "Type a URL, such as https://nas.example/in/"
        case (.tab, _):
            guard step == .sources, let last = words.lastWord(field.beforeCursor) else { return .editing }
            return .completes(last.word)
        default: _ = field.edit(press)
        }
        return .editing
    }

    mutating func paste(_ bytes: [UInt8], _ words: ShellWords) {
        note = nil
        switch step {
        case .sources:
            let gap: [UInt8] = field.beforeCursor.isEmpty || field.beforeCursor.last == 0x20 ? [] : [0x20]
            field.insert(gap + Self.line(words.pasted(bytes)) + [0x20])
        case .destination: field.insert(bytes.filter { $0 != 0x0A && $0 != 0x09 })
        }
    }

    /// The sources can be sent: asks where to.
    mutating func accept(_ sources: [[UInt8]]) {
        step = .destination(sources)
        field = TextField(lastDestination)
    }

    mutating func willComplete(_ number: Int) { completing = (field.beforeCursor, number) }

    mutating func take(_ completion: PathCompletion?, _ number: Int, _ words: ShellWords) {
        // The line may have changed while the directory was read.
        guard let begun = completing, begun.number == number, begun.line == field.beforeCursor,
            let last = words.lastWord(begun.line)
        else { return }
        completing = nil
        guard let completion, completion.candidates > 0 else {
            note = "No such file."
            return
        }
        if completion.candidates > 1 { note = "\(completion.candidates) names fit." }
        let isWhole = completion.candidates == 1 && completion.path.last != UInt8(ascii: "/")
        field.replaceBeforeCursor(
            with: begun.line.prefix(last.start) + ShellWords.quote(completion.path) + (isWhole ? [0x20] : []))
    }

    private static func line(_ words: [[UInt8]]) -> [UInt8] {
        Array(words.map(ShellWords.quote).joined(separator: [0x20]))
    }
}

extension Model {
    mutating func takeInPrompt(_ press: KeyPress) {
        guard var editing = prompt else { return }
        let outcome = editing.take(press, shellWords)
        prompt = editing
        switch outcome {
        case .editing: break
        case .closed: prompt = nil
        case .completes(let word):
            let number = ask(.completion) { .complete(word, number: $0) }
            prompt?.willComplete(number)
        case .entered:
            switch editing.step {
            case .sources: enterSources(editing.field)
            case .destination(let sources): enterDestination(editing.field, sources)
            }
        }
    }

    private mutating func enterSources(_ field: TextField) {
        guard let words = shellWords.split(field.bytes) else {
            prompt?.note = "A quote is not closed."
            return
        }
        guard !words.isEmpty else { return }
        ask(.sources(words)) { .checkSources(words, number: $0) }
    }

    private mutating func enterDestination(_ field: TextField, _ sources: [[UInt8]]) {
        guard let text = field.text else {
            prompt?.note = "The URL is not UTF-8: percent-encode it."
            return
        }
        guard canChange else {
            prompt?.note = "The engine does not answer: nothing can be queued now."
            return
        }
        ask(.upload(sources, destination: text)) { .upload(sources, destination: text, number: $0) }
    }

    mutating func sourcesChecked(_ error: RequestError?, _ number: Int) {
        guard case .sources(let words) = outstanding.removeValue(forKey: number)?.purpose else { return }
        if let error { prompt?.note = look.safe(error.message) } else { prompt?.accept(words) }
    }

    mutating func queued(_ result: Result<BatchSnapshot, RequestError>, _ number: Int) {
        guard case .upload(_, let destination) = outstanding.removeValue(forKey: number)?.purpose else { return }
        switch result {
        case .success(let batch):
            lastDestination = Array(destination.utf8)
            prompt = nil
            say("Queued \(batch.id): \"\(look.safe(batch.name))\".")
        case .failure(let error):
            // The line is still there to be mended; when it was closed meanwhile, the message must not be lost.
            if prompt == nil { complain(look.safe(error.message)) } else { prompt?.note = look.safe(error.message) }
        }
    }
}
