/// Words for a POSIX shell, of any bytes but NUL.
///
/// All of it goes by bytes. Swift joins a quote and a mark behind it, or a letter of some scripts before it, to one `Character`, and then no
/// search in a `String` finds the quote at which a shell ends the word. Nothing else in the program quotes for a shell
/// (`.ci/check-quoting`).
package enum ShellQuoting {
    private static let quote = UInt8(ascii: "'")

    /// The word so that a shell reads exactly these bytes, and so that it is safe to be shown. Where a byte cannot be shown the word is written
    /// as `$'\NNN'`; a shell that does not know that (dash) gets another word and runs none of it.
    /// - Parameter isShowable: true of text that is shown as it is.
    package static func word(
        _ bytes: [UInt8], isShowable: (String) -> Bool = { $0.harmless.utf8.elementsEqual($0.utf8) }
    ) -> [UInt8] {
        // zsh takes a word that begins with = for the path of a program.
        if !bytes.isEmpty, bytes.allSatisfy(isPlain), bytes.first != UInt8(ascii: "=") { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self), isShowable(text) else { return escaped(bytes) }
        return [quote] + bytes.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] } + [quote]
    }

    /// The bytes as `$'\NNN'`, which bash, zsh, ksh and the POSIX of 2024 read as these bytes. A shell that does not know it (dash) gets another
    /// word, and never runs a part of it: no quote and no blank is within, whatever the bytes are. The digits are octal and always three, so
    /// none that follows is taken for one of them.
    package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        let inside = bytes.flatMap { byte -> [UInt8] in
            if isPlain(byte) { return [byte] }
            return [UInt8(ascii: "\\"), 48 + byte >> 6, 48 + byte >> 3 & 7, 48 + byte & 7]
        }
        return Array("$'".utf8) + inside + [quote]
    }

    /// True of a character that no shell takes for anything but itself, wherever in a word it stands.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "%+,-./:=@_".utf8.contains(byte)
        }
    }
}

extension String {
    /// The text as one word of a shell.
    package var shellWord: String { String(decoding: ShellQuoting.word(Array(utf8)), as: UTF8.self) }
}
