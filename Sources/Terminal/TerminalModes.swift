/// The private modes that ncurses knows nothing of, as the strings that switch them. All escape codes of the program
/// are in this file.
enum TerminalModes {
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
