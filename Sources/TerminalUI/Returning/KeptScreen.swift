import Configuration
import MartletKit

/// The state that the screen keeps after it is left: its look by the person's own choice, and for each engine where one
/// was. Kept in the state directory; a version that cannot be read is forgotten.
package struct KeptScreen: Hashable, Sendable {
    package var appearance = KeptAppearance()
    /// By the machine of the engine; empty: this one.
    var views: [String: KeptView] = [:]

    /// The version of the file's format.
    private static let version = "1"
    /// Engines of more machines are not remembered, the ones left last excepted.
    private static let mostViews = 8

    package init() {}

    /// The reason why a file says nothing: a sentence.
    package struct Damage: Error, Hashable, Sendable {
        package var message: String
    }

    /// Reads the file's bytes; all of it or nothing.
    package init(bytes: [UInt8]) throws(Damage) {
        let document = INIDocument(bytes: bytes)
        guard document.problems.isEmpty, let version = document.value("version") else {
            throw Damage(message: "it is damaged")
        }
        guard version == Self.version else { throw Damage(message: "it is of another version") }
        var choices: [String: KeptAppearance.Choice] = [:]
        for entry in document.entries(in: "look") where !entry.key.hasSuffix(Self.before) {
            guard let before = document.value(entry.key + Self.before, in: "look") else {
                throw Damage(message: "line \(entry.line) is damaged")
            }
            choices[entry.key] = KeptAppearance.Choice(value: entry.value, before: before)
        }
        appearance = KeptAppearance(choices)
        var seen: Set<String> = []
        for section in document.sections
        where section.name.hasPrefix(Self.viewHead) && seen.insert(section.name).inserted {
            let machine = PercentText.decoded(section.name.dropFirst(Self.viewHead.count).utf8)
            guard let name = String(validating: machine.dropFirst(), as: UTF8.self) else {
                throw Damage(message: "line \(section.line) is damaged")
            }
            views[name] = try Self.view(document.entries(in: section.name))
        }
    }

    private static let before = "-before"
    private static let viewHead = "view"

    private static func view(_ entries: [INIDocument.Entry]) throws(Damage) -> KeptView {
        var view: KeptView?
        for entry in entries {
            let damage = Damage(message: "line \(entry.line) is damaged")
            func rows() throws(Damage) -> [RowID] {
                let words = entry.value.split(separator: " ")
                let rows = words.compactMap { RowID(String($0)) }
                guard rows.count == words.count else { throw damage }
                return rows
            }
            func number() throws(Damage) -> Int64 {
                guard let number = Int64(entry.value), number >= 0 else { throw damage }
                return number
            }
            switch entry.key {
            case "left": view = KeptView(leftAt: Timestamp(milliseconds: try number()))
            case "cursor": view?.cursor = try rows()
            case "open": view?.open = try rows()
            case "self-opened": view?.selfOpened = try rows()
            case "closed": view?.closed = try rows()
            case "filter": view?.filter = String(decoding: PercentText.decoded(entry.value.utf8), as: UTF8.self)
            case "order":
                let words = entry.value.split(separator: " ")
                guard let key = words.first.flatMap({ TreeOrder.Key(rawValue: String($0)) }) else { throw damage }
                view?.order = TreeOrder(key, reversed: words.dropFirst().first == "reversed")
            case "lower": view?.lowerHeight = Int(try number())
            case "waiting": view?.waiting = try number()
            case "batches":
                for word in entry.value.split(separator: " ") {
                    guard let (id, standing) = standing(word) else { throw damage }
                    view?.batches[id] = standing
                }
            default: continue
            }
        }
        guard let view else { throw Damage(message: "a part of it is missing") }
        return view
    }

    /// `b7:12:0:4096`.
    private static func standing(_ word: Substring) -> (BatchID, KeptView.Standing)? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard numbers.count == 3, parts.count == 4, numbers.allSatisfy({ $0 >= 0 }),
            case .batch(let id)? = RowID(String(parts[0]))
        else { return nil }
        return (id, KeptView.Standing(completed: numbers[0], failed: numbers[1], bytes: numbers[2]))
    }

    /// The file's bytes.
    package var bytes: [UInt8] {
        var lines = [
            "# What martlet's screen remembers from one time to the next. Without it, it opens as the first time.",
            "version = \(Self.version)",
        ]
        if !appearance.choices.isEmpty { lines += ["", "[look]"] }
        for (key, choice) in appearance.choices.sorted(by: { $0.key < $1.key }) {
            lines += ["\(key) = \(choice.value)", "\(key)\(Self.before) = \(choice.before)"]
        }
        let latest = views.sorted { ($0.value.leftAt, $0.key) > ($1.value.leftAt, $1.key) }.prefix(Self.mostViews)
        for (machine, view) in latest {
            let name = machine.isEmpty ? "" : " " + PercentText.encoded(machine.utf8)
            lines += ["", "[\(Self.viewHead)\(name)]"] + Self.lines(view)
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private static func lines(_ view: KeptView) -> [String] {
        func rows(_ key: String, _ rows: [RowID]) -> String? {
            rows.isEmpty ? nil : "\(key) = \(rows.map(\.description).joined(separator: " "))"
        }
        let batches = view.batches.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key):\($0.value.completed):\($0.value.failed):\($0.value.bytes)"
        }
        let order = view.order.by.rawValue + (view.order.reversed ? " reversed" : "")
        return [
            "left = \(view.leftAt.milliseconds)", rows("cursor", view.cursor), rows("open", view.open),
            rows("self-opened", view.selfOpened), rows("closed", view.closed),
            view.filter.map { "filter = \(PercentText.encoded($0.utf8))" }, view.lowerHeight.map { "lower = \($0)" },
            view.order == TreeOrder() ? nil : "order = \(order)",
            "waiting = \(view.waiting)", batches.isEmpty ? nil : "batches = \(batches.joined(separator: " "))",
        ].compactMap(\.self)
    }
}
