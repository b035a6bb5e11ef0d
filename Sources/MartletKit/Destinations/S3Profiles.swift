package import Configuration
import LinuxSystem
package import TransferModel

/// Keys of S3, and how others are had when these are over.
package struct S3Login: Sendable, Hashable {
    package var keys: S3Keys
    /// The words of the program that printed them, the first one its path, and the environment that it was run with.
    package var command: [String]?
    package var environment: [String: String] = [:]
}

/// The profiles of AWS's two files (the SDKs' reference, "Shared config and credentials files").
package struct S3Profiles: Sendable {
    private let credentials: INIDocument?
    private let configuration: INIDocument?
    /// The variables of the person's shell.
    private let environment: [String: String]

    package init(credentials: INIDocument?, configuration: INIDocument?, environment: [String: String] = [:]) {
        self.environment = environment
        self.credentials = credentials
        self.configuration = configuration
    }

    /// `nil`, too, for a key that is left empty, which AWS's tools pass over.
    package func value(_ key: String, of profile: String) -> String? {
        func given(_ document: INIDocument?, _ section: String) -> String? {
            document?.value(key, in: section).flatMap { $0.isEmpty ? nil : $0 }
        }
        return given(credentials, profile)
            ?? sections(of: profile).lazy.compactMap { given(configuration, $0) }.first
    }

    /// The sections of the configuration that are of this profile: `profile NAME`, with quotes where it has blanks, before `default`.
    private func sections(of profile: String) -> [String] {
        let named = (configuration?.sections ?? []).map(\.name).filter { Self.words($0) == ["profile", profile] }
        return named + (profile == "default" ? [profile] : [])
    }

    /// The service that a profile means: that of S3 comes before the one of all services.
    package func endpoint(of profile: String) throws(QueueingFault) -> String? {
        if value("ignore_configured_endpoint_urls", of: profile)?.lowercased() == "true" { return nil }
        if let name = value("services", of: profile) {
            guard let configuration, configuration.sections.contains(where: { $0.name == "services \(name)" }) else {
                throw .usage(
                    "the AWS profile \(profile) names services = \(name), and no section is called so",
                    "write a section [services \(name)] with the endpoint_url of s3, or leave that line out")
            }
            if let url = configuration.value("s3.endpoint_url", in: "services \(name)"), !url.isEmpty { return url }
        }
        return value("s3.endpoint_url", of: profile) ?? value("endpoint_url", of: profile)
    }

    /// The login of this profile; `nil` when it says nothing of it. May run a program, and waits for it.
    package func login(_ profile: String) throws(QueueingFault) -> S3Login? {
        var asked: [String] = []
        var next = profile
        while !asked.contains(next) {
            asked.append(next)
            // Roles come first, as in AWS's tools: the keys beside one are another identity.
            if let refused = Self.unknown.first(where: { value($0.key, of: next) != nil }) {
                throw .usage(
                    "the AWS profile \(next) uses \(refused.key) (\(refused.name)), which Martlet cannot",
                    "use credential_process, such as: credential_process = aws configure export-credentials "
                        + "--profile \(next) --format process, in a profile of its own")
            }
            if let id = value("aws_access_key_id", of: next), let key = value("aws_secret_access_key", of: next) {
                return S3Login(
                    keys: S3Keys(
                        accessKeyID: id, secretAccessKey: key, sessionToken: value("aws_session_token", of: next)))
            }
            if let command = value("credential_process", of: next) { return try run(command, of: next) }
            guard let source = value("source_profile", of: next) else { return nil }
            next = source
        }
        throw .usage(
            "the AWS profiles \(asked.joined(separator: ", ")) name each other as source_profile",
            "give one of them keys or a credential_process")
    }

    /// Ways to be let in that need services of AWS other than S3.
    private static let unknown: [(key: String, name: String)] = [
        ("role_arn", "a role"), ("web_identity_token_file", "a web identity"), ("sso_session", "single sign-on"),
        ("sso_start_url", "single sign-on"), ("credential_source", "the machine's own identity"),
        ("login_session", "a console login"),
    ]

    private func run(_ command: String, of profile: String) throws(QueueingFault) -> S3Login {
        func fault(_ why: String, _ remedy: String = "run it by hand and mend it") -> QueueingFault {
            .usage("credential_process of the AWS profile \(profile) \(why)", remedy)
        }
        guard var words = Self.words(command), !words.isEmpty else { throw fault("cannot be split into words") }
        let session = environment.filter { S3Keys.sessionVariables.contains($0.key) }
        let environment = S3Keys.environment(of: environment)
        guard S3Keys.isEnvironment(environment) else {
            throw fault(
                "would be given more than \(S3Keys.largestEnvironment >> 10) KiB of environment variables",
                "unset some that begin with AWS_")
        }
        // The engine, which runs it again, may look elsewhere for it.
        words[0] = System.program(words[0], in: environment["PATH"] ?? "") ?? words[0]
        let output: CommandOutput
        do throws(Errno) {
            let program = ChildProgram(
                words[0], Array(words.dropFirst()), environment: (Array(environment) + session).map { "\($0)=\($1)" })
            output = try .read(of: program)
        } catch {
            throw fault("cannot be run (\(error))")
        }
        switch output {
        case .printed(let bytes):
            guard let keys = S3Keys(processOutput: bytes) else { throw fault("does not print keys (JSON, Version 1)") }
            return S3Login(keys: keys, command: words, environment: environment)
        case .failed:
            throw fault(
                "failed",
                "run it by hand and mend it; one that works there needs other variables than AWS_*, PATH, HOME, proxies and certificates: "
                    + "name them in its line (credential_process = env NAME=VALUE PROGRAM)")
        case .endless: throw fault("does not end")
        }
    }

    /// Words as a shell has them, but nothing else of a shell: blanks, quotation marks of both kinds, a backslash.
    static func words(_ command: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in command {
            if isEscaped {
                // Within double quotation marks a backslash is itself before anything but these.
                if quote == "\"", !["\"", "\\", "$", "`"].contains(character) { word?.append("\\") }
                word?.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                word = word ?? ""
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                word = word ?? ""
                quote = character
            } else if quote == nil, character == " " || character == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words
    }
}
