extension KeyPress {
    /// The key's name in help, hints and `keys.conf`: `x`, `^D`, `F7`, `S-Up`, `M-Enter`, `Space`.
    package var name: String {
        var prefix = ""
        if modifiers.contains(.alt) { prefix += "M-" }
        if modifiers.contains(.shift) { prefix += "S-" }
        if case .character(let scalar) = key, modifiers.contains(.control), scalar != " " {
            return prefix + "^" + String(Character(scalar)).uppercased()
        }
        if modifiers.contains(.control) { prefix += "C-" }
        return prefix + key.name
    }

    /// Reads a name as `name` writes it; nil when it is none. Named keys are understood in any case, `Ctrl-` and
    /// `C-` letters like `^`.
    package init?(name: String) {
        var rest = Substring(name)
        var modifiers: Modifiers = []
        let prefixes: [(String, Modifiers)] = [("M-", .alt), ("S-", .shift), ("C-", .control), ("Ctrl-", .control)]
        while let (prefix, modifier) = prefixes.first(where: { rest.hasPrefix($0.0) && rest.count > $0.0.count }) {
            rest = rest.dropFirst(prefix.count)
            modifiers.insert(modifier)
        }
        if rest.hasPrefix("^") && rest.count == 2 {
            rest = rest.dropFirst()
            modifiers.insert(.control)
        }
        if rest.unicodeScalars.count == 1, let scalar = rest.unicodeScalars.first, scalar.value > 0x20,
            scalar != "\u{7F}"
        {
            let isControl = modifiers.contains(.control)
            self.init(
                .character(isControl ? scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar : scalar),
                modifiers)
        } else if let key = Key.named[rest.lowercased()] {
            self.init(key, modifiers)
        } else {
            return nil
        }
    }
}

extension Key {
    /// The key's name without modifiers.
    var name: String {
        switch self {
        case .character(" "): "Space"
        case .character(let scalar): String(Character(scalar))
        case .enter: "Enter"
        case .tab: "Tab"
        case .backspace: "Backspace"
        case .escape: "Esc"
        case .up: "Up"
        case .down: "Down"
        case .left: "Left"
        case .right: "Right"
        case .home: "Home"
        case .end: "End"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .insert: "Ins"
        case .delete: "Del"
        case .function(let number): "F\(number)"
        }
    }

    /// Keys that have a name, by it in lower case.
    static let named: [String: Key] = {
        let keys: [Key] =
            [
                .character(" "), .enter, .tab, .backspace, .escape, .up, .down, .left, .right, .home, .end, .pageUp,
                .pageDown, .insert, .delete,
            ] + (1...24).map { .function($0) }
        return Dictionary(uniqueKeysWithValues: keys.map { ($0.name.lowercased(), $0) })
    }()
}
