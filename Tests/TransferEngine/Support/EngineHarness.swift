import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

/// What an engine says for its log.
final class RecordingReports: Sendable {
    let all = Mutex<[EngineReport]>([])
}

/// An engine on a real queue in a sandbox, with a small server on loopback.
final class EngineHarness: Sendable {
    let sandbox: Sandbox
    let store: FakeStore
    let queue: TransferQueue
    let loop: EventLoop
    let engine: TransferEngine
    /// The engine's clock, where a test turns it.
    let turned: CrawlTests.TurnedClock?
    /// The engine's clock, where a test has it leap.
    let leaping: LeapingClock?

    /// - Parameters:
    ///   - sandbox: of an earlier engine whose queue goes on.
    ///   - started: false leaves `engine.start()` to the test.
    ///   - turns: the engine goes by `turned`.
    ///   - leaps: the engine goes by `leaping`.
    ///   - disk: takes what is downloaded.
    init(
        sandbox: Sandbox? = nil, store: FakeStore? = nil, limits: EngineLimits = EngineLimits(), started: Bool = true,
        reports: RecordingReports? = nil, clockAhead: SharedValue<Int64>? = nil, checkpointBytes: Int64 = 1,
        turns: Bool = false, leaps: Bool = false, disk: any LocalDisk = LinuxDisk(), knowsStore: Bool = true,
        plan: @escaping FakeStore.Plan = { _, _ in .ordinary }
    ) async throws {
        self.sandbox = try sandbox ?? Sandbox("engine")
        self.store = try store ?? FakeStore(plan)
        queue = try TransferQueue.open(directory: RawPath(self.sandbox.path("state")), version: "test")
        if knowsStore {
            // No question before: tests that are about it say so.
            let now = Timestamp(milliseconds: WallClock.milliseconds)
            let facts = HostFacts().learning(HostFacts { $0.heedsConditions = true }, at: now)
            try await queue.writer.remember(host: self.store.url(""), facts: facts.encoded)
        }
        loop = try EventLoop(name: "engine-test")
        var settings = EngineSettings(userAgent: "martlet-test")
        settings.limits = limits
        if let reports { settings.report = { report in reports.all.withLock { $0.append(report) } } }
        // Downloads of the tests are small: every tick is a checkpoint.
        settings.checkpointBytes = checkpointBytes
        // No midnight comes while a test runs.
        settings.localDay = { _ in 20_261_122 }
        turned = turns ? CrawlTests.TurnedClock(loop) : nil
        leaping = leaps ? LeapingClock(loop) : nil
        let clock: (any TransportClock)? = turned ?? leaping
        engine = try TransferEngine(
            queue: queue, settings: settings, loop: loop, transports: LinuxTransports(loop: loop),
            platform: LinuxPlatform(disk: disk), clock: clock ?? loop,
            wall: { WallClock.milliseconds + (clockAhead?.withLock { $0 } ?? 0) })
        if started { try await engine.start() }
    }

    /// Ends the engine and the queue; the server and the sandbox stay.
    func stop(finishRunning: Bool = false) async {
        _ = await engine.shutdown(finishRunning ? .finishingRunning : .now)
        try? await queue.close()
        loop.stop()
    }

    // MARK: Queueing

    func request(upload names: [String], to path: String = "/in/", _ change: (inout BatchRequest) -> Void = { _ in })
        -> BatchRequest
    {
        let sources = names.map { name in
            UploadSource(path: RawPath(sandbox.path(name)), placement: .named(RawPath(name).lastComponent))
        }
        var request = BatchRequest(work: .upload(sources, to: store.url(path)))
        // No question before: tests that are about it say so.
        request.options.uploadBy = .put
        change(&request)
        return request
    }

    func request(
        download paths: [String], into directory: String = "out", as name: String? = nil,
        _ change: (inout BatchRequest) -> Void = { _ in }
    ) -> BatchRequest {
        let sources = paths.map { path in
            DownloadSource(
                url: store.url(path), directory: RawPath(sandbox.path(directory)), fileName: name.map { RawPath($0) })
        }
        var request = BatchRequest(work: .download(sources))
        change(&request)
        return request
    }

    func add(_ request: BatchRequest) async throws -> BatchID {
        let batch = try await queue.writer.add(request).batch
        await engine.batchAdded(batch)
        return batch
    }

    /// Queues a folder of so many files and waits until all of them are in the queue.
    func addAndList(
        files: Int, of size: Int = 1, in folder: String, _ change: (inout BatchRequest) -> Void = { _ in }
    ) async throws -> BatchID {
        for index in 0..<files {
            try sandbox.write("\(folder)/\(index)", [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size))
        }
        let batch = try await add(request(upload: [folder], change))
        try await self.batch(batch) { !$0.scanning }
        return batch
    }

    // MARK: A queue that takes nothing

    /// Has the queue refuse every durable change, as a full disk does: its file has lost its name.
    func refuseCommits() throws {
        try System.rename(sandbox.path("state/queue.sqlite"), to: sandbox.path("away"))
    }

    func acceptCommits() throws {
        try System.rename(sandbox.path("away"), to: sandbox.path("state/queue.sqlite"))
    }

    // MARK: Waiting for what the queue says

    /// Waits until a batch is such; the test's time limit is the only deadline.
    @discardableResult
    func batch(_ batch: BatchID, when isSo: (BatchSnapshot) -> Bool) async throws -> BatchSnapshot {
        var changes = queue.changes().makeAsyncIterator()
        while true {
            if let snapshot = try await queue.reader.batch(batch), isSo(snapshot) { return snapshot }
            // It ends with the queue, or with the test when its time is up.
            guard await changes.next() != nil else { throw CancellationError() }
        }
    }

    @discardableResult
    func finished(_ batch: BatchID) async throws -> BatchSnapshot {
        try await self.batch(batch) { $0.state.isTerminal }
    }

    /// Adds a batch of downloads and runs it to its end: all at once, or the first file before the others begin.
    func finish(_ request: BatchRequest, together: Bool) async throws -> BatchID {
        var request = request
        request.held = !together
        let batch = try await add(request)
        if !together {
            _ = try await queue.writer.runNow([.task(TaskID(rawValue: 1))])
            await engine.queueChanged()
            try await self.batch(batch) { $0.filesCompleted == 1 }
            _ = try await queue.writer.resume([.batch(batch)])
            await engine.queueChanged()
        }
        try await finished(batch)
        return batch
    }

    /// Waits until the first task of a batch is such.
    @discardableResult
    func task(of batch: BatchID, when isSo: (TaskSnapshot) -> Bool) async throws -> TaskSnapshot {
        var changes = queue.changes().makeAsyncIterator()
        while true {
            if let snapshot = try await tasks(batch).first, isSo(snapshot) { return snapshot }
            // It ends with the queue, or with the test when its time is up.
            guard await changes.next() != nil else { throw CancellationError() }
        }
    }

    /// All tasks of a batch; what a person reads of their failures is noted for `.tells`.
    func tasks(_ batch: BatchID) async throws -> [TaskSnapshot] {
        var ids: [TaskSnapshot] = []
        for task in try await queue.reader.tasks(batch: batch, limit: 10_000) {
            guard let full = try await queue.reader.task(task.id, history: true, response: true) else { continue }
            ids.append(full)
            if let error = full.error { Telling.note(error.message) }
        }
        return ids
    }

    /// The names in the folder of downloads; temporary files without what tells one task's from another's.
    func downloads() -> [String] {
        sandbox.names("out").map { name in
            let words = name.split(separator: ".")
            return words.last == "part" ? words.dropLast(2).joined(separator: ".") + ".part" : name
        }
    }

    /// The temporary file of a download, below the sandbox.
    func part(of name: String) throws -> String {
        let found = sandbox.names("out").filter { $0.hasPrefix("\(name).") && $0.hasSuffix(".part") }
        return try "out/" + #require(found.count == 1 ? found[0] : nil)
    }

    func events(_ type: TransferEventType) async throws -> [TransferEvent] {
        let all = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100_000)
        let found = all.filter { $0.type == type }
        for error in found.compactMap(\.payload.error) { Telling.note(error.message) }
        return found
    }

    /// Queues, waits for the end, and gives back the only task.
    func run(_ request: BatchRequest) async throws -> TaskSnapshot {
        let batch = try await add(request)
        try await finished(batch)
        return try #require(try await tasks(batch).first)
    }

    /// What agrees with itself after everything.
    func expectSound() async throws {
        #expect(try await queue.reader.check().isEmpty)
    }
}

extension TransferEngine {
    /// Files that are claimed and have not started.
    var filesAtHand: Int { lanes.all.reduce(0) { $0 + $1.ready } }
}
