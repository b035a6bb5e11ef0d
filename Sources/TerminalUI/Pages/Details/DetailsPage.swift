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
    /// No file was added to the batch after that request.
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

    /// Scrolls by a key; false: the key does not scroll.
    private mutating func scroll(_ action: Action, lines: Int, _ size: ScreenSize) -> Bool {
        let height = Self.height(size)
        let line = action.scrolled(from: top(of: lines, size), height: height, most: max(0, lines - height))
        scroll = line ?? scroll
        return line != nil
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
        var details = DetailsPage(row: row)
        details.askForStory(in: &self)
        go(to: details)
    }
}

extension DetailsPage: Page {
    static var view: KeyMap.View { .details }
    var watchedNodes: [NodeID] { if case .task(_, let id) = row.id { [.task(id)] } else { [] } }
    var hearsWheelAsArrows: Bool { true }

    fileprivate mutating func askForStory(in model: inout Model) {
        guard model.isConnected, isStoryOpen else { return }
        askedAt = model.now.uptime
        switch row.id {
        case .task(_, let id): model.ask(StoryRequest(task: id))
        case .batch(let id): model.ask(SourcesRequest(batch: id, wasScanning: row.scanning))
        case .folder, .group: break
        }
    }

    mutating func connected(in model: inout Model) { askForStory(in: &model) }

    /// Follows the row; its story is asked for again at most once a second, or when its state has changed.
    mutating func rowsCame(_ update: ViewUpdate, in model: inout Model) {
        let before = row
        let watched = update.nodes.values.compactMap(\.self).first { $0.id == before.id }
        row = watched ?? model.tree.row(before.id) ?? before
        guard row != before else { return }
        let isDue = askedAt.map { model.now.uptime - $0 >= .seconds(1) } ?? true
        let isOver = row.state != before.state || row.scanning != before.scanning
        guard isDue || isOver, !model.awaits(StoryRequest.self), !model.awaits(SourcesRequest.self) else {
            return
        }
        askForStory(in: &model)
    }

    mutating func perform(_ action: Action, in model: inout Model) {
        switch action {
        case .down: return showNeighbour(1, in: &model)
        case .up: return showNeighbour(-1, in: &model)
        default: break
        }
        let lines = DetailsText(self, in: model).lines(width: model.size.columns).count
        if scroll(action, lines: lines, model.size) { return }
        switch action {
        case .open: showInTree(&model)
        case .back: model.goToTransfers()
        case .why: model.askWhy(row)
        default: model.act(action, on: [row])
        }
    }

    /// Back to the tree, with what is in the row open there.
    private func showInTree(_ model: inout Model) {
        guard model.tree.index(of: .row(row.id)) != nil else {
            return model.complain("It is further down than the list reaches.")
        }
        model.goToTransfers()
        model.tree.move(to: .row(row.id))
        if row.canHold { model.tree.setOpen(row.id, true) }
    }

    /// The wheel goes three lines further for each notch.
    mutating func clicked(_ press: MousePress, in model: inout Model) {
        guard [.wheelUp, .wheelDown].contains(press.button) else { return }
        let lines = DetailsText(self, in: model).lines(width: model.size.columns).count
        for _ in 0..<3 { _ = scroll(press.button == .wheelUp ? .up : .down, lines: lines, model.size) }
    }

    func draw(in drawing: inout Drawing) { drawing.details(self) }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        all ? .shown(story(in: drawing.model)) : drawing.path(of: row)
    }

    private func story(in model: Model) -> String {
        let lines = DetailsText(self, in: model).lines(width: 100).map { line in
            switch line {
            case .heading(let heading): StyledLine("- " + heading)
            case .text(let text): text
            }
        }
        return model.appearance.safe(row.name).string + "\n" + Drawing.text(lines)
    }
}

/// The story of one file.
struct StoryRequest: PageRequest {
    let task: TaskID

    func answer(at desk: RequestDesk) async throws(RequestError) -> TaskSnapshot {
        try await desk.engine.task(task, history: true, response: true)
    }

    func answered(_ result: Result<TaskSnapshot, RequestError>, number: Int, in model: inout Model) {
        model.tellPage(DetailsPage.self) { details, model in
            // An answer for a page that was left meanwhile is not shown here.
            guard case .task(_, task) = details.row.id else { return }
            switch result {
            case .success(let task): (details.task, details.problem) = (task, nil)
            case .failure(let error): details.problem = model.advised(error)
            }
        }
    }
}

/// The places where a batch's files come from.
struct SourcesRequest: PageRequest {
    let batch: BatchID
    /// Its folders were still being listed when this was asked.
    let wasScanning: Bool

    func answer(at desk: RequestDesk) async throws(RequestError) -> NamedSources {
        // A download tells them by its files.
        if let order = try? await desk.engine.order(of: batch), let upload = RepeatedUpload(order) {
            return NamedSources(named: upload.sources)
        }
        return NamedSources(try await desk.engine.firstTasks(of: batch))
    }

    func answered(_ result: Result<NamedSources, RequestError>, number: Int, in model: inout Model) {
        model.tellPage(DetailsPage.self) { details, model in
            guard details.row.id == .batch(batch) else { return }
            switch result {
            case .success(let sources):
                (details.sources, details.sourcesAreFinal, details.problem) = (sources, !wasScanning, nil)
            case .failure(let error): details.problem = model.advised(error)
            }
            // The listing has ended while the answer was on its way: no other news of it will come.
            if wasScanning, !details.row.scanning { details.askForStory(in: &model) }
        }
    }
}

extension KeyMap.View {
    package static let details = Self(
        "details", nameInHelp: "details", page: DetailsPage.self,
        words: [
            .down: Words(help: "next file of the batch", hint: "next file"), .up: Words(help: "its previous file"),
        ],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + KeyMap.copying + [
            (.pause, ["p", "F7"]), (.cancel, ["x", "F8", "Del"]), (.retry, ["r"]), (.undo, ["u"]), (.redo, ["^R"]),
            (.order, ["o"]), (.limit, ["T"]), (.verify, ["V"]), (.why, ["w"]), (.open, ["l", "Right"]),
            (.back, ["Esc", "q", "i", "h", "Left"]),
        ])
}

extension NodeRow {
    /// True when it stands for any number of files.
    var canHold: Bool {
        if case .task = id { false } else { true }
    }
}
