import DisplayText
import MartletKit
import Terminal

/// A page of plain text that is scrolled and left.
struct ReportPage: Sendable {
    let title: SafeText
    let lines: [SafeText]
    private(set) var scroll = 0

    init(title: SafeText, lines: [SafeText]) {
        self.title = title
        self.lines = lines
    }

    /// What a key does; `nil`: the page is left.
    func scrolled(_ action: Action, _ size: ScreenSize) -> ReportPage? {
        let height = max(1, size.rows - 2)
        var page = self
        switch action {
        case .down: page.scroll += 1
        case .up: page.scroll -= 1
        case .halfPageDown: page.scroll += height / 2
        case .halfPageUp: page.scroll -= height / 2
        case .pageDown: page.scroll += height - 1
        case .pageUp: page.scroll -= height - 1
        case .first: page.scroll = 0
        case .last: page.scroll = .max / 2
        case .back: return nil
        default: break
        }
        let count = lines.flatMap { $0.wrapped(to: size.columns - 2) }.count
        page.scroll = min(max(0, page.scroll), max(0, count - height))
        return page
    }
}

extension Model {
    /// What in `keys.conf` does not count, and which keys will not arrive.
    mutating func showKeyReport() {
        var lines = keyProblems.map { look.safe($0) }
        if lines.isEmpty { lines = ["Nothing is wrong: no two actions share a key, and every key can arrive."] }
        lines += [
            "", "keys.conf stands beside martlet.conf. A line is  action = key key ...  under the view's [name]:", "",
        ]
        lines += Action.allCases.map { action in
            let places = KeyMap.View.allCases.compactMap { view -> String? in
                let names = keys.keys(for: action, in: view).map(\.name).joined(separator: " ")
                return names.isEmpty ? nil : "[\(view.rawValue)] \(names)"
            }
            return SafeText(action.rawValue).fitted(to: 17) + SafeText(places.joined(separator: "  "))
        }
        page = .report(ReportPage(title: "Keys", lines: lines))
    }
}

extension Drawing {
    mutating func report(_ page: ReportPage) {
        title(page.title, "")
        let lines = page.lines.flatMap { $0.wrapped(to: max(2, width - 2)) }
        for (row, line) in zip(1..<max(1, rows - 1), lines.dropFirst(page.scroll)) {
            grid.put(line, row: row, column: 1)
        }
        cursor = Cursor(row: min(1, rows - 1), column: min(1, width - 1))
        footer([.back], in: .help, keepsMessage: false)
        if page.scroll + max(0, rows - 2) < lines.count, rows > 1 {
            let more: SafeText = "more below: PgDn "
            grid.put(more, row: rows - 1, column: max(0, width - more.width), style: .hint)
        }
    }
}
