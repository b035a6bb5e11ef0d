import DisplayText
import MartletKit
import Terminal

/// Everything about one row, on a page of its own and, the first lines, under the tree of a large window.
struct DetailsPage: Sendable {
    /// As it was last seen.
    var row: NodeRow
    /// A task's own story, once the engine has told it.
    var task: TaskSnapshot?
    /// Of a batch: where its files come from, once the engine has told.
    var sources: [String] = []
    var problem: SafeText?
    /// When the story was last asked for.
    var askedAt: Duration?
    /// The first line shown.
    var scroll = 0

    /// Where the text begins: below the bar where there is room for one.
    static func firstLine(rows: Int) -> Int { rows >= 12 ? 3 : 1 }

    mutating func take(_ result: Result<TaskSnapshot, RequestError>, _ look: Look) {
        switch result {
        case .success(let task): self.task = task
        case .failure(let error): problem = look.safe(error.message)
        }
    }
}

extension Model {
    mutating func showDetails(_ row: NodeRow) {
        page = .details(DetailsPage(row: row))
        askForStory()
    }

    private mutating func askForStory() {
        guard case .details(var details) = page, isConnected else { return }
        switch details.row.id {
        case .task(_, let id):
            details.askedAt = now.uptime
            page = .details(details)
            ask(.task) { .task(id, number: $0) }
        case .batch(let id) where details.sources.isEmpty:
            details.askedAt = now.uptime
            page = .details(details)
            ask(.sources(id)) { .sources(of: id, number: $0) }
        case .batch, .folder, .group: break
        }
    }

    mutating func sourcesCame(_ result: Result<[String], RequestError>, _ number: Int) {
        guard case .sources(let batch) = outstanding.removeValue(forKey: number)?.purpose,
            case .details(var details) = page, details.row.id == .batch(batch)
        else { return }
        switch result {
        case .success(let places): details.sources = places
        case .failure(let error): details.problem = look.safe(error.message)
        }
        page = .details(details)
    }

    /// Follows the row; its story is asked for again at most once a second, or when its state has changed.
    mutating func refreshDetails(_ update: ViewUpdate) {
        guard case .details(var details) = page else { return }
        let before = details.row
        let watched = update.nodes.values.compactMap(\.self).first { $0.id == before.id }
        guard let row = watched ?? tree.row(before.id), row != before else { return }
        details.row = row
        page = .details(details)
        let isDue = details.askedAt.map { now.uptime - $0 >= .seconds(1) } ?? true
        let isAsked = outstanding.values.contains { if case .task = $0.purpose { true } else { false } }
        if !isAsked, isDue || row.state != before.state { askForStory() }
    }

    mutating func performInDetails(_ action: Action) {
        guard case .details(var details) = page else { return }
        let height = max(1, size.rows - 2 - DetailsPage.firstLine(rows: size.rows))
        let lines = DetailsText(details, in: self).lines(width: size.columns)
        let most = max(0, lines.count - height)
        switch action {
        case .down: details.scroll += 1
        case .up: details.scroll -= 1
        case .halfPageDown: details.scroll += height / 2
        case .halfPageUp: details.scroll -= height / 2
        case .pageDown: details.scroll += height - 1
        case .pageUp: details.scroll -= height - 1
        case .first: details.scroll = 0
        case .last: details.scroll = most
        case .back:
            page = .transfers
            return
        case .help:
            page = .help(scroll: 0)
            return
        default: return act(action, on: [details.row])
        }
        details.scroll = min(max(0, details.scroll), most)
        page = .details(details)
    }
}

extension NodeRow {
    /// Whether it stands for any number of files.
    var canHold: Bool {
        if case .task = id { false } else { true }
    }
}
