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
        switch model.page {
        case .transfers: all ? rows(of: model) : path(model.tree.cursorRow, model)
        case .details(let page): all ? story(page, model) : path(page.row, model)
        case .log(let page):
            text(of: all ? page.found[...] : page.window(max(1, model.size.rows - 2)).suffix(1), model)
        case .problems(let page):
            all ? rows(of: model) : text(page.cause.map { Drawing(model).problemWords($0, width: 100) } ?? [])
        case .throughput: all ? rows(of: model) : Drawing(model).numbersInWords
        case .history(let page):
            all
                ? rows(of: model)
                : (page.batch.map { Drawing(model).words($0) } ?? []).map(\.string).joined(separator: "\n")
        case .destinations, .help, .report: rows(of: model)
        }
    }

    /// Lines of the log, one each.
    static func text(of lines: ArraySlice<LogLine>, _ model: Model) -> String {
        lines.map { line in
            model.look.safe("\(model.look.date(line.at)) \(line.level.word) \(line.subject)\(line.message)").string
        }.joined(separator: "\n")
    }

    private init(_ model: Model) { self.init(model: model, layout: model.layout, grid: Grid(model.size)) }

    /// The source of a row; of a batch, its destination.
    private static func path(_ row: NodeRow?, _ model: Model) -> String {
        guard let row else { return "" }
        let path = row.path.firstRange(of: " -> ").map { String(row.path[..<$0.lowerBound]) } ?? row.path
        return model.look.safe(path.isEmpty ? row.name : path).string
    }

    private static func story(_ page: DetailsPage, _ model: Model) -> String {
        let lines = DetailsText(page, in: model).lines(width: 100).map { line in
            switch line {
            case .heading(let heading): StyledLine("- " + heading)
            case .text(let text): text
            }
        }
        return model.look.safe(page.row.name).string + "\n" + text(lines)
    }

    private static func text(_ lines: [StyledLine]) -> String {
        lines.map { line in line.pieces.map(\.text.string).joined() }.joined(separator: "\n")
    }

    /// The lines between the first and the last one, as they are drawn.
    private static func rows(of model: Model) -> String {
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
