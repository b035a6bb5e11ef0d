import SQLiteConnection
import TransferModel

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
        let page = try undoLog.page()
        for before in steps { try undoLog.note(.limit, nil, batch: nil, before, page: page) }
        return page.operation
    }
}
