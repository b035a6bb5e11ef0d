import DisplayText
import MartletKit
import Terminal

extension Model {
    /// Copies the text of the cursor's row, or of all that is shown.
    mutating func copy(all: Bool) {
        let copied = Drawing.copied(self, all: all)
        if case .unknown = copied {
            return say("The engine tells this path for the eye only, and a shell could take it for another one.")
        }
        guard !copied.text.isEmpty else { return say("Nothing is there to copy.") }
        requests.append(.copy(copied))
    }
}

/// The text that `copy` takes from a page.
extension Drawing {
    static func copied(_ model: Model, all: Bool) -> CopiedText {
        model.page.copied(all: all, in: Drawing(model: model, layout: model.layout, grid: Grid(model.size)))
    }

    /// The source of a row; of a batch, its destination.
    func path(of row: NodeRow?) -> CopiedText {
        guard let row else { return .shown("") }
        guard let source = row.source else { return row.path.isEmpty ? .shown("") : .unknown }
        // Bytes that a shell could read otherwise than they are shown are escaped: the result is text.
        return .word(String(decoding: source.bytes.isEmpty ? [] : ShellCommand.quoted(source.bytes), as: UTF8.self))
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
