import CommandLine
import MartletKit

/// Asking for what is there, by commands that only look.
extension CommandContext {
    /// For commands that only look: whether there is an engine to ask. Where there is none it says so, as the command
    /// contract wants it.
    func engineToLookAt(
        _ invocation: Invocation, isAboutEngine: Bool = false
    ) async throws(CommandFailure) -> Bool {
        if try await ask({ engine throws(RequestError) in try await engine.isEngineRunning() }) { return true }
        if invocation.has(CommonOptions.json) {
            console.json(NotRunning())
        } else {
            console.note(
                surroundings.queueExists || isAboutEngine ? "no engine is running" : "nothing is queued")
        }
        return false
    }

    /// `{"running":false}`
    struct NotRunning: Encodable {
        let running = false
    }

    /// A queue that was never made has nothing in it, and no engine is started to say so.
    func queueToLookAt(_ invocation: Invocation) async throws(CommandFailure) -> Bool {
        guard surroundings.queueExists else { return try await engineToLookAt(invocation) }
        try await tellOfStart(invocation)
        return true
    }

    /// Warns a person who stopped the engine and only wants to look: looking sets the work going again.
    private func tellOfStart(_ invocation: Invocation) async throws(CommandFailure) {
        guard console.errorIsTerminal, !invocation.has(CommonOptions.json) else { return }
        let counts = try await ask { engine throws(RequestError) -> FileCounts? in
            if try await engine.isEngineRunning() { return nil }
            try await engine.connect()
            return try await engine.totals().counts
        }
        if let counts, counts.active + counts.queued + counts.waiting > 0 {
            console.note("no engine was running: one is started, and what is queued goes on")
        }
    }

    /// Every batch of a session; `nil`: of all.
    func batches(of session: SessionName?) async throws(CommandFailure) -> [BatchSnapshot] {
        try await ask { engine throws(RequestError) in try await engine.batches(session: session, states: []) }
    }

    /// Refuses a selector that names a session without batches.
    func requireKnown(_ selection: Selection?) async throws(CommandFailure) {
        guard case .matching(let selector)? = selection, let session = selector.session else { return }
        guard try await batches(of: session).isEmpty else { return }
        throw CommandFailure(
            .noSuchObject, .noSuchObject, "no batch is in a session \(session.rawValue)",
            "see martlet session list")
    }
}
