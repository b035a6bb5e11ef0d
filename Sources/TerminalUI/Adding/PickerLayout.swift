import DisplayText
import Terminal

/// The places of the picker's parts. Pure arithmetic; every size has an answer.
struct PickerLayout: Hashable, Sendable {
    /// The steps.
    var title: Int?
    /// The folder, and how it is shown.
    var path: Int?
    var titles: Int?
    var list: Range<Int>
    /// The width of the list in columns.
    var listWidth: Int
    /// The columns of what was chosen, beside the list; empty in narrow windows.
    var aside: Range<Int>
    var places: Int?
    /// The rows of the facts about the row of the cursor: a heading and a line.
    var info: Range<Int> = 0..<0
    /// The row of what was chosen, in one line.
    var chosen: Int?
    /// The row of the typed text or the last message.
    var line: Int?
    var hints: Int?

    // Columns of the list.
    let name: Range<Int>
    let size: Range<Int>?
    let modified: Range<Int>?
    let items: Range<Int>?

    private static let asideWidth = 44

    init(_ window: ScreenSize, _ picker: Picker) { self.init(window, hasInfo: picker.showsInfo) }

    init(_ window: ScreenSize, hasInfo: Bool = false) {
        let (rows, columns) = (window.rows, window.columns)
        switch rows {
        case 1: list = 0..<1
        case 2: (list, hints) = (0..<1, 1)
        case 3..<6: (list, line, hints) = (0..<(rows - 2), rows - 2, rows - 1)
        case 6..<12: (title, list, chosen, line, hints) = (0, 1..<(rows - 3), rows - 3, rows - 2, rows - 1)
        case 12..<18:
            (title, path, list) = (0, 1, 2..<(rows - 3))
            (chosen, line, hints) = (rows - 3, rows - 2, rows - 1)
        default:
            (title, path, titles, list) = (0, 1, 2, 3..<(rows - 4))
            (places, chosen, line, hints) = (rows - 4, rows - 3, rows - 2, rows - 1)
        }
        let hasAside = columns >= 110 && rows >= 18
        let width = hasAside ? columns - Self.asideWidth - 1 : columns
        listWidth = width
        aside = hasAside ? (columns - Self.asideWidth)..<columns : columns..<columns
        if hasAside { places = nil }
        if hasAside { list = list.lowerBound..<(rows - 3) }
        if hasInfo, rows >= 12 {
            info = (list.upperBound - 2)..<list.upperBound
            list = list.lowerBound..<info.lowerBound
        }

        // From the right; what says least goes first.
        var end = hasAside ? width - 1 : width
        func column(_ cells: Int, from least: Int) -> Range<Int>? {
            guard width >= least else { return nil }
            end -= cells + 1
            return (end + 1)..<(end + 1 + cells)
        }
        items = column(9, from: 44)
        modified = column(10, from: 60)
        size = column(7, from: 30)
        name = 3..<max(4, end)
    }
}
