package import TransferModel

/// The first request of a connection; any other before it is refused.
package struct Hello: Codable, Hashable, Sendable {
    package var protocolVersion: ProtocolVersion
    /// Program and version, for the log: `martlet 0.1.0`.
    package var client: String?
    /// `SSH_AUTH_SOCK` of the client, for work that needs the person's keys: the newest one counts.
    package var sshAgent: RawPath?
    /// `DBUS_SESSION_BUS_ADDRESS` of the client, for notifications on the person's desktop: the newest one counts.
    package var sessionBus: String?

    package init(
        protocolVersion: ProtocolVersion = .current, client: String?, sshAgent: RawPath? = nil,
        sessionBus: String? = nil
    ) {
        self.protocolVersion = protocolVersion
        self.client = client
        self.sshAgent = sshAgent
        self.sessionBus = sessionBus
    }
}

/// The engine's answer to ``Hello``: who it is.
package struct Welcome: Codable, Hashable, Sendable {
    package var protocolVersion: ProtocolVersion
    package var engineVersion: String
    package var pid: Int32
    /// The engine's clock as it answers, for a client on a machine whose clock may differ.
    package var now: Timestamp?
    /// For how many seconds a change can be taken back.
    package var graceSeconds: Int64?

    package init(
        protocolVersion: ProtocolVersion = .current, engineVersion: String, pid: Int32, now: Timestamp? = nil,
        graceSeconds: Int64? = nil
    ) {
        self.protocolVersion = protocolVersion
        self.engineVersion = engineVersion
        self.pid = pid
        self.now = now
        self.graceSeconds = graceSeconds
    }
}

/// No parameters, or nothing to say.
package struct Nothing: Codable, Hashable, Sendable {
    package init() {}
}
