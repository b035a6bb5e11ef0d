import DisplayText
import MartletKit
import Terminal

/// The list of transfers, which is open at the start and when every other page is left. Its state is the model's: `Tree`, and the filter on it.
struct TransfersPage: Page {
    static var view: KeyMap.View { .transfers }
    static var opener: Action? { .transfers }
    static var openingKeys: [String] { ["1"] }
    static var command: String? { "list" }

    static func open(in model: inout Model) { model.goToTransfers() }

    func wantsMouse(in model: Model) -> Bool { true }

    func clicked(_ press: MousePress, in model: inout Model) {
        model.list.steadyUntil = model.now.uptime + Tree.steadiness
        switch press.button {
        case .wheelDown: model.tree.page(by: 3)
        case .wheelUp: model.tree.page(by: -3)
        case .left: click(press.position, in: &model)
        case .middle, .right: break
        }
    }

    /// Does the actions that move in the tree, and those that act on it.
    func perform(_ action: Action, in model: inout Model) {
        if model.performInLower(action) { return }
        if action.movesCursor { model.list.followed = nil }
        if action.meansCursor, model.refusesCursorOnItsWay() { return }
        if action.meansRow, model.refusesMovedCursor() { return }
        switch action {
        case .down: model.tree.move(by: 1)
        case .up: model.tree.move(by: -1)
        case .halfPageDown: model.tree.page(by: max(1, model.tree.height / 2))
        case .halfPageUp: model.tree.page(by: -max(1, model.tree.height / 2))
        case .pageDown: model.tree.page(by: max(1, model.tree.height - 1))
        case .pageUp: model.tree.page(by: -max(1, model.tree.height - 1))
        case .first: model.tree.move(to: 0)
        case .last: model.tree.move(to: .max)
        case .nextBatch: model.tree.moveToBatch(1)
        case .previousBatch: model.tree.moveToBatch(-1)
        case .open: model.open()
        case .close: model.close()
        case .enter: model.enter()
        case .toggleAll:
            if let row = model.tree.cursorRow, model.tree.cursorItem?.canOpen == true {
                model.tree.toggleAll(under: row.id)
            }
        case .mark:
            model.filters.shown?.marksAll = false
            if model.tree.rangeStart != nil { return model.markRange() }
            model.tree.toggleMark()
            model.tree.move(by: 1)
        case .unmarkAll:
            model.tree.unmarkAll()
            model.filters.shown?.marksAll = false
        case .nextProblem: model.seekProblem(fromStart: false)
        case .details: if let row = model.tree.cursorRow { model.showDetails(row) }
        case .command:
            let isOnWay = model.tree.going != .nowhere
            model.commandPrompt = CommandPrompt(on: isOnWay ? nil : model.tree.cursor, isOnWay: isOnWay)
        case .find: model.beginFind()
        case .sort: model.openSorting()
        case .reverse: model.reverseOrder()
        case .flat: model.turnFlat()
        case .follow: model.toggleFollowing()
        case .filter: model.openFilter()
        case .freeze: model.freeze()
        case .markRange: model.markRange()
        case .lowerPart: model.switchLower()
        case .maximise: if let row = model.tree.cursorRow { model.showDetails(row) }
        case .nextPane, .previousPane: model.enterLower()
        case .nextMatch: model.moveToMatch(1)
        case .previousMatch: model.moveToMatch(-1)
        case .markMatching: model.markMatching()
        case .back where model.tree.rangeStart != nil: model.tree.endRange(marking: false)
        case .back where model.find != nil: model.find = nil
        case .back: model.setFilter(nil)
        case .add: model.add(.upload)
        case .download: model.add(.download)
        case .again: model.againAtCursor()
        default:
            // A range is marked by what is done to it.
            if Action.Part.act == action.part { model.tree.endRange(marking: true) }
            if !model.actOnMatching(action) { model.act(action, on: model.targets) }
        }
    }

    private func click(_ position: Position, in model: inout Model) {
        let layout = model.layout
        if position.row == layout.hints {
            let view: KeyMap.View = model.canChange ? .transfers : .lost
            let action = HintLine.action(
                at: position.column, model.hints, in: view, model.keys, width: model.size.columns,
                words: model.hintWords(for: model.targets))
            if let action { model.perform(action) }
            return
        }
        if position.row == layout.titles {
            let column = model.columns.places.first { $0.cells.contains(position.column) }?.column
            return column.map { model.sort(byTitle: $0) } ?? ()
        }
        guard layout.tree.contains(position.row) else { return }
        let index = model.tree.top + position.row - layout.tree.lowerBound
        guard model.tree.items.indices.contains(index) else { return }
        model.tree.move(to: index)
        model.list.followed = nil
        let columns = model.columns
        let item = model.tree.items[index]
        if columns[.sign]?.contains(position.column) == true { return model.tree.toggleMark() }
        let name = columns[.name]?.lowerBound ?? 0
        if item.canOpen, position.column <= name + 2 * item.depth + 1, position.column >= name { return model.enter() }
        // A hand moves a little between the two.
        if let last = model.input.lastClick, last.position.row == position.row,
            abs(last.position.column - position.column) <= 1,
            model.now.uptime - last.at < .milliseconds(400)
        {
            model.input.lastClick = nil
            return model.enter()
        }
        model.input.lastClick = (position, model.now.uptime)
    }

    func draw(in drawing: inout Drawing) { drawing.transfers() }

    func copied(all: Bool, in drawing: Drawing) -> CopiedText {
        all ? .shown(drawing.shownRows) : drawing.path(of: drawing.model.tree.cursorRow)
    }
}

extension KeyMap.View {
    package static let transfers = Self(
        "transfers", nameInHelp: "transfers", page: TransfersPage.self,
        keys: KeyMap.moving + KeyMap.everywhere + KeyMap.openers + KeyMap.copying + [
            (.nextBatch, ["}"]), (.previousBatch, ["{"]), (.open, ["l", "Right", "+"]), (.close, ["h", "Left", "-"]),
            (.enter, ["Enter"]), (.toggleAll, ["*"]), (.nextProblem, ["E"]), (.find, ["/", "F3"]),
            (.filter, ["f", "\\", "F4"]), (.sort, ["s", "F6"]), (.reverse, ["S"]), (.flat, ["t", "F5"]),
            (.follow, ["F"]), (.markRange, ["v"]),
            (.freeze, ["z"]), (.nextPane, ["Tab"]),
            (.previousPane, ["S-Tab"]), (.lowerPart, ["|"]), (.maximise, ["O"]),
            (.nextMatch, ["n"]), (.previousMatch, ["N"]), (.mark, ["Space", "Ins"]), (.markMatching, ["M"]),
            (.unmarkAll, ["U"]), (.pause, ["p", "F7"]),
            (.pauseAll, ["P"]), (.cancel, ["x", "F8", "Del"]), (.retry, ["r"]), (.retryAll, ["R"]), (.undo, ["u"]),
            (.redo, ["^R"]),
            (.add, ["a", "F2"]), (.download, ["W"]), (.again, ["A"]),
            (.earlier, ["[", "S-Up"]),
            (.later, ["]", "S-Down"]), (.order, ["o"]),
            (.limit, ["T"]), (.verify, ["V"]), (.clear, ["c"]), (.details, ["i"]), (.why, ["w"]),
            (.command, [":", "F9"]), (.leave, ["q", "F10"]), (.leaveWithChoices, ["Q"]), (.back, ["Esc"]),
        ])
}

extension Model {
    fileprivate mutating func open() {
        guard let item = tree.cursorItem, item.canOpen, case .row(let id) = item.id else { return }
        if !item.isOpen { return tree.setOpen(id, true) }
        if let index = tree.cursorIndex, tree.items.indices.contains(index + 1), tree.items[index + 1].parent == id {
            tree.move(to: index + 1)
        }
    }

    fileprivate mutating func close() {
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
        tree.going = .nowhere
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
                tree.going = .problem
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
