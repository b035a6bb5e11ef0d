import DisplayText
import MartletKit
import Terminal

/// Input without a key of its own: the mouse, what is pasted, and the press that interrupts.
extension Model {
    mutating func interrupt() {
        if let last = input.lastInterrupt, now.uptime - last <= .seconds(2) { return requests.append(.leave) }
        input.lastInterrupt = now.uptime
        guard page is TransfersPage else {
            return say("\(keys.name(of: .back, in: keyView)) goes back. ^C again leaves, transfers go on.")
        }
        say("\(keys.name(of: .leave)) leaves, transfers go on. ^C again leaves too.")
    }

    mutating func take(_ paste: Paste) {
        // A question takes no text.
        if dialog != nil { return }
        closeWhy()
        let isTaken = layers.open(in: self).contains { $0.paste(paste.bytes, in: &self) }
        if !isTaken { pasteOnPage(paste.bytes) }
        if paste.isIncomplete { complain("Only a part of what was pasted arrived.") }
    }

    private mutating func pasteOnPage(_ bytes: [UInt8]) {
        if withPage({ $0.paste(bytes, in: &$1) }) { return }
        if let machine { return refuseFiles(of: machine) }
        goToTransfers()
        addPasted(bytes)
    }

    mutating func take(_ press: MousePress) {
        if let layer = layers.open(in: self).first { return layer.take(press, in: &self) }
        withPage { $0.clicked(press, in: &$1) }
    }

    func target(of press: MousePress) -> ClickTarget.Meaning? { Drawing.target(at: press.position, in: self) }
}

extension Model {
    /// Captured in the tree and where something is chosen, in the picker, in forms and in the palette: everywhere else plain dragging selects
    /// text.
    var wantsMouse: Bool {
        guard input.isMouseOn else { return false }
        return layers.open(in: self).lazy.compactMap(\.wantsMouse).first ?? page.wantsMouse(in: self)
    }
}
