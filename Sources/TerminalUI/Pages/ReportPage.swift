import DisplayText
import MartletKit
import Terminal

/// A page of plain text that is scrolled and left.
struct ReportPage: Sendable {
    let title: SafeText
    let lines: [SafeText]
    /// The column where the text of a line with a label stands; one that is broken goes on there.
    let indent: Int
    private(set) var scroll = 0

    init(title: SafeText, lines: [SafeText], indent: Int = 0) {
        self.title = title
        self.lines = lines
        self.indent = indent
    }

    /// A line with a label has blanks up to its text; a sentence has none there.
    func wrapped(to width: Int) -> [SafeText] {
        lines.flatMap { line -> [SafeText] in
            let hasLabel =
                indent > 0 && line.width > indent && line.beginning(of: indent).glyphs.last == .space
                && line.glyphs.first != .space
            return line.wrapped(to: max(2, width), hanging: hasLabel ? indent : 0)
        }
    }

}

extension ReportPage: Page {
    static var view: KeyMap.View { .help }
    var coversAdding: Bool { true }

    mutating func perform(_ action: Action, in model: inout Model) {
        if action == .back { return model.goToTransfers() }
        let height = max(1, model.size.rows - 2)
        let most = max(0, wrapped(to: model.size.columns - 2).count - height)
        scroll = action.scrolled(from: scroll, height: height, most: most) ?? min(scroll, most)
    }

    func draw(in drawing: inout Drawing) { drawing.report(self) }
}

extension Model {
    /// Shows the problems in `keys.conf`, and the keys that will not arrive.
    mutating func showKeyReport() {
        var lines = settings.keyProblems.map { appearance.safe($0) }
        if lines.isEmpty { lines = ["Nothing is wrong: no two actions share a key, and every key can arrive."] }
        let file = settings.keysFile.isEmpty ? "keys.conf" : settings.keysFile
        lines += ["", "\(appearance.safe(file)): a line is  action = key key ...  under the view's [name].", ""]
        for action in Action.allCases {
            // Views that have the same keys stand together.
            var places: [(keys: String, views: [String])] = []
            for view in KeyMap.View.allCases {
                let names = keys.keys(for: action, in: view).map(\.name).joined(separator: " ")
                if names.isEmpty { continue }
                if let index = places.firstIndex(where: { $0.keys == names }) {
                    places[index].views.append(view.rawValue)
                } else {
                    places.append((names, [view.rawValue]))
                }
            }
            for (index, place) in places.enumerated() {
                let label = SafeText(index == 0 ? action.rawValue : " ").fitted(to: 19)
                let keys = SafeText(place.keys + " ").fitted(to: max(12, place.keys.count + 1))
                lines.append(label + keys + SafeText("[" + place.views.joined(separator: "] [") + "]"))
            }
        }
        go(to: ReportPage(title: "Keys", lines: lines, indent: 31))
    }
}

extension Drawing {
    fileprivate mutating func report(_ page: ReportPage) {
        title(page.title, "")
        let lines = page.wrapped(to: width - 2)
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
