/// The user's wish for colours: `--color=auto|always|never`.
package enum ColorMode: String, Sendable, CaseIterable {
    case auto
    case always
    case never
}

/// A 256-colour palette: one for every background, or a stronger one for a known background.
package enum Theme: String, Sendable, CaseIterable {
    /// Readable on black and on white, at least 4.3:1.
    case any
    case dark
    case light

    /// The theme that `COLORFGBG` ("15;0") names, set by some terminals; `any` when it names none. The terminal is
    /// never asked: its late answer would end up in the shell.
    package init(colorFgBg: String?) {
        switch colorFgBg?.split(separator: ";").last.flatMap({ Int($0) }) {
        case .some(0...6), 8: self = .dark
        case 7, 15: self = .light
        default: self = .any
        }
    }
}

/// The number of colours that can be used.
package enum ColorDepth: Sendable, Hashable {
    case none
    case eight
    case many

    /// - Parameters:
    ///   - available: the terminal's number of colours, 0 or less when it has none.
    ///   - noColor: the variable NO_COLOR; it counts when it is present and not empty.
    package init(_ mode: ColorMode, available: Int, noColor: String?, term: String?) {
        let refused = noColor?.isEmpty == false || term == "dumb"
        switch mode {
        case .never: self = .none
        case .auto where refused: self = .none
        case .auto, .always: self = available >= 256 ? .many : available >= 8 ? .eight : .none
        }
    }
}

/// The look of a style: attributes and a foreground colour. The background is always the terminal's own.
package struct Rendition: Hashable, Sendable {
    package struct Attributes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let bold = Attributes(rawValue: 1)
        package static let dim = Attributes(rawValue: 2)
        package static let reverse = Attributes(rawValue: 4)
        package static let underline = Attributes(rawValue: 8)
    }

    package var attributes: Attributes = []
    /// The number of an ANSI or 256-palette colour, nil for the terminal's own foreground.
    package var color: Int?
}

/// From what a cell means to how it looks. Every state is readable without any colour.
package struct Palette: Hashable, Sendable {
    package let depth: ColorDepth
    package let theme: Theme
    /// The person's own colours, 0 to 255, or -1 for the terminal's text.
    package let own: [Role: Int]

    package init(depth: ColorDepth, theme: Theme = .any, own: [Role: Int] = [:]) {
        self.depth = depth
        self.theme = theme
        self.own = own
    }

    package func rendition(of style: Style) -> Rendition {
        var rendition = Rendition(attributes: attributes(of: style.role), color: color(of: style.role))
        if style.isStrong { rendition.attributes.insert(.bold) }
        if style.isSelected {
            // A coloured bar in the middle of the reversed row would say less, not more.
            rendition.attributes.formUnion(.reverse)
            rendition.attributes.subtract(.dim)
            rendition.color = nil
        }
        return rendition
    }

    /// All colours that may be asked for; each becomes one colour pair.
    package var colors: [Int] { Role.allCases.compactMap { color(of: $0) } }

    private func attributes(of role: Role) -> Rendition.Attributes {
        switch role {
        case .plain, .ok, .info: []
        case .active, .error: .bold
        case .warn: depth == .none ? .underline : []
        case .attention: depth == .many ? .bold : .reverse
        case .dim: depth == .eight ? .dim : []
        case .header, .hint: .reverse
        case .title: .underline
        }
    }

    private func color(of role: Role) -> Int? {
        // Of eight colours nobody can have the ninth.
        if depth != .none, let own = own[role], depth == .many || own < 8 { return own < 0 ? nil : own }
        return switch depth {
        case .none: nil
        case .eight: [.ok: 2, .info: 6, .warn: 5, .error: 1][role]
        case .many: manyColors[role]
        }
    }

    private var manyColors: [Role: Int] {
        switch theme {
        case .any: [.ok: 29, .info: 30, .warn: 130, .error: 131, .attention: 63, .dim: 243]
        case .dark: [.ok: 35, .info: 37, .warn: 172, .error: 203, .attention: 105, .dim: 246]
        case .light: [.ok: 22, .info: 24, .warn: 94, .error: 124, .attention: 55, .dim: 240]
        }
    }
}
