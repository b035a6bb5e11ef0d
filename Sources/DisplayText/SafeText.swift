// DisplayText: any bytes made fit for a terminal: harmless, and of a known width.
//
// For whom: everything that a person reads, on the screen, in listings, in logs. Which thread: any; values only. Start reading here;
// `Sanitiser` decides what a byte may become on the screen and in the receiver's log, `HarmlessText` what it may become in messages, listings
// and JSON, `Glyph` and `WidthTable` how many cells it takes, `SafeText+Fitting` how text is shortened.

/// Text that may go to a terminal, a title, a log or a notification, whoever wrote it: made harmless, with a known
/// width in cells.
///
/// File names, server answers and messages of other programs pass through here before a person sees them, on the
/// screen and in everything that is printed. It is for the eye only: the raw bytes stay beside it for opening,
/// comparing and JSON.
///
/// Sanitising the string of a `SafeText` again changes nothing.
package struct SafeText: Hashable, Sendable {
    /// The glyphs that are shown, from left to right.
    package private(set) var glyphs: [Glyph]
    /// Cells.
    package private(set) var width: Int

    /// More cells than any name needs; what is longer (a server's page of HTML) loses its middle.
    package static let longest = 1024

    /// Cleans bytes that claim to be UTF-8. Never fails: what is not UTF-8 is shown as `\xNN`.
    ///
    /// - Parameter limit: cells; longer text is shortened in the middle.
    package init(
        _ bytes: some Sequence<UInt8>, characterSet: CharacterSet = .utf8, limit: Int = SafeText.longest
    ) {
        let cleaned =
            bytes.withContiguousStorageIfAvailable { Self.clean($0, characterSet, limit) }
            ?? Array(bytes).withUnsafeBufferPointer { Self.clean($0, characterSet, limit) }
        self = cleaned
    }

    /// Cleans a string, for instance a message that quotes a server.
    package init(_ string: String, characterSet: CharacterSet = .utf8, limit: Int = SafeText.longest) {
        self.init(string.utf8, characterSet: characterSet, limit: limit)
    }

    init(glyphs: [Glyph], width: Int) {
        self.glyphs = glyphs
        self.width = width
    }

    /// The text as a string.
    package var string: String {
        var string = ""
        for glyph in glyphs { glyph.write(to: &string) }
        return string
    }

    /// Appends another text.
    package static func += (text: inout SafeText, other: SafeText) {
        text.glyphs += other.glyphs
        text.width += other.width
    }

    /// Both texts in a row.
    package static func + (first: SafeText, second: SafeText) -> SafeText {
        var text = first
        text += second
        return text
    }

    private static func clean(_ bytes: UnsafeBufferPointer<UInt8>, _ set: CharacterSet, _ limit: Int) -> SafeText {
        // A megabyte from a server is not worth cleaning when a thousand cells are kept. No code point takes more
        // bytes than 4, and dropped ones are rare, so 16 bytes a cell leave enough on both sides.
        let enough = 16 * max(limit, 16)
        var sanitiser = Sanitiser(set, capacity: min(bytes.count, enough))
        guard bytes.count > 2 * enough else {
            sanitiser.take(bytes)
            return SafeText(glyphs: sanitiser.glyphs, width: sanitiser.width).shortened(to: limit)
        }
        var tail = bytes.count - enough
        while tail < bytes.count && bytes[tail] & 0xC0 == 0x80 { tail += 1 }
        sanitiser.take(UnsafeBufferPointer(rebasing: bytes[..<enough]))
        var head = SafeText(glyphs: sanitiser.glyphs, width: sanitiser.width)
        head.append(Glyph("~"))
        sanitiser = Sanitiser(set, capacity: enough)
        sanitiser.take(UnsafeBufferPointer(rebasing: bytes[tail...]))
        return (head + SafeText(glyphs: sanitiser.glyphs, width: sanitiser.width)).shortened(to: limit)
    }
}

extension SafeText: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Our own words; they are cleaned like any others.
    package init(stringLiteral: String) { self.init(stringLiteral, characterSet: .utf8, limit: Self.longest) }

    package var description: String { string }
}

extension String {
    /// The string, harmless on a terminal. See `SafeText`.
    package var displayed: String { SafeText(self).string }
}
