import DisplayText
import Terminal

/// The page of help, made from the keys as they are and from the table of states: it cannot say what is not so. The view
/// that it was opened from comes first; a line under the cursor can be run.
struct HelpPage: Sendable {
    /// The view whose keys come first.
    let view: KeyMap.View
    /// The page that is open again when help is closed.
    var below: any Page = TransfersPage()
    /// The help of a step in which something is typed, in the place of any view; `nil`: there is none.
    var form: FormHelp?
    /// The line under the cursor, among those that a key does.
    var selected = 0
    /// The first row shown.
    var top = 0
    /// Only lines with these words in them.
    var find = SoughtWords()

    init(_ view: KeyMap.View) { self.view = view }

    mutating func move(to index: Int, _ layout: HelpLayout, height: Int) {
        selected = min(max(0, index), max(0, layout.entries.count - 1))
        // The heading above the first line comes into sight with it.
        let row = selected == 0 ? 0 : layout.row(of: selected)
        let end = selected == layout.entries.count - 1 ? layout.rows.count - 1 : row
        if end >= top + height { top = end - height + 1 }
        if row < top { top = row }
    }

    mutating func scroll(by rows: Int, _ layout: HelpLayout, height: Int) {
        top = min(max(0, top + rows), max(0, layout.rows.count - height))
        let inSight = layout.entries.indices.filter { (top..<(top + height)).contains(layout.row(of: $0)) }
        if !inSight.contains(selected) { selected = (rows > 0 ? inSight.first : inSight.last) ?? selected }
    }
}

extension HelpPage: SearchablePage {
    static var view: KeyMap.View { .help }
    var coversAdding: Bool { true }

    /// Keys of what is open; what was open comes back when help is closed.
    static func open(in model: inout Model) {
        if model.page is HelpPage { return }
        let view: KeyMap.View = model.isAdding ? .picker : model.canChange ? model.keyView : .lost
        var help = HelpPage(view)
        help.below = model.page
        help.form = model.adding?.formHelp ?? model.page.formHelp
        model.go(to: help)
    }

    mutating func soughtOthers() { (selected, top) = (0, 0) }

    mutating func perform(_ action: Action, in model: inout Model) {
        let height = max(1, model.size.rows - 2)
        let layout = model.helpLayout(self)
        switch action {
        case .down: move(to: selected + 1, layout, height: height)
        case .up: move(to: selected - 1, layout, height: height)
        case .halfPageDown: scroll(by: max(1, height / 2), layout, height: height)
        case .halfPageUp: scroll(by: -max(1, height / 2), layout, height: height)
        case .pageDown: scroll(by: max(1, height - 1), layout, height: height)
        case .pageUp: scroll(by: -max(1, height - 1), layout, height: height)
        case .first: move(to: 0, layout, height: height)
        case .last:
            selected = max(0, layout.entries.count - 1)
            scroll(by: layout.rows.count, layout, height: height)
        case .find: find.begin()
        case .back where !find.isEmpty:
            find.take(KeyPress(.escape))
            soughtOthers()
        case .back: model.go(to: below)
        case .enter:
            if layout.entries.indices.contains(selected) { run(layout.entries[selected], in: &model) }
        default: break
        }
    }

    /// As if its key had been pressed where help was opened.
    private func run(_ entry: HelpText.Entry, in model: inout Model) {
        model.go(to: below)
        let view: KeyMap.View = model.isAdding ? .picker : model.keyView
        guard entry.view == view || entry.view == .lost && !model.canChange,
            let press = model.keys.keys(for: entry.action, in: entry.view).first
        else {
            return model.complain(
                "\"\(SafeText(entry.action.summary(in: entry.view)))\" belongs to \(SafeText(entry.view.nameInHelp)).")
        }
        model.take(.key(press))
    }

    func draw(in drawing: inout Drawing) { drawing.help(self) }
}

extension KeyMap.View {
    package static let help = Self(
        "help", nameInHelp: "help", page: HelpPage.self,
        words: [.enter: Words(help: "do it", hint: "do it")],
        keys: KeyMap.moving + KeyMap.everywhere.filter { $0.0 != .help } + KeyMap.pages + [
            (.enter, ["Enter"]), (.find, ["/", "F3"]), (.back, ["Esc", "q", "?", "F1"]),
        ])
}

extension Model {
    func helpLayout(_ page: HelpPage) -> HelpLayout {
        HelpLayout(
            HelpText(keys: keys, appearance: appearance, machine: machine, keysFile: settings.keysFile), page,
            width: size.columns)
    }
}

extension Drawing {
    fileprivate mutating func help(_ page: HelpPage) {
        title("Help: \(page.form?.place ?? SafeText(page.view.nameInHelp))", "")
        let layout = model.helpLayout(page)
        let height = max(0, rows - 2)
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        for (y, row) in zip(1..<max(1, rows - 1), layout.rows.dropFirst(page.top)) {
            for piece in [row.left, row.right].compactMap(\.self) {
                grid.put(piece.line, row: y, column: piece.column, end: width)
                guard let entry = piece.entry, entry == page.selected else { continue }
                let end = piece.column + piece.width
                grid.restyle(row: y, columns: piece.column..<min(width, end)) { $0.isSelected = true }
                cursor = Cursor(row: y, column: min(width - 1, piece.column + 1))
            }
        }
        let hints: [Action] = layout.entries.isEmpty ? [.back, .find] : [.back, .enter, .find]
        footer(hints, in: .help, keepsMessage: false)
        if page.find.isShown, rows > 2 {
            let count = SafeText("\(layout.entries.count) found")
            finding(page.find, count)
        }
        guard page.top + height < layout.rows.count, rows > 1 else { return }
        let more: SafeText = "  more below: PgDn "
        // Only where it stands over nothing.
        let used = HintLine.text(hints, in: .help, model.keys, width: width).width
        guard used + more.width <= width else { return }
        grid.put(more, row: rows - 1, column: width - more.width, style: .hint)
    }
}
