package import DisplayText

/// One cell of the screen: what it shows and what that means.
package struct Cell: Hashable, Sendable {
    package var glyph: Glyph
    package var style: Style

    package init(_ glyph: Glyph, _ style: Style = .plain) {
        self.glyph = glyph
        self.style = style
    }

    package static let empty = Cell(.space)
}

/// Text in several styles, built from left to right before it is put somewhere.
package struct StyledLine: Hashable, Sendable {
    /// A piece of the line in one style.
    package struct Piece: Hashable, Sendable {
        package var text: SafeText
        package var style: Style
    }

    package private(set) var pieces: [Piece] = []

    package init() {}

    package init(_ text: SafeText, _ style: Style = .plain) { append(text, style) }

    /// Cells.
    package var width: Int { pieces.reduce(0) { $0 + $1.text.width } }

    package mutating func append(_ text: SafeText, _ style: Style = .plain) {
        guard text.width > 0 else { return }
        if let last = pieces.last, last.style == style {
            pieces[pieces.count - 1].text += text
        } else {
            pieces.append(Piece(text: text, style: style))
        }
    }

    package static func + (first: StyledLine, second: StyledLine) -> StyledLine {
        var line = first
        for piece in second.pieces { line.append(piece.text, piece.style) }
        return line
    }
}
