package import CommandLine
package import Configuration
import MartletKit

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
