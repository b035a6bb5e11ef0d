package import TransferModel

/// The first request of a connection; any other before it is refused.
package struct Hello: Codable, Hashable, Sendable {
    package var protocolVersion: ProtocolVersion
    /// Program and version, for the log: `martlet 0.1.0`.
    package var client: String?
    /// `SSH_AUTH_SOCK` of the client, for work that needs the person's keys: the newest one counts.
    package var sshAgent: RawPath?

    package init(protocolVersion: ProtocolVersion = .current, client: String?, sshAgent: RawPath? = nil) {
        self.protocolVersion = protocolVersion
        self.client = client
        self.sshAgent = sshAgent
    }
}

/// The engine's answer to ``Hello``: who it is.
package struct Welcome: Codable, Hashable, Sendable {
    package var protocolVersion: ProtocolVersion
    package var engineVersion: String
    package var pid: Int32

    package init(protocolVersion: ProtocolVersion = .current, engineVersion: String, pid: Int32) {
        self.protocolVersion = protocolVersion
        self.engineVersion = engineVersion
        self.pid = pid
    }
}

/// No parameters, or nothing to say.
package struct Nothing: Codable, Hashable, Sendable {
    package init() {}
}
