import DisplayText
import MartletKit
import Terminal

/// Input without a key of its own: the mouse, what is pasted, and the press that interrupts.
extension Model {
    mutating func interrupt() {
        if let last = lastInterrupt, now.uptime - last <= .seconds(2) { return requests.append(.leave) }
        lastInterrupt = now.uptime
        guard case .transfers = page else {
            return say("\(keys.name(of: .back, in: keyView)) goes back. ^C again leaves, transfers go on.")
        }
        say("\(keys.name(of: .leave)) leaves, transfers go on. ^C again leaves too.")
    }

    mutating func take(_ paste: Paste) {
        if dialog != nil { return }
        closeWhy()
        if form != nil {
            form?.paste(paste.bytes)
        } else if isAdding {
            pasteInAdding(paste.bytes)
        } else if case .destinations(var shown) = page, shown.form != nil {
            shown.form?.paste(paste.bytes)
            page = .destinations(shown)
        } else if commandPrompt != nil {
            commandPrompt?.field.paste(paste.bytes)
        } else if filterLine != nil {
            pasteInFilterLine(paste.bytes)
        } else if find?.isTyping == true {
            pasteInFind(paste.bytes)
        } else if case .help(var help) = page, help.find.isTyping {
            help.paste(paste.bytes)
            page = .help(help)
        } else if case .log(var log) = page, log.find.isTyping {
            log.paste(paste.bytes)
            page = .log(log)
        } else if let machine {
            refuseFiles(of: machine)
        } else {
            page = .transfers
            addPasted(paste.bytes)
        }
        if paste.isIncomplete { complain("Only a part of what was pasted arrived.") }
    }

    mutating func take(_ press: MousePress) {
        if let dialog { return self.press(press, in: dialog) }
        if form != nil {
            guard press.button == .left, case .form(.field(let line, _))? = target(of: press) else { return }
            return form?.go(to: line) ?? ()
        }
        if isAdding { return clickInAdding(press) }
        if case .destinations(let shown) = page { return clickInDestinations(press, shown) }
        if let why { return self.press(press.button, in: why) }
        if case .details = page { return scrollDetails(press.button) }
        if commandPrompt != nil { return pressInPalette(press) }
        guard filterLine == nil, find?.isTyping != true, case .transfers = page else { return }
        steadyUntil = now.uptime + Tree.steadiness
        switch press.button {
        case .wheelDown: tree.page(by: 3)
        case .wheelUp: tree.page(by: -3)
        case .left: click(press.position)
        case .middle, .right: break
        }
    }

    private mutating func press(_ press: MousePress, in dialog: Dialog) {
        switch press.button {
        case .wheelDown: answer { $0.take(KeyPress(.down), at: $1) }
        case .wheelUp: answer { $0.take(KeyPress(.up), at: $1) }
        case .left:
            guard case .answer(let index)? = target(of: press) else { return }
            answer { $0.click(index, at: $1) }
        case .middle, .right: break
        }
    }

    private func target(of press: MousePress) -> ClickTarget.Meaning? { Drawing.target(at: press.position, in: self) }

    /// As in a question: a click chooses a line, and one on the chosen line runs it.
    private mutating func pressInPalette(_ press: MousePress) {
        switch press.button {
        case .wheelDown: movePalette(by: 3)
        case .wheelUp: movePalette(by: -3)
        case .left:
            guard case .entry(let index)? = target(of: press) else { return }
            if index == commandPrompt?.selected { return takeInCommandPrompt(KeyPress(.enter)) }
            commandPrompt?.selected = index
        case .middle, .right: break
        }
    }

    private mutating func movePalette(by lines: Int) {
        guard let selected = commandPrompt?.selected else { return }
        let last = paletteEntries.count - 1
        commandPrompt?.selected = max(0, min(selected + lines, last))
    }

    private mutating func click(_ position: Position) {
        let layout = layout
        if position.row == layout.hints {
            let view: KeyMap.View = canChange ? .transfers : .lost
            let action = HintLine.action(
                at: position.column, hints, in: view, keys, width: size.columns, words: hintWords(for: targets))
            if let action { perform(action) }
            return
        }
        if position.row == layout.titles {
            let column = columns.places.first { $0.cells.contains(position.column) }?.column
            return column.map { sort(byTitle: $0) } ?? ()
        }
        guard layout.tree.contains(position.row) else { return }
        let index = tree.top + position.row - layout.tree.lowerBound
        guard tree.items.indices.contains(index) else { return }
        tree.move(to: index)
        followed = nil
        let columns = columns
        let item = tree.items[index]
        if columns[.sign]?.contains(position.column) == true { return tree.toggleMark() }
        let name = columns[.name]?.lowerBound ?? 0
        if item.canOpen, position.column <= name + 2 * item.depth + 1, position.column >= name { return enter() }
        // A hand moves a little between the two.
        if let last = lastClick, last.position.row == position.row, abs(last.position.column - position.column) <= 1,
            now.uptime - last.at < .milliseconds(400)
        {
            lastClick = nil
            return enter()
        }
        lastClick = (position, now.uptime)
    }
}

extension Model {
    /// Captured in the tree and where something is chosen, in the picker, in forms and in the palette: everywhere else plain dragging selects
    /// text.
    var wantsMouse: Bool {
        guard isMouseOn else { return false }
        if isAdding { return adding.map { $0.isPicking || $0.isReviewing } ?? false }
        switch page {
        case .transfers: return filterLine == nil && find?.isTyping != true
        case .destinations(let shown): return shown.form != nil
        default: return false
        }
    }
}
