import FoundationEssentials

/// Keys that a program prints: `credential_process` of an AWS profile.
extension S3Keys {
    /// The environment that such a program is run with, of that of the person's shell, and again when its keys are over: where it and its
    /// files are, and the way to AWS's services. Tokens of other programs are not kept, nor is AWS's own key.
    package static func environment(of shell: [String: String]) -> [String: String] {
        shell.filter { name, _ in
            kept.contains(name) || name.lowercased().hasSuffix("_proxy")
                || name.hasPrefix("AWS_") && !ownKey.contains(name)
        }
    }

    private static let ownKey: Set = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    private static let kept: Set = [
        "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    ]

    /// The variables of a login session that such a program may want: they are those of who runs it, and are not kept.
    package static let sessionVariables = ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"]

    package static let largestEnvironment = 64 << 10

    /// Returns true of what a program can be given.
    package static func isEnvironment(_ variables: [String: String]) -> Bool {
        var bytes = 0
        for (name, value) in variables {
            if name.isEmpty || name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) { return false }
            if value.utf8.contains(0) { return false }
            bytes += name.utf8.count + value.utf8.count
        }
        return bytes <= largestEnvironment
    }

    private struct Printed: Decodable {
        var Version: Int
        var AccessKeyId: String
        var SecretAccessKey: String
        var SessionToken: String?
        var Expiration: String?
    }

    /// Reads what it printed: JSON of version 1. `nil` for anything else; nothing of it may be shown.
    package init?(processOutput bytes: [UInt8]) {
        guard let printed = try? JSONDecoder().decode(Printed.self, from: Data(bytes)), printed.Version == 1,
            !printed.AccessKeyId.isEmpty, !printed.SecretAccessKey.isEmpty
        else { return nil }
        self.init(
            accessKeyID: printed.AccessKeyId, secretAccessKey: printed.SecretAccessKey,
            sessionToken: printed.SessionToken)
        guard let text = printed.Expiration else { return }
        // RFC 3339 in UTC, however that is written.
        let isOffset = text.hasSuffix("+00:00")
        guard let time = Timestamp(isOffset ? text.dropLast(6) + "Z" : text) else { return nil }
        expires = time
    }

    /// True when they hold for so long that a request that begins now is still answered.
    package func isGood(at now: Timestamp) -> Bool { expires.map { $0 > now.advanced(by: .seconds(60)) } ?? true }
}
