import DisplayText
import Terminal

/// The page of help, made from the keys as they are and from the table of states: it cannot say what is not so.
enum HelpPage {
    /// Two columns where both can be read.
    static func lines(_ keys: KeyMap, _ look: Look, machine: SafeText? = nil, width: Int) -> [StyledLine] {
        let parts = Action.Part.allCases.map { part($0, keys) }.filter { !$0.isEmpty }
        let column = (width - 4) / 2
        var lines: [StyledLine] = []
        if column >= 38 {
            // The left one is the longer: what is read first stands there.
            let all = parts.reduce(0) { $0 + $1.count }
            var (left, right): ([StyledLine], [StyledLine]) = ([], [])
            for part in parts {
                if right.isEmpty, left.count + part.count / 2 <= all / 2 { left += part } else { right += part }
            }
            lines = sideBySide(left, right, column)
            let signs = signs(keys, look)
            let half = (signs.count + 1) / 2
            lines += [StyledLine("Signs", .marked)] + sideBySide(Array(signs[..<half]), Array(signs[half...]), column)
        } else {
            lines = parts.flatMap { $0 } + [StyledLine("Signs", .marked)] + signs(keys, look)
        }
        lines.append(StyledLine())
        let end: SafeText =
            machine.map {
                "Leaving stops nothing: transfers belong to the engine of \($0), and a line that is cut stops none. Files are queued there, with martlet upload."
            }
            ?? "Leaving stops nothing: transfers belong to the engine. Start martlet again to see them. Paste paths into the window to queue them."
        return lines + end.wrapped(to: max(20, min(78, width - 2))).map { StyledLine($0) }
    }

    /// A heading, the keys, an empty line; nothing when no key does any of it.
    private static func part(_ part: Action.Part, _ keys: KeyMap) -> [StyledLine] {
        let view: KeyMap.View = part.view
        let actions = keys.actions(in: view).filter { $0.part == part }
        if actions.isEmpty { return [] }
        let lines = actions.map { action in
            let names = keys.keys(for: action, in: view).map(\.name).joined(separator: " ")
            return StyledLine("  " + SafeText(names).fitted(to: 11) + " ") + StyledLine(SafeText(action.summary))
        }
        return [StyledLine(SafeText(part.rawValue), .marked)] + lines + [StyledLine()]
    }

    private static func signs(_ keys: KeyMap, _ look: Look) -> [StyledLine] {
        var lines = RowState.allCases.map { state in
            var line = StyledLine("  ")
            line.append(SafeText([Glyph(state.sign(look.glyphs))]), state.style)
            line.append(" ")
            line.append(SafeText(state.word).fitted(to: 6), state.style)
            line.append(state.meaning { keys.name(of: $0) })
            return line
        }
        var line = StyledLine("  ")
        line.append("!", .error)
        line.append("       something below needs a look")
        lines.append(line)
        return lines
    }

    private static func sideBySide(_ left: [StyledLine], _ right: [StyledLine], _ column: Int) -> [StyledLine] {
        (0..<max(left.count, right.count)).map { index in
            let first = left.indices.contains(index) ? left[index] : StyledLine()
            let second = right.indices.contains(index) ? right[index] : StyledLine()
            let gap = max(2, column + 2 - first.width)
            return first + StyledLine(SafeText(Array(repeating: .space, count: gap))) + second
        }
    }
}

extension Model {
    mutating func scrollHelp(_ action: Action, from scroll: Int) {
        let height = max(1, size.rows - 2)
        let most = max(0, HelpPage.lines(keys, look, machine: machine, width: size.columns).count - height)
        var scroll = scroll
        switch action {
        case .down: scroll += 1
        case .up: scroll -= 1
        case .halfPageDown: scroll += height / 2
        case .halfPageUp: scroll -= height / 2
        case .pageDown: scroll += height - 1
        case .pageUp: scroll -= height - 1
        case .first: scroll = 0
        case .last: scroll = most
        case .back:
            page = .transfers
            return
        default: break
        }
        page = .help(scroll: min(max(0, scroll), most))
    }
}

extension Action.Part {
    /// Where its keys are valid.
    fileprivate var view: KeyMap.View {
        switch self {
        case .lost: .lost
        case .pick: .picker
        case .servers: .destinations
        case .move, .mark, .act, .see, .leave: .transfers
        }
    }
}
