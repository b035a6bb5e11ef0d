import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("Servers that serve nothing") struct TroubleTests {
    @Test("a batch that leads to two dead servers tells of each, and of neither that all of it waits there")
    func two() async throws {
        let (one, other) = (try ClosedPort(), try ClosedPort())
        let harness = try await EngineHarness()
        func add(_ ports: [UInt16]) async throws -> BatchID {
            let sources = ports.enumerated().map { index, port in
                DownloadSource(
                    url: "http://127.0.0.1:\(port)/\(index)", directory: RawPath(harness.sandbox.path("out")),
                    fileName: RawPath("\(index)"))
            }
            return try await harness.add(BatchRequest(work: .download(sources)))
        }
        let batches = [try await add([one.port, one.port, other.port]), try await add([other.port, other.port])]
        for port in [one.port, other.port] { try await untilKnown(harness, "http://127.0.0.1:\(port)") }
        let told = await harness.engine.troublesLater()
        let expected = [(batches[0], one.port), (batches[0], other.port), (batches[1], other.port)]
            .map { HostTrouble.Place(batch: $0, origin: "http://127.0.0.1:\($1)") }
        #expect(Set(told.map(\.place)) == Set(expected))
        #expect(told.allSatisfy { $0.isWhole == ($0.place.batch == batches[1]) })
        await harness.stop()
    }

    @Test("a name that nobody knows is told of at the first try, with all of its files")
    func unknownName() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(10))
        let batch = try await harness.add(
            harness.request(upload: ["f"]) { request in
                if case .upload(let sources, _) = request.work {
                    request.work = .upload(sources, to: "http://nobody-knows.invalid:8080/in/")
                }
            })
        try await untilKnown(harness, "http://nobody-knows.invalid:8080")
        let told = await harness.engine.troubles()
        #expect(told.map(\.place.batch) == [batch] && told.map(\.place.server) == ["nobody-knows.invalid:8080"])
        #expect(told.allSatisfy { $0.isUnknownName && $0.isWhole })
        await harness.stop()
    }

    @Test("however often servers come and go, one look is planned, and what comes later is looked at after it")
    func oneTimer() async throws {
        let harness = try await EngineHarness(started: false)
        #expect(await harness.engine.plannedLooks() == [true, true, true])
        await harness.stop()
    }

    /// Waits until the engine has tried it.
    private func untilKnown(_ harness: EngineHarness, _ origin: String) async throws {
        var changes = harness.queue.changes().makeAsyncIterator()
        while await harness.engine.hosts.errors[origin] == nil {
            guard await changes.next() != nil else { throw CancellationError() }
        }
    }
}

extension TransferEngine {
    /// What it tells when all hosts that it knows have refused for half a minute.
    fileprivate func troublesLater() -> [HostTrouble] {
        for origin in hosts.standings.keys { hosts.standings[origin] = refusing(for: [30, 20, 10]) }
        return troubles()
    }

    /// A host that refused so many seconds ago.
    private func refusing(for seconds: [Int64]) -> HostStanding {
        var host = HostStanding(limit: 8)
        for past in seconds {
            _ = host.learn(.unreachable, limit: 8, now: timeline.now.advanced(by: .seconds(-past)), random: 0)
        }
        return host
    }

    /// Whether nothing is planned while all is well, and the same look is after the first and the second refusal.
    fileprivate func plannedLooks() -> [Bool] {
        lookForTrouble()
        var found = [timers.trouble == nil]
        hosts.standings["http://one:80"] = refusing(for: [1])
        lookForTrouble()
        let first = timers.trouble
        found.append(first != nil)
        hosts.standings["http://one:80"] = nil
        hosts.standings["http://two:80"] = refusing(for: [0])
        lookForTrouble()
        return found + [timers.trouble == first]
    }
}

@Suite("What fails is said once") struct SaidOnceTests {
    @Test(
        "a file that is gone before its turn fails once: the queue's event says it, and the engine does not say it again"
    )
    func saidOnce() async throws {
        let reports = RecordingReports()
        let harness = try await EngineHarness(reports: reports)
        try harness.sandbox.write("f", pattern(10))
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.held = true })
        try await harness.batch(batch) { $0.filesTotal == 1 && !$0.scanning }
        try System.unlink(harness.sandbox.path("f"))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).filesFailed == 1)
        #expect(try await harness.events(.taskFailed).map(\.payload.error?.code) == [.sourceMissing])
        #expect(reports.all.withLock { $0 }.filter { $0.level != .debug } == [])
        await harness.stop()
    }
}
