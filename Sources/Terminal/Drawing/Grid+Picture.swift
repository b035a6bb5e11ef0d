import DisplayText

extension Grid {
    /// A row as text, without what is empty at its end.
    package func text(row: Int) -> String {
        var line = ""
        for cell in self.row(row) { cell.glyph.write(to: &line) }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// The screen as text, one line a row, framed so that trailing spaces count. For tests and reviews.
    package var picture: String {
        let edge = "+" + String(repeating: "-", count: size.columns) + "+"
        var lines = [edge]
        for row in 0..<size.rows {
            var line = "|"
            for cell in self.row(row) { cell.glyph.write(to: &line) }
            lines.append(line + "|")
        }
        return (lines + [edge]).joined(separator: "\n")
    }

    /// The meaning of the cells, one letter each: the role's, in upper case when strong; the selected row has its
    /// letters too and a `<` behind it. A plain cell is a space.
    package var rolePicture: String {
        (0..<size.rows).map { row in
            let letters = self.row(row).map { cell -> Character in
                let letter = cell.style.role.letter
                guard cell.style.isStrong else { return letter }
                return letter == " " ? "*" : Character(letter.uppercased())
            }
            return "|" + String(letters) + (self.row(row).contains { $0.style.isSelected } ? "<" : "|")
        }.joined(separator: "\n")
    }
}

extension Role {
    /// The role in `Grid.rolePicture`.
    var letter: Character {
        switch self {
        case .plain: " "
        case .ok: "o"
        case .active: "a"
        case .info: "i"
        case .warn: "w"
        case .error: "e"
        case .attention: "q"
        case .dim: "d"
        case .header: "h"
        case .hint: "k"
        case .title: "t"
        }
    }
}
