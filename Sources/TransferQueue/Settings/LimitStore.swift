import SQLiteConnection
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

/// Speed limits: of the whole engine, and of everything that can have one.
struct LimitStore: QueueSubject {
    let queue: QueueConnection
    let undoLog: UndoLog

    func limits() throws -> [LimitScope: Int64] {
        var limits: [LimitScope: Int64] = [:]
        try database.forEach("SELECT scope, rate FROM limits") { row in
            if let scope = LimitScope(stored: row.text(0)) { limits[scope] = row.count(1) }
        }
        return limits
    }

    func limit(of scope: LimitScope) throws -> Int64? {
        try database.first("SELECT rate FROM limits WHERE scope = ?", .text(scope.stored)) { $0.count(0) }
    }

    /// - Parameter rate: bytes a second; `nil` or 0 takes the limit away.
    func setLimit(_ rate: Int64?, of scope: LimitScope) throws {
        if let rate, rate > 0 {
            try database.run(
                "INSERT OR REPLACE INTO limits VALUES (?, ?)", .text(scope.stored), .integer(rate))
        } else {
            try database.run("DELETE FROM limits WHERE scope = ?", .text(scope.stored))
        }
    }

    /// Forgets the limits of what a purge has deleted.
    func forgetLimits() throws {
        try database.run(
            """
            DELETE FROM limits WHERE (scope GLOB 'b[0-9]*' AND CAST(substr(scope, 2) AS INTEGER) NOT IN (SELECT id FROM batches))
            OR (scope GLOB 'f[0-9]*' AND CAST(substr(scope, 2) AS INTEGER) NOT IN (SELECT id FROM folders))
            OR (scope GLOB 't[0-9]*' AND CAST(substr(scope, 2) AS INTEGER) NOT IN (SELECT id FROM tasks))
            """)
    }

    func putBackLimit(_ before: UndoBefore) throws {
        guard let rate = before.rate, let scope = before.scope.flatMap(LimitScope.init(stored:)) else { return }
        if let set = before.rateSet, try limit(of: scope) ?? 0 != set { return }
        try setLimit(rate.value, of: scope)
    }

    // MARK: The whole engine

    func storedLimits() throws -> StoredLimits {
        let text = try database.first("SELECT value FROM meta WHERE name = 'limits'") { $0.text(0) }
        return StoredJSON.value(StoredLimits.self, text) ?? StoredLimits()
    }

    func store(_ limits: StoredLimits) throws {
        try database.run("INSERT OR REPLACE INTO meta VALUES ('limits', ?)", .text(try StoredJSON.text(limits)))
    }

    /// Sets some of the whole engine's limits (what is `nil` stays), and some of hosts and sessions; they are taken back as one.
    /// - Parameter scoped: bytes a second; 0 takes the limit away.
    /// - Returns: the number of the change; `nil`: all of it was so before.
    func change(_ wish: StoredLimits, _ scoped: [LimitScope: Int64]) throws -> Int64? {
        var steps: [UndoBefore] = []
        for (scope, rate) in scoped.sorted(by: { $0.key.stored < $1.key.stored }) {
            let now = try limit(of: scope)
            if (now ?? 0) == rate { continue }
            var before = UndoBefore()
            (before.scope, before.rate, before.rateSet) = (scope.stored, UndoBefore.Was(now), rate)
            try setLimit(rate, of: scope)
            steps.append(before)
        }
        let now = try storedLimits()
        let limits = StoredLimits(
            up: wish.up ?? now.up, down: wish.down ?? now.down, transfers: wish.transfers ?? now.transfers,
            transfersPerHost: wish.transfersPerHost ?? now.transfersPerHost)
        if now != limits {
            var before = UndoBefore()
            (before.limits, before.limitsSet) = (now, wish)
            try store(limits)
            steps.append(before)
        }
        if steps.isEmpty { return nil }
        let operation = try undoLog.operation()
        for before in steps { try undoLog.note(.limit, nil, batch: nil, before, operation: operation) }
        return operation
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
