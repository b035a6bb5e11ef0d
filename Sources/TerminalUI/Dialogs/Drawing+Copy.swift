import DisplayText
import MartletKit
import Terminal

extension Model {
    /// Copies the text of the cursor's row, or of all that is shown.
    mutating func copy(all: Bool) {
        let text = Drawing.copied(self, all: all)
        guard !text.isEmpty else { return say("Nothing is there to copy.") }
        requests.append(.copy(text))
    }
}

/// The text that `copy` takes from a page. Always harmless: it may be pasted into a shell.
extension Drawing {
    static func copied(_ model: Model, all: Bool) -> String {
        model.page.copied(all: all, in: Drawing(model: model, layout: model.layout, grid: Grid(model.size)))
    }

    /// The source of a row; of a batch, its destination.
    func path(of row: NodeRow?) -> String {
        guard let row else { return "" }
        let path = row.path.firstRange(of: " -> ").map { String(row.path[..<$0.lowerBound]) } ?? row.path
        return appearance.safe(path.isEmpty ? row.name : path).string
    }

    static func text(_ lines: [StyledLine]) -> String {
        lines.map { line in line.pieces.map(\.text.string).joined() }.joined(separator: "\n")
    }

    /// The lines between the first and the last one, as they are drawn.
    var shownRows: String {
        let grid = Drawing.draw(model).grid
        return (1..<max(1, model.size.rows - 1)).map { grid.text(row: $0) }.joined(separator: "\n").trimmedLines
    }
}

extension String {
    /// Without empty lines at its ends.
    fileprivate var trimmedLines: String {
        var lines = split(separator: "\n", omittingEmptySubsequences: false)[...]
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}
