import LinuxSystem

/// The variables of a client's process that a batch keeps or takes its keys from.
package enum ClientEnvironment {
    private static let variables =
        ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
        + ["MARTLET_SSH_COMMAND", "HOME"] + S3Surroundings.variables

    /// Those that are set, and are UTF-8.
    package static var ofThisProcess: [String: String] {
        variables.reduce(into: [:]) { environment, name in
            environment[name] = System.environment(name).flatMap { String(validating: $0, as: UTF8.self) }
        }
    }
}
