package import CommandLine
package import Configuration
import MartletKit

/// Settings of the screen, by the command line and the files.
extension MartletProgram {
    /// Options win over settings.
    package static func screen(_ invocation: Invocation, _ settings: ScreenConfiguration) -> ScreenConfiguration {
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

extension Martlet {
    /// The lines of `keys.conf` and what in it cannot be read; the screen says so.
    package static func keyBindings() -> (bindings: [KeyBinding], problems: [ConfigurationProblem]) {
        var problems: [ConfigurationProblem] = []
        guard let engine = try? EngineConnection(ConnectionOptions(launching: .never)),
            let bytes = SmallFile.contents(engine.keysFile)
        else { return ([], []) }
        let bindings = KeyBinding.read(bytes: bytes, problems: &problems)
        return (bindings, problems)
    }

    /// The screen's filters by name, from `filters.conf`.
    package static func savedFilters() -> [(name: String, text: String)] {
        guard let engine = try? EngineConnection(ConnectionOptions(launching: .never)),
            let bytes = SmallFile.contents(engine.filtersFile)
        else { return [] }
        return INIDocument(bytes: bytes).entries.map { ($0.key, $0.value) }
    }

    /// The reason why there is no screen, as a failure of the command.
    package static func failure(ofScreen error: any Error) -> CommandFailure {
        if let error = error as? RequestError { return CommandFailure(error) }
        return CommandFailure(.refused, .refused, "\(error)", "")
    }
}
