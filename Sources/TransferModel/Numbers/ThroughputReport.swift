/// Past speeds, and what the engine costs: the contents of the throughput page.
public struct ThroughputReport: Codable, Hashable, Sendable {
    /// The shortest span first.
    public var series: [SpeedSeries]
    /// The batch of the series; missing: everything.
    public var batch: BatchID?
    /// Bytes that have crossed the wire since local midnight, over restarts of the engine.
    public var sentToday: Int64?
    public var receivedToday: Int64?
    /// Attempts that failed in the last minutes, and in how many seconds.
    public var errors: Int64?
    public var errorSeconds: Int64?
    public var process: ProcessUse?

    public init(series: [SpeedSeries], batch: BatchID? = nil) {
        self.series = series
        self.batch = batch
    }
}

/// The machine's resources that the engine's process uses.
public struct ProcessUse: Codable, Hashable, Sendable {
    /// Processor time of all its threads since it started.
    public var cpuMilliseconds: Int64
    public var uptimeMilliseconds: Int64
    public var residentBytes: Int64
    /// Files and directories, without sockets and the like.
    public var openFiles: Int64

    public init(cpuMilliseconds: Int64, uptimeMilliseconds: Int64, residentBytes: Int64, openFiles: Int64) {
        self.cpuMilliseconds = cpuMilliseconds
        self.uptimeMilliseconds = uptimeMilliseconds
        self.residentBytes = residentBytes
        self.openFiles = openFiles
    }
}
