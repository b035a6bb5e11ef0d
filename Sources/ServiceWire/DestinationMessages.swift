package import TransferModel

/// `destination.test`: whether a server can be used.
package struct DestinationTestRequest: Codable, Hashable, Sendable {
    /// Without user info.
    package var url: String
    package var options: TransferOptions?
    package var secrets: TransferSecrets?
    /// The configured server whose login the engine keeps and adds.
    package var destination: String?

    package init(url: String, options: TransferOptions?, secrets: TransferSecrets?, destination: String?) {
        self.url = url
        self.options = options
        self.secrets = secrets
        self.destination = destination
    }
}

/// The answer to `destination.test`.
package struct DestinationTested: Codable, Hashable, Sendable {
    package var report: DestinationReport
    package init(report: DestinationReport) { self.report = report }
}

/// `destination.keep`: the login of a configured server, for the engine's store of secrets.
package struct DestinationKeepRequest: Codable, Hashable, Sendable {
    package var name: String
    package var secrets: TransferSecrets
    /// The server that it is given for, without user info: it is shown to no other. `nil`: the first one that it is used for.
    package var url: String?
    /// The service of S3 with it.
    package var s3: S3Place?

    package init(name: String, secrets: TransferSecrets, url: String? = nil, s3: S3Place? = nil) {
        self.name = name
        self.secrets = secrets
        self.url = url
        self.s3 = s3
    }
}

/// `destination.forget`: that login is not wanted any more. `destination.restore`: it is wanted again.
package struct DestinationForgetRequest: Codable, Hashable, Sendable {
    package var name: String
    package init(name: String) { self.name = name }
}

/// The answer to both.
package struct DestinationForgotten: Codable, Hashable, Sendable {
    /// True when there was a login to forget or to restore.
    package var existed: Bool
    package init(existed: Bool) { self.existed = existed }
}
