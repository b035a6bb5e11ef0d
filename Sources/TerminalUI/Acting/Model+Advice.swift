import DisplayText
import MartletKit
import Terminal

/// Advice by the keys of this screen: the engine and the queue name commands of the shell, which stay only where no key
/// and no line behind `:` does the same.
extension Model {
    /// The words of the engine or the queue, with the keys of this page in the place of commands.
    /// - Parameter node: the row that is meant when nothing else is named.
    func advised(_ advice: Advice, about node: NodeID? = nil) -> SafeText {
        appearance.safe((advice.isIdle ? "nothing to do; " : "") + advice.written { keyed($0, about: node) })
    }

    func advised(_ error: RequestError) -> SafeText { advised(error.advice ?? Advice(error.message)) }

    /// The same as a sentence of its own: a key is pressed, a line is typed, a command is entered elsewhere.
    func cure(_ advice: Advice, about node: NodeID? = nil) -> SafeText {
        let words = advised(advice, about: node)
        if let command = advice.loneCommand {
            guard let keyed = keyed(command, about: node) else { return "In a shell:  \(words)" }
            if !keyed.hasPrefix(Self.elsewhere) { return "\(keyed.hasPrefix(":") ? "Type" : "Press")  \(words)" }
            return appearance.safe(keyed.prefix(1).uppercased() + keyed.dropFirst())
        }
        guard advice.beginsWithWords, let letter = words.string.first else { return words }
        return appearance.safe(letter.uppercased()) + SafeText(Array(words.glyphs.dropFirst()))
    }

    /// The key or line that does a command on this screen; `nil`: none does.
    private func keyed(_ command: AdvisedCommand, about node: NodeID?) -> String? {
        switch command.verb {
        case "retry": onRow(.retry, command, node)
        case "cancel": onRow(.cancel, command, node)
        case "why": onRow(.why, command, node)
        case "verify" where command.arguments.isEmpty: onRow(.verify, command, node)
        case "show" where command.arguments.isEmpty: onRow(.details, command, node)
        case "undo" where command.arguments.isEmpty: press(.undo)
        case "resume": resumed(command, node)
        case "run-now": inOrderMenu("n", "run-now", command, node)
        case "move" where command.arguments == ["--top"]: inOrderMenu("f", "move", command, node)
        case "set": set(command, node)
        case "limit" where !command.arguments.isEmpty: line("limit", Self.limit(command.arguments))
        // A name with a blank would be two words there.
        case "session set"
        where command.arguments.dropFirst() == ["--limit", "off"]
            && !command.arguments[0].contains(where: \.isWhitespace):
            line("limit", ["session", command.arguments[0], "off"])
        case "engine start": line(Action.startEngine.rawValue, [])
        case let verb: KeyMap.View.pages.first { $0.command == verb }.flatMap { $0.opener.map(press) }
        }
    }

    private func onRow(_ action: Action, _ command: AdvisedCommand, _ node: NodeID?) -> String? {
        if isThis(command, node) { return press(action) }
        guard ScreenCommand(rawValue: action.rawValue) != nil, let names = Self.names(command) else { return nil }
        return line(action.rawValue, names)
    }

    /// The key or line that resumes: on the row, or on the batch or folder that holds it up.
    private func resumed(_ command: AdvisedCommand, _ node: NodeID?) -> String? {
        if command.arguments == ["--state", "paused"], command.nodes.count == 1 {
            return line("resume", ["@pause", "batch=\(command.nodes[0])"])
        }
        if isThis(command, node) { return press(.pause) }
        let places = command.nodes.map { other -> String in
            switch other {
            case node: "it"
            case .batch where node != nil: "its batch"
            case .batch(let id): "\(id)"
            case .task(let id): "\(id)"
            case .folder(_, let path): "the folder \(path.displayed)"
            }
        }
        guard !places.isEmpty else { return nil }
        return press(.pause) + " on " + places.joined(separator: " and on ")
    }

    private func inOrderMenu(
        _ letter: String, _ verb: String, _ command: AdvisedCommand, _ node: NodeID?
    ) -> String? {
        isThis(command, node) ? press(.order) + " then \(letter)" : nil
    }

    private func set(_ command: AdvisedCommand, _ node: NodeID?) -> String? {
        let words = command.arguments
        guard words.count == 2, let value = words.last,
            ["--limit", "--priority", "--if-exists"].contains(words[0]),
            let names = isThis(command, node) ? [] : Self.names(command)
        else { return nil }
        return line("set", names + [String(words[0].dropFirst(2)), value])
    }

    /// `off --host nas` of the shell is `host nas off` here.
    private static func limit(_ arguments: [String]) -> [String] {
        let words = arguments.filter { $0 != "off" }.map { $0.hasPrefix("--") ? String($0.dropFirst(2)) : $0 }
        return words + (arguments.contains("off") ? ["off"] : [])
    }

    /// It is done to the row that is read about.
    private func isThis(_ command: AdvisedCommand, _ node: NodeID?) -> Bool {
        guard let node else { return command.nodes.isEmpty || keyView == .problems }
        return command.nodes.isEmpty ? command.arguments == ["ID"] : command.nodes == [node]
    }

    /// As they can be typed behind `:`; `nil`: one of them has a blank.
    private static func names(_ command: AdvisedCommand) -> [String]? {
        let names = command.nodes.map(\.description)
        return names.isEmpty || names.contains { $0.contains(where: \.isWhitespace) } ? nil : names
    }

    /// The key of an action; where it has none on this page, that of the list.
    private func press(_ action: Action) -> String {
        if let key = keys.keys(for: action, in: keyView).first { return key.name }
        guard keyView != .transfers else { return ":\(action.rawValue)" }
        return Self.elsewhere + (keys.keys(for: action, in: .transfers).first?.name ?? ":\(action.rawValue)")
    }

    /// Before what other pages have no key for.
    private static let elsewhere = "in the list, "

    private func line(_ verb: String, _ words: [String]) -> String {
        (keyView == .transfers ? "" : Self.elsewhere) + ":" + ([verb] + words).joined(separator: " ")
    }
}
