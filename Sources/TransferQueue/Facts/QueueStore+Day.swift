import SQLiteConnection
import TransferModel

/// Bytes that have crossed the wire today, kept over restarts of the engine.
extension QueueStore {
    func storedDay() throws -> DayCount? {
        let text = try database.first("SELECT value FROM meta WHERE name = 'today'") { $0.text(0) }
        return StoredJSON.value(DayCount.self, text).map {
            DayCount(day: $0.day, up: ByteSum.within(max(0, $0.up)), down: ByteSum.within(max(0, $0.down)))
        }
    }

    func keep(_ count: DayCount) throws {
        try database.run("INSERT OR REPLACE INTO meta VALUES ('today', ?)", .text(try StoredJSON.text(count)))
    }
}
