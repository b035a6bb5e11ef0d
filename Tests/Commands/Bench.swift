import CommandLine
import Configuration
import LinuxSystem

@testable import Commands

/// Runs commands with a fake engine and keeps their words.
struct Bench {
    let engine: FakeEngine
    let context: CommandContext
    private let said: Words

    private final class Words: Sendable {
        let output = Mutex<[UInt8]>([])
        let error = Mutex<[UInt8]>([])
    }

    init(
        _ engine: FakeEngine = FakeEngine(), width: Int? = nil, progress: Bool = false,
        _ prepare: (inout Surroundings) -> Void = { _ in },
        hears: @escaping @Sendable () -> Void = {}
    ) {
        let said = Words()
        self.said = said
        self.engine = engine
        var surroundings = Surroundings(
            currentDirectory: Array("/nowhere".utf8), now: { 1_795_264_867_000 }, calendar: .utc)
        prepare(&surroundings)
        context = CommandContext(
            engine: engine,
            console: Console(outputIsTerminal: width != nil, errorIsTerminal: progress, width: width ?? 80) {
                stream, bytes in
                switch stream {
                case .output: said.output.withLock { $0 += bytes }
                case .error:
                    said.error.withLock { $0 += bytes }
                    hears()
                }
            }, surroundings: surroundings)
    }

    /// Runs a command line; words of it as bytes where they are no text.
    func run(_ words: [Argument]) async -> ExitStatus {
        do {
            guard case .run(let invocation) = try MartletProgram.program.parse(words) else { return .done }
            return await context.run(invocation)
        } catch {
            context.console.tell(error, json: words.contains(Argument("--json")))
            context.console.flush()
            return error.status
        }
    }

    func run(_ line: String...) async -> ExitStatus { await run(line.map { Argument($0) }) }

    var output: String { String(decoding: said.output.withLock(\.self), as: UTF8.self) }
    var error: String { String(decoding: said.error.withLock(\.self), as: UTF8.self) }
}
