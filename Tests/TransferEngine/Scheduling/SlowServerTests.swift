import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite("Servers that leave a question without an answer", .timeLimit(.minutes(2))) struct SlowServerTests {
    @Test("one that is asked whether it can be used, and says nothing, is waited for a minute")
    func silent() async throws {
        let (asked, tell) = AsyncStream.makeStream(of: Void.self)
        let server = try ScriptedServer { connection in
            _ = try connection.readHead()
            tell.yield()
            // It reads until the other side hangs up.
            _ = try connection.readHead()
        }
        let harness = try await EngineHarness(leaps: true)
        let clock = try #require(harness.leaping)
        let asking = Task {
            await harness.engine.test(server.url("/in/"), TransferOptions(), TransferSecrets())
        }
        var first = asked.makeAsyncIterator()
        await first.next()
        await harness.engine.leap(clock, by: .seconds(60))
        let report = await asking.value
        #expect(!report.ok && report.error?.code == .timedOut)
        #expect(report.error?.message == "the server did not answer in time: check the address and the line")
        await harness.stop()
        server.stop()
    }

    @Test("one whose list comes byte by byte is given up after two minutes, though it is never silent")
    func dripping() async throws {
        let harness = try await EngineHarness(leaps: true)
        let clock = try #require(harness.leaping)
        try harness.sandbox.write("a", [1])
        let batch = try await harness.add(
            harness.request(upload: ["a"]) { request in
                guard case .upload(let sources, let url) = request.work else { return }
                request.work = .upload(sources, to: "dav" + url.dropFirst("http".count))
                request.options.uploadBy = nil
            })
        try await harness.finished(batch)
        guard case .folder(let folder) = try await harness.queue.writer.folderToVerify(.batch(batch), after: nil) else {
            Issue.record("nothing is there to be asked for")
            return
        }
        harness.store.stop()
        let steps = try (1...9).map { _ in try Milestone() }
        let server = try ScriptedServer(port: harness.store.server.port) { connection in
            let request = try connection.readHead()
            try connection.readBody(request.length)
            try connection.send("HTTP/1.1 207 Multi-Status\r\nContent-Length: 100000\r\n\r\n")
            for step in steps {
                try connection.send(" ")
                step.waitBlocking()
            }
        }
        let looking = Task { try await harness.engine.verify(folder.look, only: nil) }
        // Two minutes, and the time of one exchange. The time that this takes itself counts as well: it may be over before the last byte.
        for (index, step) in steps.enumerated() {
            try await until {
                let isOver = await harness.engine.asksNothing
                return if index > 0, isOver { true } else { await harness.engine.sideJobBytes == Int64(index + 1) }
            }
            await harness.engine.leap(clock, by: .seconds(15))
            step.reach()
        }
        let error = try #require(try await looking.value.error)
        #expect(error.code == .timedOut && error.happening.hasSuffix("answers too slowly"), "\(error.message)")
        await harness.stop()
        server.stop()
    }
}

extension TransferEngine {
    fileprivate func leap(_ clock: LeapingClock, by time: Duration) { clock.leap(by: time) }

    fileprivate var asksNothing: Bool { sideJobs.all.isEmpty }

    /// Bytes that the answers to questions have brought so far.
    fileprivate var sideJobBytes: Int64 {
        sideJobs.all.flatMap(\.exchanges.underWay).compactMap { progress($0)?.received }.reduce(0, +)
    }
}
