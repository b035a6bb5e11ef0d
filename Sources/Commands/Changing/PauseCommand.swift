import CommandLine
import Configuration
import MartletKit

/// `martlet pause`.
struct PauseCommand: EngineCommand {
    let context: CommandContext

    static let until = Option(
        "until", ValueSyntax<WrittenTime>.time, "let it go on by itself then; said again of an ID it changes the time")

    private static let words = ResultWords(done: "paused", already: "was paused already")

    static var command: Command {
        var command = Command.changing("pause", "stop work and keep its place; resume lets it go on where it stood")
        command.groups.insert(OptionGroup("When it goes on", [until]), at: 0)
        return command
    }

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let choice = try Selection.required(invocation, command: "pause")
        if let end = context.time(of: Self.until, invocation) {
            let results = try await ask { engine throws(RequestError) in
                try await engine.change(choice, .pauseUntil(end)).results
            }
            return context.tell(
                results, done: { _ in " paused until \(context.time(end))" }, already: " \(Self.words.already)",
                invocation)
        }
        let results = try await ask { engine throws(RequestError) in try await engine.pause(choice) }
        return context.tell(results, Self.words, invocation)
    }
}
