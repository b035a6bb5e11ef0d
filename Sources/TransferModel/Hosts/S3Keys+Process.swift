import FoundationEssentials

/// Keys that a program prints: `credential_process` of an AWS profile.
extension S3Keys {
    /// Environment variables that such a program may want.
    package static let processVariables = [
        "HOME", "USER", "PATH", "LANG", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE",
    ]

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
