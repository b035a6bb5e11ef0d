import SQLiteConnection
import TransferModel

/// What has crossed the wire today, over restarts of the engine.
extension QueueStore {
    func storedDay() throws -> DayCount? {
        StoredJSON.value(
            DayCount.self, try database.first("SELECT value FROM meta WHERE name = 'today'") { $0.text(0) })
    }

    func keep(_ count: DayCount) throws {
        try database.run("INSERT OR REPLACE INTO meta VALUES ('today', ?)", .text(try StoredJSON.text(count)))
    }
}
