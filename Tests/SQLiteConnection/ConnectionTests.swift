import FoundationEssentials
import Glibc
import Testing

@testable import SQLiteConnection

@Suite("The door to SQLite") struct ConnectionTests {
    private func memory() throws -> SQLiteConnection {
        try SQLiteConnection(path: Array(":memory:".utf8), access: .create)
    }

    /// A new folder that nobody else can write in.
    private static func folder() throws -> String {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/martlet-sqlite-XXXXXX".utf8CString)
        return String(cString: try #require(mkdtemp(&template)))
    }

    @Test("values come back as they went in, empty blobs and NULL apart")
    func roundTrip() throws {
        let database = try memory()
        try database.execute(script: "CREATE TABLE v (a, b, c, d, e, f)")
        try database.run(
            "INSERT INTO v VALUES (?, ?, ?, ?, ?, ?)", .integer(.min), .text("é\u{0}x"), .blob([0, 255]), .blob([]),
            .null,
            .text(""))
        let row = try database.first("SELECT * FROM v") { row in
            #expect(row.integer(0) == .min)
            #expect(row.text(1) == "é\u{0}x")
            #expect(row.bytes(2) == [0, 255])
            #expect(row.optionalBytes(3) == [])
            #expect(row.optionalBytes(4) == nil)
            #expect(row.optionalText(5) == "")
            return true
        }
        #expect(row == true)
    }

    @Test("a database whose path is longer than SQLite allows is made, written beside a reader, and found again")
    func longPath() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var directory = folder
        for _ in 0..<8 { directory += "/" + String(repeating: "long-", count: 30) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = Array("\(directory)/queue.sqlite".utf8)
        do {
            let writer = try SQLiteConnection(path: path, access: .create)
            try writer.execute(script: "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)")
            let reader = try SQLiteConnection(path: path, access: .readOnly)
            #expect(try reader.integer("SELECT a FROM t") == 7)
            try writer.execute(script: "UPDATE t SET a = 8")
            #expect(try reader.integer("SELECT a FROM t") == 8)
            #expect(access(directory + "/queue.sqlite-wal", F_OK) == 0)
        }
        #expect(access(directory + "/queue.sqlite-wal", F_OK) != 0, "the last connection cleans up")
        #expect(try SQLiteConnection(path: path, access: .readOnly).integer("SELECT a FROM t") == 8)
    }

    @Test("statements are kept prepared up to a bound, and one whose rows are read outlives it")
    func boundedStatements() throws {
        let database = try memory()
        let rows = try database.rows("VALUES (1), (2)") { row in
            for number in 0..<SQLiteConnection.mostStatements + 10 { _ = try database.integer("SELECT \(number)") }
            return row.integer(0)
        }
        #expect(rows == [1, 2])
        #expect(database.statementCount <= SQLiteConnection.mostStatements)
    }

    @Test("an error keeps SQLite's codes, its message and the statement, and no bound value")
    func errors() throws {
        let database = try memory()
        try database.execute(script: "CREATE TABLE t (a TEXT UNIQUE)")
        try database.run("INSERT INTO t VALUES (?)", "hush-hush")
        let error = #expect(throws: SQLiteError.self) { try database.run("INSERT INTO t VALUES (?)", "hush-hush") }
        #expect(error?.code == .constraint)
        #expect(error?.extendedCode == 2067)
        #expect(error?.sql == "INSERT INTO t VALUES (?)")
        #expect("\(try #require(error))".contains("hush-hush") == false)
    }

    @Test("a transaction whose body throws leaves nothing behind, one that returns stays")
    func transactions() throws {
        struct Oops: Error {}
        let database = try memory()
        try database.execute(script: "CREATE TABLE t (a)")
        #expect(throws: Oops.self) {
            try database.transaction(.write) {
                try database.run("INSERT INTO t VALUES (1)")
                throw Oops()
            }
        }
        #expect(!database.isInTransaction)
        try database.transaction(.write) { try database.run("INSERT INTO t VALUES (2)") }
        #expect(try database.rows("SELECT a FROM t") { $0.integer(0) } == [2])
    }

    @Test("a statement is prepared once and starts clean each time")
    func statements() throws {
        let database = try memory()
        let first = try database.statement("SELECT ?")
        try first.bind(1, Int64(5))
        #expect(try first.step())
        first.reset()
        let second = try database.statement("SELECT ?")
        #expect(first === second)
        #expect(try second.step())
        #expect(second.isNull(0))
    }

    @Test("a read-only connection reads and cannot write")
    func readOnly() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = Array("\(folder)/queue.sqlite".utf8)
        let writer = try SQLiteConnection(path: path, access: .create)
        try writer.execute(script: "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (3)")
        let reader = try SQLiteConnection(path: path, access: .readOnly)
        #expect(try reader.integer("SELECT a FROM t") == 3)
        let error = #expect(throws: SQLiteError.self) { try reader.run("DELETE FROM t") }
        #expect(error?.code == .readOnly)
        let missing = #expect(throws: SQLiteError.self) {
            try SQLiteConnection(path: path + [0x78], access: .readOnly)
        }
        #expect(missing?.code == .cannotOpen && missing?.systemError == ENOENT)
    }

    @Test("a statement outlives its connection without harm")
    func lifetimes() throws {
        var database: SQLiteConnection? = try memory()
        weak let watched = database
        let statement = try #require(try database?.statement("SELECT 42"))
        database = nil
        #expect(watched == nil)
        #expect(try statement.step())
        #expect(statement.integer(0) == 42)
    }
}

private func unlinkFile(_ path: [UInt8]) {
    unlink(String(decoding: path, as: UTF8.self))
}
