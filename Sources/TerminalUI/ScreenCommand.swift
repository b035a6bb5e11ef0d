import Configuration
import DisplayText
import MartletKit

/// What can be typed behind `:` with words of its own. Everything that a key does can be typed too, by the action's name.
enum ScreenCommand: String, CaseIterable, Sendable {
    case pause, resume, cancel, retry
    case move, set, limit
    case filter, save, forget
    case columns, units, glyphs, bell, mouse
    case keys

    /// What may stand behind it.
    var form: String {
        switch self {
        case .pause, .resume, .cancel, .retry: "b7 | t31 | * | FILTER"
        case .move: "[b7 | t31] top | bottom | up | down | before b3"
        case .set: "[b7 | t31] priority high | limit 2M"
        case .limit: "[up | down | transfers | host NAME | session NAME] 2M | off"
        case .filter: "FILTER"
        case .save: "NAME [FILTER]"
        case .forget: "NAME"
        case .columns: "\(Columns.choices.joined(separator: " ")) | all"
        case .units: "iec | si"
        case .glyphs: "unicode | narrow | ascii"
        case .bell, .mouse: "on | off"
        case .keys: ""
        }
    }

    var summary: String {
        switch self {
        case .pause: "pause these"
        case .resume: "let these go on"
        case .cancel: "cancel these"
        case .retry: "try these again"
        case .move: "change the order"
        case .set: "priority, or a limit of its own"
        case .limit: "how fast, and how many at once"
        case .filter: "show only what matches"
        case .save: "give a filter a name"
        case .forget: "forget a saved filter"
        case .columns: "choose the columns"
        case .units: "binary or decimal sizes"
        case .glyphs: "signs and bars"
        case .bell: "ring when a batch ends"
        case .mouse: "clicks, or selecting text"
        case .keys: "what is wrong in keys.conf"
        }
    }
}

extension Model {
    /// Runs a line; says what is wrong with it.
    mutating func run(_ command: ScreenCommand, _ rest: String) {
        switch command {
        case .pause: act(.pause, on: rest)
        case .resume: act(.resume, on: rest)
        case .cancel: act(.cancel, on: rest)
        case .retry: act(.retry, on: rest)
        case .move: move(rest)
        case .set: set(rest)
        case .limit: limit(rest)
        case .filter: filter(by: rest)
        case .save: saveFilter(rest)
        case .forget: forgetFilter(rest)
        case .columns: chooseColumns(rest)
        case .units:
            guard let units = Figures.Units(rawValue: rest) else { return usage(command) }
            look.figures = Figures(units: units)
        case .glyphs:
            guard look.characterSet == .utf8 || rest == "ascii", let glyphs = GlyphSet(named: rest) else {
                return look.characterSet == .utf8 ? usage(command) : complain("This terminal shows ASCII alone.")
            }
            look.glyphs = glyphs
        case .bell:
            guard rest == "on" || rest == "off" else { return usage(command) }
            ringsBell = rest == "on"
        case .mouse:
            guard rest == "on" || rest == "off" else { return usage(command) }
            isMouseOn = rest == "on"
        case .keys: showKeyReport()
        }
    }

    mutating func usage(_ command: ScreenCommand) {
        complain("Type  \(command.rawValue) \(look.safe(command.form))")
    }

    private mutating func filter(by text: String) {
        guard !text.isEmpty else { return openFilter() }
        do throws(FilterFault) {
            _ = try TransferFilter(text)
            setFilter(text)
        } catch {
            complain("The filter is wrong at character \(error.position + 1): \(look.safe(error.message)).")
        }
    }

    private mutating func chooseColumns(_ text: String) {
        let words = text.split { $0 == " " || $0 == "," }.map(String.init)
        guard !words.isEmpty else { return usage(.columns) }
        if words == ["all"] { return look.columns = nil }
        guard words.allSatisfy(Columns.choices.contains) else { return usage(.columns) }
        look.columns = Set(words)
    }

    // MARK: Acting on what is named

    private mutating func act(_ deed: Deed, on text: String) {
        guard canChange else { return complain(cannotChange) }
        if text.isEmpty {
            switch deed {
            case .pause, .resume: return pause(targets)
            case .cancel: return cancel(targets)
            case .retry: return retry(targets)
            case .move, .set, .runNow: return send(deed, targets)
            }
        }
        let ids = text.split(separator: " ").map { NodeID(String($0)) }
        if text == "*" {
            let states: [TransferState] = deed == .retry ? [.failed] : []
            confirm(deed, "everything", .matching(NodeSelector(states: states)))
        } else if ids.allSatisfy({ $0 != nil }) {
            ask(.named(deed, look.safe(text))) { .act(deed, .ids(ids.compactMap(\.self)), number: $0) }
        } else {
            do throws(FilterFault) {
                _ = try TransferFilter(text)
                confirm(deed, "all files that match \(look.safe(text))", .matching(NodeSelector(filter: text)))
            } catch {
                complain("The filter is wrong at character \(error.position + 1): \(look.safe(error.message)).")
            }
        }
    }

    /// When all that match a filter are marked, the engine is told the filter and not the rows in sight.
    mutating func actOnMatching(_ action: Action) -> Bool {
        guard let filter, filter.marksAll else { return false }
        let deed: Deed
        switch action {
        case .pause: deed = tree.marks.values.allSatisfy { $0.isOver || $0.standsStill } ? .resume : .pause
        case .cancel: deed = .cancel
        case .retry: deed = .retry
        default: return false
        }
        let count = filter.count.map { Figures.amount($0.matched, "file") } ?? "all files"
        confirm(deed, "\(count) that match \(look.safe(filter.text))", .matching(NodeSelector(filter: filter.text)))
        return true
    }

    /// How many it is about is not known here, so it is asked about.
    private mutating func confirm(_ deed: Deed, _ what: SafeText, _ nodes: NodeChoice) {
        let (verb, letter): (String, Unicode.Scalar) =
            switch deed {
            case .pause: ("Pause", "p")
            case .resume: ("Resume", "p")
            case .cancel: ("Cancel", "x")
            case .retry: ("Retry", "r")
            case .move, .set, .runNow: ("Change", "y")
            }
        let lines: [SafeText] =
            deed == .cancel
            ? ["What has arrived whole stays. u takes it back for \(grace.components.seconds) s."] : []
        dialog = Dialog(
            "\(verb) \(what)?", lines, Dialog.Choice(letter: letter, text: verb, intent: .named(deed, what, nodes)),
            no: "Leave them as they are", at: now.uptime)
    }
}

extension GlyphSet {
    /// By the word of the settings.
    init?(named word: String) {
        guard let set = Self.allCases.first(where: { "\($0)" == word }) else { return nil }
        self = set
    }
}
