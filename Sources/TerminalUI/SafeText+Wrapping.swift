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
