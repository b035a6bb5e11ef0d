package import CommandLine
package import Configuration
import MartletKit

/// What the command line and the files say about the screen.
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
        return screen
    }
}

extension Martlet {
    /// The lines of `keys.conf`; the screen says which of them do not count.
    package static func keyBindings() -> [KeyBinding] {
        guard let engine = try? EngineConnection(ConnectionOptions(launching: .never)),
            let bytes = contents(of: engine.keysFile)
        else { return [] }
        var problems: [ConfigurationProblem] = []
        return KeyBinding.read(bytes: bytes, problems: &problems)
    }

    /// Why there is no screen, as a failure of the command.
    package static func failure(ofScreen error: any Error) -> CommandFailure {
        if let error = error as? RequestError { return CommandFailure(error) }
        return CommandFailure(.refused, .refused, "\(error)", "")
    }
}
