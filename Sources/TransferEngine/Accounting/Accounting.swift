import TransferModel
import TransferQueue

/// Speeds and bytes of the engine: of the whole, of each batch, of today, and what is remembered of files between their attempts. Nothing
/// here grows with the queue. A value of the engine, which tells what moved (`TransferEngine+Live`) and writes today's count
/// (`TransferEngine+Throughput`). Nanoseconds are those of the engine's clock.
struct Accounting {
    /// The count that the queue was told last, and when.
    typealias KeptDay = (count: DayCount, at: Int64)

    /// Least time between two writes of what moved, while bytes move. When nothing runs any more it is written at once.
    private static let keeping = Duration.seconds(5)
    /// Number of files whose best speed is remembered; one more, and all are forgotten.
    private static let mostBest = 256

    private var history: SpeedHistory
    private var batches = BatchSpeeds()
    private var errors: RecentCount
    private var today: TodayCount
    private var kept: KeptDay
    /// The highest speeds of files whose attempts were broken off and that may be tried again.
    private var best: [TaskID: Int64] = [:]
    private var hasMoved = false
    var left = LeftSpeeds()
    var unconfirmed = UnconfirmedUploads()

    init(at nanoseconds: Int64, _ time: Timestamp, localDay: @escaping @Sendable (Timestamp) -> Int64) {
        history = SpeedHistory(at: nanoseconds)
        errors = RecentCount(at: nanoseconds)
        today = TodayCount(at: time, localDay: localDay)
        kept = (today.count, nanoseconds)
    }

    /// - Parameter time: the same instant as `nanoseconds`.
    mutating func moved(
        _ bytes: Int64, _ direction: TransferDirection, of batch: BatchID, at nanoseconds: Int64, _ time: Timestamp
    ) {
        hasMoved = true
        history.add(bytes, direction, at: nanoseconds)
        batches.add(bytes, direction, of: batch, at: nanoseconds)
        today.add(bytes, direction, at: time)
    }

    /// Returns true when something has moved since this was asked last.
    mutating func takeMovement() -> Bool {
        defer { hasMoved = false }
        return hasMoved
    }

    mutating func failed(at nanoseconds: Int64) { errors.add(at: nanoseconds) }

    /// - Parameter time: the same instant as `nanoseconds`.
    mutating func report(of batch: BatchID?, at nanoseconds: Int64, _ time: Timestamp) -> ThroughputReport {
        let series = batch.map { batches.series(of: $0, at: nanoseconds) } ?? history.series(at: nanoseconds)
        var report = ThroughputReport(series: series, batch: batch)
        today.pass(to: time)
        (report.sentToday, report.receivedToday) = (today.count.up, today.count.down)
        (report.errors, report.errorSeconds) = errors.count(at: nanoseconds)
        return report
    }

    // MARK: Today, over restarts

    func isDayToBeKept(isMoving: Bool, at nanoseconds: Int64) -> Bool {
        today.count != kept.count && (!isMoving || .nanoseconds(nanoseconds - kept.at) >= Self.keeping)
    }

    /// Takes today's count and the speeds as kept. - Returns: both for the queue, and what `dayNotKept` gets when the queue refuses them;
    /// `nil`: the queue has this count.
    /// - Parameter time: the same instant as `nanoseconds`.
    mutating func keepDay(
        at nanoseconds: Int64, _ time: Timestamp
    ) -> (count: DayCount, speeds: SpeedRecord, before: KeptDay)? {
        let (count, before) = (today.count, kept)
        if count == before.count { return nil }
        kept = (count, nanoseconds)
        return (count, history.record(at: nanoseconds, time), before)
    }

    mutating func dayNotKept(_ before: KeptDay) { kept = before }

    /// Goes on from the count and the speeds of an earlier engine.
    /// - Parameter time: the same instant as `nanoseconds`.
    mutating func adopt(
        _ earlier: DayCount?, _ speeds: SpeedRecord? = nil, at nanoseconds: Int64, _ time: Timestamp
    ) {
        if let earlier { today.adopt(earlier) }
        if let speeds { history.adopt(speeds, at: nanoseconds, time) }
        kept = (today.count, nanoseconds)
    }

    // MARK: Best speeds

    /// Remembers the best speed of an attempt for the file's next attempt.
    mutating func keepBest(_ bytesPerSecond: Int64, of task: TaskID) {
        guard bytesPerSecond > 0 else { return }
        if best.count >= Self.mostBest { best = [:] }
        best[task] = bytesPerSecond
    }

    /// 0: none is known.
    mutating func takeBest(of task: TaskID) -> Int64 { best.removeValue(forKey: task) ?? 0 }

    mutating func forgetBest(of task: TaskID) { best[task] = nil }
}
