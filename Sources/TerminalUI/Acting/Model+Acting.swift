import DisplayText
import MartletKit
import Terminal

/// Pausing, cancelling, retrying, undoing, clearing: what is asked first and what the engine is told.
extension Model {
    /// The marked rows, or else the cursor's.
    var targets: [NodeRow] {
        if tree.marks.isEmpty { return tree.cursorRow.map { [$0] } ?? [] }
        // In the order in which they stand; those out of sight last.
        let inSight = tree.items.compactMap(\.row).filter { tree.marks[$0.id] != nil }
        let known = Set(inSight.map(\.id))
        let marked = inSight + tree.marks.values.filter { !known.contains($0.id) }
        let ids = Set(marked.map(\.id))
        return marked.filter { !isBelow($0, ids) }
    }

    /// Refuses a deed on the cursor's row where that is not the one that a person left it on, once, and while the cursor is on its way to
    /// another row; false: what is meant was seen.
    mutating func refusesMovedCursor() -> Bool {
        if tree.hasLostRange {
            tree.endRange(marking: false)
            complain(
                "The row at which the range began is not in the list any more: begin it again with \(key(.markRange)).")
            return true
        }
        guard tree.marks.isEmpty || tree.rangeStart != nil, filters.shown?.marksAll != true else { return false }
        if refusesCursorOnItsWay() { return true }
        if tree.hasArrivedUnseen, let row = tree.cursorRow {
            tree.hasArrivedUnseen = false
            complain("The cursor moved to \(title([row])) after the line was opened: the same once more does it there.")
            return true
        }
        guard tree.isGone else { return false }
        tree.isGone = false
        complain(.gone("row", now: tree.cursorRow.map { title([$0]) }))
        return true
    }

    /// Refuses what is meant for the row that the cursor has not reached yet.
    mutating func refusesCursorOnItsWay() -> Bool {
        guard tree.going != .nowhere else { return false }
        complain("The cursor is still on its way to another row: wait until it is there, or move it.")
        return true
    }

    /// Returns true when the row lies in one of the others. A deed on a batch is one on its files: one marked besides
    /// counts once.
    func isBelow(_ row: NodeRow, _ others: Set<RowID>) -> Bool {
        if case .batch = row.id { return false }
        if let batch = row.id.batch, others.contains(.batch(batch)) { return true }
        guard let index = tree.index(of: .row(row.id)) else { return false }
        return tree.ancestors(of: tree.items[index]).contains { others.contains($0.id) }
    }

    /// The words for these rows in a message.
    func title(_ rows: [NodeRow]) -> SafeText {
        guard rows.count == 1, let row = rows.first else {
            let isBatches = rows.allSatisfy { if case .batch = $0.id { true } else { false } }
            return SafeText("\(rows.count) \(isBatches ? "batches" : "rows")")
        }
        if case .group = row.id { return RowLabel.group(row, appearance) }
        return "\"\(appearance.safe(row.name))\""
    }

    /// Does an action on rows, from the tree or from a row's own page.
    mutating func act(_ action: Action, on rows: [NodeRow]) {
        switch action {
        case .pause: pauseOrResume(rows)
        case .pauseAll: pauseAll()
        case .cancel: cancel(rows)
        case .retry: retry(rows)
        case .retryAll: retryAll()
        case .undo: undo()
        case .redo: redo()
        case .clear: clearFinished()
        case .earlier: moveStep(.earlier, rows)
        case .later: moveStep(.later, rows)
        case .order: openOrder(rows)
        case .limit: openLimits(rows)
        case .verify: verify(rows)
        // A question is about one row, whatever is marked.
        case .why: tree.cursorRow.map { askWhy($0) }
        default: break
        }
    }

    // MARK: Pause and resume

    /// Resumes the rows when all of them stand still, else pauses those that do not.
    mutating func pauseOrResume(_ rows: [NodeRow]) {
        guard let some = rows.first else { return }
        let unfinished = rows.filter { !$0.isOver }
        guard !unfinished.isEmpty else {
            return say("\(title([some])) is over: there is nothing to pause.")
        }
        let moving = unfinished.filter { !standsStill($0) }
        if moving.isEmpty {
            // Nothing of it has a flag of its own: what it is in has to go on.
            let isHeldUp = unfinished.allSatisfy { $0.effectivelyPaused && !$0.paused && changes.pending[$0.id] == nil }
            return isHeldUp ? say(heldUp(unfinished)) : send(.resume, unfinished)
        }
        pause(moving, by: .pause)
    }

    /// The sentence for rows that are paused by what they are in. It names the outermost: nothing moves before that is resumed.
    private func heldUp(_ rows: [NodeRow]) -> SafeText {
        let above = rows.lazy.compactMap { row in
            tree.index(of: .row(row.id)).flatMap { tree.ancestors(of: tree.items[$0]).last(where: \.paused) }
        }
        let its: SafeText = rows.count == 1 ? "Its" : "Their"
        // A list without folders does not show it.
        guard let paused = above.first else { return "\(its) folder or batch is paused. Resume that." }
        let kind: SafeText = if case .batch = paused.id { "batch" } else { "folder" }
        return "\(its) \(kind) \(title([paused])) is paused. Resume the \(kind)."
    }

    /// Pauses rows; asks first where much would be thrown away by it.
    /// - Parameter deed: a pause, for good or until a time.
    mutating func pause(_ rows: [NodeRow], by deed: NodeDeed) {
        guard let cost = cost(of: deed, rows), settings.askAbove.includes(cost) else { return send(deed, rows) }
        confirm(
            "Pause \(title(rows))?", [said(cost)], "p", "Pause, and send them again later", no: "Let it go on",
            .act(deed, rows))
    }

    /// The bytes that the deed throws away; `nil`: none.
    func cost(of deed: NodeDeed, _ rows: [NodeRow]) -> StoppingCost? {
        deed.stops.flatMap { StoppingCost($0, bytes: ByteSum.of(rows.lazy.map(\.bytesAtRisk))) }
    }

    func said(_ cost: StoppingCost) -> SafeText { SafeText(cost.sentence(appearance.figures.size) + ".") }

    /// Returns true when the row stands still. A deed just asked for counts, though no row shows it yet: two presses
    /// are two wishes.
    func standsStill(_ row: NodeRow) -> Bool {
        switch changes.pending[row.id]?.deed {
        case .pause, .pauseUntil: true
        case .resume: false
        default: row.standsStill
        }
    }

    mutating func pauseAll() {
        guard let counts = totals?.counts else { return }
        let moving = counts.active + counts.queued + counts.waiting
        let still = counts.paused + counts.created
        guard moving + still > 0 else { return say("Nothing is unfinished: there is nothing to pause.") }
        let files = moving > 0 ? moving : still
        let intent = Dialog.Intent.everything(moving > 0 ? .pause : .resume)
        let cost = moving > 0 ? cost(of: .pause, tree.root?.rows ?? []) : nil
        guard files > settings.askAbove.files || settings.askAbove.includes(cost) else { return perform(intent) }
        let kept = cost == nil ? "their place and what was sent" : "their place"
        let (verb, consequence) =
            moving > 0
            ? ("Pause", "They keep \(kept); \(key(.pauseAll).string) lets them go on.")
            : ("Resume", "All that is paused or held goes on.")
        confirm(
            "\(verb) all \(Figures.amount(files, "file"))?", [SafeText(consequence)] + (cost.map { [said($0)] } ?? []),
            "p", "\(verb) all", no: "Leave them as they are", intent)
    }

    // MARK: Cancel and undo

    /// Until when a change can be had back, as questions say it.
    var takesBack: SafeText { "\(key(.undo)) takes it back for \(connection.grace.components.seconds) s." }

    mutating func cancel(_ rows: [NodeRow]) {
        guard let some = rows.first else { return }
        let unfinished = rows.filter { !$0.isOver }
        guard !unfinished.isEmpty else {
            let failed = rows.filter { $0.counts.failed > 0 }
            if !failed.isEmpty { return leaveOut(failed) }
            let verdict: SafeText = some.state == .cancelled ? "is cancelled already" : "is already sent"
            return say("\(title([some])) \(verdict), \(key(.clear)) clears finished batches from the list.")
        }
        if !asksToCancel(unfinished) { send(.cancel, unfinished) }
    }

    /// Asks before a cancel; false: no question is needed.
    private mutating func asksToCancel(_ seen: [NodeRow]) -> Bool {
        guard let rows = newest(seen) else { return true }
        let files = ByteSum.of(rows.lazy.map { $0.counts.unstarted + $0.counts.active })
        let bytes = ByteSum.of(rows.lazy.map { max(0, $0.bytes.total - $0.bytes.accepted) })
        let batches = rows.count { if case .batch = $0.id { true } else { false } }
        let hidden = rows.count { tree.row($0.id) == nil }
        let isForeign = rows.contains { observed.changedByOthers.isRecent($0.id, at: now.uptime) }
        let cost = cost(of: .cancel, rows)
        guard
            files > settings.askAbove.files || bytes > settings.askAbove.bytes || batches > 1 || hidden > 0 || isForeign
                || settings.askAbove.includes(cost)
        else { return false }
        var lines = rows.prefix(6).map { row -> SafeText in
            let sent = row.counts.completed > 0 ? ", \(Figures.count(row.counts.completed)) already sent" : ""
            let left = Figures.amount(row.counts.unstarted + row.counts.active, "file")
            return title([row]).shortened(to: 24, mark: appearance.glyphs.cutMark) + "  \(left) not sent yet\(sent)"
        }
        if rows.count > 6 { lines.append("and \(rows.count - 6) more") }
        if rows.contains(where: \.scanning) { lines.append("Some folders are still being listed.") }
        if let growth = growth(of: seen) { lines.append(growth) }
        if isForeign { lines.append("Somebody else has changed it a moment ago.") }
        if hidden > 0 { lines.append("\(Figures.amount(Int64(hidden), "marked row")) not in sight.") }
        if let cost { lines.append(said(cost)) }
        lines.append("What has arrived whole stays. \(takesBack)")
        let what = batches == rows.count ? "\(Figures.amount(Int64(batches), "batch", "batches")), " : ""
        confirm(
            "Cancel \(what)\(Figures.amount(files, "file"))?", lines, "x", "Stop, keep what has arrived whole",
            no: "Do not cancel", .act(.cancel, rows))
        return true
    }

    /// Takes back the last change made here, and never one before it; where none was made here, the last of anybody.
    mutating func undo() {
        let isAsked = requests.outstanding.values.contains { if case .undo = $0.purpose { true } else { false } }
        if isAsked {
            return complain("The engine has not answered yet: \(key(.undo)) asked it to take something back.")
        }
        let retries = requests.outstanding.values.contains { if case .retrying = $0.purpose { true } else { false } }
        if retries { return complain("The engine has not answered yet: \(key(.retry)) asked it what failed.") }
        guard let last = changes.history.newest else {
            ask(.undo(nil)) { .undo(.last, number: $0) }
            return
        }
        let what = words(for: last.purpose)
        switch last.state {
        case .asked: complain("The engine has not answered yet: \(what).")
        case .unknown:
            complain("The answer was lost, so it may be done or not: \(what). :undo list tells.")
        case .final: complain("This cannot be taken back: \(what). :undo list tells what can be.")
        // A cancel can be had back for long, though it begins anew.
        case .done where now.uptime >= last.at + connection.grace && !last.isCancel:
            complain(
                "The \(connection.grace.components.seconds) s to take it back are over: \(what). :undo list tells what can be."
            )
        case .done(let choice): ask(.undo(undoName(of: last.purpose))) { .undo(choice, number: $0) }
        }
    }

    /// A change of the history, within a sentence.
    private func words(for purpose: Outstanding.Purpose) -> SafeText {
        switch purpose {
        case .deed(let deed, let rows): SafeText(deed.verb.lowercased()) + " " + title(rows)
        case .named(let deed, let what): SafeText(deed.verb.lowercased()) + " " + what
        case .everything(let deed): "\(deed.verb.lowercased()) everything"
        case .failed(let name): "retry " + name
        case .askedServer(let what): "ask " + what
        case .lettingIn(let name): "the login of " + name
        case .clearFinished: "clear the list"
        case .settledExisting: "change what is done about what is there"
        case .setLimits: "change limits"
        case .queueing: "queue files"
        case .replaced(let old, _): "cancel \(old)"
        default: "the last change"
        }
    }

    /// Does again what was taken back last on this screen. Asks first where it could be done to others by now.
    mutating func redo() {
        if let last = changes.history.lastUndone, let request = last.request, request.isOpen,
            case .act(let deed, let nodes, _) = request
        {
            return confirmAgain(deed, nodes, last.purpose)
        }
        guard let again = changes.history.again(), let request = again.request else {
            return say("Nothing was undone here.")
        }
        ask(again.purpose, isRedo: true) { request.numbered($0) }
    }

    /// As it was asked about the first time; once confirmed it is a change like any other.
    private mutating func confirmAgain(_ deed: NodeDeed, _ nodes: NodeChoice, _ purpose: Outstanding.Purpose) {
        switch (nodes, purpose) {
        case (.matching(let selector), _):
            let cost = selector.filter == nil ? cost(of: deed, tree.root?.rows ?? []) : nil
            confirm(deed, title(selector, for: deed), nodes, cost)
        case (_, .deed(_, let rows)):
            guard let rows = newest(rows) else { return }
            confirm(deed, title(rows), .act(deed, rows), cost(of: deed, rows))
        // No other change names a group.
        default: break
        }
    }

    // MARK: Retry and clear

    mutating func retry(_ rows: [NodeRow]) {
        guard let some = rows.first else { return }
        let stuck = rows.filter { $0.counts.triable > 0 }
        guard !stuck.isEmpty else { return say("\(title([some])) has nothing to try again.") }
        retryOrAsk(stuck)
    }

    mutating func retryAll() {
        let files = totals?.failed ?? 0
        guard files > 0 else { return say("Nothing has failed.") }
        guard files > settings.askAbove.files else { return perform(Dialog.Intent.everything(.retry)) }
        confirm(
            "Try \(Figures.count(files)) failed files again?", ["Each goes on where it stood, if the server can."],
            "r", "Try all again", no: "Leave them", .everything(.retry))
    }

    /// Nothing is lost by it, so nobody is asked: the history has it, and `u` takes it back.
    mutating func clearFinished() {
        guard let root = tree.root else { return }
        guard root.rows.contains(where: \.isOver) else {
            return say("No batch is finished: there is nothing to clear.")
        }
        ask(.clearFinished) { .clearFinished(number: $0) }
    }

    // MARK: Telling the engine

    mutating func perform(_ intent: Dialog.Intent) {
        if intent.needsEngine {
            list.steadyUntil = nil
            guard canChange else { return complain(cannotChange) }
        }
        switch intent {
        case .act(let deed, let rows): send(deed, rows)
        case .actOnGrown(let deed, let rows): tell(deed, rows)
        case .everything(let deed):
            let selector = NodeSelector(states: deed == .retry ? [.failed] : [])
            ask(.everything(deed)) { .act(deed, .matching(selector), number: $0) }
        case .named(let deed, let what, let nodes): ask(.named(deed, what)) { .act(deed, nodes, number: $0) }
        case .settleExisting(let policy, let batches, let then):
            let settings = NodeSettings(ifExists: policy)
            ask(.settledExisting(policy, then: then)) {
                .act(.set(settings), .ids(batches.map(NodeID.batch)), number: $0)
            }
        case .stopEngine(let finishRunning):
            leaving.engineEnd = finishRunning ? .afterRunning : .now
            requests.append(.stopEngine(finishRunning: finishRunning))
        case .ask(let asked, let words):
            say(words)
            ask(asked.request)
        case .leave: requests.append(.leave)
        case .sort(let order): sort(by: order)
        }
    }

    /// Until the engine has confirmed it, the rows say so; nothing is claimed before. A group that has grown since it was seen is asked about.
    mutating func send(_ deed: NodeDeed, _ rows: [NodeRow]) {
        if !asksAgain(deed, rows) { tell(deed, rows) }
    }

    private mutating func tell(_ deed: NodeDeed, _ rows: [NodeRow]) {
        let number = ask(.deed(deed, rows)) { .act(deed, .rows(rows.map(\.id)), number: $0) }
        guard let asked = requests.outstanding[number] else { return }
        for row in rows {
            changes.pending[row.id] = PendingDeed(deed: deed, before: row, number: number, asked: asked)
        }
    }

    /// The name of the row outside of screens. A group has no such name; its folder has.
    func nodeID(of row: NodeRow) -> NodeID {
        switch row.id {
        case .batch(let batch): return .batch(batch)
        case .task(_, let task): return .task(task)
        case .folder(let batch, _), .group(let batch, _, _):
            guard let index = tree.index(of: .row(row.id)) else { return .batch(batch) }
            let rows = [row] + tree.ancestors(of: tree.items[index])
            let names = rows.filter { if case .folder = $0.id { true } else { false } }.map(\.name)
            // A name that was made harmless is not its real one; then the batch has to answer.
            let isExact = names.allSatisfy { !$0.contains("\\") }
            guard !names.isEmpty, isExact else { return .batch(batch) }
            return .folder(batch, path: RawPath(names.reversed().joined(separator: "/")))
        }
    }
}

extension NodeRow {
    /// Nothing of it will move again by itself.
    var isOver: Bool { state.isTerminal && !scanning }

    /// It is paused or held, by itself or by what it is in.
    var standsStill: Bool { paused || effectivelyPaused || state == .paused || state == .created }
}

extension FileCounts {
    /// Files that a retry would try again.
    var triable: Int64 { failed + cancelled + waiting }
}

/// More than this many files or bytes are asked about.
struct AskAbove: Hashable, Sendable {
    var files: Int64 = 100
    var bytes: Int64 = 10 << 30
    /// So much or more that was sent in vain.
    var lost: Int64 = 100 << 20

    func includes(_ cost: StoppingCost?) -> Bool { cost.map { $0.bytes >= lost } ?? false }
}

extension NodeDeed {
    /// As what it stops what runs; `nil`: it does not.
    var stops: StoppingCost.Stop? {
        switch self {
        case .pause, .pauseUntil: .pause
        case .cancel: .cancel
        case .resume, .retry, .runNow, .move, .set, .purge: nil
        }
    }
}
