import DisplayText
import MartletKit

/// `:glyphs` alone: each set as it looks here, so that a person can see which one this terminal draws straight.
extension Model {
    mutating func showGlyphs() {
        guard appearance.characterSet == .utf8 else { return complain("This terminal shows ASCII alone.") }
        var lines: [SafeText] = [
            "One line for each set of signs. The right one is the first whose last | stands under the others.", "",
        ]
        for set in GlyphSet.allCases {
            let states = RowState.allCases.map { Glyph($0.sign(set)) }
            let folds = [Glyph(set.open), Glyph(set.closed), Glyph(set.cutMark)]
            let bar = Bar.text(5, of: 8, isComplete: false, width: 12, set)
            let signs = SafeText(states + [.space] + folds + [.space]) + bar
            lines.append(
                SafeText("\(set)").fitted(to: 9) + "|" + signs + "|" + (set == appearance.glyphs ? "  now" : ""))
        }
        lines += ["", "Then type  :glyphs unicode  :glyphs narrow  or  :glyphs ascii; it is remembered."]
        go(to: ReportPage(title: "Signs", lines: lines))
    }
}
