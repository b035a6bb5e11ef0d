import Configuration
import DisplayText
import MartletKit

/// `:pause`, for a time or until one.
extension Model {
    mutating func pause(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 2, let written = Self.end(words[words.count - 2], words[words.count - 1]) else {
            return act(.pause, on: text)
        }
        // The engine's clock counts, which may be another machine's.
        let now = engineNow.wall
        let end = Timestamp(milliseconds: written.milliseconds(now: now.milliseconds))
        guard end > now else { return complain("\(moment(end)) is over already: give a time that is to come.") }
        act(.pauseUntil(end), on: words.dropLast(2).joined(separator: " "))
    }

    /// `for 2h`, `until 18:00`, `until +2h`. Anything else belongs to what is named.
    private static func end(_ word: String, _ time: String) -> WrittenTime? {
        switch word {
        case "for": WrittenTime("+" + time)
        case "until": WrittenTime(time)
        default: nil
        }
    }
}
