import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite("One address of a host that is ill", .timeLimit(.minutes(2))) struct ServingTests {
    @Test("an answer that names no time is about the addresses of one batch, whatever else is about the host")
    func whose() {
        func isOwn(_ status: Int?, after: Duration?, _ experience: HostStanding.Experience) -> Bool {
            let error = TransferError(status == nil ? .networkConnectionLost : .http, "no: wait", httpStatus: status)
            return TransferEngine.isOfOneBatch(WaitDemand(.backoff, error, retryAfter: after), experience)
        }
        let busy = HostStanding.Experience.overloaded(until: Timestamp(milliseconds: 1), isAsked: false)
        #expect(isOwn(503, after: nil, busy) && isOwn(500, after: nil, .failed) && isOwn(429, after: nil, busy))
        #expect(!isOwn(503, after: .seconds(9), busy), "it says so to all who ask")
        #expect(!isOwn(nil, after: nil, .failed) && !isOwn(nil, after: nil, .unreachable), "the line, or the host")
        #expect(!isOwn(507, after: nil, .answered), "a full disk is no illness")
    }

    @Test("a batch whose address answers 503 waits alone: another one of the same host neither waits nor is told of it")
    func alone() async throws {
        let harness = try await EngineHarness { request, _ in
            request.target.hasPrefix("/status/") && request.method == "PUT"
                ? .answer("503 Service Unavailable") : .ordinary
        }
        try harness.sandbox.write("ill", [1])
        for index in 0..<30 { try harness.sandbox.write("d/\(index)", [UInt8(index)]) }
        let ill = try await harness.add(harness.request(upload: ["ill"], to: "/status/503/"))
        try await harness.task(of: ill) { $0.state == .waiting && $0.error?.httpStatus == 503 }
        let well = try await harness.add(harness.request(upload: ["d"]))
        #expect(try await harness.finished(well).filesCompleted == 30)
        #expect(try await harness.events(.waiting).allSatisfy { $0.batch == ill })
        #expect(await harness.engine.whatIsIll() == [ill])
        await harness.stop()
    }

    @Test("what is left alone because of its answers alone is tried at once when a person says so, and served then")
    func triedNow() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.held = true })
        try await harness.batch(batch) { $0.filesTotal == 1 && !$0.scanning }
        await harness.engine.leaveAlone(batch, at: harness.store.url(""))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        await harness.engine.waitUntilIdle()
        let held = await harness.engine.live().held[batch]
        #expect(held?.error?.httpStatus == 503)
        #expect(try await harness.tasks(batch).first?.state == .queued)
        await harness.engine.connectivityChanged()
        #expect(await harness.engine.live().held.isEmpty)
        #expect(try await harness.finished(batch).filesCompleted == 1)
        await harness.stop()
    }
}

extension TransferEngine {
    /// Batches with addresses that answered that they are ill, as long as no host is.
    fileprivate func whatIsIll() -> [BatchID] { hosts.standings.isEmpty ? hosts.places.keys.map(\.batch) : [] }

    /// As after an answer that said that it is busy, and not for how long: for an hour.
    fileprivate func leaveAlone(_ batch: BatchID, at url: String) {
        var standing = HostStanding(limit: 8)
        let until = timeline.now.advanced(by: .seconds(3600))
        _ = standing.learn(.overloaded(until: until, isAsked: false), limit: 8, now: timeline.now, random: 0)
        let place = HostTrouble.Place(batch: batch, origin: url)
        hosts.places[place] = standing
        hosts.note(TransferError(.http, "it answered 503: Martlet tries again by itself", httpStatus: 503), of: place)
    }
}
