import Glibc
import LinuxSystem
package import TransferModel
import TransferQueue

/// Past speeds for whoever asks, and today's count into the queue (`Accounting`).
extension TransferEngine {
    package func throughput(of batch: BatchID?) -> ThroughputReport {
        let now = timeline.nanoseconds
        for attempt in attempts.values where attempt.phase == .running { sample(attempt) }
        return accounting.report(of: batch, at: now, timeline.now)
    }

    /// A kill costs what was counted since the last time.
    func keepTodayIfDue(isMoving: Bool) {
        guard accounting.isDayToBeKept(isMoving: isMoving, at: timeline.nanoseconds) else { return }
        inBackground { [self] in await durably(.today) { try await keepToday() } }
    }

    func keepToday() async throws {
        guard let (count, speeds, before) = accounting.keepDay(at: timeline.nanoseconds, timeline.now) else { return }
        do {
            try await queue.writer.keep(count, speeds)
        } catch {
            accounting.dayNotKept(before)
            throw error
        }
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
