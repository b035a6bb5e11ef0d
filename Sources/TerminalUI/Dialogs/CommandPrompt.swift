import DisplayText
import MartletKit
import Terminal

/// The line behind `:`: fuzzy words find what can be done, an exact command runs.
struct CommandPrompt: Sendable {
    var field = TextField()
    /// The line of the list under the cursor when this one was opened: a command without a name means that. `nil`, too, when the cursor was
    /// on its way.
    let held: TreeItem.ID?
    /// The cursor was on its way to another row: it is let go there, and a command that would mean it is refused once.
    let isOnWay: Bool
    /// The entry that Enter takes.
    private(set) var choice = ListCursor<PaletteEntry.ID>()

    init(field: TextField = TextField(), on held: TreeItem.ID?, isOnWay: Bool = false) {
        self.field = field
        self.held = held
        self.isOnWay = isOnWay
    }

    /// The line of that entry among the entries of now.
    var selected: Int { choice.index }

    /// The entries have changed; the choice stays on its own.
    mutating func follow(_ entries: [PaletteEntry]) { choice.follow(entries.map(\.id)) }

    /// Goes on with another text.
    fileprivate mutating func type(_ text: String) {
        field = TextField(Array(text.utf8))
        choice = ListCursor()
    }

    fileprivate mutating func choose(_ line: Int, _ entries: [PaletteEntry]) {
        choice.move(to: line, in: entries.map(\.id))
    }

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

    /// The identity of an entry; stays the same while what is told of a batch changes.
    enum ID: Hashable, Sendable {
        case action(Action)
        /// By its title: two filters may have one text.
        case filter(String)
        case batch(BatchCommand, RowID)
        case command(ScreenCommand)
    }

    var id: ID {
        switch run {
        case .action(let action): .action(action)
        case .filter: .filter(title)
        case .batch(let command, let row): .batch(command, row.id)
        case .command(let command): .command(command)
        }
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

    /// The most places of a text at which a word is taken to begin: a text of one letter would be looked through once for each.
    private static let mostStarts = 16

    static func score<Text: RandomAccessCollection>(_ word: [Character], _ text: Text) -> Int?
    where Text.Element == Character, Text.Index == Int {
        var best: Int?
        for start in text.indices.lazy.filter({ text[$0] == word.first }).prefix(mostStarts) {
            var (place, score, last) = (start, 0, start - 1)
            var index = 0
            while index < word.count, place < text.endIndex {
                if text[place] == word[index] {
                    let isBeginning = place == 0 || !(text[place - 1].isLetter || text[place - 1].isNumber)
                    score += (isBeginning ? 8 : 0) + (place == last + 1 ? 7 : 0) + (place == 0 ? 2 : 0)
                    score -= min(3, place - last - 1)
                    last = place
                    index += 1
                }
                place += 1
            }
            // A rest that is not found behind this place is found behind no later one.
            guard index == word.count else { return best }
            best = max(best ?? score, score)
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

    /// News may take the cursor of the list and the lines of the palette elsewhere, while a command is typed: both stay on what they were on.
    mutating func holdCommand() {
        guard var prompt = commandPrompt else { return }
        prompt.follow(paletteEntries)
        commandPrompt = prompt
        if prompt.isOnWay, tree.going == .nowhere { tree.hasArrivedUnseen = true }
        guard let held = prompt.held, tree.cursor != held else { return }
        if tree.index(of: held) == nil { tree.isGone = true } else { tree.move(to: held) }
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
        model.commandPrompt?.choice = ListCursor()
        return true
    }

    func take(_ press: KeyPress, in model: inout Model) {
        var prompt = self
        let entries = model.paletteEntries
        prompt.follow(entries)
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control),
            (.backspace, _) where press.key != .backspace || prompt.field.isEmpty:
            model.commandPrompt = nil
            model.tree.hasArrivedUnseen = false
            return
        case (.up, _): prompt.choose(prompt.selected - 1, entries)
        case (.down, _): prompt.choose(prompt.selected + 1, entries)
        case (.tab, _):
            guard entries.indices.contains(prompt.selected) else { return }
            switch entries[prompt.selected].run {
            case .action(let action): prompt.type(action.rawValue)
            case .filter(let text): prompt.type("filter \(text)")
            case .batch(let command, let row): prompt.type("\(command.rawValue) \(model.nodeID(of: row))")
            case .command(let command): prompt.type("\(command.rawValue) ")
            }
        case (.enter, _): return prompt.enter(entries, in: &model)
        default:
            guard prompt.field.edit(press) else { return }
            prompt.choice = ListCursor()
        }
        model.commandPrompt = prompt
    }

    private func enter(_ entries: [PaletteEntry], in model: inout Model) {
        // A command that means no row leaves nothing to be refused.
        defer { if model.commandPrompt == nil { model.tree.hasArrivedUnseen = false } }
        if let (command, rest) = command {
            model.commandPrompt = nil
            return model.run(command, rest)
        }
        guard entries.indices.contains(selected) else {
            return model.complain("Nothing is called \"\(model.appearance.safe(text))\".")
        }
        let entry = entries[selected]
        if choice.isGone {
            // Nobody has chosen the entry that took its place.
            model.commandPrompt?.choose(selected, entries)
            return model.complain("What was chosen is gone: Enter takes \"\(model.appearance.safe(entry.title))\" now.")
        }
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
            model.commandPrompt = CommandPrompt(
                field: TextField(Array("\(command.rawValue) ".utf8)), on: held, isOnWay: isOnWay)
        }
    }

    /// As in a question: a click chooses a line, and one on the chosen line runs it.
    func take(_ press: MousePress, in model: inout Model) {
        switch press.button {
        case .wheelDown: choose(selected + 3, in: &model)
        case .wheelUp: choose(selected - 3, in: &model)
        case .left:
            guard case .entry(let index)? = model.target(of: press) else { return }
            if index == selected { return take(KeyPress(.enter), in: &model) }
            choose(index, in: &model)
        case .middle, .right: break
        }
    }

    private func choose(_ line: Int, in model: inout Model) {
        let entries = model.paletteEntries
        model.commandPrompt?.choose(line, entries)
    }

    func draw(in drawing: inout Drawing) { drawing.palette(self) }
}
