import DisplayText
import MartletKit
import Terminal

/// Everything about one row, on a page of its own and, the first lines, under the tree of a large window.
struct DetailsPage: Sendable {
    /// As it was last seen.
    var row: NodeRow
    /// A task's own story, once the engine has told it.
    var task: TaskSnapshot?
    /// Batches only: the sources of the files, once the engine has told.
    var sources: NamedSources?
    /// No file was added to the batch after that question.
    var sourcesAreFinal = false
    var problem: SafeText?
    /// When the story was last asked for.
    var askedAt: Duration?
    /// The first line shown, unless there is room for it and all that follows.
    private var scroll = 0

    init(row: NodeRow) { self.row = row }

    /// The row where the text begins: below the bar where there is room for one.
    static func firstLine(rows: Int) -> Int { rows >= 12 ? 3 : 1 }

    /// Lines that have room.
    private static func height(_ size: ScreenSize) -> Int { max(1, size.rows - 2 - firstLine(rows: size.rows)) }

    /// The first line in sight of so many: never so far down that there is room below the last one.
    func top(of lines: Int, _ size: ScreenSize) -> Int { min(scroll, max(0, lines - Self.height(size))) }

    /// The page scrolled by a key; `nil`: the key does not scroll.
    func scrolled(_ action: Action, lines: Int, _ size: ScreenSize) -> DetailsPage? {
        let height = Self.height(size)
        let line = action.scrolled(from: top(of: lines, size), height: height, most: max(0, lines - height))
        guard let line else { return nil }
        var page = self
        page.scroll = line
        return page
    }

    /// The story is to be asked for again: a task's goes on, a batch's has more places as long as its folders are listed.
    var isStoryOpen: Bool {
        switch row.id {
        case .task: true
        case .batch: !sourcesAreFinal
        case .folder, .group: false
        }
    }
}

extension Model {
    mutating func showDetails(_ row: NodeRow) {
        page = .details(DetailsPage(row: row))
        askForStory()
    }

    private mutating func askForStory() {
        guard case .details(var details) = page, isConnected, details.isStoryOpen else { return }
        details.askedAt = now.uptime
        page = .details(details)
        switch details.row.id {
        case .task(_, let id): ask(.task(id)) { .task(id, number: $0) }
        case .batch(let id):
            ask(.sources(id, scanning: details.row.scanning)) { .sources(of: id, number: $0) }
        case .folder, .group: break
        }
    }

    mutating func storyCame(_ result: Result<TaskSnapshot, RequestError>, _ number: Int) {
        // Of another one's page that was left meanwhile nothing is shown here.
        guard case .task(let id) = outstanding.removeValue(forKey: number)?.purpose,
            case .details(var details) = page, case .task(_, id) = details.row.id
        else { return }
        switch result {
        case .success(let task): (details.task, details.problem) = (task, nil)
        case .failure(let error): details.problem = advised(error.message)
        }
        page = .details(details)
    }

    mutating func sourcesCame(_ result: Result<NamedSources, RequestError>, _ number: Int) {
        guard case .sources(let batch, let wasScanning) = outstanding.removeValue(forKey: number)?.purpose,
            case .details(var details) = page, details.row.id == .batch(batch)
        else { return }
        switch result {
        case .success(let sources):
            (details.sources, details.sourcesAreFinal, details.problem) = (sources, !wasScanning, nil)
        case .failure(let error): details.problem = advised(error.message)
        }
        page = .details(details)
        // The listing has ended while the answer was on its way: no other news of it will come.
        if wasScanning, !details.row.scanning { askForStory() }
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
        let isOver = row.state != before.state || row.scanning != before.scanning
        if isDue || isOver, !isAskingForStory { askForStory() }
    }

    private var isAskingForStory: Bool {
        outstanding.values.contains {
            switch $0.purpose {
            case .task, .sources: true
            default: false
            }
        }
    }

    mutating func performInDetails(_ action: Action) {
        guard case .details(let details) = page else { return }
        switch action {
        case .down: return showNeighbour(1)
        case .up: return showNeighbour(-1)
        default: break
        }
        let lines = DetailsText(details, in: self).lines(width: size.columns).count
        if let scrolled = details.scrolled(action, lines: lines, size) { return page = .details(scrolled) }
        switch action {
        case .open: showInTree(details.row)
        case .back: page = .transfers
        case .help: openHelp()
        default: act(action, on: [details.row])
        }
    }

    /// Back to the tree, with what is in the row open there.
    private mutating func showInTree(_ row: NodeRow) {
        guard tree.index(of: .row(row.id)) != nil else {
            return complain("It is further down than the list reaches.")
        }
        page = .transfers
        tree.move(to: .row(row.id))
        if row.canHold { tree.setOpen(row.id, true) }
    }
}

extension NodeRow {
    /// True when it stands for any number of files.
    var canHold: Bool {
        if case .task = id { false } else { true }
    }
}
