import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Whether an engine answers. Never starts one.
    public nonisolated func isEngineRunning() async throws(RequestError) -> Bool {
        do {
            try await connectOnly()
            return true
        } catch  where error.code == .engineUnreachable && error.message == Self.notRunning.message {
            return false
        }
    }

    /// The engine's figures; `nil`: none is running. Never starts one.
    public nonisolated func status() async throws(RequestError) -> EngineStatus? {
        guard try await isEngineRunning() else { return nil }
        return try await call(Methods.engineStatus, Nothing())
    }

    /// Ends the engine and waits until it has gone; false: none was running.
    /// - Parameter finishRunning: let files that are running finish, however long that takes; else it checkpoints and
    ///   breaks them off, within 2 s.
    public nonisolated func stopEngine(finishRunning: Bool) async throws(RequestError) -> Bool {
        guard try await isEngineRunning() else { return false }
        let states = await states()
        _ = try await call(Methods.engineStop, EngineStopRequest(finishRunning: finishRunning))
        for await state in states where !state.isConnected { break }
        return true
    }

    /// Asks the engine to end and does not wait for it.
    package nonisolated func requestStop(finishRunning: Bool) async {
        _ = try? await call(Methods.engineStop, EngineStopRequest(finishRunning: finishRunning))
    }

    public nonisolated func limits() async throws(RequestError) -> TransferLimits {
        try await call(Methods.limitsGet, Nothing())
    }

    /// Changes the limits of the whole engine; `nil` leaves one as it is, a rate of 0 takes it away.
    @discardableResult
    public nonisolated func setLimits(
        up: Int64? = nil, down: Int64? = nil, transfers: Int? = nil, transfersPerHost: Int? = nil
    ) async throws(RequestError) -> TransferLimits {
        try await call(
            Methods.limitsSet,
            LimitsChange(up: up, down: down, transfers: transfers, transfersPerHost: transfersPerHost))
    }

    /// The newest lines of the engine's log, oldest first; with `after` only those behind it, waiting for one.
    /// - Returns: the lines, and the `after` to go on with.
    public nonisolated func log(
        level: LogLevel = .info, batch: BatchID? = nil, task: TaskID? = nil, limit: Int = 200, after: Int64? = nil
    ) async throws(RequestError) -> (lines: [LogLine], next: Int64) {
        let page = try await call(
            Methods.logRead,
            LogReadRequest(level: level, batch: batch, task: task, limit: limit, after: after, wait: after != nil))
        return (page.lines, page.next)
    }
}
