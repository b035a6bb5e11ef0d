/// A notification that the desktop is to show (Desktop Notifications Specification 1.2).
package struct DesktopNotification: Hashable, Sendable {
    package enum Urgency: UInt8, Sendable {
        case low, normal, critical
    }

    /// One line.
    package var summary: String
    /// Plain text; a few lines.
    package var body: String
    package var urgency: Urgency
    /// True when something went wrong, for the desktop's choice of sound and place.
    package var isProblem: Bool

    package init(summary: String, body: String, urgency: Urgency = .normal, isProblem: Bool = false) {
        self.summary = summary
        self.body = body
        self.urgency = urgency
        self.isProblem = isProblem
    }

    var category: String { isProblem ? "transfer.error" : "transfer.complete" }
    /// The icon's name in the desktop's own theme.
    var icon: String { isProblem ? "dialog-warning" : "emblem-default" }

    /// Escapes a text for a body that may hold markup: names must not be taken for it.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
