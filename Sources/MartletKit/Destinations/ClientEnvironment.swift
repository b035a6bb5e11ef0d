import LinuxSystem

/// The variables of a client's process: what a batch keeps of them, takes its keys from, or gives a program that prints keys.
package enum ClientEnvironment {
    /// Those that are UTF-8; the first of a name counts, as for getenv(3).
    package static var ofThisProcess: [String: String] {
        System.environmentEntries.reduce(into: [:]) { environment, entry in
            guard let text = String(validating: entry, as: UTF8.self), let end = text.firstIndex(of: "="),
                environment[String(text[..<end])] == nil
            else { return }
            environment[String(text[..<end])] = String(text[text.index(after: end)...])
        }
    }
}
