package import Configuration
package import DisplayText
import MartletKit

/// The characters that stand for states, folds and bars.
package enum GlyphSet: Sendable, Hashable, CaseIterable {
    /// Blocks and arrows that some East Asian terminals draw two cells wide.
    case unicode
    /// Signs that are one cell wide everywhere.
    case narrow
    case ascii

    /// The set that the settings, the locale's encoding and its language ask for.
    ///
    /// - Parameter language: LC_ALL, LC_CTYPE or LANG, the first that is set.
    package init(_ setting: ScreenConfiguration.Glyphs, characterSet: CharacterSet, language: String) {
        guard characterSet == .utf8 else {
            self = .ascii
            return
        }
        switch setting {
        case .unicode: self = .unicode
        case .narrow: self = .narrow
        case .ascii: self = .ascii
        case .auto: self = ["ja", "ko", "zh"].contains { language.hasPrefix($0) } ? .narrow : .unicode
        }
    }

    /// The sign for text that lost its middle.
    package var cutMark: Unicode.Scalar { self == .unicode ? "…" : "~" }

    /// An open and a closed node.
    package var open: Unicode.Scalar { self == .ascii ? "v" : "▾" }
    package var closed: Unicode.Scalar { self == .ascii ? ">" : "▸" }

    /// Blocks of one eighth up to a whole cell, for pictures of speeds; only in the set of blocks.
    static let eighths: [Glyph] = "▁▂▃▄▅▆▇█".unicodeScalars.map { Glyph($0) }

    /// Beside the title by which rows are sorted: whether it grows from the top to the bottom.
    func sorted(_ order: TreeOrder) -> Unicode.Scalar {
        if self == .ascii { return order.grows ? "^" : "v" }
        return order.grows ? "▴" : "▾"
    }
}

/// A bar of progress.
package enum Bar {
    /// `width` cells, filled from the left and rounded down: full only when complete, empty only when nothing or less
    /// than the smallest step is done.
    package static func text(
        _ part: Int64, of whole: Int64, isComplete: Bool, width: Int, _ set: GlyphSet
    ) -> SafeText {
        guard width > 0 else { return SafeText([]) }
        let steps = set == .unicode ? shades.count + 1 : 1
        let filled = isComplete ? width * steps : share(part, of: whole, steps: width * steps)
        var glyphs = Array(repeating: full(set), count: filled / steps)
        if filled % steps > 0 { glyphs.append(shades[filled % steps - 1]) }
        glyphs += Array(repeating: empty(set), count: width - glyphs.count)
        return SafeText(glyphs)
    }

    static func text(_ share: Share, width: Int, _ set: GlyphSet) -> SafeText {
        text(share.part, of: share.whole, isComplete: share.isComplete, width: width, set)
    }

    /// A bar of the bytes that are there of a file in parts, from its beginning at the left: a cell is full when all of
    /// its bytes are.
    static func text(_ parts: [PartRun], width: Int, _ set: GlyphSet) -> SafeText {
        // An engine elsewhere may tell any numbers.
        let total = ByteSum.of(parts.lazy.map { max(0, $0.bytesTotal) })
        guard width > 0, total > 0 else { return SafeText([]) }
        // Places in the file, counted in cells.
        func place(_ bytes: Int64) -> Double { Double(min(bytes, total)) / Double(total) * Double(width) }
        var covered = Array(repeating: 0.0, count: width)
        var start: Int64 = 0
        for part in parts {
            let (lower, upper) = (place(start), place(ByteSum.of([start, max(0, part.bytesSent)])))
            for cell in Int(lower)..<max(Int(lower), min(width, Int(upper.rounded(.up)))) {
                covered[cell] += min(upper, Double(cell + 1)) - max(lower, Double(cell))
            }
            ByteSum.add(max(0, part.bytesTotal), to: &start)
        }
        return SafeText(covered.map { $0 > 1 - 1e-6 ? full(set) : empty(set) })
    }

    /// `steps` times the share, rounded down and always less than `steps`.
    private static func share(_ part: Int64, of whole: Int64, steps: Int) -> Int {
        guard whole > 0, part > 0 else { return 0 }
        guard part < whole else { return steps - 1 }
        let product = part.multipliedFullWidth(by: Int64(steps))
        return min(steps - 1, Int(whole.dividingFullWidth(product).quotient))
    }

    private static func full(_ set: GlyphSet) -> Glyph {
        switch set {
        case .unicode: Glyph("█")
        case .narrow: Glyph("▮")
        case .ascii: Glyph("#")
        }
    }

    private static func empty(_ set: GlyphSet) -> Glyph {
        switch set {
        case .unicode: Glyph("░")
        case .narrow: Glyph("▯")
        case .ascii: Glyph(".")
        }
    }

    /// Between empty and full. Eighths of a block would leave a gap before the shade of the empty part.
    private static let shades: [Glyph] = "▒▓".unicodeScalars.map { Glyph($0) }
}
