import CommandLine
import Configuration
import MartletKit

/// A command of `martlet`, or the program itself: what it takes, what help and manual say of it, and what it does. The tree of commands is
/// made of these types, so none can be in it that does nothing.
///
/// Nearly all of them are an ``EngineCommand``; start reading there.
protocol MartletCommand: Sendable {
    /// The name, operands, options and texts, without the commands below it.
    static var command: Command { get }
    static var subcommands: [any MartletCommand.Type] { get }
    /// Commands below it that parsing alone answers: `help`, and those that are refused by name.
    static var answeredByParsing: [Command] { get }
    /// Does what needs no engine, or says what the program is to do.
    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan
}

extension MartletCommand {
    static var subcommands: [any MartletCommand.Type] { [] }
    static var answeredByParsing: [Command] { [] }

    /// The command with those below it, for parsing, help, manual and completions.
    static var table: Command {
        var table = command
        table.subcommands = subcommands.map { $0.table } + answeredByParsing
        return table
    }

    /// The command that these names lead to; `nil`: parsing answers it.
    static func find(_ path: ArraySlice<String>) -> (any MartletCommand.Type)? {
        guard let name = path.first else { return self }
        return subcommands.first { $0.command.name == name }?.find(path.dropFirst())
    }
}

/// A command that asks the engine. A value of it is one run.
protocol EngineCommand: MartletCommand {
    var context: CommandContext { get }
    init(context: CommandContext)
    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus
}

extension EngineCommand {
    var engine: any Engine { context.engine }
    var console: Console { context.console }
    var surroundings: Surroundings { context.surroundings }

    /// As ``CommandContext/ask(answersLate:_:)``.
    func ask<Answer>(
        answersLate: Bool = false, _ question: (any Engine) async throws(RequestError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        try await context.ask(answersLate: answersLate, question)
    }

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        try ProgramStart(console).command(invocation)
    }
}

/// A name above other commands, which does nothing without one of them.
protocol CommandGroup: MartletCommand {}

extension CommandGroup {
    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        throw .doesNothing(invocation)
    }
}

extension CommandFailure {
    /// The failure for what parsing should have answered.
    static func doesNothing(_ invocation: Invocation) -> CommandFailure {
        .usage("\(invocation.path.joined(separator: " ")) does nothing", "see martlet --help")
    }
}

extension Command {
    /// A command of the contract that is refused for now.
    static func notBuilt(_ name: String, _ summary: String, _ remedy: String) -> Command {
        var command = Command(name, summary)
        command.operands = [Operand(ValueSyntax<[UInt8]>.path("WORD", .nothing), .any)]
        command.availability = .notBuilt(remedy)
        return command
    }
}
