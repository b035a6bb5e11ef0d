import CommandLine
import Configuration
import DisplayText
import MartletKit

/// `martlet engine stop`.
struct EngineStopCommand: EngineCommand {
    let context: CommandContext

    static let now = Option.flag("now", "do not let running files finish: note where they stand and leave within 2 s")

    static let command = Command(
        "stop", "end the engine; what cannot go on later is finished before; what is queued stays",
        groups: [OptionGroup("Options", [now, CommonOptions.json])])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let now = invocation.has(Self.now)
        let json = invocation.has(CommonOptions.json)
        context.endWith130OnInterrupt()
        let telling = now ? nil : tellWhatIsFinished()
        defer { telling?.cancel() }
        // The deadline is for finding an engine, not for its end.
        let isRunning = try await ask { engine throws(RequestError) in try await engine.isEngineRunning() }
        let outcome: EngineStop =
            isRunning
            ? try await ask(answersLate: true) { engine throws(RequestError) in
                try await engine.stopEngine(now ? .now : .finishingUnresumable)
            } : .notRunning
        switch outcome {
        case .takenBack:
            throw CommandFailure(
                .refused, .refused,
                "the engine goes on: meanwhile something was queued, resumed or tried again, or it was started",
                "stop it again, or martlet pause --all")
        case .stopped where !json:
            console.line("the engine has stopped; what is queued goes on when martlet is next used")
        case .notRunning where !json: console.note("no engine is running")
        case .stopped, .notRunning: console.json(CommandContext.NotRunning())
        }
        return .done
    }

    /// Says once what the engine finishes before it ends: what could go on later is broken off when it is told to stop.
    private func tellWhatIsFinished() -> Task<Void, Never> {
        let pause = surroundings.stopPause
        return Task { [console, engine] in
            guard (try? await Task.sleep(for: pause)) != nil,
                let active = try? await engine.status()?.tasksActive, active > 0, !Task.isCancelled
            else { return }
            let files =
                (try? await engine.someTasks(NodeSelector(states: [.running, .finishing]), most: 3))?.map(\.path) ?? []
            let named = files.isEmpty ? "" : " (\(files.joined(separator: ", "))\(active > 3 ? ", ..." : ""))"
            console.note(
                "\(Self.running(active)) finished first, which cannot go on later where \(active == 1 ? "it stands" : "they stand")\(named): "
                    + "martlet engine stop --now ends the engine at once and has \(active == 1 ? "it" : "them") sent again; martlet "
                    + "engine start takes the stop back; Ctrl-C leaves it to stop by itself".harmless)
        }
    }

    static func running(_ files: Int64) -> String {
        files == 1 ? "1 running file is" : "\(files) running files are"
    }
}
