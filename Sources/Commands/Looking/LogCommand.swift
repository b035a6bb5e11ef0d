import CommandLine
import Configuration
import DisplayText
import MartletKit

/// `martlet log`.
struct LogCommand: EngineCommand {
    let context: CommandContext

    static let level = Option(
        "level", ValueSyntax<LogLevel>.choice().named("L"),
        "debug, info, user (what people did), warning or error: nothing below it; default info")

    /// As many as an engine gives at once.
    static let mostLines = 1000

    static let command = Command(
        "log", "the engine's log",
        operands: [Operand(.node, .optional)],
        groups: [OptionGroup("Options", [EventsCommand.follow, level, CommonOptions.json])])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let level = invocation.value(Self.level) ?? .info
        let (batch, task) = try logged(invocation.operands(as: .node).first)
        console.endsWithReader()
        guard try await context.engineToLookAt(invocation) else { return .done }
        var after: Int64?
        repeat {
            let cursor = after
            let page = try await ask(answersLate: cursor != nil) { engine throws(RequestError) in
                try await engine.log(level: level, batch: batch, task: task, limit: Self.mostLines, after: cursor)
            }
            if cursor == nil, page.lines.count >= Self.mostLines, let first = page.lines.first {
                console.note(
                    "these are the newest \(Self.mostLines) lines, from \(context.time(first.at)) on; for earlier ones: less \(engine.logFile.shellWord)*"
                )
            }
            for line in page.lines {
                if json { console.json(line) } else { console.line(text(of: line)) }
            }
            console.flush()
            after = page.next
        } while invocation.has(EventsCommand.follow)
        return .done
    }

    private func logged(_ id: NodeID?) throws(CommandFailure) -> (BatchID?, TaskID?) {
        switch id {
        case nil: return (nil, nil)
        case .batch(let id): return (id, nil)
        case .task(let id): return (nil, id)
        case .folder: throw .usage("log: a folder has no log of its own", "give its batch")
        }
    }

    private func text(of line: LogLine) -> String {
        let words: [String?] = [
            context.time(line.at), line.level.rawValue.uppercased(), line.subject + line.message,
        ]
        return words.compactMap(\.self).joined(separator: " ").displayed
    }
}
