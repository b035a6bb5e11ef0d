import Configuration
import DisplayText
import MartletKit

/// The way everything is shown: decided once, when the screen opens.
struct Appearance: Sendable {
    var figures: Figures
    var glyphs: GlyphSet
    var characterSet: CharacterSet
    /// The columns that are wanted, by the words of the settings; `nil`: all that fit.
    var columns: Set<String>?
    /// True when the first line has the time.
    var hasClock: Bool
    /// `12:41:07`, in the person's time zone.
    var timeOfDay: @Sendable (Timestamp) -> String
    /// `2026-11-21 12:41:07`.
    var date: @Sendable (Timestamp) -> String

    init(
        units: ScreenConfiguration.Units = .iec, glyphs: GlyphSet = .unicode, characterSet: CharacterSet = .utf8,
        columns: Set<String>? = nil, hasClock: Bool = false, timeOfDay: @escaping @Sendable (Timestamp) -> String,
        date: @escaping @Sendable (Timestamp) -> String
    ) {
        figures = Figures(units: units)
        self.glyphs = glyphs
        self.characterSet = characterSet
        self.columns = columns
        self.hasClock = hasClock
        self.timeOfDay = timeOfDay
        self.date = date
    }

    /// Text from outside, made harmless and drawable here.
    func safe(_ text: String) -> SafeText { SafeText(text, characterSet: characterSet) }
}
