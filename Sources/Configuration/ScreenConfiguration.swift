/// The look of the screen and the commands: the keys of `martlet.conf` under `[screen]`.
package struct ScreenConfiguration: SettingsSection {
    package var units = Units.iec
    package var glyphs = Glyphs.auto
    package var color = ColorChoice.auto
    package var mouse = true
    package var bell = false
    package var notify = Notification.off
    package var copy = true
    package var title = true
    package var theme = Theme.auto
    package var columns = ColumnList.all
    package var askFiles = 100
    package var askSize = ByteSize(bytes: 10 << 30)
    package var askLost = ByteSize(bytes: 100 << 20)
    package var askLeave = true
    package var clock = true
    package var alternate = true

    package init() {}

    /// The units in which sizes and speeds are shown; typed ones are always binary.
    package enum Units: String, CaseIterable, WrittenValue {
        /// 1 KiB is 1024 bytes.
        case iec
        /// 1 kB is 1000 bytes.
        case si
    }

    /// The characters that stand for states and bars.
    package enum Glyphs: String, CaseIterable, WrittenValue {
        /// By the locale.
        case auto
        /// May be two columns wide in East Asian locales.
        case unicode
        /// One column wide in every locale.
        case narrow
        case ascii
    }

    /// The use of colours.
    package enum ColorChoice: String, CaseIterable, WrittenValue {
        /// When the terminal has them and NO_COLOR is not set.
        case auto
        case always, never
    }

    /// The sequence that asks the terminal to show a notification on the desktop.
    package enum Notification: String, CaseIterable, WrittenValue {
        case off
        /// iTerm2, kitty, WezTerm, ConEmu and others.
        case osc9
        /// urxvt, foot, Ghostty and others; with a title.
        case osc777
    }

    /// The palette that suits the terminal's background.
    package enum Theme: String, CaseIterable, WrittenValue {
        /// By COLORFGBG, else one that is readable on both.
        case auto
        case dark, light
    }

    /// The columns of the tree.
    package struct ColumnList: WrittenValue, Sendable {
        /// `nil`: all for which there is room.
        package var words: [String]?

        package static let all = ColumnList(words: nil)
        package static let known = ["files", "size", "progress", "percent", "speed", "eta", "state"]
        /// Only where they are asked for by name.
        package static let extra = [
            "destination", "started", "tries", "checksum", "priority", "limit", "session", "sparkline",
        ]

        package var written: String { words?.joined(separator: " ") ?? "all" }

        package static var syntax: ValueSyntax<ColumnList> {
            let known = known + extra
            return ValueSyntax("COLUMN...", allowed: "all, or some of \(known.joined(separator: " "))") { text in
                let words = text.split { $0 == " " || $0 == "," || $0 == "\t" }.map(String.init)
                if words == ["all"] { return .all }
                return !words.isEmpty && words.allSatisfy(known.contains) ? ColumnList(words: words) : nil
            }
        }
    }

    package static let settings: [Setting<ScreenConfiguration>] = [
        Setting("units", .choice(), \.units, "sizes shown in binary (iec: KiB) or decimal multiples (si: kB)"),
        Setting("glyphs", .choice(), \.glyphs, "characters for states and bars"),
        Setting("color", .choice(), \.color, "colours; auto obeys NO_COLOR"),
        Setting("mouse", .onOff, \.mouse, "let the terminal send clicks"),
        Setting("bell", .onOff, \.bell, "ring when a batch ends and the window has not the focus"),
        Setting(
            "notify", .choice(), \.notify,
            "a notification on the desktop then, by the sequence that the terminal understands"),
        Setting("copy", .onOff, \.copy, "y and Y copy through the terminal (OSC 52); off writes a file"),
        Setting("title", .onOff, \.title, "the window's title says how far it is"),
        Setting("theme", .choice(), \.theme, "palette for a dark or light background"),
        Setting("columns", ColumnList.syntax, \.columns, "columns of the list beside the names"),
        Setting(
            "ask-files", .count(0...1_000_000_000), \.askFiles,
            "a cancel, retry or pause of more files than these is asked about first"),
        Setting("ask-size", .size(), \.askSize, "and one of more bytes that are not there yet"),
        Setting(
            "ask-lost", .size(), \.askLost,
            "and a pause or cancel after which so many bytes or more are to be sent again: they cannot be gone on with there"
        ),
        Setting(
            "ask-leave", .onOff, \.askLeave,
            "q asks before it leaves when logging out would end the engine"),
        Setting("clock", .onOff, \.clock, "the time, and how long the engine has run, in the first line"),
        Setting(
            "alternate", .onOff, \.alternate,
            "a page of its own in the terminal; off leaves the last picture behind (--no-alt)"),
    ]
}

extension WrittenValue where Self: RawRepresentable, RawValue == String {
    package var written: String { rawValue }
}
