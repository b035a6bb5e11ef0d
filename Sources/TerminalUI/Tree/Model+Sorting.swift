import DisplayText
import MartletKit
import Terminal

/// In which order rows stand: a menu, the other way round, or a click on a title.
extension Model {
    mutating func openSorting() {
        let choices = TreeOrder.Key.allCases.map { key in
            // The other way round stays so when the same is chosen again.
            let order = key == tree.order.by ? tree.order : TreeOrder(key)
            return Dialog.Choice(letter: key.letter, text: key.title, intent: .sort(order))
        }
        dialog = Dialog(
            menu: "Sort by", [], choices, no: "Leave it", at: now.uptime, isAtSide: true,
            selected: TreeOrder.Key.allCases.firstIndex(of: tree.order.by) ?? 0)
    }

    mutating func reverseOrder() { sort(by: TreeOrder(tree.order.by, reversed: !tree.order.reversed)) }

    /// First as it usually is, then the other way round, then as the queue has it.
    mutating func sort(byTitle column: Columns.Column) {
        guard let key = column.order else { return }
        let now = tree.order
        if now.by != key { return sort(by: TreeOrder(key)) }
        sort(by: now.reversed ? TreeOrder() : TreeOrder(key, reversed: true))
    }

    mutating func sort(by order: TreeOrder) {
        list.steadyUntil = nil
        tree.sort(by: order)
        say("Sorted \(SafeText(order.words)).")
    }
}

extension TreeOrder {
    /// Behind "Sorted".
    var words: String {
        switch (by, reversed) {
        case (.queue, false): "as the queue works through it"
        case (.queue, true): "as the queue works through it, the last first"
        case (.name, false): "by name"
        case (.name, true): "by name, backwards"
        case (.size, false): "by size, the largest first"
        case (.size, true): "by size, the smallest first"
        case (.files, false): "by files, folders with the most first"
        case (.files, true): "by files, folders with the fewest first"
        case (.done, false): "by how far it is, the furthest first"
        case (.done, true): "by how far it is, the furthest last"
        case (.speed, false): "by speed, the fastest first"
        case (.speed, true): "by speed, the slowest first"
        case (.eta, false): "by time left, what is over soonest first"
        case (.eta, true): "by time left, what is over latest first"
        case (.state, false): "by state, what moves first"
        case (.state, true): "by state, what is over first"
        }
    }

    /// True when figures or letters grow from the top to the bottom.
    var grows: Bool {
        switch by {
        case .queue, .name, .eta, .state: !reversed
        case .size, .files, .done, .speed: reversed
        }
    }
}

extension TreeOrder.Key {
    /// The name of the sort key in the menu.
    var title: String {
        switch self {
        case .queue: "Order of the queue"
        case .name: "Name"
        case .size: "Size"
        case .files: "Number of files"
        case .done: "How far it is"
        case .speed: "Speed"
        case .eta: "Time left"
        case .state: "State"
        }
    }

    /// The letter that chooses it in the menu.
    var letter: Unicode.Scalar {
        switch self {
        case .queue: "o"
        case .name: "n"
        case .size: "s"
        case .files: "f"
        case .done: "d"
        case .speed: "p"
        case .eta: "e"
        case .state: "t"
        }
    }
}

extension Columns.Column {
    /// The sort key that a click on the column's title chooses; `nil`: none.
    var order: TreeOrder.Key? {
        switch self {
        case .sign, .destination, .started, .tries, .checksum, .priority, .limit, .session: nil
        case .name: .name
        case .files: .files
        case .size: .size
        case .bar, .percent: .done
        case .speed, .sparkline: .speed
        case .timeLeft: .eta
        case .state, .speedOrState: .state
        }
    }
}
