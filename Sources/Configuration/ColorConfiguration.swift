/// Colours of the screen by what they stand for: the keys of `martlet.conf` under `[colors]`.
package struct ColorConfiguration: SettingsSection {
    package var ok = ScreenColor.theme
    package var active = ScreenColor.theme
    package var info = ScreenColor.theme
    package var warn = ScreenColor.theme
    package var error = ScreenColor.theme
    package var attention = ScreenColor.theme
    package var dim = ScreenColor.theme

    package init() {}

    package static let settings: [Setting<ColorConfiguration>] = [
        Setting("ok", ScreenColor.syntax, \.ok, "done"),
        Setting("active", ScreenColor.syntax, \.active, "running"),
        Setting("info", ScreenColor.syntax, \.info, "looked at: scanning, hashing, checking"),
        Setting("warn", ScreenColor.syntax, \.warn, "goes on by itself: stalled, waiting for a retry"),
        Setting("error", ScreenColor.syntax, \.error, "gave up"),
        Setting("attention", ScreenColor.syntax, \.attention, "needs you: a sign-in, a question"),
        Setting("dim", ScreenColor.syntax, \.dim, "less important than its neighbours"),
    ]

    /// The colours of which no two may look the same.
    private static let apart: [(key: String, color: @Sendable (ColorConfiguration) -> ScreenColor)] = [
        ("ok", { $0.ok }), ("warn", { $0.warn }), ("error", { $0.error }), ("attention", { $0.attention }),
    ]

    /// Pairs that were given the same colour, at the later one's line.
    /// - Parameter lines: by key, where it stands.
    func clashes(_ lines: [String: Int]) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for (index, one) in Self.apart.enumerated() {
            for other in Self.apart[(index + 1)...] {
                guard let color = one.color(self).index, color == other.color(self).index,
                    let first = lines[one.key], let second = lines[other.key]
                else { continue }
                problems.append(
                    ConfigurationProblem(
                        line: max(first, second),
                        "\(one.key) and \(other.key) have the same colour: give one of them another"))
            }
        }
        return problems
    }
}

/// A colour of a terminal.
package enum ScreenColor: Hashable, Sendable, WrittenValue {
    /// The one of the theme.
    case theme
    /// The terminal's own text.
    case plain
    /// One of the terminal's, 0 to 255.
    case number(Int)
    case rgb(Int, Int, Int)

    private static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    package var written: String {
        switch self {
        case .theme: "theme"
        case .plain: "default"
        case .number(let number): Self.names.indices.contains(number) ? Self.names[number] : String(number)
        case .rgb(let red, let green, let blue):
            "#"
                + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    /// The colour's number on a terminal of 256 colours: -1 is its own text; `nil`: as the theme says.
    package var index: Int? {
        switch self {
        case .theme: nil
        case .plain: -1
        case .number(let number): number
        case .rgb(let red, let green, let blue): Self.nearest(red, green, blue)
        }
    }

    /// The nearest colour of the 6 x 6 x 6 cube and the 24 greys, which every such terminal has.
    private static func nearest(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        let levels = [0, 95, 135, 175, 215, 255]
        func level(_ value: Int) -> Int {
            levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
        }
        func distance(_ other: (Int, Int, Int)) -> Int {
            let (r, g, b) = (red - other.0, green - other.1, blue - other.2)
            return r * r + g * g + b * b
        }
        let (r, g, b) = (level(red), level(green), level(blue))
        let step = min(23, max(0, ((red + green + blue) / 3 - 8 + 5) / 10))
        let grey = 8 + 10 * step
        return distance((grey, grey, grey)) < distance((levels[r], levels[g], levels[b]))
            ? 232 + step : 16 + 36 * r + 6 * g + b
    }

    static var syntax: ValueSyntax<ScreenColor> {
        ValueSyntax(
            "COLOUR",
            allowed: "theme, default, \(names.joined(separator: ", ")), a number from 0 to 255, or #rrggbb"
        ) { text in
            if text == "theme" { return .theme }
            if text == "default" { return .plain }
            if let number = names.firstIndex(of: text) ?? Int(text), 0...255 ~= number { return .number(number) }
            let digits = text.dropFirst()
            guard text.first == "#", digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit),
                let value = Int(digits, radix: 16)
            else { return nil }
            return .rgb(value >> 16, value >> 8 & 255, value & 255)
        }
    }
}
