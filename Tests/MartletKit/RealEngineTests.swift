import FoundationEssentials
import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferModel

@testable import MartletKit

/// The connection and the session against the real `martletd`, which was built beside the tests.
@Suite(.serialized) struct RealEngineTests {
    private let home: String
    private let places: Places

    init() throws {
        let name = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        home = "/tmp/martlet-real-\(name)"
        places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
    }

    private func connection(_ launching: ConnectionOptions.Launching = .ifNeeded) throws -> EngineConnection {
        try EngineConnection(ConnectionOptions(launching: launching), places: places)
    }

    private func end() async throws {
        _ = try await connection(.never).stopEngine(finishRunning: false)
        // The engine gives up its lock a moment after its last word.
        try FileManager.default.removeItem(atPath: home)
    }

    @Test func `fronts that start at the same time end up with one engine`() async throws {
        let pids = try await withThrowingTaskGroup(of: Int32?.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let connection = try connection()
                    try await connection.connect()
                    return try await connection.status()?.pid
                }
            }
            return try await group.reduce(into: Set<Int32?>()) { $0.insert($1) }
        }
        #expect(pids.count == 1 && !pids.contains(nil))
        try await end()
    }

    @Test func `an engine that was killed is replaced, and its socket with it`() async throws {
        let first = try connection()
        try await first.connect()
        let pid = try #require(try await first.status()?.pid)
        try System.kill(pid, signal: 9)
        let second = try connection()
        try await until {
            try? await second.connect()
            return try await second.status().map { $0.pid != pid } ?? false
        }
        try await end()
    }

    @Test func `an engine that was stopped stays so while somebody follows its log, until it is wanted`() async throws {
        let looking = try connection()
        try await looking.connect()
        _ = try await looking.log(level: .error)
        let follower = Task { try await looking.log(level: .error, after: .max) }
        let view = await looking.view()
        view.show()
        for await _ in view { break }
        let other = try connection(.never)
        _ = try await other.stopEngine(finishRunning: false)
        await #expect(throws: RequestError.self) { _ = try await follower.value }
        // Nor does a view wait for ever for an engine that nobody starts.
        for await _ in view {}
        #expect(view.failure?.code == .engineUnreachable)
        await #expect(throws: RequestError.self) { try await looking.totals() }
        await #expect(throws: RequestError.self) { try await looking.connectAgain() }
        #expect(try await connection(.never).status() == nil)
        try await looking.connectLaunching()
        _ = try await looking.totals()
        try await end()
    }

    /// The language's pool of threads has one that wakes up every second once the pool was used: an engine with nothing to do must
    /// not have it, whoever asked it something and watched it before.
    @Test func `an engine has no threads but its own`() async throws {
        let first = try connection()
        try await first.connect()
        let pid = try #require(try await first.status()?.pid)
        let view = await first.view()
        view.show()
        for await _ in view { break }
        _ = try await first.batches()
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        let names = try tasks.map { try String(contentsOfFile: "/proc/\(pid)/task/\($0)/comm", encoding: .utf8) }
        #expect(names.count >= 4)
        #expect(!names.contains { $0.contains("qos") || $0.contains("overcommit") }, "\(names)")
        view.cancel()
        try await end()
    }

    @Test func `an engine that cannot be started is named`() async throws {
        let places = try Places(
            environment: ["MARTLET_HOME": home, "MARTLET_ENGINE": "/nowhere/martletd"], currentDirectory: "/")
        let connection = try EngineConnection(ConnectionOptions(), places: places)
        let error = try await #require(throws: RequestError.self) { try await connection.connect() }
        #expect(error.code == .engineUnreachable)
        #expect(error.message == "the engine /nowhere/martletd cannot be started: No such file or directory")
        let wrong = try Places(
            environment: ["MARTLET_HOME": home, "MARTLET_ENGINE": "/bin/false"], currentDirectory: "/")
        let ended = try await #require(throws: RequestError.self) {
            try await EngineConnection(ConnectionOptions(), places: wrong).connect()
        }
        #expect(ended.message == "the engine /bin/false did not start: it ended with status 1 and said nothing")
    }

    @Test func `a damaged queue is told by its own code`() async throws {
        try System.mkdirs(Array(places.stateDirectory.utf8))
        let garbage = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try garbage.write(to: URL(filePath: places.queueFile))
        let error = try await #require(throws: RequestError.self) { try await connection().connect() }
        #expect(error.code == .queueCorrupt)
        #expect(error.message.contains("queue.sqlite"))
        #expect(try Data(contentsOf: URL(filePath: places.queueFile)) == garbage)
        try FileManager.default.removeItem(atPath: home)
    }

    @Test func `a session finds its batches again, acts on them and is told how they end`() async throws {
        let configuration = try TransferSessionConfiguration.background(withIdentifier: "photos")
        let session = try await TransferSession(configuration: configuration, connection: try connection())
        let file = home + "/file"
        try Data("hello".utf8).write(to: URL(filePath: file))
        let url = try #require(URL(string: "http://127.0.0.1:9/in/file"))
        let task = try await session.uploadTask(with: url, fromFile: URL(filePath: file))
        #expect(try await task.snapshot.state == .created)
        let batch = try await session.addBatch(
            "two",
            downloading: [
                DownloadSource(
                    url: "http://127.0.0.1:9/a", directory: RawPath(home), fileName: nil)
            ], held: true)
        #expect(try await batch.progress.itemCount == 1)

        let again = try await TransferSession(configuration: configuration, connection: try connection())
        #expect(try await again.batches.map(\.id).contains(batch.id))
        #expect(try await again.tasks.uploads.count == 1)
        let other = try await TransferSession(
            configuration: .background(withIdentifier: "music"), connection: try connection())
        #expect(try await other.batches.isEmpty)

        async let end = batch.value
        try await again.batches.first { $0.id == batch.id }?.cancel()
        #expect(try await end.state == .cancelled)
        try await task.cancel()
        #expect(try await task.value.state == .cancelled)

        var seen: [TransferEventType] = []
        for try await event in again.events() {
            seen.append(event.type)
            if event.type == .sessionIdle, seen.filter({ $0 == .batchFinished }).count == 2 {
                try await again.acknowledge(through: event.seq)
                break
            }
        }
        #expect(seen.count { $0 == .taskCancelled } == 2)
        try await self.end()
    }

    @Test func `a transfer that is found again goes on and stands still as by its first handle`() async throws {
        let configuration = try TransferSessionConfiguration.background(withIdentifier: "photos")
        let session = try await TransferSession(configuration: configuration, connection: try connection())
        let file = home + "/file"
        try Data("hello".utf8).write(to: URL(filePath: file))
        let url = try #require(URL(string: "http://127.0.0.1:9/in/file"))
        let first = try await session.uploadTask(with: url, fromFile: URL(filePath: file))
        let number = try await first.taskIdentifier

        let again = try await TransferSession(configuration: configuration, connection: try connection())
        let found = try #require(try await again.tasks.uploads.first)
        #expect(try await found.taskIdentifier == number)
        try await found.resume()
        #expect(try await first.snapshot.state != .created)
        try await first.suspend()
        #expect(try await found.snapshot.state == .paused)
        try await again.task(number).resume()
        #expect(try await first.snapshot.state != .paused)
        try await found.cancel()
        #expect(try await first.value.state == .cancelled)
        try await self.end()
    }

    @Test func `a path that leads elsewhere than it seems is refused, and nothing is queued`() async throws {
        let session = try await TransferSession(
            configuration: .background(withIdentifier: .default), connection: try connection())
        let url = try #require(URL(string: "http://127.0.0.1:9/file"))
        for path in ["a.iso", home + "/iso/", "/", home + "/.."] {
            let refusals = [
                await #expect(throws: RequestError.self) {
                    _ = try await session.downloadTask(with: url, to: RawPath(path))
                },
                await #expect(throws: RequestError.self) {
                    _ = try await session.uploadTask(with: url, fromFile: RawPath(path))
                },
            ]
            let said = "\(path) is no absolute path of a file: begin it with a slash, and end it in a name"
            #expect(refusals.allSatisfy { $0?.code == .usage && $0?.message == said }, "\(refusals)")
        }
        let june = await #expect(throws: RequestError.self) {
            _ = try await session.addBatch(uploading: [RawPath("june")], to: url)
        }
        #expect(june?.message == "batch.add: path is no absolute path: begin it with a slash")
        let sharp = try #require(URL(string: "http://127.0.0.1:9/C#/"))
        let cut = await #expect(throws: RequestError.self) {
            _ = try await session.addBatch(uploading: [RawPath(home)], to: sharp)
        }
        #expect(cut?.message == "batch.add: to has a # in it, which ends an address: write %23 for a #")
        #expect(try await session.batches.isEmpty)
        let task = try await session.downloadTask(with: url, to: RawPath(home + "/iso/a.iso"))
        #expect(try await session.connection.batch(task.batch).destination == home + "/iso")
        try await end()
    }

    @Test func `progress of a tree is read and followed until it is over`() async throws {
        let connection = try connection()
        let session = try await TransferSession(
            configuration: .background(withIdentifier: .default), connection: connection)
        let sources = (0..<3).map {
            DownloadSource(url: "http://127.0.0.1:9/\($0)", directory: RawPath(home), fileName: nil)
        }
        let batch = try await session.addBatch(downloading: sources, held: true)
        let children = try await batch.progress.children()
        #expect(children.reduce(0) { $0 + $1.itemCount } == 3)
        var fractions: [Double] = []
        for try await progress in batch.progressChanges() {
            fractions.append(progress.fractionCompleted)
            if fractions.count == 1 { try await progress.cancel() }
        }
        #expect(fractions.last == 0, "what was cancelled is over and not done")
        let outcome = try await connection.wait(for: [.batch(batch.id), .batch(BatchID(rawValue: 99))], patient: false)
        #expect(outcome.missing == [.batch(BatchID(rawValue: 99))])
        let gone = await #expect(throws: RequestError.self) {
            for try await _ in ProgressChanges(node: .batch(BatchID(rawValue: 99)), connection: connection) {}
        }
        #expect(gone?.message == "there is no b99 (any more)")
        #expect(!outcome.isSuccess)
        try await end()
    }

    @Test func `a wait ends when all that is left needs a person`() async throws {
        let connection = try connection()
        let session = try await TransferSession(
            configuration: .background(withIdentifier: .default), connection: connection)
        let batch = try await session.addBatch(
            downloading: [DownloadSource(url: "http://127.0.0.1:9/a", directory: RawPath(home), fileName: nil)],
            held: true)
        let outcome = try await connection.wait(for: [.batch(batch.id)], patient: false)
        #expect(outcome.stuck == [.batch(batch.id)])
        try await end()
    }
}
