import ServiceWire

/// The way in which an ``EngineConnection`` finds its engine.
public struct ConnectionOptions: Sendable {
    /// The policy of starting an engine when none answers.
    public enum Launching: Sendable {
        case ifNeeded
        /// For what only looks: with no engine the calls throw `engineUnreachable`.
        case never
    }

    public var launching: Launching
    /// After a loss, connect again by itself (1, 2, 4 … 10 s apart, or at ``EngineConnection/retryNow()``). Such a retry
    /// never starts an engine.
    public var reconnects: Bool
    /// The program and version of this client, for the engine's log.
    public var client: String
    /// The engine of another machine; `nil`: of this one.
    package var remote: RemoteEngine?

    public init(launching: Launching = .ifNeeded, reconnects: Bool = false, client: String = "MartletKit") {
        self.launching = launching
        self.reconnects = reconnects
        self.client = client
    }
}

/// The state of a connection to the engine.
public enum ConnectionState: Sendable, Hashable {
    /// Not asked to connect yet, or closed. Next: `connecting`.
    case idle
    /// Next: `connected`, or `idle` or `lost` when it fails.
    case connecting
    /// Next: `lost`, or `idle` by `close`.
    case connected(EngineIdentity)
    /// It was there and is gone. `nextTry`: when it is tried again by itself. Next: `connecting`.
    case lost(since: Timestamp, nextTry: Timestamp?, Loss = .engine(problem: nil))

    public var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

/// The side that is gone when a connection is lost, with what is known about why.
public enum Loss: Sendable, Hashable {
    /// It ended without a word, as by a kill, or cannot be reached.
    case engine(problem: String?)
    /// It was told to end.
    case stopped
    /// The line to the machine where the engine is.
    case line(problem: String?)
}

/// The engine that answered.
public struct EngineIdentity: Sendable, Hashable {
    public var pid: Int32
    public var version: String
    public var protocolVersion: String
    /// By how much the clock of its machine was ahead of this one's when it answered; zero on this machine.
    public var clockAhead = Duration.zero
    /// For how long it lets a change be taken back; `nil`: it did not say.
    public var grace: Duration?
}
