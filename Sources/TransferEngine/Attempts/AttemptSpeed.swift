import TransferModel

/// The speed of an attempt as it is shown, judged and remembered. A value of the attempt. Nanoseconds are those of the engine's clock, `awake`
/// those of a clock that stands still while the machine sleeps.
struct AttemptSpeed {
    private var meter: SpeedMeter
    private var crawl: CrawlMark
    /// Speed of this file only; `meter` may have measured another file before.
    private var pace: AttemptPace

    /// - Parameters:
    ///   - meter: of the place in the line that the file takes; `nil`: a new one.
    ///   - best: the highest speed of earlier attempts, in bytes a second; 0: none is known.
    init(at nanoseconds: Int64, awake: Int64, meter: SpeedMeter? = nil, best: Int64 = 0) {
        self.meter = meter ?? SpeedMeter(at: nanoseconds)
        crawl = CrawlMark(at: awake)
        pace = AttemptPace(at: nanoseconds, best: best)
    }

    /// Counts bytes that have moved.
    mutating func add(_ bytes: Int64, at nanoseconds: Int64, awake: Int64) {
        meter.add(bytes, at: nanoseconds)
        pace.add(bytes)
        crawl.add(bytes, at: awake)
    }

    /// Takes note of the speed that is shown.
    mutating func note(at nanoseconds: Int64) { pace.note(meter.bytesPerSecond(at: nanoseconds), at: nanoseconds) }

    /// Leaves the meter to another file, and goes on with a new one.
    mutating func leaveMeter(at nanoseconds: Int64) -> SpeedMeter {
        defer { meter = SpeedMeter(at: nanoseconds) }
        return meter
    }

    func bytesPerSecond(at nanoseconds: Int64) -> Int64 { meter.bytesPerSecond(at: nanoseconds) }
    func isQuiet(at nanoseconds: Int64) -> Bool { meter.isQuiet(at: nanoseconds) }
    func isCrawling(awake: Int64) -> Bool { crawl.isCrawling(at: awake) }
    /// Bytes a second since the attempt began; `nil`: nothing has moved, or not for long enough.
    func average(at nanoseconds: Int64) -> Int64? { pace.average(at: nanoseconds) }
    /// The highest speed that was shown of the file, in bytes a second; 0: none.
    var best: Int64 { pace.best }
}
