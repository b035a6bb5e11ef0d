/// The one rule for foreign text in a line of a log, a message or a listing, and for names in JSON: what a terminal obeys, what turns the
/// direction of what follows and what is not seen is written as the bytes that it is.
///
/// Letters, pictures and their joiners stay as they are, whatever width a terminal gives them: a screen cleans further by `SafeText`.
package enum HarmlessText {
    /// The bytes as text: hidden characters, and bytes that are no UTF-8, as `\xNN`. Not reversible.
    package static func of(_ bytes: [UInt8]) -> String {
        if bytes.allSatisfy({ (32..<127).contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        // In a name that is written from right to left its marks do no more than its letters; elsewhere nobody has use for them.
        let keepsMarks = String(decoding: bytes, as: UTF8.self).unicodeScalars.contains(where: isRightToLeft)
        let isHidden = { (scalar: Unicode.Scalar) in hides(scalar) && !(keepsMarks && isMark(scalar)) }
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isHidden) {
            return text
        }
        var shown = ""
        var rest = bytes[...]
        while let first = rest.first {
            let width = sequenceLength(first)
            if rest.count >= width, let piece = String(validating: rest.prefix(width), as: UTF8.self),
                let scalar = piece.unicodeScalars.first, !isHidden(scalar)
            {
                shown += piece
                rest = rest.dropFirst(width)
            } else {
                let digits = String(first, radix: 16)
                shown += "\\x" + (digits.count < 2 ? "0" : "") + digits
                rest = rest.dropFirst()
            }
        }
        return shown
    }

    /// Returns true for a character that is never shown as it is, unless it is a mark within text from right to left.
    package static func hides(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 32 }
        // Joiners and variation selectors make one letter or picture of two, and are part of honest names.
        if scalar.value == 0x200C || scalar.value == 0x200D || scalar.properties.isVariationSelector { return false }
        switch scalar.properties.generalCategory {
        // Separators of lines and paragraphs end a line on some terminals.
        case .control, .lineSeparator, .paragraphSeparator: return true
        // Marks, overrides and isolates that turn the direction, and what is not seen at all.
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// LEFT-TO-RIGHT MARK, RIGHT-TO-LEFT MARK, ARABIC LETTER MARK.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { [0x200E, 0x200F, 0x061C].contains(scalar.value) }

    /// A letter of a script that is written from right to left, by the blocks of Unicode that are kept for them.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C: false
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
        default: false
        }
    }

    private static func sequenceLength(_ first: UInt8) -> Int {
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}

extension String {
    /// The string, fit for a line of a log or a listing. See `HarmlessText`.
    package var harmless: String {
        utf8.allSatisfy { (32..<127).contains($0) } ? self : HarmlessText.of(Array(utf8))
    }
}
