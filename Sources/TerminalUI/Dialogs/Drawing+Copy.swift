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

/// The text that is taken out of the screen.
enum CopiedText: Hashable, Sendable {
    /// A path or address, quoted: a shell reads exactly the bytes that it has.
    case word(String)
    /// Text for the eye, as it is shown: names in it may differ from the real ones. Harmless for a terminal.
    case shown(String)
    /// A path of which only the text for the eye is known: it is not copied.
    case unknown

    var text: String {
        switch self {
        case .word(let text), .shown(let text): text
        case .unknown: ""
        }
    }

    /// The outcome for a person, with the file that it is in; `nil`: it was handed to the terminal.
    func notice(_ file: SafeText?) -> SafeText {
        let what: SafeText = if case .shown = self { "Copied as it is shown" } else { "Copied" }
        return what + (file.map { " into \($0)." } ?? ", if the terminal allows it.")
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
