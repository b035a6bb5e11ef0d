import DisplayText
import MartletKit
import Terminal

/// The effects of keys on the page of problems.
extension Model {
    mutating func showProblems() {
        page = .problems(ProblemsPage())
        askForProblems()
    }

    private mutating func askForProblems() {
        if isConnected, !isAskingForProblems { ask(.problems) { .problems(number: $0) } }
    }

    private var isAskingForProblems: Bool {
        outstanding.values.contains { if case .problems = $0.purpose { true } else { false } }
    }

    /// Until the page tells a next try that has come, and while that goes on once a second; `nil`: it tells none.
    var untilNextTry: Duration? {
        guard case .problems(let problems) = page, isConnected, !isAskingForProblems, let at = problems.answeredAt
        else {
            return nil
        }
        let tries = problems.causes.filter(\.isUnserved).map { $0.retryAt?.since(engineNow.wall) ?? .zero }
        return tries.min().map { max($0, .seconds(1) - (now.uptime - at)) }
    }

    /// There may be another one.
    mutating func refreshNextTry() { if let untilNextTry, untilNextTry <= .zero { askForProblems() } }

    /// The sums say that there are others now.
    mutating func refreshProblems(_ before: QueueTotals?) {
        guard case .problems = page, let totals else { return }
        if totals.problems != before?.problems || totals.problemCauses != before?.problemCauses
            || totals.needsPerson != before?.needsPerson || totals.needsSpace != before?.needsSpace
            || totals.needsServer != before?.needsServer
        {
            askForProblems()
        }
    }

    mutating func problemsCame(_ result: Result<[BatchSnapshot], RequestError>, _ number: Int) {
        guard let asked = outstanding.removeValue(forKey: number) else { return }
        switch asked.purpose {
        case .serversUsed: return serversUsedCame(result)
        case .retrying(let rows): return causesCame(for: rows, result)
        case .replacing(let old, let new): return lookedAtReplaced(old, by: new, result)
        default: break
        }
        guard case .problems(var problems) = page else { return }
        switch result {
        case .success(let batches): problems.take(batches)
        case .failure(let error): problems.problem = advised(error.message)
        }
        problems.answeredAt = now.uptime
        page = .problems(problems)
    }

    mutating func performInProblems(_ action: Action) {
        guard case .problems(var problems) = page else { return }
        if let line = action.line(from: problems.selected, leap: max(1, size.rows / 2)) {
            problems.move(to: line)
            page = .problems(problems)
            return
        }
        if problems.isGone, [.enter, .retry, .leaveOut, .again, .server].contains(action) {
            // The next key is for the one that is shown from here on.
            problems.move(to: problems.selected)
            page = .problems(problems)
            return complain("That problem is gone: the cursor is on another one now.")
        }
        if [.plain, .write, .copyAll].contains(action), !problems.isKnown {
            return complain("The engine has not told the problems yet: try again in a moment.")
        }
        switch action {
        case .enter: return showFiles(of: problems.cause, among: problems.causes)
        case .retry: return retry(problems.cause, among: problems.causes)
        case .leaveOut: return leaveOut(problems.cause, among: problems.causes)
        case .server: return showServer(of: problems.cause)
        case .again:
            guard let cause = problems.cause, let place = cause.batches.first else { return }
            return again(place.batch, inPlace: cause.isWait && cause.isOfAddress && place.isLost)
        case .plain: return requests.append(.showPlain(Drawing.report(of: problems, self)))
        case .write: return requests.append(.write(Drawing.report(of: problems, self), name: "problems.txt"))
        case .undo: return undo()
        case .back: page = .transfers
        case .help: openHelp()
        default: break
        }
    }

    /// To its files in the list, and no others; of what has no filter of its own, to the first one.
    private mutating func showFiles(of cause: ProblemsPage.Cause?, among causes: [ProblemsPage.Cause]) {
        guard let cause, let place = cause.batches.first else { return }
        page = .transfers
        if let text = cause.filter(among: causes) { return setFilter(text) }
        let row = TreeItem.ID.row(.batch(place.batch))
        guard tree.index(of: row) != nil else {
            return complain("\(place.batch) is further down than the list reaches.")
        }
        tree.move(to: row)
        seekProblem(fromStart: true)
    }

    /// Tries all files that failed of it again, in whatever batch they are.
    private mutating func retry(_ cause: ProblemsPage.Cause?, among causes: [ProblemsPage.Cause]) {
        guard let cause else { return }
        if case .unserved(nil, let server) = cause.kind {
            return complain("\(look.safe(server)) asked for a pause: nobody asks it before that is over.")
        }
        // The engine looks for all of them, and in one step. To look again costs nothing, whatever else it is that waits.
        let selector =
            cause.filter(among: causes).map { NodeSelector(filter: $0) }
            ?? NodeSelector(batch: cause.batches.count == 1 ? cause.batches[0].batch : nil, states: [.waiting])
        if let server = cause.triedAgain {
            // Who says so means the server, and with it what stands in line for it.
            let name = look.safe(server)
            let isBusy = cause.error?.code == .http
            let what: SafeText = isBusy ? "\(name) again, unless it asked for a pause" : "\(name) again now"
            // What waits for its time, or for a person, is none of this server's troubles.
            guard let tried = cause.filterOfBatches("(why=hostBackoff | why=backoff)") else { return }
            ask(.askedServer(what)) { .act(.retry, .matching(NodeSelector(filter: tried)), number: $0) }
            return
        }
        let places = places(of: cause)
        if cause.isExisting {
            return askAboutExisting(
                "\(Figures.amount(cause.files, "file")) of \(places)", files: cause.files, cause.batches.map(\.batch),
                then: .named(.retry, places, .matching(selector)))
        }
        ask(.failed(of: places)) { .act(.retry, .matching(selector), number: $0) }
    }

    private func places(of cause: ProblemsPage.Cause) -> SafeText {
        guard cause.batches.count == 1 else { return "\(cause.batches.count) batches" }
        return "\"\(look.safe(cause.batches[0].name))\""
    }

    /// Without its files the rest is whole. What failed is forgotten, which cannot be taken back, so it is asked about.
    private mutating func leaveOut(_ cause: ProblemsPage.Cause?, among causes: [ProblemsPage.Cause]) {
        guard let cause else { return }
        guard let filter = cause.filter(among: causes) else {
            return complain(
                cause.isUnserved
                    ? "It goes on when its server is back: cancel what is not to be sent in the list."
                    : "It goes on when there is room: cancel what is not to be sent in the list.")
        }
        let nodes = NodeChoice.matching(NodeSelector(filter: filter))
        let what = "\(SafeText(Figures.amount(cause.files, "file"))) of \(places(of: cause))" as SafeText
        guard cause.isWait else { return askToLeaveOut(what, nodes) }
        let intent = Dialog.Intent.named(.cancel, what, nodes)
        let asks = cause.isWhole || cause.files > askAbove.files || cause.batches.count > 1
        guard asks else { return perform(intent) }
        let lines: [SafeText] =
            cause.isWhole ? ["It is all that is left there, and what is tried just now is in it."] : []
        askToLeaveOut(what, intent, lines + ["They are cancelled. \(takesBack)"])
    }

    /// The same of rows of the list: of all that failed in them.
    mutating func leaveOut(_ rows: [NodeRow]) {
        let files = ByteSum.of(rows.lazy.map(\.counts.failed))
        guard let filter = (try? TransferFilter("@err @marked"))?.naming(rows.map(\.id)).description else { return }
        var what = title(rows)
        if rows.count > 1 || rows[0].canHold {
            what = "\(SafeText(Figures.amount(files, "failed file"))) of \(what)"
        }
        askToLeaveOut(what, .matching(NodeSelector(filter: filter)))
    }

    private mutating func askToLeaveOut(_ what: SafeText, _ nodes: NodeChoice) {
        askToLeaveOut(
            what, .named(.leaveOut, what, nodes),
            [
                "They leave the list for good, and what had arrived of them in part is taken away there.",
                "Your own files stay where they are.",
            ])
    }

    private mutating func askToLeaveOut(_ what: SafeText, _ intent: Dialog.Intent, _ lines: [SafeText]) {
        dialog = Dialog(
            "Leave out \(what)?", lines, Dialog.Choice(letter: "x", text: "Leave them out", intent: intent),
            no: "Keep them", at: now.uptime)
    }

    /// To the configured server that it is about.
    private mutating func showServer(of cause: ProblemsPage.Cause?) {
        guard let place = cause?.batches.first else { return }
        if place.host.isEmpty {
            return complain("A download names its addresses itself: no configured server is behind it.")
        }
        if let machine {
            return complain("Servers of \(machine) are kept there: see them there, with martlet destination list.")
        }
        showDestinations()
        guard case .destinations(var shown) = page else { return }
        shown.sought = place.url
        if case .waits(.auth, _, _)? = cause?.kind {
            // A login is one server's: others of the same cause are asked about when these are in.
            let same = cause?.batches.filter { $0.host == place.host } ?? []
            shown.waiting = .init(batches: same.map(\.batch), name: place.name, url: place.url)
        }
        shown.cameFromProblems = true
        page = .destinations(shown)
    }
}
