import ServiceWire
public import TransferModel

extension EngineConnection {
    /// True when an engine answers. Never starts one.
    public nonisolated func isEngineRunning() async throws(RequestError) -> Bool {
        do {
            try await connectOnly()
            return true
        } catch  where error == Self.notRunning {
            return false
        }
    }

    /// The engine's figures; `nil`: none is running. Never starts one.
    public nonisolated func status() async throws(RequestError) -> EngineStatus? {
        guard try await isEngineRunning() else { return nil }
        return try await call(Methods.engineStatus, Nothing())
    }

    /// Ends the engine and waits until it has gone.
    /// - Parameter finishRunning: let files that are running finish, however long that takes; else it checkpoints and
    ///   breaks them off, within 2 s.
    public nonisolated func stopEngine(finishRunning: Bool) async throws(RequestError) -> EngineStop {
        try await stopEngine(finishRunning ? .finishingRunning : .now)
    }

    /// Ends the engine in a manner and waits until it has gone. One that is to end at once and does not is silent.
    public nonisolated func stopEngine(_ manner: StopManner) async throws(RequestError) -> EngineStop {
        guard try await isEngineRunning() else { return .notRunning }
        do throws(RequestError) {
            let limit = manner == .now ? Self.stopLimit : nil
            _ = try await call(Methods.engineStop, EngineStopRequest(manner, wait: true), within: limit)
            return .takenBack
        } catch {
            // The connection ends with the engine.
            guard error == Self.lost else { throw error }
            return .stopped
        }
    }

    /// An engine that is told to end at once does within 2 s.
    private static let stopLimit = Duration.seconds(10)

    /// Starts an engine when none runs; one that is about to stop goes on.
    /// - Returns: whether it was about to stop.
    @discardableResult
    public nonisolated func startEngine() async throws(RequestError) -> Bool {
        try await connectLaunching()
        return try await call(Methods.engineGoOn, Nothing()).wasStopping
    }

    /// Asks the engine to end and does not wait for it.
    package nonisolated func requestStop(finishRunning: Bool) async {
        _ = try? await call(Methods.engineStop, EngineStopRequest(finishRunning: finishRunning))
    }

    public nonisolated func limits() async throws(RequestError) -> TransferLimits {
        try await call(Methods.limitsGet, Nothing())
    }

    /// Changes limits of the whole engine, a host or a session, and keeps them; what is `nil` stays as it is.
    @discardableResult
    public nonisolated func setLimits(_ wish: LimitsWish) async throws(RequestError) -> TransferLimits {
        try await call(
            Methods.limitsSet,
            LimitsChange(
                upTimetable: wish.up, downTimetable: wish.down, transfers: wish.transfers,
                transfersPerHost: wish.transfersPerHost, scoped: wish.scoped.isEmpty ? nil : wish.scoped))
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

/// The result of asking the engine to stop.
public enum EngineStop: Sendable, Hashable {
    case notRunning
    case stopped
    /// While files were finished somebody queued or resumed work, or started the engine: it goes on.
    case takenBack
}
