import Configuration
import DisplayText
import MartletKit

/// A command for the line behind `:`, with words of its own. Everything that a key does can be typed too, by the action's
/// name.
enum ScreenCommand: String, CaseIterable, Sendable {
    case pause, resume, cancel, retry
    case runNow = "run-now"
    case move, set, limit, undo
    case verify
    case filter, save, forget
    case columns, units, glyphs, theme, bell, mouse, ask
    case keys

    /// The words that may stand behind it.
    var form: String {
        switch self {
        case .pause: "[b7 | * | FILTER] [for 2h]"
        case .resume, .cancel, .retry: "b7 | t31 | * | FILTER"
        case .runNow: "[b7 | t31]"
        case .move: "[b7 | t31] top | bottom | up | down | before b3"
        case .set: "[b7 | t31] priority high | limit 2M | if-exists skip"
        case .limit: "[up | down | transfers | host NAME | session NAME] 2M | off"
        case .undo: "[list | N]"
        case .verify: "[b7 | t31] [read-back]"
        case .filter: "FILTER"
        case .save: "NAME [FILTER]"
        case .forget: "NAME"
        case .columns: "\(Columns.choices.joined(separator: " ")) | all"
        case .units: "iec | si"
        case .glyphs: "[unicode | narrow | ascii]"
        case .theme: ScreenConfiguration.Theme.allCases.map(\.rawValue).joined(separator: " | ")
        case .bell, .mouse, .ask: "on | off"
        case .keys: ""
        }
    }

    var summary: String {
        switch self {
        case .pause: "pause these"
        case .resume: "let these go on"
        case .cancel: "cancel these"
        case .retry: "try these again"
        case .runNow: "before all others, once"
        case .move: "change the order"
        case .set: "priority, limit, skip or overwrite"
        case .limit: "how fast, and how many at once"
        case .undo: "take back a change of the list"
        case .verify: "is all of it at the server, now?"
        case .filter: "show only what matches"
        case .save: "give a filter a name"
        case .forget: "forget a saved filter"
        case .columns: "choose the columns"
        case .units: "binary or decimal sizes"
        case .glyphs: "signs and bars"
        case .theme: "colours for a dark or light background"
        case .bell: "ring when a batch ends"
        case .mouse: "clicks, or selecting text"
        case .ask: "a question before leaving"
        case .keys: "what is wrong in keys.conf"
        }
    }
}

extension Model {
    /// Runs a line; says what is wrong with it.
    mutating func run(_ command: ScreenCommand, _ rest: String) {
        switch command {
        case .pause: pause(rest)
        case .resume: act(.resume, on: rest)
        case .cancel: act(.cancel, on: rest)
        case .retry: act(.retry, on: rest)
        case .runNow: runNow(rest)
        case .move: move(rest)
        case .set: set(rest)
        case .limit: limit(rest)
        case .undo: undo(rest)
        case .verify: verify(rest)
        case .filter: filter(by: rest)
        case .save: saveFilter(rest)
        case .forget: forgetFilter(rest)
        case .columns: chooseColumns(rest)
        case .units:
            guard let units = Figures.Units(rawValue: rest) else { return usage(command) }
            appearance.figures = Figures(units: units)
            keep("units", rest)
        case .glyphs where rest.isEmpty: showGlyphs()
        case .glyphs:
            guard appearance.characterSet == .utf8 || rest == "ascii", let glyphs = GlyphSet(named: rest) else {
                return appearance.characterSet == .utf8 ? usage(command) : complain("This terminal shows ASCII alone.")
            }
            appearance.glyphs = glyphs
            keep("glyphs", rest)
        case .theme:
            guard let theme = ScreenConfiguration.Theme(rawValue: rest) else { return usage(command) }
            requests.append(.theme(theme))
            keep("theme", rest)
            say(theme == .auto ? "Colours as the terminal says." : "Colours for a \(SafeText(rest)) background.")
        case .bell:
            guard rest == "on" || rest == "off" else { return usage(command) }
            settings.ringsBell = rest == "on"
            keep("bell", rest)
        case .mouse:
            guard rest == "on" || rest == "off" else { return usage(command) }
            input.isMouseOn = rest == "on"
            keep("mouse", rest)
        case .ask:
            guard rest == "on" || rest == "off" else { return usage(command) }
            setAskLeave(rest == "on")
        case .keys: showKeyReport()
        }
    }

    mutating func usage(_ command: ScreenCommand) {
        complain("Type  \(command.rawValue) \(appearance.safe(command.form))")
    }

    private mutating func filter(by text: String) {
        guard !text.isEmpty else { return openFilter() }
        do throws(FilterFault) {
            _ = try TransferFilter(text)
            setFilter(text)
        } catch {
            complain("The filter is wrong at character \(error.position + 1): \(appearance.safe(error.message)).")
        }
    }

    private mutating func chooseColumns(_ text: String) {
        var words = text.split { $0 == " " || $0 == "," }.map(String.init)
        guard !words.isEmpty else { return usage(.columns) }
        if words == ["default"] { words = ["all"] }
        guard words == ["all"] || words.allSatisfy(Columns.choices.contains) else { return usage(.columns) }
        appearance.columns = words == ["all"] ? nil : Set(words)
        keep("columns", words.joined(separator: " "))
        let shown = columns.places.flatMap { place in
            place.column == .speedOrState ? ["speed", "state"] : [Columns.word(place.column)].compactMap(\.self)
        }
        let missing = words.filter { $0 != "all" && !shown.contains($0) }
        if !missing.isEmpty {
            say("There is no room here for \(SafeText(missing.joined(separator: ", "))): a wider window shows more.")
        }
    }

    // MARK: Acting on what is named

    mutating func act(_ deed: NodeDeed, on text: String) {
        guard canChange else { return complain(cannotChange) }
        if text.isEmpty { return filters.shown?.marksAll == true ? confirmMatching(deed) : actOnTargets(deed) }
        let batches = batches(called: text)
        if let one = batches.first, batches.count == 1 {
            return act(deed, title([one]), .rows([one.id]), cost(of: deed, [one]))
        }
        if !batches.isEmpty {
            let (what, cost) = (
                "\(title(batches)) called \(appearance.safe(text))" as SafeText, cost(of: deed, batches)
            )
            return confirm(deed, what, .rows(batches.map(\.id)), cost)
        }
        if text == "*" {
            let states: [TransferState] = deed == .retry ? [.failed] : []
            let (selector, cost) = (NodeSelector(states: states), cost(of: deed, tree.root?.rows ?? []))
            confirm(deed, title(selector, for: deed), .matching(selector), cost)
        } else if let ids = Self.ids(text) {
            let named = Set(ids)
            let rows = tree.items.compactMap(\.row).filter { named.contains(nodeID(of: $0)) }
            act(deed, appearance.safe(text), .ids(ids), cost(of: deed, rows))
        } else {
            do throws(FilterFault) {
                _ = try TransferFilter(text)
                let sent = named(text)
                confirm(deed, matching(sent), .matching(NodeSelector(filter: sent)))
            } catch {
                complain("The filter is wrong at character \(error.position + 1): \(appearance.safe(error.message)).")
            }
        }
    }

    /// At once, unless it throws much away.
    private mutating func act(_ deed: NodeDeed, _ what: SafeText, _ nodes: NodeChoice, _ cost: StoppingCost?) {
        if settings.askAbove.includes(cost) { return confirm(deed, what, nodes, cost) }
        ask(.named(deed, what)) { .act(deed, nodes, number: $0) }
    }

    /// Acts on the targets one way alone, where a key would act either way.
    private mutating func actOnTargets(_ deed: NodeDeed) {
        if refusesMovedCursor() { return }
        let left = targets.filter { !$0.isOver }
        switch deed {
        case .pause:
            let moving = left.filter { !standsStill($0) }
            if moving.isEmpty { return say("Nothing of it moves: there is nothing to pause.") }
            pause(moving, by: deed)
        case .resume:
            let still = left.filter(standsStill)
            if still.isEmpty { return say("Nothing of it is paused.") }
            send(deed, still)
        case .pauseUntil:
            if left.isEmpty { return say("Nothing of it is left to pause.") }
            pause(left, by: deed)
        case .cancel: cancel(targets)
        case .retry: retry(targets)
        case .move, .set, .runNow, .purge: send(deed, targets)
        }
    }

    /// The IDs of which the text consists; `nil`: it is something else.
    private static func ids(_ text: String) -> [NodeID]? {
        let words = text.split(separator: " ")
        let ids = words.compactMap { NodeID(String($0)) }
        return ids.isEmpty || ids.count < words.count ? nil : ids
    }

    /// The batches of this name. Who types it means the batch, and no files that have the word in their names. A name that reads as IDs or as
    /// everything is one only in quotes.
    private func batches(called text: String) -> [NodeRow] {
        func isChoice(_ text: String) -> Bool { text == "*" || Self.ids(text) != nil }
        if isChoice(text) { return [] }
        let quoted = text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : ""
        let name = isChoice(quoted) ? quoted : text
        // By bytes: names that only look alike are of different batches.
        return (tree.root?.rows ?? []).filter { row in
            if case .batch = row.id { row.name.utf8.elementsEqual(name.utf8) } else { false }
        }
    }

    /// The words for all that a selector means, with the number of files as far as it is known.
    func title(_ selector: NodeSelector, for deed: NodeDeed) -> SafeText {
        if let filter = selector.filter { return matching(filter) }
        let files = totals.map { " (\(Figures.amount($0.counts.files(for: deed), "file")))" } ?? ""
        return SafeText("everything\(files)")
    }

    /// The words for a filter's files, with their number as soon as somebody has counted.
    func matching(_ text: String) -> SafeText {
        let count = filters.count(of: text)
        let text = filters.typed[text] ?? text
        guard let count, count.matched > 0 || count.complete else {
            return "all files that match \(appearance.safe(text))"
        }
        let files =
            count.complete ? Figures.amount(count.matched, "file") : "\(Figures.count(count.matched))+ files"
        return "\(SafeText(files)) that match \(appearance.safe(text))"
    }

    /// The filter of a question, which is counted while it is open.
    var questionedFilter: String? { dialog?.counted }

    /// More is known of how many files a question is about.
    mutating func recountQuestion() {
        guard let text = questionedFilter, case .named(let deed, _, _)? = dialog?.choices.first?.intent else { return }
        if let named = dialog?.named { return recountQuestion(deed, named, filters.count(of: text)) }
        let title: SafeText = "\(SafeText(deed.verb)) \(matching(text))?"
        dialog?.retitle(title)
    }

    /// A question that names a number of files names the one of now; when there are more it is asked once more.
    private mutating func recountQuestion(_ deed: NodeDeed, _ named: Dialog.NamedFiles, _ count: FilterCount?) {
        guard let count, count.matched > named.count || count.complete && count.matched < named.count else { return }
        let title: SafeText = "\(deed.verb) \(SafeText(Figures.amount(count.matched, "file"))) of \(named.place)?"
        dialog?.named?.count = count.matched
        let uptime = now.uptime
        if count.matched > named.count { dialog?.askAgain(title, at: uptime) } else { dialog?.retitle(title) }
    }

    /// Asks about the deed, as it may not be known yet how many files it is about.
    /// - Parameter cost: as far as it is known here.
    mutating func confirm(_ deed: NodeDeed, _ what: SafeText, _ nodes: NodeChoice, _ cost: StoppingCost? = nil) {
        confirm(deed, what, .named(deed, what, nodes), cost)
        if case .matching(let selector) = nodes { dialog?.counted = selector.filter }
    }

    mutating func confirm(_ deed: NodeDeed, _ what: SafeText, _ intent: Dialog.Intent, _ cost: StoppingCost?) {
        let lines =
            (cost.map { [said($0)] } ?? [])
            + (deed == .cancel ? ["What has arrived whole stays. \(takesBack)"] : [])
        confirm("\(deed.verb) \(what)?", lines, deed.letter, deed.verb, no: "Leave them as they are", intent)
    }
}

extension GlyphSet {
    /// By the word of the settings.
    init?(named word: String) {
        guard let set = Self.allCases.first(where: { "\($0)" == word }) else { return nil }
        self = set
    }
}
