import DisplayText
import Terminal

/// The page of help, made from the keys as they are and from the table of states: it cannot say what is not so.
enum HelpPage {
    static func lines(_ keys: KeyMap, _ look: Look, width: Int) -> [StyledLine] {
        var lines: [StyledLine] = []
        for part in Action.Part.allCases {
            let actions = keys.actions(in: part == .lost ? .lost : .transfers).filter { $0.part == part }
            if actions.isEmpty { continue }
            lines.append(StyledLine(SafeText(part.rawValue), .marked))
            let view: KeyMap.View = part == .lost ? .lost : .transfers
            lines += actions.map { action in
                let names = keys.keys(for: action, in: view).map(\.name).joined(separator: " ")
                return StyledLine("  " + SafeText(names).fitted(to: 16)) + StyledLine(SafeText(action.summary))
            }
            lines.append(StyledLine())
        }
        lines.append(StyledLine("Signs", .marked))
        lines += RowState.allCases.map { state in
            var line = StyledLine("  ")
            line.append(SafeText([Glyph(state.sign(look.glyphs))]), state.style)
            line.append(" ")
            line.append(SafeText(state.word).fitted(to: 14), state.style)
            line.append(SafeText(state.meaning))
            return line
        }
        var line = StyledLine("  ")
        line.append("!", .error)
        line.append("               something below failed or needs you")
        lines.append(line)
        lines.append(StyledLine())
        lines += [
            "Leaving stops nothing: transfers belong to the engine. Start martlet again to",
            "see them. Paste paths into the window to queue them.",
        ].map { StyledLine($0) }
        return lines
    }
}

extension Model {
    mutating func scrollHelp(_ action: Action, from scroll: Int) {
        let height = max(1, size.rows - 2)
        let most = max(0, HelpPage.lines(keys, look, width: size.columns).count - height)
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
