import DisplayText
import MartletKit
import Terminal

/// The text that is taken out of the screen.
enum CopiedText: Hashable, Sendable {
    /// A path or address, quoted: a shell reads exactly the bytes that it has.
    case word(String)
    /// Text for the eye, as it is shown: names in it may differ from the real ones. Harmless for a terminal.
    case shown(String)
    /// A path of which only the text for the eye is known: it is not copied.
    case unknown

    var text: String {
        switch self {
        case .word(let text), .shown(let text): text
        case .unknown: ""
        }
    }

    /// The outcome for a person, with the file that it is in; `nil`: it was handed to the terminal.
    func notice(_ file: SafeText?) -> SafeText {
        let what: SafeText = if case .shown = self { "Copied as it is shown" } else { "Copied" }
        return what + (file.map { " into \($0)." } ?? ", if the terminal allows it.")
    }
}
