import SQLiteConnection
import TransferModel

/// Knowledge of the engine that outlives it: the bytes that crossed the wire today, and facts learnt of hosts, into which the queue does
/// not look.
struct EngineMemory: QueueSubject {
    let queue: QueueConnection

    func storedDay() throws -> DayCount? {
        let text = try database.first("SELECT value FROM meta WHERE name = 'today'") { $0.text(0) }
        return StoredJSON.value(DayCount.self, text).map {
            DayCount(day: $0.day, up: ByteSum.within(max(0, $0.up)), down: ByteSum.within(max(0, $0.down)))
        }
    }

    func storedSpeeds() throws -> SpeedRecord? {
        let text = try database.first("SELECT value FROM meta WHERE name = 'speeds'") { $0.text(0) }
        return StoredJSON.value(SpeedRecord.self, text)
    }

    func keep(_ count: DayCount, _ speeds: SpeedRecord) throws {
        try database.run("INSERT OR REPLACE INTO meta VALUES ('today', ?)", .text(try StoredJSON.text(count)))
        try database.run("INSERT OR REPLACE INTO meta VALUES ('speeds', ?)", .text(try StoredJSON.text(speeds)))
    }

    func remember(host origin: String, facts: [UInt8]) throws {
        try database.run(
            "INSERT OR REPLACE INTO hosts VALUES (?, ?, ?)", .text(origin), .blob(facts),
            .integer(clock().milliseconds))
    }

    /// Hosts of which nothing new was learnt since a time, and to which nothing in the queue leads.
    private static let idle = "learned_at < ? AND origin NOT IN (SELECT origin FROM lanes)"

    func hasIdleHosts(learntBefore time: Timestamp) throws -> Bool {
        try database.integer("SELECT 1 FROM hosts WHERE \(Self.idle) LIMIT 1", .integer(time.milliseconds)) != nil
    }

    /// Forgets some of those hosts, and returns which. By the statement that finds them: what is damaged goes, too, and does not come again.
    func forgetIdleHosts(learntBefore time: Timestamp, limit: Int) throws -> [String] {
        try database.rows(
            """
            DELETE FROM hosts WHERE origin IN (SELECT origin FROM hosts WHERE \(Self.idle) ORDER BY learned_at, origin LIMIT ?)
            RETURNING origin
            """, .integer(time.milliseconds), .integer(Int64(limit))
        ) { $0.text(0) }
    }

    func hosts() throws -> [String: [UInt8]] {
        let rows = try database.rows("SELECT origin, facts FROM hosts") { ($0.text(0), $0.bytes(1)) }
        return Dictionary(rows) { $1 }
    }
}
