package import Configuration

/// The settings that a person made while the screen was open, and what the file said then. A file that was changed
/// since is the later word, so it counts again.
package struct KeptAppearance: Hashable, Sendable {
    /// One key of `[screen]`.
    struct Choice: Hashable, Sendable {
        var value: String
        /// The file's value when it was chosen.
        var before: String
    }

    /// By key.
    private(set) var choices: [String: Choice] = [:]

    package init() {}

    init(_ choices: [String: Choice]) { self.choices = choices }

    /// Notes what was chosen for a key; what the file says already needs no note.
    mutating func choose(_ key: String, _ value: String, over configured: ScreenConfiguration) {
        guard let setting = Self.setting(key) else { return }
        let before = setting.written(configured)
        choices[key] = value == before ? nil : Choice(value: value, before: before)
    }

    /// The settings of the file with what was chosen on top.
    package func applied(to configured: ScreenConfiguration) -> ScreenConfiguration {
        var screen = configured
        for (key, choice) in choices {
            guard let setting = Self.setting(key), setting.written(configured) == choice.before else { continue }
            _ = setting.read(choice.value, &screen)
        }
        return screen
    }

    /// Without what a file that was changed since has overruled.
    func kept(over configured: ScreenConfiguration) -> KeptAppearance {
        KeptAppearance(choices.filter { Self.setting($0.key)?.written(configured) == $0.value.before })
    }

    private static func setting(_ key: String) -> Setting<ScreenConfiguration>? {
        ScreenConfiguration.settings.first { $0.key == key }
    }
}
