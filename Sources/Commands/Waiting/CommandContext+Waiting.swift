import CommandLine
import Configuration
import Glibc
import MartletKit

/// Deadlines and interrupts of commands that wait.
extension CommandContext {
    /// Asks within what is left of the time; `nil`: it has run out while the engine was silent.
    func within<Answer>(
        _ deadline: ContinuousClock.Instant?, _ question: () async throws(CommandFailure) -> Answer
    ) async throws(CommandFailure) -> Answer? {
        guard let deadline else { return try await question() }
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
        let result: Result<Answer, CommandFailure> = await AnswerLimit.$current.withValue(left) {
            do throws(CommandFailure) { return .success(try await question()) } catch { return .failure(error) }
        }
        do { return try result.get() } catch {
            if error.code == .engineUnreachable, ContinuousClock.now >= deadline { return nil }
            throw error
        }
    }

    func timedOut(_ command: String, _ timeout: TimeSpan?, _ what: String) -> CommandFailure {
        console.clearProgress()
        return CommandFailure(
            .timedOut, .timedOutWaiting, "\(command): \(what) after \(timeout?.written ?? "the time given")",
            "wait longer, or see martlet why")
    }

    /// Interrupting a wait leaves the queue alone; scripts get the status that shells give for SIGINT.
    func endWith130OnInterrupt() {
        guard surroundings.handlesInterrupts else { return }
        // Only what is safe in a signal handler: the line on the terminal is ended, and the process.
        signal(SIGINT) { _ in
            _ = write(STDERR_FILENO, "\n", 1)
            _exit(ExitStatus.interrupted.rawValue)
        }
    }
}
