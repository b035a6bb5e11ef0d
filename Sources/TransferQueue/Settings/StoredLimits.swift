import TransferModel

/// Limits of the whole engine that were set by hand; what is `nil` is as the configuration says.
package struct StoredLimits: Codable, Hashable, Sendable {
    /// As written: a rate, `off`, a timetable.
    package var up: String?
    package var down: String?
    package var transfers: Int?
    package var transfersPerHost: Int?

    package init(up: String? = nil, down: String? = nil, transfers: Int? = nil, transfersPerHost: Int? = nil) {
        self.up = up
        self.down = down
        self.transfers = transfers
        self.transfersPerHost = transfersPerHost
    }

    /// These, with what is still as `set` made it as it is in `before`: another one may have set it again.
    func putBack(_ set: StoredLimits, to before: StoredLimits) -> StoredLimits {
        func value<Value: Equatable>(_ limit: KeyPath<StoredLimits, Value?>) -> Value? {
            let isOurs = set[keyPath: limit] != nil && self[keyPath: limit] == set[keyPath: limit]
            return isOurs ? before[keyPath: limit] : self[keyPath: limit]
        }
        return StoredLimits(
            up: value(\.up), down: value(\.down), transfers: value(\.transfers),
            transfersPerHost: value(\.transfersPerHost))
    }
}

extension LimitScope {
    /// As it stands in the table of limits.
    var stored: String {
        switch self {
        case .host(let name): "host \(name)"
        case .session(let name): "session \(name.rawValue)"
        case .batch(let id): "b\(id.rawValue)"
        case .folder(let id): "f\(id.rawValue)"
        case .task(let id): "t\(id.rawValue)"
        }
    }

    /// `nil` for what no version of ours wrote.
    init?(stored text: String) {
        if text.hasPrefix("host ") {
            self = .host(String(text.dropFirst(5)))
        } else if text.hasPrefix("session ") {
            guard let name = SessionName(rawValue: String(text.dropFirst(8))) else { return nil }
            self = .session(name)
        } else if let number = Int64(text.dropFirst()) {
            switch text.first {
            case "b": self = .batch(BatchID(rawValue: number))
            case "f": self = .folder(FolderID(rawValue: number))
            case "t": self = .task(TaskID(rawValue: number))
            default: return nil
            }
        } else {
            return nil
        }
    }
}
