import DisplayText
import MartletKit
import Terminal

/// The order of rows: one step with a key, the rest by a menu.
extension Model {
    mutating func moveStep(_ place: MovePlace, _ rows: [NodeRow]) {
        guard let some = rows.first else { return }
        let unfinished = rows.filter { !$0.isOver }
        guard !unfinished.isEmpty else { return say("\(title([some])) is over: its place does not matter any more.") }
        send(.move(place), unfinished)
    }

    mutating func openOrder(_ rows: [NodeRow]) {
        guard let some = rows.first else { return }
        let unfinished = rows.filter { !$0.isOver }
        guard !unfinished.isEmpty else { return say("\(title([some])) is over: its place does not matter any more.") }
        let isBatch = unfinished.allSatisfy { if case .batch = $0.id { true } else { false } }
        let hasGroup = unfinished.contains { if case .group = $0.id { true } else { false } }
        func choice(_ letter: Unicode.Scalar, _ text: String, _ deed: NodeDeed) -> Dialog.Choice {
            Dialog.Choice(letter: letter, text: text, intent: .act(deed, unfinished))
        }
        var choices = [
            choice("f", isBatch ? "First of its priority" : "First in its batch", .move(.top)),
            choice("l", isBatch ? "Last of its priority" : "Last in its batch", .move(.bottom)),
        ]
        if let cursor = tree.cursorRow, !tree.marks.isEmpty, tree.marks[cursor.id] == nil {
            if case .group = cursor.id {
            } else {
                choices.append(choice("b", "Before \(title([cursor]).string)", .move(.before(nodeID(of: cursor)))))
            }
        }
        choices.append(choice("n", "Start now, whatever its turn and time", .runNow))
        if !hasGroup {
            let now = Set(unfinished.map(\.priority))
            let priorities = TransferPriority.allCases.reversed().filter { now != [$0] }
            for priority in priorities {
                let digit = Unicode.Scalar(UInt8(ascii: "1") + UInt8(priority.level))
                choices.append(choice(digit, "Priority \(priority.rawValue)", .set(NodeSettings(priority: priority))))
            }
        }
        let has = Set(unfinished.map(\.priority)).count == 1 ? "It has priority \(some.priority.rawValue)." : ""
        dialog = Dialog(
            menu: "Order of \(title(unfinished))", has.isEmpty ? [] : [SafeText(has)], choices,
            no: "Leave it as it is", at: now.uptime)
    }
}
