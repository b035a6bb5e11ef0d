import DisplayText
import MartletKit
import Terminal

/// A name that is looked for, letter by letter: among the rows of the list at once, and by the engine in the whole queue.
struct TreeFind: Sendable {
    /// The engine's count of what matches the words.
    struct Counted: Hashable, Sendable {
        var text: String
        /// Rows of the whole queue.
        var matches: Int64
        var isComplete: Bool
    }

    var field = TextField()
    var isTyping = true
    /// The cursor's line when the search began.
    let before: TreeItem.ID?
    /// The newest question, while it is not answered; answers to those before it are of no use any more.
    var asked: Int?
    var counted: Counted?

    init(before: TreeItem.ID?) { self.before = before }

    /// The number of rows of the whole queue that match; `nil`: not known yet.
    var inQueue: Int64? { counted.flatMap { $0.text == field.text && $0.isComplete ? $0.matches : nil } }

    /// Case matters only with capitals.
    func matches(_ row: NodeRow) -> Bool {
        let text = field.text ?? ""
        guard !text.isEmpty, !row.name.isEmpty else { return false }
        let name = text.contains(where: \.isUppercase) ? row.name : row.name.lowercased()
        return name.contains(text)
    }
}

extension Tree {
    /// The lines whose names match.
    func lines(of find: TreeFind) -> [Int] {
        items.indices.filter { items[$0].row.map { find.matches($0) } ?? false }
    }
}

extension TreeFind: Layer {
    static var level: LayerLevel { .find }
    var wantsMouse: Bool? { false }

    /// When nothing more is typed, the matches stay marked in the list.
    func isOpen(in model: Model) -> Bool { isTyping }

    /// Enter stays, Esc returns to where the cursor was, Tab makes a filter of the words.
    func take(_ press: KeyPress, in model: inout Model) {
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control):
            if let before = model.find?.before { model.tree.move(to: before) }
            model.find = nil
        case (.enter, _):
            model.find?.isTyping = false
            if model.find?.field.isEmpty == true { model.find = nil }
            // What the list does not have is gone to when the engine has found it.
            if let find = model.find, model.tree.lines(of: find).isEmpty, find.inQueue ?? 1 > 0,
                model.tree.going == .nowhere
            {
                model.askForStep(1)
            }
        case (.tab, _): makeFilter(in: &model)
        case (.down, _): model.findNext(1)
        case (.up, _): model.findNext(-1)
        default:
            guard model.find?.field.edit(press) == true else { return }
            Self.goToFound(in: &model)
        }
    }

    func paste(_ bytes: [UInt8], in model: inout Model) -> Bool {
        model.find?.field.paste(bytes)
        Self.goToFound(in: &model)
        return true
    }

    private func makeFilter(in model: inout Model) {
        let bytes = field.bytes
        guard !bytes.isEmpty else { return }
        model.find = nil
        model.filterLine = FilterLine(model.filters.shown?.text)
        model.filterLine?.field = TextField()
        // A name with blanks or signs is one word of a filter all the same.
        let isWord = bytes.allSatisfy { $0 >= 0x80 || $0 > 0x20 && !"()|!\"/<>=:@*?".utf8.contains($0) }
        let quoted = isWord || bytes.contains(UInt8(ascii: "\"")) ? bytes : Array("\"".utf8) + bytes + Array("\"".utf8)
        _ = model.filterLine?.paste(quoted, in: &model)
    }

    /// To the first that matches from where the cursor was on, round the end.
    private static func goToFound(in model: inout Model) {
        guard let find = model.find else { return }
        model.tree.going = .nowhere
        defer { model.askForNames() }
        let start = find.before.flatMap { model.tree.index(of: $0) } ?? 0
        let lines = model.tree.lines(of: find)
        if let line = lines.first(where: { $0 >= start }) ?? lines.first {
            model.tree.move(to: line)
        } else if let before = find.before {
            model.tree.move(to: before)
        }
    }

    func draw(in drawing: inout Drawing) { drawing.findLine(self) }
}

extension Model {
    /// A name that is looked for.
    var find: TreeFind? {
        get { layers[TreeFind.self] }
        set {
            layers[TreeFind.self] = newValue
            if newValue == nil { tree.going = .nowhere }
        }
    }

    mutating func beginFind() {
        tree.going = .nowhere
        find = TreeFind(before: tree.cursor)
    }

    /// To the next one (1) or the previous one (-1), round the ends.
    mutating func findNext(_ step: Int) {
        guard let find else { return }
        let lines = tree.lines(of: find)
        if isConnected, find.inQueue.map({ $0 > Int64(lines.count) }) ?? lines.isEmpty { return askForStep(step) }
        let cursor = tree.cursorIndex ?? 0
        let next = step > 0 ? lines.first { $0 > cursor } ?? lines.first : lines.last { $0 < cursor } ?? lines.last
        guard let next else {
            return say("\"\(appearance.safe(find.field.text ?? ""))\" is nowhere in the queue.")
        }
        tree.move(to: next)
    }
}

extension Drawing {
    fileprivate mutating func findLine(_ find: TreeFind) {
        hints([("Enter", "stays"), ("Tab", "filters"), ("Up Down", "others"), ("Esc", "goes back")])
        for row in layout.message { grid.fill(row: row, style: .plain) }
        let right = find.field.isEmpty ? "" : foundCount(find)
        typed(
            width >= 20 ? "find: " : "/", find.field, layout.prompt, column: layout.message.isEmpty ? 0 : 1,
            right: right.width + 20 <= width ? right : "")
    }

    private func foundCount(_ find: TreeFind) -> SafeText {
        if let counted = find.counted, counted.text == find.field.text {
            if counted.matches == 0, counted.isComplete { return "nowhere in the queue" }
            return "\(Figures.count(counted.matches))\(counted.isComplete ? "" : "+") in the queue"
        }
        return "\(Figures.count(Int64(model.tree.lines(of: find).count))) in the list"
    }
}
