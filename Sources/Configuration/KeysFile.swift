/// One line of `keys.conf`: the keys that do one action. `cancel = x F8 Del` in a view's section, or before the first
/// section for every view. `keys.conf` has keys that INI would misread by name: `semicolon`, `equals`, `bracketleft` …
package struct KeyBinding: Equatable, Sendable {
    /// The section's name; `nil`: every view.
    package var view: String?
    package var action: String
    /// As they are written; empty: the action has no key.
    package var keys: [String]
    /// Counted from 1, for messages about actions and keys that do not exist.
    package var line: Int

    /// Reads the bytes of `keys.conf`. Which actions and keys there are, the screen knows.
    package static func read(bytes: [UInt8], problems: inout [ConfigurationProblem]) -> [KeyBinding] {
        let document = INIDocument(bytes: bytes)
        problems += document.problems
        return document.entries.map { entry in
            KeyBinding(
                view: entry.section, action: entry.key,
                keys: entry.value.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init), line: entry.line)
        }
    }
}
