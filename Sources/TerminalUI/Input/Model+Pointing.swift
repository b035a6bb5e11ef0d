import DisplayText
import MartletKit
import Terminal

/// Input without a key of its own: the mouse, what is pasted, and the press that interrupts.
extension Model {
    mutating func interrupt() {
        if let last = lastInterrupt, now.uptime - last <= .seconds(2) { return requests.append(.leave) }
        lastInterrupt = now.uptime
        guard page is TransfersPage else {
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
        } else if commandPrompt != nil {
            commandPrompt?.field.paste(paste.bytes)
        } else if filterLine != nil {
            pasteInFilterLine(paste.bytes)
        } else if find?.isTyping == true {
            pasteInFind(paste.bytes)
        } else {
            pasteOnPage(paste.bytes)
        }
        if paste.isIncomplete { complain("Only a part of what was pasted arrived.") }
    }

    private mutating func pasteOnPage(_ bytes: [UInt8]) {
        let shown = page
        if shown.paste(bytes, in: &self) { return }
        if let machine { return refuseFiles(of: machine) }
        page = TransfersPage()
        addPasted(bytes)
    }

    mutating func take(_ press: MousePress) {
        if let dialog { return self.press(press, in: dialog) }
        if form != nil {
            guard press.button == .left, case .form(.field(let line, _))? = target(of: press) else { return }
            return form?.go(to: line) ?? ()
        }
        if isAdding { return clickInAdding(press) }
        if let why { return self.press(press.button, in: why) }
        if commandPrompt != nil { return pressInPalette(press) }
        guard filterLine == nil, find?.isTyping != true else { return }
        let shown = page
        shown.take(press, in: &self)
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
}

extension Model {
    /// Captured in the tree and where something is chosen, in the picker, in forms and in the palette: everywhere else plain dragging selects
    /// text.
    var wantsMouse: Bool {
        guard isMouseOn else { return false }
        if isAdding { return adding.map { $0.isPicking || $0.isReviewing } ?? false }
        return page.wantsMouse(in: self)
    }
}
