import SQLiteConnection
import TransferModel

/// Facts that the engine learnt of hosts; the queue keeps them and does not look inside.
extension QueueStore {
    func remember(host origin: String, facts: [UInt8]) throws {
        try database.run(
            "INSERT OR REPLACE INTO hosts VALUES (?, ?, ?)", .text(origin), .blob(facts),
            .integer(clock().milliseconds))
    }

    func hosts() throws -> [String: [UInt8]] {
        let rows = try database.rows("SELECT origin, facts FROM hosts") { ($0.text(0), $0.bytes(1)) }
        return Dictionary(rows) { $1 }
    }
}
