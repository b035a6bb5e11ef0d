import CommandLine
import Configuration
import MartletKit

extension CommandContext {
    /// Prints what the engine says of itself.
    func tellStatus(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard let status = try await ask({ engine throws(RequestError) in try await engine.status() }) else {
            throw CommandFailure(.unavailable, .engineUnreachable, "the engine went away", "try again")
        }
        guard !invocation.has(CommonOptions.json) else {
            console.json(status)
            return .done
        }
        let units = console.units
        for (title, text) in [
            (
                "Engine",
                "pid \(status.pid), version \(status.version), up \(shownDuration(seconds: status.uptime))\(stopping(status))"
            ),
            ("Queue", status.queuePath), ("Socket", status.socket), ("Protocol", status.protocolVersion),
            (
                "Work",
                "\(amount(status.batches, "batch", "batches")) in \(amount(status.sessions, "session", "sessions"))"
            ),
            ("Tasks", "\(status.tasksActive) active, \(status.tasksWaiting) waiting"),
            ("Speed", "up \(units.rate(status.bytesPerSecondUp)), down \(units.rate(status.bytesPerSecondDown))"),
            ("Memory", units.size(status.residentBytes)),
        ] {
            console.line(title, text)
        }
        return .done
    }

    private func stopping(_ status: EngineStatus) -> String {
        status.stopping ? ", stops when \(EngineStopCommand.running(status.tasksActive)) finished" : ""
    }

    private func amount(_ number: Int64, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
