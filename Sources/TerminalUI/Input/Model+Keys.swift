import Configuration
import DisplayText
import MartletKit
import Terminal

/// The effects of keys, presses of the mouse and pastes.
extension Model {
    mutating func take(_ input: Input) {
        switch input {
        case .key(let press): take(press)
        case .paste(let paste): take(paste)
        case .mouse(let press): take(press)
        case .focus(let hasFocus): self.hasFocus = hasFocus
        case .closed: requests.append(.leave)
        }
    }

    private mutating func take(_ press: KeyPress) {
        lastKeyAt = now.uptime
        // Only two of them in a row mean to leave.
        if press != .control("c") { lastInterrupt = nil }
        // Whoever presses a key is where they want to be.
        tree.awaited = []
        steadyUntil = now.uptime + Tree.steadiness
        if performAnywhere(press) { return }
        if dialog != nil {
            return answer { $0.take(press, at: $1) }
        }
        if form != nil { return takeInForm(press) }
        if isAdding { return takeInAdding(press) }
        if case .destinations(let shown) = page { return takeInDestinations(press, shown) }
        if filterLine != nil { return takeInFilterLine(press) }
        if commandPrompt != nil { return takeInCommandPrompt(press) }
        if find?.isTyping == true { return takeInFind(press) }
        if case .help(var help) = page, help.find.isTyping {
            help.take(press)
            return page = .help(help)
        }
        if case .log(var log) = page, log.find.isTyping {
            log.take(press)
            return page = .log(log)
        }
        // A message stays until the next key; what it offers to undo stays as long as the offer holds.
        let hadNotice = notice != nil
        if notice?.undo == nil { notice = nil }
        guard let action = action(for: press), !performInWhy(action) else { return }
        // One thing at a time: the message, then the filter.
        if action == .back, hadNotice, case .transfers = page { return notice = nil }
        perform(action)
        sayWaiting()
    }

    /// Something was done in the question: it stays, or is answered.
    mutating func answer(_ body: (inout Dialog, Duration) -> Dialog.Outcome) {
        guard var shown = dialog else { return }
        let outcome = body(&shown, now.uptime)
        dialog = shown
        guard case .answered(let intent) = outcome else { return }
        if intent != nil, shown.isTicked { setAskLeave(false) }
        dialog = nil
        if let intent { perform(intent) }
    }

    /// Does the actions that work whatever is open: stop and redraw. A letter may be meant as text, so it is none of
    /// these.
    private mutating func performAnywhere(_ press: KeyPress) -> Bool {
        if case .character = press.key, press.modifiers.isDisjoint(with: [.control, .alt]) { return false }
        switch keys.action(for: press, in: .transfers) {
        case .suspend: requests.append(.suspend)
        case .redraw: requests.append(.redraw)
        default: return false
        }
        return true
    }

    /// The view whose keys count now.
    var keyView: KeyMap.View {
        switch page {
        case .transfers: .transfers
        case .details: .details
        case .log: .log
        case .problems: .problems
        case .throughput: .throughput
        case .destinations: .destinations
        case .history: .history
        case .help, .report: .help
        }
    }

    private func action(for press: KeyPress) -> Action? {
        if !canChange, let action = keys.action(for: press, in: .lost) { return action }
        return keys.action(for: press, in: keyView)
    }

    mutating func perform(_ action: Action) {
        // Who changes the order of rows wants to see it.
        if action.changesTransfers { steadyUntil = nil }
        if action.changesTransfers, !canChange {
            return complain(cannotChange)
        }
        if let machine, action.needsItsFiles { return refuseFiles(of: machine) }
        if let machine, action == .destinations {
            return complain("Servers of \(machine) are kept there: see them there, with martlet destination list.")
        }
        switch action {
        case .interrupt: return interrupt()
        case .redraw: return requests.append(.redraw)
        case .suspend: return requests.append(.suspend)
        case .mouse:
            isMouseOn.toggle()
            keep("mouse", isMouseOn.written)
            return say(isMouseOn ? "The mouse is on." : "The mouse is off: it selects text now.")
        case .retryNow: return isConnected ? askIfItLives() : requests.append(.reconnect)
        case .startEngine where isConnected && !canChange: return refuseSecondEngine()
        case .startEngine:
            // One that is about to stop goes on.
            if !isConnected { link = .connecting }
            revival.startedByHand()
            return requests.append(.startEngine)
        case .leave: return leave()
        case .leaveWithChoices: return askHowToLeave()
        case .transfers, .throughput, .problems, .log, .destinations, .history: return go(to: action)
        case .copy: return copy(all: false)
        case .copyAll: return copy(all: true)
        default: break
        }
        switch page {
        case .transfers: performInTree(action)
        case .details: performInDetails(action)
        case .log(let log): performInLog(action, log)
        case .problems: performInProblems(action)
        case .throughput: performInThroughput(action)
        case .history: performInHistory(action)
        case .destinations: if action == .help { openHelp() }
        case .help(let help): performInHelp(action, help)
        case .report(let report): page = report.scrolled(action, size).map { .report($0) } ?? .transfers
        }
    }

    /// To another page; nothing when it is open already.
    private mutating func go(to action: Action) {
        pageUnderHelp = nil
        switch (action, page) {
        case (.throughput, .throughput), (.problems, .problems), (.log, .log), (.history, .history),
            (.destinations, .destinations):
            break
        case (.throughput, _): showThroughput()
        case (.problems, _): showProblems()
        case (.log, _): showLog()
        case (.history, _): showHistory()
        case (.destinations, _): showDestinations()
        default: page = .transfers
        }
    }

    /// Does the actions that move in the tree, and those that act on it.
    private mutating func performInTree(_ action: Action) {
        if performInLower(action) { return }
        if action.movesCursor { followed = nil }
        switch action {
        case .down: tree.move(by: 1)
        case .up: tree.move(by: -1)
        case .halfPageDown: tree.page(by: max(1, tree.height / 2))
        case .halfPageUp: tree.page(by: -max(1, tree.height / 2))
        case .pageDown: tree.page(by: max(1, tree.height - 1))
        case .pageUp: tree.page(by: -max(1, tree.height - 1))
        case .first: tree.move(to: 0)
        case .last: tree.move(to: .max)
        case .nextBatch: tree.moveToBatch(1)
        case .previousBatch: tree.moveToBatch(-1)
        case .open: open()
        case .close: close()
        case .enter: enter()
        case .toggleAll: if let row = tree.cursorRow, tree.cursorItem?.canOpen == true { tree.toggleAll(under: row.id) }
        case .mark:
            filter?.marksAll = false
            if tree.rangeStart != nil { return markRange() }
            tree.toggleMark()
            tree.move(by: 1)
        case .unmarkAll:
            tree.unmarkAll()
            filter?.marksAll = false
        case .nextProblem: seekProblem(fromStart: false)
        case .details: if let row = tree.cursorRow { showDetails(row) }
        case .help: openHelp()
        case .command: commandPrompt = CommandPrompt()
        case .find: beginFind()
        case .sort: openSorting()
        case .reverse: reverseOrder()
        case .flat: turnFlat()
        case .follow: toggleFollowing()
        case .filter: openFilter()
        case .freeze: freeze()
        case .markRange: markRange()
        case .lowerPart: switchLower()
        case .maximise: if let row = tree.cursorRow { showDetails(row) }
        case .nextPane, .previousPane: enterLower()
        case .nextMatch: moveToMatch(1)
        case .previousMatch: moveToMatch(-1)
        case .markMatching: markMatching()
        case .back where tree.rangeStart != nil: tree.endRange(marking: false)
        case .back where find != nil: find = nil
        case .back: setFilter(nil)
        case .add: add(.upload)
        case .download: add(.download)
        case .again: againAtCursor()
        default:
            // A range is marked by what is done to it.
            if Action.Part.act == action.part { tree.endRange(marking: true) }
            if !actOnMatching(action) { act(action, on: targets) }
        }
    }

    /// Does an action on rows, from the tree or from a row's own page.
    mutating func act(_ action: Action, on rows: [NodeRow]) {
        switch action {
        case .pause: pause(rows)
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

    // MARK: Moving through the tree

    private mutating func open() {
        guard let item = tree.cursorItem, item.canOpen, case .row(let id) = item.id else { return }
        if !item.isOpen { return tree.setOpen(id, true) }
        if let index = tree.cursorIndex, tree.items.indices.contains(index + 1), tree.items[index + 1].parent == id {
            tree.move(to: index + 1)
        }
    }

    private mutating func close() {
        guard let item = tree.cursorItem else { return }
        if item.isOpen, case .row(let id) = item.id { return tree.setOpen(id, false) }
        if let parent = item.parent { tree.move(to: .row(parent)) }
    }

    mutating func enter() {
        guard let item = tree.cursorItem, let row = item.row else { return }
        if item.canOpen { tree.setOpen(row.id, !item.isOpen) } else { showDetails(row) }
    }

    /// To the next row that failed or needs the person; opens what has one inside. `fromStart`: the cursor's own row
    /// counts too, because a section has just come.
    mutating func seekProblem(fromStart: Bool) {
        isSeekingProblem = false
        let start = (tree.cursorIndex ?? 0) + (fromStart ? 0 : 1)
        let order = Array(start..<max(start, tree.items.count)) + Array(0..<min(start, tree.items.count))
        for index in order {
            let item = tree.items[index]
            guard let row = item.row, row.hasProblem else { continue }
            switch row.id {
            case .task, .group: return tree.move(to: index)
            case .batch, .folder:
                guard !item.isOpen else { continue }
                tree.move(to: index)
                tree.setOpen(row.id, true)
                isSeekingProblem = true
                return
            }
        }
        say("Nothing has failed, and nothing needs you.")
    }
}

extension NodeRow {
    /// True when it, or something below it, failed or needs the person.
    var hasProblem: Bool { counts.failed > 0 || state == .waiting && waitReasons.contains(where: \.isProblem) }
}
