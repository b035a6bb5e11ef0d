/// Everything in `martlet.conf`.
package struct Settings: Equatable, Sendable {
    package var engine = EngineConfiguration()
    package var screen = ScreenConfiguration()
    package var colors = ColorConfiguration()

    /// The defaults.
    package init() {}

    /// Reads the file's bytes. What does not count is reported, in the order of the lines, and the default stays.
    package init(bytes: [UInt8], problems: inout [ConfigurationProblem]) {
        let document = INIDocument(bytes: bytes)
        var found = document.problems
        for section in document.sections where !Self.sectionNames.contains(section.name) {
            let nearest = Suggestion.nearest(to: section.name, among: Self.sectionNames)
            let remedy =
                nearest.map { "is it [\($0)]?" }
                ?? "there are \(Self.sectionNames.map { "[\($0)]" }.joined(separator: ", "))"
            found.append(ConfigurationProblem(line: section.line, "[\(section.name)] is not a section: \(remedy)"))
        }
        var lines: [String: Int] = [:]
        for entry in document.entries {
            switch entry.section {
            case nil, "engine": found += [engine.take(entry)].compactMap(\.self)
            case "screen": found += [screen.take(entry)].compactMap(\.self)
            case "colors": found += [colors.take(entry)].compactMap(\.self)
            default: continue
            }
            if let earlier = lines.updateValue(entry.line, forKey: "\(entry.section ?? "engine").\(entry.key)") {
                found.append(
                    ConfigurationProblem(
                        line: entry.line, "\(entry.key) stands in line \(earlier) too: remove one of them"))
            }
        }
        let ofColors = lines.compactMap { key, line in
            key.hasPrefix("colors.") ? (String(key.dropFirst(7)), line) : nil
        }
        found += colors.clashes(Dictionary(uniqueKeysWithValues: ofColors))
        problems += found.sorted { $0.line < $1.line }
    }

    private static let sectionNames = ["engine", "screen", "colors"]

    /// A file with every key at its default, commented out, for people to start from.
    package static var example: String {
        """
        # martlet.conf: settings of Martlet, to be put into $XDG_CONFIG_HOME/martlet/ (~/.config/martlet/).
        # Each key is shown with its default. Sizes and rates are binary: 512K 8M 2G. Durations: 30s 5m 2h 7d.
        # A line that does not count is named in the log and leaves the default; comments stand on lines of their own.

        [engine]

        \(lines(EngineConfiguration.settings))

        [screen]

        \(lines(ScreenConfiguration.settings))

        [colors]

        \(lines(ColorConfiguration.settings))

        """
    }

    private static func lines<Section: SettingsSection>(_ settings: [Setting<Section>]) -> String {
        settings.map { "# \($0.help): \($0.allowed)\n# \($0.key) = \($0.written(Section()))" }.joined(separator: "\n\n")
    }
}
