import FoundationEssentials
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue
import TestSupport

@Suite("Schema and migrations") struct SchemaTests {
    private func memory() throws -> SQLiteConnection {
        try SQLiteConnection(path: Array(":memory:".utf8), access: .create)
    }

    private let first = Migration(
        name: "0001 birds", script: "CREATE TABLE birds (name); INSERT INTO birds VALUES ('swift')")
    private let second = Migration(name: "0002 wings", script: "ALTER TABLE birds ADD COLUMN wings DEFAULT 2")

    @Test("what is missing is applied once, in order, and what is there stays")
    func append() throws {
        let database = try memory()
        try Migrator(migrations: [first], applicationID: 5).migrate(database, now: .now)
        let both = Migrator(migrations: [first, second], applicationID: 5)
        try both.migrate(database, now: .now)
        try both.migrate(database, now: .now)
        #expect(
            try database.rows("SELECT name FROM migrations ORDER BY number") { $0.text(0) } == [
                first.name, second.name,
            ])
        #expect(try database.integer("SELECT wings FROM birds WHERE name = 'swift'") == 2)
        #expect(try database.integer("PRAGMA user_version") == 2)
        #expect(try database.integer("PRAGMA application_id") == 5)
    }

    @Test("a migration that fails leaves the queue at the one before")
    func failing() throws {
        let database = try memory()
        let broken = Migration(name: "0002 broken", script: "CREATE TABLE nests (a); CREATE TABLE birds (b)")
        #expect(throws: SQLiteError.self) {
            try Migrator(migrations: [first, broken], applicationID: 5).migrate(database, now: .now)
        }
        #expect(try database.integer("PRAGMA user_version") == 1)
        #expect(try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'nests'") == 0)
        try Migrator(migrations: [first, second], applicationID: 5).migrate(database, now: .now)
    }

    @Test("a migration of another name at a known place is a newer queue")
    func other() throws {
        let database = try memory()
        try Migrator(migrations: [first, second], applicationID: 5).migrate(database, now: .now)
        #expect(throws: QueueOpenError.newer(found: "0002 wings", known: "0001 birds")) {
            try Migrator(migrations: [first], applicationID: 5).migrate(database, now: .now)
        }
    }

    @Test("Resources/schema/queue.sql is what the migrations add up to")
    func documented() throws {
        let database = try memory()
        try Migrator.current.migrate(database, now: .now)
        let made = try database.rows(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY rowid"
        ) { $0.text(0) + ";\n" }.joined(separator: "\n")
        let file = URL(filePath: Checkout.resource("schema/queue.sql"))
        let documented = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let header = documented.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("--") }
        let body = documented.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(header.count + 1)
        #expect(body.joined(separator: "\n") == made, "write this into \(file.path): \(made)")
    }

    /// A batch with a root, in that a folder with another one in it, and one more.
    private static let folders = """
        INSERT INTO sessions (id, uuid, name, created_at) VALUES (1, x'00', 'default', 0);
        INSERT INTO batches (id, uuid, session, name, direction, priority, position, held, paused, scanning, destination,
            options, root, first_event, created_at) VALUES (1, x'00', 1, 'b', 0, 2, 1, 0, 0, 0, '', '{}', 1, 1, 0);
        INSERT INTO folders (id, batch, parent, name, hidden, begun, paused) VALUES
            (1, 1, NULL, x'', 1, 1, 0), (2, 1, 1, x'61', 0, 1, 0), (3, 1, 2, x'62', 0, 1, 1), (4, 1, 1, x'63', 0, 1, 0);
        """

    /// What a migration works out of the counts that are there. `counts`: folder, state, files, bytes, accepted, verified.
    struct Derived: CustomTestStringConvertible, Sendable {
        let migration: String
        let counts: String
        let column: String
        let expected: [Int64]

        var testDescription: String { column }
    }

    private static let derived = [
        Derived(
            migration: "bytes of what is paused",
            counts: "(1, 1, 1, 9, 0, 0), (1, 5, 1, 10, 4, 0), (2, 5, 2, 200, 50, 0), (3, 5, 1, 1000, 0, 0)",
            column: "bytes_stopped", expected: [1156, 1150, 1000, 0]),
        Derived(
            migration: "bytes that were at the other end already",
            counts: "(1, 7, 1, 9, 0, 0), (1, 6, 1, 10, 4, 0), (2, 6, 2, 200, 50, 0), (3, 6, 1, 9, 9, 0)",
            column: "bytes_found", expected: [156, 150, 0, 0]),
    ]

    @Test(
        "a queue of before gets the bytes of what is paused, and of what was there already, folder by folder",
        arguments: derived)
    func derivedBytes(_ derived: Derived) throws {
        let database = try memory()
        let place = try #require(Schema.migrations.firstIndex { $0.name.hasSuffix(derived.migration) })
        let before = Migrator(migrations: Array(Schema.migrations.prefix(place)), applicationID: Schema.applicationID)
        try before.migrate(database, now: .now)
        try database.execute(script: Self.folders)
        try database.execute(script: "INSERT INTO own_counts VALUES \(derived.counts);")
        try Migrator.current.migrate(database, now: .now)
        let bytes = try database.rows("SELECT \(derived.column) FROM folders ORDER BY id") { $0.integer(0) }
        #expect(bytes == derived.expected)
    }

    @Test("stored numbers of states, events and codes are the places in the model's lists")
    func numbers() {
        for (place, state) in TransferState.allCases.enumerated() {
            #expect(state.stored == Int64(place))
            #expect(TransferState(stored: Int64(place)) == state)
        }
        #expect(TransferState(stored: -1) == nil)
        #expect(TransferState(stored: 9) == nil)
        #expect(TransferEventType.taskCompleted.stored == 3)
        #expect(TransferEventType.taskFailed.stored == 4)
        #expect(TransferEventType.taskCancelled.stored == 5)
        #expect(TransferErrorCode.allCases.allSatisfy { TransferErrorCode(stored: $0.stored) == $0 })
    }

    @Test("a task's UUID is its own, is the same each time, and is marked as computed")
    func taskUUIDs() {
        let queue = UUID()
        let some = (1...1000).map { UUID(task: TaskID(rawValue: $0), queue: queue) }
        #expect(Set(some).count == 1000)
        #expect(some[0] == UUID(task: TaskID(rawValue: 1), queue: queue))
        #expect(some.allSatisfy { $0.uuid.6 >> 4 == 8 && $0.uuid.8 >> 6 == 2 })
    }
}
