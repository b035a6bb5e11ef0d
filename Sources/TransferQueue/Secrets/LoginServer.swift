import LinuxSystem
package import TransferModel

/// The server that a login may be shown to: scheme, host and port; of a URL that names a bucket the service, whose buckets are one server. It is stored
/// beside the login of a configured server, which is shown to no other.
package struct LoginServer: RawRepresentable, Codable, Hashable, Sendable {
    /// `https://host:443`, which stands for WebDAV and the resumable uploads there, too; `s3+https://host:443`; `s3` for AWS.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// `nil`: not a URL with a host and without user info, or such an endpoint.
    package init?(of url: String, _ s3: S3Place?) {
        guard let address = RemoteAddress(url) else { return nil }
        let scheme = TransferScheme(of: url)
        if let scheme, scheme.facts.urlNamesNoHost {
            guard let endpoint = s3?.endpoint else {
                self.init(rawValue: scheme.rawValue)
                return
            }
            guard let service = RemoteAddress(endpoint) else { return nil }
            self.init(rawValue: "\(scheme.rawValue)+\(service.origin)")
            return
        }
        guard let name = scheme?.overHTTP, let colon = address.origin.firstRange(of: "://") else {
            self.init(rawValue: address.origin)
            return
        }
        self.init(rawValue: name + address.origin[colon.lowerBound...])
    }

    private var name: String { String(rawValue.prefix { $0 != "+" }) }

    /// The facts of a service whose URLs name a bucket; `nil`: a server of another kind.
    private var service: ProtocolFacts? {
        TransferScheme(rawValue: name).map(\.facts).flatMap { $0.urlNamesNoHost ? $0 : nil }
    }

    /// It asks for keys, and for no user and password.
    var takesKeys: Bool { service?.login == .awsKeys }

    /// For messages.
    package var displayed: String {
        guard let facts = service else { return RawPath(rawValue).displayed }
        let service = String(rawValue.dropFirst(name.count + 1))
        return
            "\(name.uppercased()) at \(service.isEmpty ? facts.login.source?.word ?? "" : RawPath(service).displayed)"
    }
}

/// The login of a configured server, as it is stored: the fields of its secrets, and one more that earlier versions pass over.
package struct DestinationLogin: Codable, Hashable, Sendable {
    package var secrets: TransferSecrets
    /// The only server that it is shown to; `nil`: the first one that it is used for, because an earlier version or client kept it.
    package var server: LoginServer?

    package init(_ secrets: TransferSecrets, for server: LoginServer?) {
        self.secrets = secrets
        self.server = server
    }

    private enum CodingKeys: String, CodingKey { case server }

    package init(from decoder: any Decoder) throws {
        secrets = try TransferSecrets(from: decoder)
        server = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(LoginServer.self, forKey: .server)
    }

    package func encode(to encoder: any Encoder) throws {
        try secrets.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(server, forKey: .server)
    }

    /// True when it is somebody else's than the one who is named to log in.
    package func isOfAnother(than user: String?) -> Bool {
        guard let user, let own = secrets.user else { return false }
        return user != own
    }
}
