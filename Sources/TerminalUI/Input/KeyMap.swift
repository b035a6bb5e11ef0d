package import Configuration
import DisplayText
package import Terminal

/// The keys of each view and what they do. Help and hints are made from it, so they say what is true.
package struct KeyMap: Sendable, Hashable {
    /// A view with keys of its own; most are a page's.
    package struct View: Sendable {
        /// The section's name in `keys.conf`.
        package let rawValue: String
        /// Its name in help.
        let nameInHelp: String
        /// The page whose keys these are; `nil`: they are of something that stands over the pages.
        let page: (any Page.Type)?
        /// Actions that have other words here than elsewhere.
        let words: [Action: Words]
        /// Made when it is wanted: it has the keys of all pages in it, and so needs all views.
        private let table: @Sendable () -> [(Action, [String])]

        /// The keys of each action without a `keys.conf`, the one to be shown first.
        var keys: [(Action, [String])] { table() }

        init(
            _ name: String, nameInHelp: String, page: (any Page.Type)? = nil, words: [Action: Words] = [:],
            keys: @autoclosure @escaping @Sendable () -> [(Action, [String])]
        ) {
            (rawValue, self.nameInHelp, self.page, self.words, table) = (name, nameInHelp, page, words, keys)
        }

        /// The words for what an action does in one view; `nil`: the usual ones.
        struct Words: Sendable {
            /// For the page of help, at most 24 characters.
            var help: String?
            /// Behind the key in the line of hints.
            var hint: String?
        }
    }

    /// The keys of each action, the one to be shown first.
    private var keys: [View: [Action: [KeyPress]]]
    private var actions: [View: [KeyPress: Action]]

    /// The keys as they are without a `keys.conf`.
    package static let standard = KeyMap()

    private init() {
        keys = [:]
        for view in View.allCases {
            var table: [Action: [KeyPress]] = [:]
            for (action, names) in view.keys { table[action] = names.compactMap { KeyPress(name: $0) } }
            keys[view] = table
        }
        actions = keys.mapValues(Self.inverted)
    }

    /// The action of a key in a view.
    package func action(for press: KeyPress, in view: View) -> Action? { actions[view]?[press] }

    /// The keys of an action, the one to be shown first.
    package func keys(for action: Action, in view: View) -> [KeyPress] { keys[view]?[action] ?? [] }

    /// The first key of an action, for sentences; the action's name when it has none.
    func name(of action: Action, in view: View = .transfers) -> SafeText {
        SafeText(keys(for: action, in: view).first?.name ?? action.rawValue)
    }

    /// The actions of a view that have a key, in the order of help.
    package func actions(in view: View) -> [Action] {
        Action.allCases.filter { !keys(for: $0, in: view).isEmpty }
    }

    /// Takes over the lines of `keys.conf`; what it names replaces the standard keys. Lines that make no sense are
    /// reported and left out, and two actions on one key are reported: the later line has it. What clashes is looked at
    /// when all lines are read, because two actions may exchange their keys.
    package mutating func apply(_ bindings: [KeyBinding], problems: inout [ConfigurationProblem]) {
        var lines: [View: [Action: Int]] = [:]
        for binding in bindings {
            guard let action = Action(rawValue: binding.action) else {
                problems.append(ConfigurationProblem(line: binding.line, "there is no action \"\(binding.action)\""))
                continue
            }
            let views = binding.view.map { View(rawValue: $0).map { [$0] } ?? [] } ?? View.allCases
            if views.isEmpty {
                problems.append(ConfigurationProblem(line: binding.line, "there is no view \"\(binding.view ?? "")\""))
            }
            var presses: [KeyPress] = []
            for name in binding.keys {
                if let press = KeyPress(name: Self.spelled[name] ?? name) {
                    presses.append(press)
                } else {
                    problems.append(ConfigurationProblem(line: binding.line, "there is no key \"\(name)\""))
                }
            }
            for view in views where keys[view]?[action] != nil || binding.view != nil {
                keys[view, default: [:]][action] = presses
                lines[view, default: [:]][action] = binding.line
            }
        }
        for view in View.allCases { settle(view, lines[view] ?? [:], &problems) }
        problems.sort { $0.line < $1.line }
        actions = keys.mapValues(Self.inverted)
    }

    /// Each key belongs to the action of the latest line that names it; the others lose it.
    private mutating func settle(_ view: View, _ lines: [Action: Int], _ problems: inout [ConfigurationProblem]) {
        var owners: [KeyPress: Action] = [:]
        for action in Action.allCases where lines[action] == nil {
            for press in keys[view]?[action] ?? [] { owners[press] = action }
        }
        for (winner, line) in lines.sorted(by: { $0.value < $1.value }) {
            var taken: [Action: Set<KeyPress>] = [:]
            for press in keys[view]?[winner] ?? [] {
                guard let loser = owners.updateValue(winner, forKey: press), loser != winner else { continue }
                taken[loser, default: []].insert(press)
            }
            for loser in Action.allCases {
                guard let clash = taken[loser] else { continue }
                let held = keys[view]?[loser] ?? []
                let names = held.filter(clash.contains).map(\.name).joined(separator: " ")
                problems.append(
                    ConfigurationProblem(line: line, "\(names) was \"\(loser.rawValue)\" in \(view.rawValue)"))
                keys[view]?[loser] = held.filter { !clash.contains($0) }
            }
        }
    }

    private static func inverted(_ table: [Action: [KeyPress]]) -> [KeyPress: Action] {
        var actions: [KeyPress: Action] = [:]
        for (action, presses) in table { for press in presses { actions[press] = action } }
        return actions
    }

    /// Names of keys that INI would misread.
    static let spelled: [String: String] = [
        "semicolon": ";", "hash": "#", "equals": "=", "bracketleft": "[", "bracketright": "]",
    ]

    /// Through any list or text.
    static let moving: [(Action, [String])] = [
        (.down, ["j", "Down"]), (.up, ["k", "Up"]), (.halfPageDown, ["^D"]), (.halfPageUp, ["^U"]),
        (.pageDown, ["PgDn"]), (.pageUp, ["PgUp"]), (.first, ["g", "Home"]), (.last, ["G", "End"]),
    ]

    /// In every view.
    static let everywhere: [(Action, [String])] = [
        (.help, ["?", "F1"]), (.mouse, ["m"]), (.redraw, ["^L"]), (.suspend, ["^Z"]), (.interrupt, ["^C"]),
    ]

    /// On a page with text to copy.
    static let copying: [(Action, [String])] = [(.copy, ["y"]), (.copyAll, ["Y"])]

    /// To the pages, from the list of transfers: by a letter or a number.
    static var openers: [(Action, [String])] {
        View.pages.compactMap { page in page.opener.map { ($0, page.openingKeys) } }
    }

    /// To the pages, from every page: by a number.
    static var pages: [(Action, [String])] { openers.map { ($0, $1.filter(isNumber)) } }

    /// Leaves a page, also by the letter that opens it.
    static func back(from page: any Page.Type, _ others: String...) -> (Action, [String]) {
        (.back, ["Esc", "q"] + page.openingKeys.filter { !isNumber($0) } + others)
    }

    private static func isNumber(_ key: String) -> Bool { Int(key) != nil }
}

/// The views, and the rules for their keys: letters first; a function key only repeats one. Not bound on the list of transfers: `d`, which
/// differs everywhere. Bound nowhere: `^S ^Q` (flow control); `^A ^B ^O ^J ^K ^P ^N` (multiplexers); `^H ^M ^I` (Backspace, Enter and Tab).
/// Nothing that cannot be undone is on a letter that ends an escape sequence: A B C D F H M P Q R S.
extension KeyMap.View: CaseIterable, Hashable {
    /// The register of views and so of pages, in the order of help and of `keys.conf`.
    package static let allCases: [Self] = [
        .transfers, .details, .throughput, .log, .problems, .history, .help, .picker, .destinations, .lost,
    ]

    /// The pages with keys of their own.
    static let pages = allCases.compactMap(\.page)

    /// The list of files while a batch is added.
    static let picker = Self(
        "picker", nameInHelp: "picking files", words: [.enter: Words(help: "open, or mark a file")],
        keys: KeyMap.moving + KeyMap.everywhere.filter { $0.0 != .mouse } + [
            (.nextStep, ["F2", "c"]), (.open, ["l", "Right"]), (.close, ["h", "Left", "Backspace"]),
            (.enter, ["Enter"]), (.mark, ["Space", "Ins"]), (.markRange, ["v"]), (.markAll, ["*"]),
            (.unmarkAll, ["U"]), (.find, ["/", "F3"]), (.nextMatch, ["n"]), (.previousMatch, ["N"]),
            (.hidden, ["."]), (.places, ["Tab"]), (.typePath, ["~"]), (.sort, ["s", "F6"]), (.reverse, ["S"]),
            (.details, ["i"]), (.back, ["Esc", "q"]),
        ])

    /// The keys added to every view while the engine does not answer; they come first.
    static let lost = Self(
        "lost", nameInHelp: "while the engine does not answer", keys: [(.retryNow, ["R"]), (.startEngine, ["s"])])

    /// The view of that name.
    package init?(rawValue: String) {
        guard let view = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = view
    }

    package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
