import DisplayText
import MartletKit
import Terminal

/// A name that is looked for among the rows of the list, letter by letter. What is not among them a filter finds.
struct TreeFind: Sendable {
    var field = TextField()
    var isTyping = true
    /// Where the cursor was.
    let before: TreeItem.ID?

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

extension Model {
    mutating func beginFind() { find = TreeFind(before: tree.cursor) }

    /// Enter stays, Esc returns to where the cursor was, Tab makes a filter of the words.
    mutating func takeInFind(_ press: KeyPress) {
        switch (press.key, press.modifiers) {
        case (.escape, _), (.character("c"), .control):
            if let before = find?.before { tree.move(to: before) }
            find = nil
        case (.enter, _):
            find?.isTyping = false
            if find?.field.isEmpty == true { find = nil }
        case (.tab, _): filterByFind()
        case (.down, _): findNext(1)
        case (.up, _): findNext(-1)
        default:
            guard find?.field.edit(press) == true else { return }
            goToFound()
        }
    }

    mutating func pasteInFind(_ bytes: [UInt8]) {
        find?.field.paste(bytes)
        goToFound()
    }

    private mutating func filterByFind() {
        guard let bytes = find?.field.bytes, !bytes.isEmpty else { return }
        find = nil
        filterLine = FilterLine(filter?.text)
        filterLine?.field = TextField()
        // A name with blanks or signs is one word of a filter all the same.
        let isWord = bytes.allSatisfy { $0 >= 0x80 || $0 > 0x20 && !"()|!\"/<>=:@*?".utf8.contains($0) }
        let quoted = isWord || bytes.contains(UInt8(ascii: "\"")) ? bytes : Array("\"".utf8) + bytes + Array("\"".utf8)
        pasteInFilterLine(quoted)
    }

    /// To the first that matches from where the cursor was on, round the end.
    private mutating func goToFound() {
        guard let find else { return }
        let start = find.before.flatMap { tree.index(of: $0) } ?? 0
        let lines = tree.lines(of: find)
        if let line = lines.first(where: { $0 >= start }) ?? lines.first {
            tree.move(to: line)
        } else if let before = find.before {
            tree.move(to: before)
        }
    }

    /// To the next one (1) or the previous one (-1), round the ends.
    mutating func findNext(_ step: Int) {
        guard let find else { return }
        let lines = tree.lines(of: find)
        let cursor = tree.cursorIndex ?? 0
        let next = step > 0 ? lines.first { $0 > cursor } ?? lines.first : lines.last { $0 < cursor } ?? lines.last
        guard let next else {
            return say("\"\(look.safe(find.field.text ?? ""))\" is not in the list: \(key(.filter)) looks everywhere.")
        }
        tree.move(to: next)
    }
}

extension Drawing {
    mutating func findLine(_ find: TreeFind) {
        for row in layout.message { grid.fill(row: row, style: .plain) }
        let count = model.tree.lines(of: find).count
        let right: SafeText =
            find.field.isEmpty
            ? ""
            : count == 0
                ? "not in the list; Tab looks everywhere" : SafeText("\(Figures.count(Int64(count))) in the list")
        typed(
            width >= 20 ? "find: " : "/", find.field, layout.prompt, column: layout.message.isEmpty ? 0 : 1,
            right: right.width + 20 <= width ? right : "")
    }

    static let findHints = [("Enter", "stays"), ("Tab", "filters"), ("Up Down", "others"), ("Esc", "goes back")]
}
