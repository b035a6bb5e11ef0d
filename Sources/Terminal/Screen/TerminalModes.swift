/// The private modes that ncurses knows nothing of, as the strings that switch them. All escape codes of the program
/// are in this file.
enum TerminalModes {
    /// Back from the page of its own to the one below it, which is scrolled up by its height.
    static func samePage(rows: Int) -> String { "\u{1B}[?1049l" + String(repeating: "\n", count: rows) }
    /// Under everything that is drawn.
    static let below = "\u{1B}[999;1H\r\n"

    /// Pasted text comes between marks.
    static let enter = "\u{1B}[?2004h"
    static let leave = "\u{1B}[?2004l"

    /// Presses of buttons and wheel (1000), reported in the form without a limit of columns (1006). ncurses would use
    /// the old form under tmux and screen.
    static let mouseOn = "\u{1B}[?1000h\u{1B}[?1006h"
    static let mouseOff = "\u{1B}[?1006l\u{1B}[?1000l"

    /// Reports of getting and losing the focus.
    static let focusOn = "\u{1B}[?1004h"
    static let focusOff = "\u{1B}[?1004l"

    static let bell = "\u{7}"

    /// Asks for a notification on the desktop. Inside tmux it has to be handed through (`allow-passthrough on`).
    /// The text is harmless already; a semicolon would end a field.
    static func notification(_ text: String, isTitled: Bool, insideTmux: Bool) -> String {
        let body = String(text.unicodeScalars.map { $0 == ";" ? "," : Character($0) })
        let sequence = isTitled ? "\u{1B}]777;notify;martlet;\(body)\u{7}" : "\u{1B}]9;\(body)\u{7}"
        guard insideTmux else { return sequence }
        return "\u{1B}Ptmux;\u{1B}" + sequence + "\u{1B}\\"
    }

    /// Hands text to the clipboard (OSC 52); a terminal that must not, or does not know it, passes over it.
    static func clipboard(_ bytes: [UInt8]) -> String { "\u{1B}]52;c;\(base64(bytes))\u{7}" }

    /// RFC 4648, section 4.
    static func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | Int($1) }
            bits <<= 8 * (3 - group.count)
            for place in 0..<4 {
                text.append(place <= group.count ? letters[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The title that the window has now is kept, and given back. What does not know these passes over them.
    static let titleSaved = "\u{1B}[22;2t"
    static let titleRestored = "\u{1B}[23;2t"

    /// Sets the window's title. The text is harmless already.
    static func title(_ text: String) -> String { "\u{1B}]2;\(text)\u{1B}\\" }

    /// Everything off that we or a library might have switched on: synchronised output, mouse, focus, paste,
    /// application keys, attributes, hidden cursor, the window's title, alternate screen. Written by the crash handler.
    static let rescue =
        "\u{1B}[?2026l\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?1004l\u{1B}[?2004l"
        + "\u{1B}[?1l\u{1B}>\u{1B}[0m\u{1B}[?25h\u{1B}[23;2t\u{1B}[?1049l"

    /// Terminals that were built before private modes print the strings instead of obeying them.
    static func understands(_ terminal: String) -> Bool {
        !(terminal == "dumb" || terminal.hasPrefix("vt1") || terminal.hasPrefix("vt5"))
    }
}
