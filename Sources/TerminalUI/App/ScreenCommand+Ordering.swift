import Configuration
import DisplayText
import MartletKit

/// `:move`, `:run-now`, `:set` and `:limit`: as the commands of the shell, with or without their dashes.
extension Model {
    mutating func move(_ text: String) {
        guard canAct() else { return }
        var (nodes, words) = nodes(in: text)
        let place: MovePlace
        switch words.first {
        case "top", "first": place = .top
        case "bottom", "last": place = .bottom
        case "up", "earlier": place = .earlier
        case "down", "later": place = .later
        case "before":
            guard words.count == 2, let other = NodeID(words.removeLast()) else { return usage(.move) }
            place = .before(other)
        default: return usage(.move)
        }
        guard words.count == 1 else { return usage(.move) }
        act(.move(place), nodes)
    }

    mutating func runNow(_ text: String) {
        guard canAct() else { return }
        let (nodes, words) = nodes(in: text)
        guard words.isEmpty else { return usage(.runNow) }
        act(.runNow, nodes)
    }

    mutating func set(_ text: String) {
        guard canAct() else { return }
        let (nodes, words) = nodes(in: text)
        var settings = NodeSettings()
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let value = rest.popFirst() else { return usage(.set) }
            switch word {
            case "priority":
                guard let priority = TransferPriority(rawValue: value) else {
                    let known = TransferPriority.allCases.map(\.rawValue).joined(separator: ", ")
                    return complain("There is no priority \(appearance.safe(value)): there are \(SafeText(known)).")
                }
                settings.priority = priority
            case "limit":
                guard let rate = RateLimit(value) else { return complain(Self.noRate(value, appearance)) }
                settings.limit = rate.bytesPerSecond ?? 0
            case "if-exists":
                guard let policy = ExistingFilePolicy(rawValue: value), ExistingFilePolicy.built.contains(policy) else {
                    let known = ExistingFilePolicy.built.map(\.rawValue).joined(separator: ", ")
                    return complain("What is there is not to \(appearance.safe(value)): there are \(SafeText(known)).")
                }
                settings.ifExists = policy
            default: return usage(.set)
            }
        }
        guard !settings.isEmpty else { return usage(.set) }
        act(.set(settings), nodes)
    }

    /// Sets limits as typed. One that is not said to be for one way is for both.
    mutating func limit(_ text: String) {
        guard canAct() else { return }
        var wish = LimitsWish()
        var (ways, value) = (Set<String>(), [String]())
        var scope: (kind: ScopedLimit.Kind, name: String)?
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "up", "down": ways.insert(word)
            case "host", "session":
                guard let name = words.popFirst() else { return usage(.limit) }
                scope = (word == "host" ? .host : .session, name)
            case "transfers":
                guard let count = words.popFirst().flatMap({ Int($0) }), (1...256).contains(count) else {
                    return complain("Give a number of transfers from 1 to 256.")
                }
                wish.transfers = count
            default: value.append(word)
            }
        }
        let given = value.joined(separator: " ")
        if let scope {
            guard let rate = RateLimit(given) else { return complain(Self.noRate(given, appearance)) }
            wish.scoped = [ScopedLimit(kind: scope.kind, name: scope.name, rate: rate.bytesPerSecond ?? 0)]
        } else if wish.transfers == nil || !given.isEmpty {
            guard let table = RateTimetable(given) else { return complain(Self.noRate(given, appearance)) }
            if ways != ["down"] { wish.up = table.written }
            if ways != ["up"] { wish.down = table.written }
        }
        ask(.setLimits(wish)) { .setLimits(wish, number: $0) }
    }

    // MARK: Words

    mutating func canAct() -> Bool {
        if !canChange { complain("The engine does not answer: nothing can be changed now.") }
        return canChange
    }

    private static func noRate(_ text: String, _ appearance: Appearance) -> SafeText {
        text.isEmpty
            ? "Give a rate such as 512K or 2M, or off."
            : "\"\(appearance.safe(text))\" is no rate: give one such as 512K or 2M, or off."
    }

    /// Options of the shell's commands mean the same without their dashes.
    private static func words(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map { $0.hasPrefix("--") ? String($0.dropFirst(2)) : String($0) }
    }

    /// The nodes that a line begins with, and the rest of it.
    func nodes(in text: String) -> (nodes: [NodeID], words: [String]) {
        let words = Self.words(text)
        let nodes = words.prefix { NodeID($0) != nil }
        return (nodes.compactMap { NodeID($0) }, Array(words.dropFirst(nodes.count)))
    }

    /// Without names it is done to the marked rows, or the cursor's.
    private mutating func act(_ deed: NodeDeed, _ nodes: [NodeID]) {
        guard nodes.isEmpty else {
            let what = appearance.safe(nodes.map(\.description).joined(separator: " "))
            ask(.named(deed, what)) { .act(deed, .ids(nodes), number: $0) }
            return
        }
        if let filter = filters.shown, filter.marksAll {
            return deed.isMove ? refuseToMoveMatching() : confirmMatching(deed)
        }
        if refusesMovedCursor() { return }
        let rows = targets
        guard !rows.isEmpty else { return complain("Nothing is there to change.") }
        send(deed, rows)
    }
}
