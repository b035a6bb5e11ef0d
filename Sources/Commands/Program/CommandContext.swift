package import CommandLine
import MartletKit

/// One run of `martlet` with a command: the engine that it asks, the console on which it prints, and the process around it. Its extensions
/// are what several commands need.
package struct CommandContext: Sendable {
    let engine: any Engine
    let console: Console
    let surroundings: Surroundings

    package init(engine: any Engine, console: Console, surroundings: Surroundings) {
        self.engine = engine
        self.console = console
        self.surroundings = surroundings
    }

    /// Does what the command line says. Never throws: a failure is told and becomes the status.
    package func run(_ invocation: Invocation) async -> ExitStatus {
        defer { console.flush() }
        do throws(CommandFailure) {
            guard let command = RootCommand.find(invocation.path[...]) as? any EngineCommand.Type else {
                throw .doesNothing(invocation)
            }
            return try await command.init(context: self).run(invocation)
        } catch {
            console.tell(error, json: invocation.has(CommonOptions.json))
            return error.status
        }
    }

    /// Asks the engine; its refusals become failures of the command. Of a silence it says that it waits, and for whom.
    /// - Parameter answersLate: the answer may rightly stay away: what follows events, or waits for an end.
    func ask<Answer>(
        answersLate: Bool = false, _ question: (any Engine) async throws(RequestError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        let watch = answersLate ? nil : noteOfSilence()
        defer { watch?.cancel() }
        let limit =
            answersLate ? AnswerLimit.current : min(surroundings.answerLimit, AnswerLimit.current ?? .seconds(3600))
        let result: Result<Answer, RequestError> = await AnswerLimit.$current.withValue(limit) {
            do throws(RequestError) { return .success(try await question(engine)) } catch { return .failure(error) }
        }
        do { return try result.get() } catch { throw CommandFailure(error) }
    }

    private func noteOfSilence() -> Task<Void, Never> {
        let patience = surroundings.patience
        return Task { [console] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            console.note(
                "the engine has not answered for \(patience.components.seconds) s; it is waited for a little longer, Ctrl-C ends it"
                    + " (is it stopped? kill -CONT lets it go on)")
        }
    }
}
