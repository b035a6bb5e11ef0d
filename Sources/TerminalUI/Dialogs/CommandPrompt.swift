import DisplayText
import MartletKit
import Terminal

/// The line behind `:`: fuzzy words find what can be done, an exact command runs.
struct CommandPrompt: Sendable {
    var field = TextField()
    /// The entry that Enter takes.
    var selected = 0

    var text: String { (field.text ?? "").trimmed }

    /// A command with something behind it.
    var command: (command: ScreenCommand, rest: String)? {
        let word = text.prefix { !$0.isWhitespace }
        guard let command = ScreenCommand(rawValue: String(word)),
            word.count < (field.text ?? "").count || command == .keys || command == .glyphs
        else { return nil }
        return (command, String(text.dropFirst(word.count)).trimmed)
    }
}

/// One line of the palette.
struct PaletteEntry: Sendable {
    enum Run: Hashable, Sendable {
        case action(Action)
        case filter(String)
        /// To a batch that is named in the title.
        case batch(BatchCommand, NodeRow)
        /// Goes on in the line.
        case command(ScreenCommand)
    }

    var run: Run
    var title: String
    /// The key that does the same, when there is one.
    var key: String
    /// The words at the right: a target, a filter's count, a command's form.
    var detail: SafeText = ""
    /// The reason why it cannot be done now.
    var obstacle: SafeText?
    var score = 0
}

enum FuzzyMatch {
    /// The score of how well words fit a text; `nil`: not at all. Every word's letters stand there in order; beginnings
    /// of words and letters side by side count more. A query that is longer than any entry fits none.
    static func score(_ query: String, _ text: String) -> Int? {
        if query.utf8.count > 256 { return nil }
        let text = Array(text.lowercased())
        var sum = 0
        for word in query.lowercased().split(whereSeparator: \.isWhitespace) {
            guard let score = score(Array(word), text) else { return nil }
            sum += score
        }
        return sum
    }

    private static func score(_ word: [Character], _ text: [Character]) -> Int? {
        var best: Int?
        for start in text.indices where text[start] == word.first {
            var (place, score, last) = (start, 0, start - 1)
            var index = 0
            while index < word.count, place < text.count {
                if text[place] == word[index] {
                    let isBeginning = place == 0 || !(text[place - 1].isLetter || text[place - 1].isNumber)
                    score += (isBeginning ? 8 : 0) + (place == last + 1 ? 7 : 0) + (place == 0 ? 2 : 0)
                    score -= min(3, place - last - 1)
                    last = place
                    index += 1
                }
                place += 1
            }
            if index == word.count { best = max(best ?? score, score) }
        }
        return best
    }
}

extension Model {
    /// The line in which a command is typed.
    var commandPrompt: CommandPrompt? {
        get { layers[CommandPrompt.self] }
        set { layers[CommandPrompt.self] = newValue }
    }

    /// The entries of the palette for the text, best first.
    var paletteEntries: [PaletteEntry] {
        guard let prompt = commandPrompt, prompt.command == nil else { return [] }
        // What a person has named comes first, with how much it is now.
        var entries = filters.saved.map {
            PaletteEntry(run: .filter($0.text), title: "filter \($0.name)", key: "", detail: detail(of: $0))
        }
        entries += Action.allCases.filter { isOffered($0) }.map { action in
            PaletteEntry(
                run: .action(action), title: action.summary,
                key: keys.keys(for: action, in: .transfers).first?.name ?? "",
                detail: detail(of: action), obstacle: obstacle(to: action))
        }
        entries += ScreenCommand.allCases.map {
            PaletteEntry(
                run: .command($0), title: "\($0.rawValue): \($0.summary)", key: "", detail: appearance.safe($0.form))
        }
        let query = prompt.text
        if query.isEmpty { return entries }
        entries += batchEntries
        return entries.compactMap { entry in
            let name =
                if case .action(let action) = entry.run { "\(action.rawValue) \(entry.title)" } else { entry.title }
            guard let score = FuzzyMatch.score(query, name) else { return nil }
            var entry = entry
            entry.score = score
            return entry
        }.enumerated().sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }.map(\.element)
    }

    /// Nobody looks for a way to the next row.
    private func isOffered(_ action: Action) -> Bool {
        switch action.part {
        case .move: action == .nextProblem || action == .toggleAll
        case .lost: action == .startEngine && totals?.stopping == true
        case .pick, .own: false
        case .mark, .act, .see, .leave: action != .command && action != .interrupt && action != .back
        }
    }

    private func detail(of action: Action) -> SafeText {
        switch action {
        case .pause, .cancel, .retry, .why, .details: targets.isEmpty ? "" : title(targets)
        case .pauseAll, .retryAll, .clear: "all"
        default: ""
        }
    }

    /// The reason why an action can do nothing now; `nil`: it can.
    func obstacle(to action: Action) -> SafeText? {
        if action.changesTransfers, !canChange { return "the engine does not answer" }
        switch action {
        case .pause, .cancel:
            if targets.isEmpty { return "nothing is there" }
            let isLeftOut = action == .cancel && targets.contains { $0.counts.failed > 0 }
            return targets.allSatisfy(\.isOver) && !isLeftOut ? "it is over" : nil
        case .retry:
            return targets.contains { $0.counts.failed + $0.counts.cancelled + $0.counts.waiting > 0 }
                ? nil : "nothing failed in it"
        case .retryAll: return (totals?.failed ?? 0) > 0 ? nil : "nothing has failed"
        case .clear: return tree.root?.rows.contains(where: \.isOver) == true ? nil : "no batch is finished"
        case .nextMatch, .previousMatch, .markMatching: return filters.shown == nil ? "no filter is on" : nil
        case .redo: return changes.history.hasUndone ? nil : "nothing was undone here"
        case .unmarkAll: return tree.marks.isEmpty ? "nothing is marked" : nil
        default: return nil
        }
    }
}

extension CommandPrompt: Layer {
    static var level: LayerLevel { .commandPrompt }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        model.commandPrompt?.field.paste(bytes)
        return true
    }

    func take(_ press: KeyPress, in model: inout Model) {
        var prompt = self
        let entries = model.paletteEntries
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control),
            (.backspace, _) where press.key != .backspace || prompt.field.isEmpty:
            model.commandPrompt = nil
            return
        case (.up, _): prompt.selected = max(0, prompt.selected - 1)
        case (.down, _): prompt.selected = min(max(0, entries.count - 1), prompt.selected + 1)
        case (.tab, _):
            guard entries.indices.contains(prompt.selected) else { return }
            switch entries[prompt.selected].run {
            case .action(let action): prompt.field = TextField(Array(action.rawValue.utf8))
            case .filter(let text): prompt.field = TextField(Array("filter \(text)".utf8))
            case .batch(let command, let row):
                prompt.field = TextField(Array("\(command.rawValue) \(model.nodeID(of: row))".utf8))
            case .command(let command): prompt.field = TextField(Array("\(command.rawValue) ".utf8))
            }
            prompt.selected = 0
        case (.enter, _): return prompt.enter(entries, in: &model)
        default:
            guard prompt.field.edit(press) else { return }
            prompt.selected = 0
        }
        model.commandPrompt = prompt
    }

    private func enter(_ entries: [PaletteEntry], in model: inout Model) {
        if let (command, rest) = command {
            model.commandPrompt = nil
            return model.run(command, rest)
        }
        guard entries.indices.contains(selected) else {
            return model.complain("Nothing is called \"\(model.appearance.safe(text))\".")
        }
        let entry = entries[selected]
        model.commandPrompt = nil
        if let obstacle = entry.obstacle {
            return model.complain("\(model.appearance.safe(entry.title)): \(obstacle).")
        }
        switch entry.run {
        case .action(let action): model.perform(action)
        case .filter(let text): model.setFilter(text)
        case .batch(let command, let row): model.run(command, row)
        case .command(let command):
            if command.form.isEmpty { return model.run(command, "") }
            model.commandPrompt = CommandPrompt(field: TextField(Array("\(command.rawValue) ".utf8)))
        }
    }

    /// As in a question: a click chooses a line, and one on the chosen line runs it.
    func take(_ press: MousePress, in model: inout Model) {
        switch press.button {
        case .wheelDown: move(by: 3, in: &model)
        case .wheelUp: move(by: -3, in: &model)
        case .left:
            guard case .entry(let index)? = model.target(of: press) else { return }
            if index == selected { return take(KeyPress(.enter), in: &model) }
            model.commandPrompt?.selected = index
        case .middle, .right: break
        }
    }

    private func move(by lines: Int, in model: inout Model) {
        let last = model.paletteEntries.count - 1
        model.commandPrompt?.selected = max(0, min(selected + lines, last))
    }

    func draw(in drawing: inout Drawing) { drawing.palette(self) }
}
