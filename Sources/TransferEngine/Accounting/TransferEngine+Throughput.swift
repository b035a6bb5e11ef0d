import Glibc
import LinuxSystem
package import TransferModel
import TransferQueue

/// Counts speeds and bytes in values of a fixed size: nothing here grows with the queue.
extension TransferEngine {
    /// Least time between two writes of today's count: while bytes move, and when nothing moves any more.
    private static let keeping = (moving: Duration.seconds(30), standing: Duration.seconds(5))

    package func throughput(of batch: BatchID?) -> ThroughputReport {
        let now = timeline.nanoseconds
        for attempt in attempts.values where attempt.phase == .running { look(at: attempt) }
        let series = batch.map { batchSpeeds.series(of: $0, at: now) } ?? speedHistory.series(at: now)
        var report = ThroughputReport(series: series, batch: batch)
        today.pass(to: timeline.now)
        (report.sentToday, report.receivedToday) = (today.count.up, today.count.down)
        (report.errors, report.errorSeconds) = recentErrors.count(at: now)
        return report
    }

    func countMoved(_ bytes: Int64, _ attempt: Attempt, at nanoseconds: Int64) {
        speedHistory.add(bytes, attempt.direction, at: nanoseconds)
        batchSpeeds.add(bytes, attempt.direction, of: attempt.task.batch, at: nanoseconds)
        today.add(bytes, attempt.direction, at: timeline.time(at: nanoseconds))
    }

    func countError() { recentErrors.add(at: timeline.nanoseconds) }

    // MARK: Today, over restarts

    /// A kill costs what was counted since the last time.
    func keepTodayIfDue(isMoving: Bool) {
        let now = timeline.nanoseconds
        let pause = isMoving ? Self.keeping.moving : Self.keeping.standing
        guard today.count != keptToday.count, .nanoseconds(now - keptToday.at) >= pause else { return }
        inBackground { [self] in await durably(.today) { try await keepToday() } }
    }

    func keepToday() async throws {
        let (count, before) = (today.count, keptToday)
        if count == before.count { return }
        keptToday = (count, timeline.nanoseconds)
        do {
            try await queue.writer.keep(count)
        } catch {
            keptToday = before
            throw error
        }
    }

    func adoptToday() async throws {
        if let earlier = try await queue.writer.storedDay() { today.adopt(earlier) }
        keptToday = (today.count, timeline.nanoseconds)
    }
}

extension EngineSettings {
    /// By this process's time zone: localtime_r(3).
    static let localDayHere: @Sendable (Timestamp) -> Int64 = { time in
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return (Int64(parts.tm_year) + 1900) * 10_000 + Int64(parts.tm_mon + 1) * 100 + Int64(parts.tm_mday)
    }
}
