import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// Endpoint, region and keys of S3, found where other S3 tools find them: the environment first, then the profile's files.
struct S3Surroundings {
    /// What of the environment counts.
    static let variables = [
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
        "AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
    ]

    private let environment: [String: String]
    private let credentials: INIDocument?
    private let configuration: INIDocument?

    init(_ surroundings: Surroundings) {
        environment = surroundings.environment.filter { !$0.value.isEmpty }
        let home = environment["HOME"] ?? ""
        credentials = Self.read(environment["AWS_SHARED_CREDENTIALS_FILE"] ?? home + "/.aws/credentials")
        configuration = Self.read(environment["AWS_CONFIG_FILE"] ?? home + "/.aws/config")
    }

    private static func read(_ path: String) -> INIDocument? {
        guard let descriptor = try? System.open(Array(path.utf8)) else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // A file of keys has some lines; a longer one is something else.
        while bytes.count < 1 << 20 {
            let count = buffer.withUnsafeMutableBytes { (try? System.read(descriptor.rawValue, $0)) ?? 0 }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return INIDocument(bytes: bytes)
    }

    private var profile: String { environment["AWS_PROFILE"] ?? "default" }

    private func stored(_ key: String) -> String? {
        let section = profile == "default" ? "default" : "profile \(profile)"
        return credentials?.value(key, in: profile) ?? configuration?.value(key, in: section)
    }

    /// Puts place and keys into a request.
    func complete(_ request: inout BatchRequest, command: String) throws(CommandFailure) {
        let endpoint = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] ?? stored("endpoint_url")
        // What it holds may be a password: it is not shown.
        if let endpoint, TransferScheme(of: endpoint).map({ $0 != .http && $0 != .https }) ?? true {
            throw .usage(
                "\(command): the S3 endpoint is not a URL of http or https", "write https://HOST in AWS_ENDPOINT_URL")
        }
        if let endpoint, endpoint.contains(where: { "@?#".contains($0) }) {
            throw .usage(
                "\(command): the S3 endpoint has more in it than host and path",
                "write https://HOST in AWS_ENDPOINT_URL, and give the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        }
        request.options.s3 = S3Place(
            endpoint: endpoint,
            region: environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? stored("region"))
        // A user of the command line or the URL stands for the keys.
        if let user = request.secrets.user, let password = request.secrets.password {
            request.secrets.s3 = S3Keys(accessKeyID: user, secretAccessKey: password)
        } else if let id = environment["AWS_ACCESS_KEY_ID"], let key = environment["AWS_SECRET_ACCESS_KEY"] {
            request.secrets.s3 = S3Keys(
                accessKeyID: id, secretAccessKey: key, sessionToken: environment["AWS_SESSION_TOKEN"])
        } else if let id = stored("aws_access_key_id"), let key = stored("aws_secret_access_key") {
            request.secrets.s3 = S3Keys(
                accessKeyID: id, secretAccessKey: key, sessionToken: stored("aws_session_token"))
        } else {
            throw .usage(
                "\(command): no keys for S3 were found (profile \(profile))",
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give --user with --password-command"
            )
        }
    }
}
