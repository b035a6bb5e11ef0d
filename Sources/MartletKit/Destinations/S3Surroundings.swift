package import Configuration
import LinuxSystem
package import TransferModel

/// Endpoint, region and keys of S3, found where other S3 tools find them: the environment first, then the profile's files.
/// A destination that names them counts more.
package struct S3Surroundings: Sendable {
    private let environment: [String: String]

    package init(_ environment: [String: String]) { self.environment = environment.filter { !$0.value.isEmpty } }

    /// A path of a file of ours, with `~/` for the home folder.
    package func expanded(_ path: String) -> String {
        path.hasPrefix("~/") ? (environment["HOME"] ?? "") + path.dropFirst() : path
    }

    /// The files of AWS's tools, and which of their sections counts.
    private struct Stored {
        let profiles: S3Profiles
        let profile: String
        /// The reason why one of the files, which is there, or a part of it, is not read.
        let refusal: String?

        /// Nothing is taken for missing that may stand in a file which is not read.
        func requireRead() throws(QueueingFault) {
            guard let refusal else { return }
            throw .usage(
                "the settings of the AWS profile \(profile) are not known",
                "\(refusal); or name other files in AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, /dev/null for none"
            )
        }
    }

    private func stored(_ profile: String?) -> Stored {
        let credentials = expanded(environment["AWS_SHARED_CREDENTIALS_FILE"] ?? "~/.aws/credentials")
        let configuration = expanded(environment["AWS_CONFIG_FILE"] ?? "~/.aws/config")
        var lost: String?
        func read(_ path: String) -> INIDocument? {
            let document = SmallFile.contents(path).map { INIDocument(bytes: $0, .aws) }
            lost = lost ?? document?.unreadableSection?.description(file: path)
            return document
        }
        // A file in a folder that this user may not search counts as missing.
        let files = [credentials, configuration].filter { path in
            path != "/dev/null" && (try? System.lstat(Array(path.utf8))) != nil
        }
        let profiles = S3Profiles(
            credentials: read(credentials), configuration: read(configuration), environment: environment)
        return Stored(
            profiles: profiles,
            profile: profile ?? environment["AWS_PROFILE"] ?? environment["AWS_DEFAULT_PROFILE"] ?? "default",
            refusal: files.lazy.compactMap { SmallFile.refusal($0) }.first ?? lost)
    }

    private func endpoint(of destination: Destination?, _ stored: Stored) throws(QueueingFault) -> String? {
        let set =
            destination?.profile == nil ? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] : nil
        if let named = destination?.endpoint ?? set { return named }
        let isIgnored = environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]?.lowercased() == "true"
        if isIgnored, destination?.profile == nil { return nil }
        try stored.requireRead()
        return try stored.profiles.endpoint(of: stored.profile)
    }

    private func region(of destination: Destination?, _ stored: Stored) throws(QueueingFault) -> String? {
        let set = destination?.profile == nil ? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] : nil
        if let named = destination?.region ?? set { return named }
        try stored.requireRead()
        return stored.profiles.value("region", of: stored.profile)
    }

    /// The service that a destination's bucket is at; `nil`: it is none of S3. Blocks on the disk.
    package func place(of destination: Destination) throws(QueueingFault) -> S3Place? {
        guard TransferScheme(of: destination.url)?.facts.login.signsRequests == true else { return nil }
        return S3Place(endpoint: try endpoint(of: destination, stored(destination.profile)))
    }

    /// Puts place and keys into a request; blocks on the disk, and on a profile's `credential_process`.
    /// - Parameter needsKeys: false: it does without, because the engine adds them.
    package func complete(
        _ request: inout BatchRequest, destination: Destination? = nil, needsKeys: Bool = true
    ) throws(QueueingFault) {
        let stored = stored(destination?.profile)
        let endpoint = try endpoint(of: destination, stored)
        if let endpoint, TransferScheme(of: endpoint)?.facts.isNegotiated != true {
            // What it holds may be a password: it is not shown.
            throw .usage("the S3 endpoint is not a URL of http or https", "write https://HOST in AWS_ENDPOINT_URL")
        }
        if let endpoint, endpoint.utf8.contains(where: { "@?#".utf8.contains($0) }) {
            throw .usage(
                "the S3 endpoint has more in it than host and path",
                "write https://HOST in AWS_ENDPOINT_URL, and give the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        }
        let named = try region(of: destination, stored)
        if let named, !named.isEmpty, S3Region(rawValue: named) == nil {
            throw .usage(
                "the S3 region has characters in it that no region has, or too many",
                "write one such as eu-central-1 in AWS_REGION, in the profile or in the destination")
        }
        request.options.s3 = S3Place(endpoint: endpoint, region: named)
        let login = try login(for: request.secrets, stored, profile: destination?.profile, needed: needsKeys)
        // The user of the command line or the URL stands for the keys.
        let origin = request.secrets.user == nil ? Self.origin(destination?.profile) : .typed
        request.secrets.s3Origin = login == nil ? nil : origin
        (request.secrets.s3, request.secrets.s3Command) = (login?.keys, login?.command)
        request.secrets.s3Environment = login?.environment ?? [:]
    }

    /// Puts the keys as they are now into a login that is given anew; blocks as `complete`.
    /// - Parameter profile: the one that was named for the server; `nil`: those of the environment, or the profile that it names.
    package func renew(_ secrets: inout TransferSecrets, profile: String?) throws(QueueingFault) {
        let login = try login(stored(profile), profile: profile)
        (secrets.s3, secrets.s3Origin) = (login.keys, Self.origin(profile))
        (secrets.s3Command, secrets.s3Environment) = (login.command, login.environment)
    }

    private static func origin(_ profile: String?) -> S3KeysOrigin { profile.map { .profile($0) } ?? .surroundings }

    /// True when there are keys to be had. A profile that is named must be one that can be used. Blocks as `complete`.
    package func hasKeys(of destination: Destination) throws(QueueingFault) -> Bool {
        let stored = stored(destination.profile)
        if destination.profile == nil, environmentKeys != nil { return true }
        try stored.requireRead()
        if destination.profile != nil { return try stored.profiles.login(stored.profile) != nil }
        return (try? stored.profiles.login(stored.profile)) != nil
    }

    private var environmentKeys: S3Keys? {
        guard let id = environment["AWS_ACCESS_KEY_ID"], let key = environment["AWS_SECRET_ACCESS_KEY"] else {
            return nil
        }
        return S3Keys(accessKeyID: id, secretAccessKey: key, sessionToken: environment["AWS_SESSION_TOKEN"])
    }

    private func login(
        for secrets: TransferSecrets, _ stored: Stored, profile: String?, needed: Bool
    ) throws(QueueingFault) -> S3Login? {
        // A user of the command line or the URL stands for the keys.
        if let user = secrets.user, let password = secrets.password {
            return S3Login(keys: S3Keys(accessKeyID: user, secretAccessKey: password))
        }
        // A password command prints the secret key when it is needed.
        guard needed, !secrets.opensS3 else { return nil }
        return try login(stored, profile: profile)
    }

    private func login(_ stored: Stored, profile: String?) throws(QueueingFault) -> S3Login {
        // A destination's own profile is meant, whatever the environment has.
        if profile == nil, let keys = environmentKeys { return S3Login(keys: keys) }
        try stored.requireRead()
        if let login = try stored.profiles.login(stored.profile) { return login }
        throw .usage(
            "no keys for S3 were found (profile \(stored.profile))",
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
    }
}
