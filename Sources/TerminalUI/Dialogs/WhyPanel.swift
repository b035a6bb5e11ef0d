import DisplayText
import MartletKit
import Terminal

/// The reason why a row does not move, and the remedy: whole, over the lower end of the page, until another key is
/// pressed.
struct WhyPanel: Sendable {
    /// The node that was asked about.
    let node: NodeID
    /// As it was last seen.
    var row: NodeRow
    /// As it is called here.
    let name: SafeText
    private(set) var answer: WhyAnswer
    /// The advice, by the keys of the page that it was asked on.
    private(set) var cure: SafeText
    private var scroll = 0
    /// The seconds until the next try that the sentence tells.
    private var counted: Int64 = 0

    init(_ node: NodeID, _ row: NodeRow, name: SafeText, answer: WhyAnswer, cure: SafeText, _ now: Moment) {
        (self.node, self.row, self.name, self.answer, self.cure) = (node, row, name, answer, cure)
        counted = secondsLeft(now)
    }

    func untilRetry(_ now: Moment) -> Duration { answer.retryAt.map { $0.since(now.wall) } ?? .zero }

    /// Until it is tried again.
    func secondsLeft(_ now: Moment) -> Int64 { answer.retryAt.map { now.seconds(until: $0) } ?? 0 }

    /// The sentence tells another number than there are seconds left.
    func isOutdated(_ now: Moment) -> Bool { secondsLeft(now) != counted }

    /// A newer answer to the same question.
    mutating func take(_ answer: WhyAnswer, cure: SafeText, _ now: Moment) {
        (self.answer, self.cure) = (answer, cure)
        counted = secondsLeft(now)
    }

    /// The sentence, and what to do under it.
    func lines(width: Int, _ appearance: Appearance) -> [SafeText] {
        let room = max(2, width - 2)
        var lines = appearance.safe(answer.sentence + ".").wrapped(to: room)
        guard cure.width > 0 else { return lines }
        lines.append("")
        return lines + cure.wrapped(to: room)
    }

    /// Rows of a window that it takes, its heading counted.
    func height(_ size: ScreenSize, _ appearance: Appearance) -> Int {
        let most = max(1, size.rows - 3)
        return min(lines(width: size.columns, appearance).count + 1, most)
    }

    /// The first line in sight. Windows and answers change: never so far down that there is room below the last line.
    func top(_ size: ScreenSize, _ appearance: Appearance) -> Int { min(scroll, mostScroll(size, appearance)) }

    private func mostScroll(_ size: ScreenSize, _ appearance: Appearance) -> Int {
        max(0, lines(width: size.columns, appearance).count - (height(size, appearance) - 1))
    }

    /// The panel scrolled by a key; `nil`: the key does not scroll, or all of it is in sight.
    func scrolled(_ action: Action, _ size: ScreenSize, _ appearance: Appearance) -> WhyPanel? {
        let room = height(size, appearance) - 1
        let most = mostScroll(size, appearance)
        guard most > 0, let line = action.scrolled(from: top(size, appearance), height: room, most: most) else {
            return nil
        }
        var panel = self
        panel.scroll = line
        return panel
    }
}

extension Model {
    /// The reason that is shown, until the next key.
    var why: WhyPanel? {
        get { layers[WhyPanel.self] }
        set { layers[WhyPanel.self] = newValue }
    }

    mutating func askWhy(_ row: NodeRow) {
        guard canChange else { return complain("The engine does not answer.") }
        closeWhy()
        ask(why: nodeID(of: row), row, title([row]))
    }

    /// Closes it; an answer that is still on its way does not open it again.
    mutating func closeWhy() {
        why = nil
        requests.outstanding = requests.outstanding.filter { if case .why = $0.value.purpose { false } else { true } }
    }

    /// Asks the same once more.
    mutating func askWhyAgain() {
        guard let why, isConnected, !isAskingWhy else { return }
        ask(why: why.node, why.row, why.name)
    }

    private mutating func ask(why node: NodeID, _ row: NodeRow, _ name: SafeText) {
        ask(.why(node, row, name)) { .why(node, number: $0) }
    }

    mutating func explained(_ result: Result<[WhyAnswer], RequestError>, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number),
            case .why(let node, let row, let name) = request.purpose
        else { return }
        let now = engineNow
        switch result {
        case .failure(let error):
            // It would only be asked the same again.
            closeWhy()
            complain(advised(error))
        case .success(let answers):
            guard let answer = answers.first else {
                closeWhy()
                return say("\(name) does not wait for anything.")
            }
            let cure = cure(answer.remedy, about: node)
            if why?.node == node {
                why?.take(answer, cure: cure, now)
            } else {
                why = WhyPanel(node, row, name: name, answer: answer, cure: cure, now)
                if why != nil { note(appearance.safe("\(answer.sentence). ") + cure) }
            }
            // The row may have changed while the answer was on its way.
            refreshWhy(nil)
        }
    }

    /// Asks again about a row as soon as it looks different; until then what was said of it holds.
    mutating func refreshWhy(_ update: ViewUpdate?) {
        guard let why, isConnected else { return }
        let watched = update?.nodes.values.compactMap(\.self).first { $0.id == why.row.id }
        guard let row = watched ?? tree.row(why.row.id) else { return }
        let isSame =
            (row.state, row.retryAt, row.effectivelyPaused) == (
                why.row.state, why.row.retryAt, why.row.effectivelyPaused
            )
        guard !isSame || row.waitReasons != why.row.waitReasons, !isAskingWhy else { return }
        self.why?.row = row
        askWhyAgain()
    }

    /// The seconds until the next try go down.
    mutating func recountWhy() {
        if why?.isOutdated(engineNow) == true { askWhyAgain() }
    }

    private var isAskingWhy: Bool {
        requests.outstanding.values.contains { if case .why = $0.purpose { true } else { false } }
    }
}

extension WhyPanel: Layer {
    static var level: LayerLevel { .why }
    static var takesKeys: Bool { false }

    /// A key scrolls it, or closes it; what does neither closes it and does what it always does.
    func perform(_ action: Action, in model: inout Model) -> Bool {
        if let scrolled = scrolled(action, model.size, model.appearance) {
            model.why = scrolled
            return true
        }
        model.closeWhy()
        return [.back, .why, .enter].contains(action)
    }

    func passOver(in model: inout Model) { model.closeWhy() }

    /// A press of the mouse while it is open is about nothing that it hides: the wheel scrolls it, all else closes it.
    func take(_ press: MousePress, in model: inout Model) {
        switch press.button {
        case .wheelDown: model.why = scrolled(.down, model.size, model.appearance) ?? self
        case .wheelUp: model.why = scrolled(.up, model.size, model.appearance) ?? self
        case .left, .middle, .right: model.closeWhy()
        }
    }

    func draw(in drawing: inout Drawing) { drawing.whyPanel(self) }
}

extension Drawing {
    fileprivate mutating func whyPanel(_ panel: WhyPanel) {
        let lines = panel.lines(width: width, appearance)
        let height = panel.height(model.size, appearance)
        let end = max(1, rows - 1)
        let top = max(0, end - height)
        let scroll = panel.top(model.size, appearance)
        grid.fill(row: top, style: .plain)
        heading(
            "Why  " + panel.name.shortened(to: max(4, width - 12), mark: appearance.glyphs.cutMark), row: top,
            columns: 0..<width)
        for (offset, row) in ((top + 1)..<max(top + 1, end)).enumerated() {
            grid.fill(row: row, style: .plain)
            let index = scroll + offset
            if index < lines.count { grid.put(lines[index], row: row, column: 1) }
        }
        cursor = Cursor(row: min(top + 1, rows - 1), column: min(1, width - 1))
        guard rows > 1 else { return }
        let more: SafeText = scroll + height - 1 < lines.count ? "more below: PgDn " : ""
        let room = width - more.width
        let words = model.hintWords(for: [panel.row])
        hintLine(
            HintLine.text([.back, .pause, .retry], in: model.keyView, model.keys, width: room, words: words), rows - 1)
        grid.put(more, row: rows - 1, column: max(0, room), style: .hint)
    }
}
