import DisplayText
import MartletKit
import Terminal

/// The words in the place of the list when it is empty: how to begin, or that there is no engine.
extension Drawing {
    mutating func welcome() {
        let lines = model.isConnected ? welcomeLines : engineLines
        let widest = lines.map(\.width).max() ?? 0
        let column = max(0, min(14, (width - widest) / 2))
        let free = layout.tree.count - lines.count
        let start = layout.tree.lowerBound + max(0, free / 3)
        for (row, line) in zip(start..<max(start, layout.tree.upperBound), lines) {
            grid.put(line, row: row, column: column)
        }
        cursor = Cursor(row: min(start, rows - 1), column: min(column, width - 1))
    }

    private func key(_ action: Action, in view: KeyMap.View = .transfers) -> SafeText {
        SafeText(model.keys.keys(for: action, in: view).first?.name ?? "-").fitted(to: 5)
    }

    private var welcomeLines: [SafeText] {
        guard model.tree.isKnown else { return [] }
        if let machine = model.machine {
            return [
                "Nothing is being transferred on \(machine).", "", key(.help) + "all keys", key(.leave) + "leave", "",
                "From a shell there:  martlet upload FILE... URL", "",
                "You can leave at any time: transfers go on.",
            ]
        }
        return ["Nothing is being transferred."] + finished + [
            "", key(.add) + "add files or folders",
            key(.help) + "all keys", key(.leave) + "leave", key(.download) + "download URLs",
            key(.destinations) + "set up a server: it has a name from then on", key(.history) + "what is finished",
            key(.command) + "type a command", "",
            "From a shell:  martlet upload FILE... URL", "Or paste paths here.", "",
            "You can leave at any time: transfers go on,", "and martlet shows them when you come back.",
        ]
    }

    private var finished: [SafeText] {
        guard case .known(let today, _)? = model.finishedToday, let line = today.line(appearance.figures) else {
            return []
        }
        return [line]
    }

    private var engineLines: [SafeText] {
        switch model.connection.state {
        case .failed(let error):
            return ["There is no engine to show anything of.", ""]
                + appearance.safe(error.message).wrapped(to: max(10, width - 4)) + [
                    "", key(.retryNow, in: .lost) + "try again", key(.startEngine, in: .lost) + "start an engine",
                    key(.leave) + "leave",
                ]
        default: return ["Waiting for the engine..."]
        }
    }
}
