/// The side of a wider column on which text stands.
package enum Alignment: Sendable, Hashable {
    case left
    case right
}

extension SafeText {
    /// The text in at most `cells`, its middle replaced by `mark`, so that the ending (`.CR3`, a part number) stays.
    /// Never half of a wide character. Under four cells only the beginning is kept.
    package func shortened(to cells: Int, mark: Unicode.Scalar = "~") -> SafeText {
        guard width > cells else { return self }
        guard cells > 3 else { return beginning(of: cells) }
        let room = cells - 1
        let ending = ending(of: room / 2)
        var text = beginning(of: room - ending.width)
        text.append(Glyph(mark))
        return text + ending
    }

    /// As many glyphs from the left as fit into `cells`.
    package func beginning(of cells: Int) -> SafeText {
        guard width > cells else { return self }
        var taken = 0
        let count = glyphs.prefix { glyph in
            taken += Int(glyph.width)
            return taken <= cells
        }
        return SafeText(Array(count))
    }

    /// As many glyphs from the right as fit into `cells`.
    package func ending(of cells: Int) -> SafeText {
        guard width > cells else { return self }
        var taken = 0
        var first = glyphs.endIndex
        while first > 0, taken + Int(glyphs[first - 1].width) <= cells {
            first -= 1
            taken += Int(glyphs[first].width)
        }
        return SafeText(Array(glyphs[first...]))
    }

    /// The text in exactly `cells`: shortened when it is longer, with spaces beside it when it is shorter.
    package func fitted(to cells: Int, _ alignment: Alignment = .left, mark: Unicode.Scalar = "~") -> SafeText {
        let text = shortened(to: cells, mark: mark)
        let space = SafeText(Array(repeating: .space, count: max(0, cells - text.width)))
        return alignment == .left ? text + space : space + text
    }

    /// Appends one glyph.
    package mutating func append(_ glyph: Glyph) { self += SafeText([glyph]) }

    /// A text of glyphs that were cleaned before.
    package init(_ glyphs: [Glyph]) {
        self.init(glyphs: glyphs, width: glyphs.reduce(0) { $0 + Int($1.width) })
    }
}
