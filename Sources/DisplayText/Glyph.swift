/// The content of one place on the screen: a character with at most two combining marks, one or two cells wide.
///
/// Only the sanitiser of this module makes glyphs out of foreign text, so whatever a `Glyph` holds is harmless:
/// no control, no format character, nothing whose width a terminal might see differently.
package struct Glyph: Hashable, Sendable {
    /// The character's code point, 0 in `continuation`.
    package let base: UInt32
    /// A combining mark on the base, 0 when there is none.
    package private(set) var mark: UInt32 = 0
    /// A second mark, 0 when there is none. ncurses keeps four; two are enough for every living script.
    package private(set) var secondMark: UInt32 = 0
    /// Cells: 1 or 2, and 0 in `continuation`.
    package let width: UInt8
    /// True when this stands for something else (`\xFF`, `\u{202E}`, an odd space), so that a screen can draw it in
    /// another style than the same characters in a name.
    package let isSubstitute: Bool

    init(base: UInt32, width: UInt8, isSubstitute: Bool = false) {
        self.base = base
        self.width = width
        self.isSubstitute = isSubstitute
    }

    /// The empty cell.
    package static let space = Glyph(base: 0x20, width: 1)

    /// The second cell of a wide glyph.
    package static let continuation = Glyph(base: 0, width: 0)

    /// A glyph of the program's own drawing, such as a bar or a state sign. A code point that may not be shown
    /// becomes `?`.
    package init(_ scalar: Unicode.Scalar) {
        switch CodePointClass(of: scalar.value) {
        case .narrow: self.init(base: scalar.value, width: 1)
        case .wide: self.init(base: scalar.value, width: 2)
        case .escaped, .mark, .dropped, .oddSpace: self.init(base: 0x3F, width: 1, isSubstitute: true)
        }
    }

    /// Puts a mark on the glyph, or drops it when there are two already.
    mutating func add(mark newMark: UInt32) {
        if mark == 0 { mark = newMark } else if secondMark == 0 { secondMark = newMark }
    }

    /// Appends the characters to a string.
    package func write(to string: inout String) {
        // The sanitiser only stores valid scalars; the optional is the library's, and 0 means there is none.
        for value in [base, mark, secondMark] where value != 0 {
            if let scalar = Unicode.Scalar(value) { string.unicodeScalars.append(scalar) }
        }
    }
}
