import DisplayText
import MartletKit

/// The screen stands still, to be read or selected from, while the engine goes on: its news wait here.
struct Frozen: Sendable {
    let since: Timestamp
    /// All that has waited; `nil`: nothing has come.
    private(set) var news: ViewUpdate?

    init(since: Timestamp) { self.since = since }

    /// Takes the news out of an update; what the tree does not have at all, because a row was opened, is shown.
    mutating func hold(_ update: inout ViewUpdate, _ tree: Tree) {
        var held = update
        held.sections = update.sections.filter { tree.holds($0) }
        if news?.merge(held) == nil { news = held }
        update.sections = update.sections.filter { !tree.holds($0) }
        update.totals = nil
        update.nodes = [:]
        if update.sections.isEmpty { update.filter = nil }
    }
}

extension Model {
    /// The engine goes on; what it tells meanwhile is shown afterwards.
    mutating func freeze() {
        guard let frozen = list.frozen else {
            list.frozen = Frozen(since: now.wall)
            return say("The screen stands still; transfers go on. \(key(.freeze)) shows them again.")
        }
        self.list.frozen = nil
        if let news = frozen.news { take(news) }
        say("The screen goes on.")
    }
}
