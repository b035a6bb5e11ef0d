import DisplayText

extension SafeText {
    /// Lines of at most `cells`, cut at spaces where there are some. At least one.
    func wrapped(to cells: Int) -> [SafeText] {
        let cells = max(2, cells)
        var lines: [SafeText] = []
        var rest = glyphs[...]
        while true {
            var end = rest.startIndex
            var width = 0
            while end < rest.endIndex, width + Int(rest[end].width) <= cells {
                width += Int(rest[end].width)
                end += 1
            }
            if end == rest.endIndex || end == rest.startIndex {
                lines.append(SafeText(Array(rest)))
                return lines
            }
            if let space = rest[...end].lastIndex(of: .space), space > rest.startIndex {
                lines.append(SafeText(Array(rest[..<space])))
                rest = rest[(space + 1)...]
            } else {
                lines.append(SafeText(Array(rest[..<end])))
                rest = rest[end...]
            }
        }
    }
}

extension SafeText {
    /// A sentence that has no room loses its end, as a name loses its middle; the mark says so.
    func cut(to cells: Int, _ glyphs: GlyphSet) -> SafeText {
        guard width > cells else { return self }
        guard cells > 3 else { return beginning(of: cells) }
        return beginning(of: cells - 1) + SafeText([Glyph(glyphs.cutMark)])
    }

    /// At most so many lines; the last one says when there would be more.
    func wrapped(to cells: Int, lines most: Int, _ glyphs: GlyphSet) -> [SafeText] {
        let lines = wrapped(to: cells)
        guard lines.count > most, most > 0 else { return Array(lines.prefix(max(0, most))) }
        let last = lines[most - 1].beginning(of: cells - 2) + SafeText([.space, Glyph(glyphs.cutMark)])
        return Array(lines[..<(most - 1)]) + [last]
    }

    /// Lines whose continuation stands under the text behind a label of that width.
    func wrapped(to cells: Int, hanging indent: Int) -> [SafeText] {
        guard width > cells, indent > 0, cells - indent >= 12 else { return wrapped(to: cells) }
        let label = beginning(of: indent)
        let rest = SafeText(Array(glyphs.dropFirst(label.glyphs.count))).wrapped(to: cells - indent)
        return rest.enumerated().map { index, line in (index == 0 ? label : SafeText("").fitted(to: indent)) + line }
    }
}
