import FoundationEssentials
import LinuxSystem
import ServiceWire
import SessionBus
import Testing
import TransferModel
import TransferQueue

@testable import TransferService

@Suite("What the desktop is told")
struct DesktopNoticesTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func at(_ seconds: Int64) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    private func event(_ type: TransferEventType, _ batch: Int64, _ reasons: [WaitReason] = []) -> TransferEvent {
        var payload = EventPayload()
        payload.waitReasons = reasons
        return TransferEvent(
            seq: EventSequence(rawValue: 1), at: Timestamp(milliseconds: 1), session: .default,
            batch: BatchID(rawValue: batch), task: nil,
            type: type, payload: payload)
    }

    private func batch(
        _ id: Int64, _ state: TransferState, failed: Int64 = 0, waits: [WaitCount] = []
    ) -> BatchSnapshot {
        var counts = FileCounts()
        (counts.completed, counts.failed, counts.waiting) = (3, failed, waits.reduce(0) { $0 + $1.count })
        var batch = BatchSnapshot(
            id: BatchID(rawValue: id), uuid: UUID(), session: .default, name: "b & <\(id)>", direction: .upload,
            state: state, scanning: false, paused: false, priority: .normal, createdAt: Timestamp(milliseconds: 1),
            finishedAt: nil,
            destination: "https://ana@nas.local:8443/in/", counts: counts, bytes: ByteCounts(total: 1536),
            waitReasons: waits.map(\.reason),
            causes: failed > 0
                ? [CauseCount(code: .http, count: failed, finding: Finding("nas.local answered 404", .step("look")))]
                : [])
        batch.waits = waits
        return batch
    }

    @Test("the first end is shown when it has settled, what comes soon after it waits and is shown together")
    func joined() {
        var notices = DesktopNotices()
        #expect(notices.due == nil)
        notices.take(event(.batchFinished, 1), at: at(0))
        #expect(notices.take(at: at(0)).isEmpty)
        #expect(notices.due == at(1))
        #expect(notices.take(at: at(1)).map(\.batch.rawValue) == [1])
        notices.shown(at: at(1))
        #expect(notices.due == nil)
        for id in 2...9 { notices.take(event(.batchFinished, Int64(id)), at: at(2)) }
        #expect(notices.due == at(31))
        #expect(notices.take(at: at(31)).count == 8)
        notices.shown(at: at(31))
        notices.take(event(.batchFinished, 10), at: at(300))
        #expect(notices.due == at(301))
    }

    @Test("that a batch needs the person is said once, and again only when somebody had seen to it")
    func once() {
        var notices = DesktopNotices()
        notices.take(event(.waiting, 1, [.backoff]), at: at(0))
        #expect(notices.due == nil)
        for _ in 0..<3 { notices.take(event(.waiting, 1, [.auth]), at: at(0)) }
        #expect(notices.take(at: at(1)).map(\.news) == [.needsPerson])
        notices.take(event(.waiting, 1, [.auth]), at: at(50))
        #expect(notices.due == nil)
        notices.take(event(.resumed, 1), at: at(60))
        notices.take(event(.waiting, 1, [.hostKey]), at: at(61))
        #expect(notices.due == at(62))
        notices.take(event(.batchFinished, 1), at: at(61))
        #expect(notices.take(at: at(62)).map(\.news) == [.ended])
    }

    @Test("the words: done, failed, waits for the person; nothing of what was cancelled or goes on again")
    func words() {
        let done = DesktopNotices.notification([(batch(1, .completed), .ended)])
        #expect(done == DesktopNotification(summary: "\u{201c}b & <1>\u{201d} is done", body: "3 files, 1.5 KiB"))
        let failed = DesktopNotices.notification([(batch(2, .failed, failed: 1), .ended)])
        #expect(failed?.summary == "\u{201c}b & <2>\u{201d}: 1 file failed" && failed?.isProblem == true)
        #expect(failed?.body == "3 of 4 files are done.\nnas.local answered 404: look")
        let wait = batch(3, .waiting, waits: [WaitCount(reason: .auth, count: 2)])
        let needs = DesktopNotices.notification([(wait, .needsPerson)])
        #expect(needs?.summary == "\u{201c}b & <3>\u{201d} needs you")
        #expect(needs?.body == "It waits because nas.local does not let it in. martlet why b3 says what to do.")
        #expect(DesktopNotices.notification([(batch(4, .cancelled), .ended), (batch(5, .running), .ended)]) == nil)
        #expect(DesktopNotices.notification([(batch(6, .running), .needsPerson)]) == nil)
        var many = (1...9).map { (batch: batch($0, .completed), news: DesktopNotices.News.ended) }
        #expect(DesktopNotices.notification(many)?.summary == "9 batches are over")
        many.append((wait, .needsPerson))
        let joined = DesktopNotices.notification(many)
        #expect(joined?.summary == "1 of 10 batches need you" && joined?.isProblem == true)
        let lines = joined?.body.split(separator: "\n")
        let seenTo = (batch: batch(11, .running), news: DesktopNotices.News.needsPerson)
        #expect(DesktopNotices.notification(many.dropLast() + [seenTo, seenTo])?.summary == "9 batches are over")
        #expect(lines?.count == 6 && lines?.first == "\u{201c}b & <3>\u{201d} needs you" && lines?.last == "and 5 more")
    }

    @Test("the service shows that a batch is over, on the bus of the front that came last, and nothing when it is off")
    func service() async throws {
        let (shown, tell) = AsyncStream.makeStream(of: (DesktopNotification, SessionBus).self)
        var settings = ServiceSettings(idleExit: nil)
        settings.showsOnDesktop = { (notification, bus) throws(SessionBus.Failure) in tell.yield((notification, bus)) }
        let harness = try await ServiceHarness(settings: settings)
        let client = try await harness.client(greets: false)
        _ = try await client.call(Methods.hello, Hello(client: "test", sessionBus: "unix:path=/run/x"))
        try await harness.add(2, name: "photos")
        try await harness.completeAll()
        var all = shown.makeAsyncIterator()
        let (notification, bus) = try #require(await all.next())
        #expect(notification.summary == "\u{201c}photos\u{201d} is done")
        #expect(bus.address == "unix:path=/run/x")
        try await harness.end()
    }
}
