import FoundationEssentials
import Glibc
import LinuxSystem
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Opening a queue") struct OpeningTests {
    @Test("nobody else may read what is made")
    func modes() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.directory()
        request.secrets.password = "x"
        _ = try await queue.writer.add(request)
        #expect(try System.stat(sandbox.directory.bytes).permissions == 0o700)
        for name in ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm", "queue.lock", "secrets.sqlite"] {
            #expect(try System.stat(sandbox.path(name).bytes).permissions == 0o600, "\(name)")
        }
        try await queue.close()
    }

    @Test("a second opener is told who holds it, and may have it after the first closed")
    func lock() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open(version: "9.9")
        let error = #expect(throws: QueueOpenError.self) { try sandbox.open() }
        #expect(error == .locked(pid: System.processID, version: "9.9"))
        #expect("\(try #require(error))".contains("martlet engine stop"))
        try await queue.close()
        try await sandbox.open().close()
    }

    #if DEBUG
        @Test("a file of SQLite's that another engine removes while it is looked at does not keep the queue closed")
        func removedMeanwhile() async throws {
            let sandbox = try Sandbox()
            try await sandbox.open().close()
            let journal = sandbox.path("secrets.sqlite-journal")
            try System.open(journal.bytes, flags: O_WRONLY | O_CREAT, mode: 0o600).close()
            ForcedFailures.act(before: .open, on: .path(containing: journal.displayed)) {
                try? System.unlink(journal.bytes)
            }
            defer { ForcedFailures.clear(.path(containing: journal.displayed)) }
            try await sandbox.open().close()
            #expect(throws: Errno.noSuchFile) { try System.lstat(journal.bytes) }
        }
    #endif

    @Test("a lock file left behind by a dead engine means nothing")
    func staleLock() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("queue.lock", Array("4711 0.1\n".utf8))
        try await sandbox.open().close()
        #expect(sandbox.contents("queue.lock") == Array("\(System.processID) 1.0\n".utf8))
    }

    @Test("a file that is no database is refused and left as it is")
    func garbage() throws {
        let sandbox = try Sandbox()
        let garbage =
            Array("this is not a database, and longer than a header is".utf8) + [UInt8](repeating: 7, count: 9000)
        try sandbox.write("queue.sqlite", garbage)
        let error = #expect(throws: QueueOpenError.self) { try sandbox.open() }
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(try #require(error))".contains("move it"))
        #expect(sandbox.contents("queue.sqlite") == garbage)
    }

    @Test("a damaged page is found when the queue is opened, and the lock is free again")
    func damaged() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 2000)
        try await queue.close()
        var bytes = sandbox.contents("queue.sqlite")
        for place in stride(from: 4096 * 40, to: 4096 * 44, by: 1) { bytes[place] = 0xA5 }
        try sandbox.write("queue.sqlite", bytes)
        for _ in 0..<2 {
            let error = #expect(throws: QueueOpenError.self) { try sandbox.open() }
            guard case .corrupt = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("another program's database is refused")
    func foreign() throws {
        let sandbox = try Sandbox()
        try System.mkdirs(sandbox.directory.bytes)
        try sandbox.database(.create).execute(script: "CREATE TABLE photos (a); INSERT INTO photos VALUES (1)")
        let error = #expect(throws: QueueOpenError.self) { try sandbox.open() }
        guard case .corrupt(_, let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("another program"))
    }

    @Test("a queue of a newer version is refused, also for reading, and nothing in it changes")
    func newer() async throws {
        let sandbox = try Sandbox()
        try await sandbox.open().close()
        try sandbox.database(.readWrite).execute(script: "INSERT INTO migrations VALUES (99, '0099 wings', 0)")
        let before = sandbox.contents("queue.sqlite")
        let expected = QueueOpenError.newer(found: "0099 wings", known: Schema.migrations.last!.name)
        #expect(throws: expected) { try sandbox.open() }
        #expect(throws: expected) { try TransferQueue.openForReading(directory: sandbox.directory) }
        #expect(sandbox.contents("queue.sqlite") == before)
    }

    @Test("a reader needs a queue that exists")
    func noQueue() throws {
        let sandbox = try Sandbox()
        let error = #expect(throws: QueueOpenError.self) {
            try TransferQueue.openForReading(directory: sandbox.directory)
        }
        guard case .system(.noSuchFile, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("check works beside a running engine and sees only what is committed")
    func besideAnEngine() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let other = try TransferQueue.openForReading(directory: sandbox.directory)
        #expect(try await other.check() == [])
        #expect(try await other.batch(batch)?.filesTotal == 3)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
        #expect(try await other.batch(batch)?.filesFailed == 0)
        try await queue.writer.commit()
        #expect(try await other.batch(batch)?.filesFailed == 1)
        try await queue.close()
        #expect(try await other.check() == [])
    }

    @Test("what ran when the engine was killed stands in line again and keeps what it had")
    func afterAKill() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        let begun = sandbox.clock.now
        let tasks = try await queue.claimAll(limit: 2, now: begun)
        #expect(tasks.map(\.begunBefore) == [nil, nil])
        queue.writer.record(.running, for: tasks[0].id)
        queue.writer.record(.checkpoint(resumePoint: [9], accepted: 40), for: tasks[0].id)
        try await queue.writer.commit()
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[0].id)
        await queue.abandon()

        queue = try sandbox.open()
        #expect(try await queue.reader.check() == [])
        #expect(try await queue.reader.batch(batch)?.bytesAccepted == 40)
        let again = try await queue.claimAll(now: begun.advanced(by: .seconds(60)))
        #expect(again.map(\.id) == [tasks[0].id, tasks[1].id, TaskID(rawValue: tasks[1].id.rawValue + 1)])
        #expect(again.map(\.begunBefore) == [begun, begun, nil])
        #expect(again[0].resumePoint == [9])
        #expect(again[0].accepted == 40)
        #expect(again.map(\.attempts) == [1, 0, 0])
        #expect(try await queue.eventTypes().filter { $0 == .engineStarted }.count == 2)
        try await queue.close()
    }

    @Test("secrets that lost their batch in a crash are gone after the next start")
    func orphanedSecrets() async throws {
        let sandbox = try Sandbox()
        try await sandbox.open().close()
        let store = SecretStore(file: sandbox.path("secrets.sqlite"))
        var secrets = TransferSecrets()
        secrets.password = "hunter2"
        try store.write(batch: UUID(), secrets: secrets, destinationQuery: nil, queries: [])
        let secretsFile = try SQLiteConnection(path: sandbox.path("secrets.sqlite").bytes, access: .readOnly)
        #expect(try secretsFile.integer("SELECT count(*) FROM batch_secrets") == 1)
        try await sandbox.open().close()
        #expect(try secretsFile.integer("SELECT count(*) FROM batch_secrets") == 0)
    }

    @Test("so are those of a task that is gone, or has no use for them any more, though its batch is there")
    func orphanedTaskSecrets() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/a?XoneX", "https://host/b?XtwoX"])
        request.secrets.password = "x"
        let uuid = request.uuid
        _ = try await queue.writer.add(request)
        let tasks = try await queue.claimAll()
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 0, secret: "XkeptX"), for: tasks[0].id)
        try await queue.close()
        let store = SecretStore(file: sandbox.path("secrets.sqlite"))
        // As a crash leaves them between the two databases.
        try store.write(
            batch: uuid, secrets: request.secrets, destinationQuery: nil,
            queries: [(TaskID(rawValue: 99), "XgoneX")])
        try store.write(handles: [
            SecretStore.Handle(batch: uuid, task: tasks[1].id, number: 1, secret: "XunusedX"),
            SecretStore.Handle(batch: uuid, task: TaskID(rawValue: 99), number: 1, secret: "XgoneX"),
        ])
        try await sandbox.open().close()
        #expect(try store.query(of: tasks[0].id, batch: uuid) == "XoneX")
        #expect(try store.query(of: tasks[1].id, batch: uuid) == "XtwoX")
        #expect(try store.handle(of: tasks[0].id, batch: uuid, number: 1) == "XkeptX")
        #expect(try store.handle(of: tasks[1].id, batch: uuid, number: 1) == nil)
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("XgoneX".utf8)) == nil)
    }
}
