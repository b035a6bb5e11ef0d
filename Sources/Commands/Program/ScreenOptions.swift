package import CommandLine
package import Configuration

/// Options of the screen. They win over its settings.
package enum ScreenOptions {
    static let color = Option(
        "color", ValueSyntax<ScreenConfiguration.ColorChoice>.choice(), "colours of the screen; auto obeys NO_COLOR")
    static let glyphs = Option(
        "glyphs", ValueSyntax<ScreenConfiguration.Glyphs>.choice().named("SET"),
        "auto, unicode, narrow or ascii: characters for states and bars")
    static let units = Option(
        "units", ValueSyntax<ScreenConfiguration.Units>.choice(), "show KiB (1024) or kB (1000)")
    static let theme = Option(
        "theme", ValueSyntax<ScreenConfiguration.Theme>.choice(), "palette for a dark or light background")
    static let mouse = Option("mouse", ValueSyntax<Bool>.onOff, "let the terminal send clicks")
    static let accessible = Option.flag(
        "accessible", "plain lines and numbered choices instead of a screen, for screen readers; also by ACCESSIBLE=1")
    static let bell = Option("bell", ValueSyntax<Bool>.onOff, "ring when a batch ends")
    static let columns = Option(
        "columns", ScreenConfiguration.ColumnList.syntax, "columns of the list beside the names")
    static let notify = Option(
        "notify", ValueSyntax<ScreenConfiguration.Notification>.choice(), "a notification on the desktop then")
    static let title = Option("title", ValueSyntax<Bool>.onOff, "the window's title says how far it is")
    static let copy = Option(
        "copy", ValueSyntax<Bool>.onOff, "y and Y copy through the terminal; off writes a file")
    static let clock = Option("clock", ValueSyntax<Bool>.onOff, "the time in the first line")
    static let noAlternate = Option.flag(
        "no-alt", "draw on the terminal's own page and leave the last picture behind")

    static let all: [any AnyOption] = [
        color, glyphs, units, theme, columns, mouse, bell, notify, title, copy, clock, noAlternate,
    ]

    /// The settings with the options that were given.
    package static func applied(_ invocation: Invocation, _ settings: ScreenConfiguration) -> ScreenConfiguration {
        var screen = settings
        screen.color = invocation.value(color) ?? screen.color
        screen.glyphs = invocation.value(glyphs) ?? screen.glyphs
        screen.units = invocation.value(units) ?? screen.units
        screen.theme = invocation.value(theme) ?? screen.theme
        screen.mouse = invocation.value(mouse) ?? screen.mouse
        screen.bell = invocation.value(bell) ?? screen.bell
        screen.columns = invocation.value(columns) ?? screen.columns
        screen.notify = invocation.value(notify) ?? screen.notify
        screen.title = invocation.value(title) ?? screen.title
        screen.copy = invocation.value(copy) ?? screen.copy
        screen.clock = invocation.value(clock) ?? screen.clock
        if invocation.has(noAlternate) { screen.alternate = false }
        return screen
    }
}
