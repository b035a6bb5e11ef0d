import DisplayText
import MartletKit
import Terminal

/// The keys of the page of problems, and what it asks the engine.
extension ProblemsPage: Page {
    static var view: KeyMap.View { .problems }
    static var opener: Action? { .problems }
    static var openingKeys: [String] { ["e", "3"] }

    static func open(in model: inout Model) {
        model.go(to: ProblemsPage())
        model.askForBatches(for: view)
    }

    /// Until the page tells a next try that has come, and while that goes on once a second; `nil`: it tells none.
    func untilRefresh(in model: Model) -> Duration? {
        guard model.isConnected, !model.awaitsBatches(Self.view), let at = answeredAt else { return nil }
        let tries = causes.filter(\.isUnserved).map { $0.retryAt?.since(model.engineNow.wall) ?? .zero }
        return tries.min().map { max($0, .seconds(1) - (model.now.uptime - at)) }
    }

    /// There may be another one.
    func refresh(in model: inout Model) { model.askForBatches(for: Self.view) }

    func connected(in model: inout Model) { model.askForBatches(for: Self.view) }

    /// The sums say that there are others now.
    func totalsCame(after before: QueueTotals?, in model: inout Model) {
        guard let totals = model.totals else { return }
        if totals.problems != before?.problems || totals.problemCauses != before?.problemCauses
            || totals.needsPerson != before?.needsPerson || totals.needsSpace != before?.needsSpace
            || totals.needsServer != before?.needsServer
        {
            model.askForBatches(for: Self.view)
        }
    }

    mutating func batchesCame(_ result: Result<[BatchSnapshot], RequestError>, in model: inout Model) {
        switch result {
        case .success(let batches): show(batches)
        case .failure(let error): problem = model.advised(error)
        }
        answeredAt = model.now.uptime
    }

    mutating func perform(_ action: Action, in model: inout Model) {
        if let line = action.line(from: selected, leap: max(1, model.size.rows / 2)) { return move(to: line) }
        if [.enter, .retry, .leaveOut, .again, .server].contains(action), let refusal = refusal() {
            return model.complain(refusal)
        }
        if [.plain, .write, .copyAll].contains(action), !isKnown {
            return model.complain("The engine has not told the problems yet: try again in a moment.")
        }
        switch action {
        case .enter: return showFiles(of: cause, in: &model)
        case .retry: return retry(cause, in: &model)
        case .leaveOut: return leaveOut(cause, in: &model)
        case .server: return Self.showServer(of: cause, in: &model)
        case .again:
            guard let cause, let place = cause.batches.first else { return }
            return model.again(place.batch, inPlace: cause.isWait && cause.isOfAddress && place.isLost)
        case .plain: return model.requests.append(.showPlain(Drawing.report(of: self, model)))
        case .write: return model.requests.append(.write(Drawing.report(of: self, model), name: "problems.txt"))
        case .undo: return model.undo()
        case .back: model.goToTransfers()
        default: break
        }
    }

    /// To its files in the list, and no others; of what has no filter of its own, to the first one.
    private func showFiles(of cause: Cause?, in model: inout Model) {
        guard let cause, let place = cause.batches.first else { return }
        model.goToTransfers()
        if let text = cause.filter(among: causes) { return model.setFilter(text) }
        let row = TreeItem.ID.row(.batch(place.batch))
        guard model.tree.index(of: row) != nil else {
            return model.complain("\(place.batch) is further down than the list reaches.")
        }
        model.tree.move(to: row)
        model.seekProblem(fromStart: true)
    }

    /// Tries all files that failed of it again, in whatever batch they are.
    private func retry(_ cause: Cause?, in model: inout Model) {
        guard let cause else { return }
        if case .unserved(nil, let server) = cause.kind {
            return model.complain(
                "\(model.appearance.safe(server)) asked for a pause: nobody asks it before that is over.")
        }
        if let server = cause.triedAgain {
            // Who says so means the server, and with it what stands in line for it.
            let name = model.appearance.safe(server)
            let isBusy = cause.error?.code == .http
            let what: SafeText = isBusy ? "\(name) again, unless it asked for a pause" : "\(name) again now"
            // What waits for its time, or for a person, is none of this server's troubles.
            guard let tried = cause.filterOfBatches("(why=hostBackoff | why=backoff)") else { return }
            model.ask(.askedServer(what)) { .act(.retry, .matching(NodeSelector(filter: tried)), number: $0) }
            return
        }
        // The engine looks for all of them, and in one step.
        guard let filter = cause.filter(among: causes) ?? cause.filterOfRoom else { return }
        let selector = NodeSelector(filter: filter)
        let places = Self.places(of: cause, model.appearance)
        if cause.isExisting {
            // The question names the place: a file of this machine would be overwritten, or one at a server.
            let ends = Set(cause.batches.map(\.url))
            let end: SafeText = ends.count == 1 ? " (to \(model.appearance.safe(cause.batches[0].url)))" : ""
            return model.askAboutExisting(
                "\(Figures.amount(cause.files, "file")) of \(places)\(end)", files: cause.files,
                cause.batches.map(\.batch),
                then: .named(.retry, places, .matching(selector)))
        }
        model.ask(.failed(of: places)) { .act(.retry, .matching(selector), number: $0) }
    }

    private static func places(of cause: Cause, _ appearance: Appearance) -> SafeText {
        guard cause.batches.count == 1 else { return "\(cause.batches.count) batches" }
        return "\"\(appearance.safe(cause.batches[0].name))\""
    }

    /// Without its files the rest is whole. What failed is forgotten, which cannot be taken back, so it is asked about.
    private func leaveOut(_ cause: Cause?, in model: inout Model) {
        guard let cause else { return }
        // Files of other batches that come to it meanwhile were never shown.
        guard let filter = cause.filterOfItsBatches(among: causes) else {
            return model.complain(
                cause.isForServer
                    ? "It goes on when its server is back: cancel what is not to be sent in the list."
                    : "It goes on when there is room: cancel what is not to be sent in the list.")
        }
        let nodes = NodeChoice.matching(NodeSelector(filter: filter))
        let places = Self.places(of: cause, model.appearance)
        let what = "\(SafeText(Figures.amount(cause.files, "file"))) of \(places)" as SafeText
        guard cause.isWait else {
            model.askToLeaveOut(what, nodes)
            model.dialog?.counted = filter
            model.dialog?.named = Dialog.NamedFiles(count: cause.files, place: places)
            return
        }
        let intent = Dialog.Intent.named(.cancel, what, nodes)
        let asks = cause.isWhole || cause.files > model.settings.askAbove.files || cause.batches.count > 1
        guard asks else { return model.perform(intent) }
        let lines: [SafeText] =
            cause.isWhole ? ["It is all that is left there, and what is tried just now is in it."] : []
        model.askToLeaveOut(what, intent, lines + ["They are cancelled. \(model.takesBack)"])
    }

    /// To the configured server that it is about.
    private static func showServer(of cause: Cause?, in model: inout Model) {
        guard let place = cause?.batches.first else { return }
        if place.host.isEmpty {
            return model.complain("A download names its addresses itself: no configured server is behind it.")
        }
        if let obstacle = DestinationsPage.obstacle(in: model) { return model.complain(obstacle) }
        DestinationsPage.open(in: &model)
        model.tellPage(DestinationsPage.self) { shown, _ in
            shown.sought = place.url
            if cause?.wantsLogin == true {
                // A login is one server's, and so is such a cause.
                shown.waiting = .init(
                    batches: cause?.batches.map(\.batch) ?? [], name: place.name, url: place.url)
            }
            shown.cameFromProblems = true
        }
    }

    func draw(in drawing: inout Drawing) { drawing.problems(self) }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        .shown(all ? drawing.shownRows : Drawing.text(cause.map { drawing.problemWords($0, width: 100) } ?? []))
    }
}

extension KeyMap.View {
    package static let problems = Self(
        "problems", nameInHelp: "problems", page: ProblemsPage.self,
        words: [.enter: Words(help: "show its files", hint: "show the files")],
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.pages + KeyMap.copying + [
            (.enter, ["Enter", "l", "Right"]), (.retry, ["r"]), (.server, ["d"]), (.leaveOut, ["x", "F8", "Del"]),
            (.again, ["A"]), (.plain, ["o"]), (.write, ["w"]), (.undo, ["u"]),
            KeyMap.back(from: ProblemsPage.self, "h", "Left"),
        ])
}

extension Model {
    /// Asks about leaving out all that failed in these rows of the list.
    mutating func leaveOut(_ seen: [NodeRow]) {
        guard let rows = newest(seen) else { return }
        let files = ByteSum.of(rows.lazy.map(\.counts.failed))
        guard let filter = (try? TransferFilter("@err @marked"))?.naming(rows.map(\.id)).description else { return }
        let place = title(rows)
        guard rows.count > 1 || rows[0].canHold else {
            return askToLeaveOut(place, .matching(NodeSelector(filter: filter)))
        }
        askToLeaveOut(
            "\(SafeText(Figures.amount(files, "failed file"))) of \(place)", .matching(NodeSelector(filter: filter)))
        // More may come to a group while the question is open.
        guard rows.contains(where: \.isGroup) else { return }
        dialog?.counted = filter
        dialog?.named = Dialog.NamedFiles(count: files, place: place)
    }

    fileprivate mutating func askToLeaveOut(_ what: SafeText, _ nodes: NodeChoice) {
        askToLeaveOut(
            what, .named(.purge, what, nodes),
            [
                "They leave the list for good, and what had arrived of them in part is taken away there.",
                "Your own files stay where they are.",
            ])
    }

    fileprivate mutating func askToLeaveOut(_ what: SafeText, _ intent: Dialog.Intent, _ lines: [SafeText]) {
        confirm("Leave out \(what)?", lines, "x", "Leave them out", no: "Keep them", intent)
    }
}
