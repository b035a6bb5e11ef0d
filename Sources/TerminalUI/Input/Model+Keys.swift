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
        case .focus(let hasFocus): self.input.hasFocus = hasFocus
        case .closed: requests.append(.leave)
        }
    }

    private mutating func take(_ press: KeyPress) {
        input.lastKeyAt = now.uptime
        // Only two of them in a row mean to leave.
        if press != .control("c") { input.lastInterrupt = nil }
        // Whoever presses a key is where they want to be.
        tree.awaited = []
        list.steadyUntil = now.uptime + Tree.steadiness
        if performAnywhere(press) { return }
        let open = layers.open(in: self)
        if let layer = open.first(where: { type(of: $0).takesKeys }) { return layer.take(press, in: &self) }
        // A message stays until the next key; what it offers to undo stays as long as the offer holds.
        let hadNotice = notice != nil
        func forgetNotice() { if notice?.undo == nil { notice = nil } }
        let asked = action(for: press)
        // A layer over the page gets each key first, also one that the page would type.
        if !open.isEmpty { forgetNotice() }
        for layer in open {
            guard let asked else { layer.passOver(in: &self); continue }
            if layer.perform(asked, in: &self) { return }
        }
        if withPage({ $0.typed(press, in: &$1) }) { return }
        forgetNotice()
        guard let action = asked else { return }
        // One thing at a time: the message, then the filter.
        if action == .back, hadNotice, page is TransfersPage { return notice = nil }
        perform(action)
        sayWaiting()
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
    var keyView: KeyMap.View { type(of: page).view }

    private func action(for press: KeyPress) -> Action? {
        if !canChange, let action = keys.action(for: press, in: .lost) { return action }
        return keys.action(for: press, in: keyView)
    }

    mutating func perform(_ action: Action) {
        // A person who changes the order of rows wants to see it.
        if action.changesTransfers { list.steadyUntil = nil }
        if page.changesTransfers(action), !canChange { return complain(cannotChange) }
        if let machine, action.needsItsFiles { return refuseFiles(of: machine) }
        switch action {
        case .interrupt: return interrupt()
        case .redraw: return requests.append(.redraw)
        case .suspend: return requests.append(.suspend)
        case .mouse:
            input.isMouseOn.toggle()
            keep("mouse", input.isMouseOn.written)
            return say(input.isMouseOn ? "The mouse is on." : "The mouse is off: it selects text now.")
        case .retryNow: return isConnected ? askIfItLives() : requests.append(.reconnect)
        case .startEngine where isConnected && !canChange: return refuseSecondEngine()
        case .startEngine:
            // One that is about to stop goes on.
            if !isConnected { connection.state = .connecting }
            connection.restarts.startedByHand()
            return requests.append(.startEngine)
        case .leave: return leave()
        case .leaveWithChoices: return askHowToLeave()
        case .copy: return copy(all: false)
        case .copyAll: return copy(all: true)
        case .help: return HelpPage.open(in: &self)
        default: break
        }
        if let other = KeyMap.View.pages.first(where: { $0.opener == action }) { return open(other) }
        withPage { $0.perform(action, in: &$1) }
    }

    /// Opens another page, or says why not; nothing when it is open already.
    private mutating func open(_ other: any Page.Type) {
        if let obstacle = other.obstacle(in: self) { return complain(obstacle) }
        if type(of: page) != other { other.open(in: &self) }
    }
}
