import CommandLine
import Configuration
import MartletKit

/// A command about sessions.
protocol SessionCommand: EngineCommand {}

extension SessionCommand {
    func named(
        _ invocation: Invocation, _ command: String, mayBeLimitOnly: Bool = false
    ) async throws(CommandFailure) -> (SessionName, [BatchSnapshot]) {
        guard let name = invocation.operands(as: .session).first else {
            throw .usage("\(command): NAME is missing", "")
        }
        let batches = surroundings.queueExists ? try await context.batches(of: name) : []
        var isKnown = !batches.isEmpty
        if !isKnown, mayBeLimitOnly { isKnown = try await isLimited(name) }
        guard isKnown else {
            throw CommandFailure(
                .noSuchObject, .noSuchObject, "\(command): there is no session \(name.rawValue)",
                "see martlet session list")
        }
        return (name, batches)
    }

    private func isLimited(_ name: SessionName) async throws(CommandFailure) -> Bool {
        guard surroundings.queueExists else { return false }
        return try await sessionLimits()[name.rawValue] != nil
    }

    /// Bytes a second, by the session's name.
    func sessionLimits() async throws(CommandFailure) -> [String: Int64] {
        let limits = try await ask { engine throws(RequestError) in try await engine.limits() }
        return limits.scoped.filter { $0.kind == .session }.reduce(into: [:]) { $0[$1.name] = $1.rate }
    }
}

/// A session as `session list` and `session show` print it.
struct SessionLine: Encodable {
    let name: String
    let batches: Int
    /// Those that are not over.
    let batchesActive: Int
    let filesTotal: Int64
    let bytesTotal: Int64
    /// Bytes a second for all of it together.
    @OrNull var limit: Int64?

    init(_ name: SessionName, _ batches: [BatchSnapshot], _ limit: Int64?) {
        self.name = name.rawValue
        self.batches = batches.count
        batchesActive = batches.count { !$0.state.isTerminal }
        filesTotal = ByteSum.of(batches.lazy.map(\.filesTotal))
        bytesTotal = ByteSum.of(batches.lazy.map(\.bytesTotal))
        _limit = OrNull(wrappedValue: limit)
    }
}
