import Configuration
import ServiceWire
import TransferModel

/// People's requests in words for the log. Texts of theirs are made harmless where the log takes them in.
extension MoveRequest {
    var words: String {
        switch to {
        case .top: "to the top"
        case .bottom: "to the bottom"
        case .earlier: "one earlier"
        case .later: "one later"
        case .before: before.map { "before \($0)" } ?? ""
        }
    }
}

extension SetRequest {
    /// `limit 2M/s, priority high`; of what lets it in only that it was given.
    var words: String {
        var words: [String?] = [
            settings.limit.map { "limit \(rate($0))" }, settings.priority.map { "priority \($0.rawValue)" },
            settings.notBefore.map { "not before \($0)" },
            settings.giveUpAfterSeconds.map { "give up after \(WhySentence.span(.seconds($0)))" },
            settings.ifExists.map { "if it exists: \($0.rawValue)" }, settings.name.map { "name \"\($0)\"" },
            settings.caFile.map { "authorities \($0.displayed)" }, settings.pin.map { "pin \($0)" },
        ]
        if let secrets, !secrets.isEmpty { words.append("login") }
        return words.compactMap(\.self).joined(separator: ", ")
    }
}

extension LimitsChange {
    /// `up 2M/s, 4 transfers at once`
    var words: String {
        var words: [String?] = [
            upTimetable.map { "up \($0)" } ?? up.map { "up \(rate($0))" },
            downTimetable.map { "down \($0)" } ?? down.map { "down \(rate($0))" },
            transfers.map { "\($0) at once" }, transfersPerHost.map { "\($0) at once to one host" },
        ]
        words += (scoped ?? []).map { "\($0.kind.rawValue) \($0.name) \(rate($0.rate))" }
        return words.compactMap(\.self).joined(separator: ", ")
    }
}

private func rate(_ bytes: Int64) -> String {
    bytes == 0 ? "off" : "\(RateLimit.bytesPerSecond(bytes).written)/s"
}
