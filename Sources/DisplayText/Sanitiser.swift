/// The characters that the other side can show.
package enum CharacterSet: Sendable, Hashable {
    /// UTF-8, everything that is printable.
    case utf8
    /// A terminal or a log that only knows ASCII: every other character is written as `\u{XXXX}`.
    case ascii
}

/// Turns bytes from outside into glyphs, one code point after the other.
///
/// - Bytes that are not UTF-8 become `\xNN`; controls, format characters (bidirectional, zero width, tags), line
///   separators, private use and unassigned code points become `\u{XXXX}`.
/// - A joined emoji becomes its first picture, skin tones and the variation selectors 15 and 16 disappear: terminals
///   give such sequences two to six cells.
/// - A mark with nothing to stand on gets a dotted circle; a third mark on one character is dropped.
struct Sanitiser {
    private(set) var glyphs: [Glyph] = []
    private(set) var width = 0
    private let characterSet: CharacterSet
    /// The last glyph is a picture, and nothing escaped came after it.
    private var lastIsPicture = false
    /// A joiner came after a picture; what follows decides whether it is part of a sequence.
    private var holdsJoiner = false

    private static let joiner: UInt32 = 0x200D
    private static let dottedCircle: UInt32 = 0x25CC
    private static let openBox: UInt32 = 0x2423

    init(_ characterSet: CharacterSet, capacity: Int) {
        self.characterSet = characterSet
        glyphs.reserveCapacity(capacity)
    }

    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte &- 0x20 < 0x5F {
                take(codePoint: UInt32(byte))
                index += 1
            } else if let (codePoint, length) = decodeUTF8(bytes, at: index) {
                take(codePoint: codePoint)
                index += length
            } else {
                escape(byte: byte)
                index += 1
            }
        }
        releaseJoiner()
    }

    private mutating func take(codePoint: UInt32) {
        if codePoint >= 0x80 && characterSet == .ascii { return escape(codePoint: codePoint) }
        if holdsJoiner {
            if isPictographic(codePoint) {
                holdsJoiner = false
                return
            }
            releaseJoiner()
        }
        if lastIsPicture {
            if codePoint == Self.joiner {
                holdsJoiner = true
                return
            }
            if isSkinTone(codePoint) { return }
        }
        switch CodePointClass(of: codePoint) {
        case .escaped: escape(codePoint: codePoint)
        case .narrow: append(Glyph(base: codePoint, width: 1), isPicture: isPictographic(codePoint))
        case .wide: append(Glyph(base: codePoint, width: 2), isPicture: isPictographic(codePoint))
        case .mark: take(mark: codePoint)
        case .dropped: break
        case .oddSpace: append(Glyph(base: Self.openBox, width: 1, isSubstitute: true))
        }
    }

    private mutating func take(mark: UInt32) {
        if glyphs.last.map({ $0.isSubstitute && $0.base != Self.dottedCircle }) ?? true {
            append(Glyph(base: Self.dottedCircle, width: 1, isSubstitute: true))
        }
        glyphs[glyphs.count - 1].add(mark: mark)
    }

    private mutating func append(_ glyph: Glyph, isPicture: Bool = false) {
        glyphs.append(glyph)
        width += Int(glyph.width)
        lastIsPicture = isPicture
    }

    /// A joiner that joined nothing is shown like any other format character.
    private mutating func releaseJoiner() {
        guard holdsJoiner else { return }
        holdsJoiner = false
        escape(codePoint: Self.joiner)
    }

    private mutating func escape(byte: UInt8) {
        releaseJoiner()
        let digits = String(byte, radix: 16)
        escape(byte < 16 ? "\\x0" + digits : "\\x" + digits)
    }

    /// ASCII controls are single bytes and are written like bytes; everything else by its number, so that U+0085 and
    /// the byte 0x85 do not look equal.
    private mutating func escape(codePoint: UInt32) {
        if let byte = UInt8(exactly: codePoint), byte < 0x80 { return escape(byte: byte) }
        escape("\\u{" + String(codePoint, radix: 16, uppercase: true) + "}")
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 { append(Glyph(base: UInt32(byte), width: 1, isSubstitute: true)) }
    }
}

/// The code point that starts at `index` and how many bytes it takes, or nil where the bytes are not well-formed
/// UTF-8 (Unicode 3.9, table 3-7: no overlong form, no surrogate, nothing above U+10FFFF).
func decodeUTF8(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (codePoint: UInt32, length: Int)? {
    let first = bytes[index]
    let length: Int
    let smallest: UInt32
    var codePoint: UInt32
    switch first {
    case 0x00...0x7F: return (UInt32(first), 1)
    case 0xC2...0xDF: (length, smallest, codePoint) = (2, 0x80, UInt32(first & 0x1F))
    case 0xE0...0xEF: (length, smallest, codePoint) = (3, 0x800, UInt32(first & 0x0F))
    case 0xF0...0xF4: (length, smallest, codePoint) = (4, 0x10000, UInt32(first & 0x07))
    default: return nil
    }
    guard index + length <= bytes.count else { return nil }
    for offset in 1..<length {
        let next = bytes[index + offset]
        guard next & 0xC0 == 0x80 else { return nil }
        codePoint = codePoint << 6 | UInt32(next & 0x3F)
    }
    guard codePoint >= smallest, codePoint <= 0x10FFFF, !(0xD800...0xDFFF ~= codePoint) else { return nil }
    return (codePoint, length)
}
