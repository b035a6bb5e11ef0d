// Configuration: `martlet.conf` and `keys.conf`, from bytes to values and back, and the words in which values are written everywhere.
//
// For whom: the programs' options and files. Which thread: any; values only, and no file is opened here. Start reading at `INIDocument`
// (text taken apart, never failing), then here (one key), `Settings` (a section's table), `EngineConfiguration` and `ScreenConfiguration`
// (what the keys mean), `ValueSyntax` (sizes, rates, durations, shared with CommandLine). Problems name their line and never stop a program.

/// One key of a section of `martlet.conf`: its name, what it means, how it is read, and where its value goes.
package struct Setting<Section: Sendable>: Sendable {
    package let key: String
    /// One line for the example file.
    package let help: String
    /// Continues "give …" in the message about a bad value.
    package let allowed: String
    /// Puts a value in its place; false when the text is not such a value.
    package let read: @Sendable (String, inout Section) -> Bool
    /// The value as it would be written in the file.
    package let written: @Sendable (Section) -> String

    init<Value: WrittenValue>(
        _ key: String, _ syntax: ValueSyntax<Value>, _ place: any WritableKeyPath<Section, Value> & Sendable,
        _ help: String
    ) {
        self.key = key
        self.help = help
        allowed = syntax.allowed
        read = { text, section in
            guard let value = syntax.read(Array(text.utf8)) else { return false }
            section[keyPath: place] = value
            return true
        }
        written = { $0[keyPath: place].written }
    }
}

/// A section of `martlet.conf` whose keys are known.
package protocol SettingsSection: Equatable, Sendable {
    /// The defaults.
    init()
    /// All its keys, in the order of the example file.
    static var settings: [Setting<Self>] { get }
}

extension SettingsSection {
    /// Takes one line of a file; the problem if it does not count. The value then stays what it was.
    mutating func take(_ entry: INIDocument.Entry) -> ConfigurationProblem? {
        guard let setting = Self.settings.first(where: { $0.key == entry.key }) else {
            let nearest = Suggestion.nearest(to: entry.key, among: Self.settings.map(\.key))
            let remedy = nearest.map { "is it \($0)?" } ?? "remove it"
            return ConfigurationProblem(line: entry.line, "\(entry.key) is not a setting: \(remedy)")
        }
        guard !setting.read(entry.value, &self) else { return nil }
        return ConfigurationProblem(
            line: entry.line,
            "\(entry.key): \"\(entry.value)\" is not allowed: give \(setting.allowed) (\(setting.written(self)) counts)"
        )
    }
}
