package import TransferModel

/// Parameters of `engine.stop`. The connection ends when the engine has, with the notification `engine.ends` before.
package struct EngineStopRequest: Codable, Hashable, Sendable {
    /// Let files that are running finish; else checkpoint and break them off.
    package var finishRunning: Bool?
    /// With `finishRunning`: false breaks off at once what can go on later where it stands. By default it is finished, too.
    package var finishResumable: Bool?
    /// Answer only when the stop is taken back; the connection's end says that it was not.
    package var wait: Bool?
    package init(finishRunning: Bool? = nil, finishResumable: Bool? = nil, wait: Bool? = nil) {
        self.finishRunning = finishRunning
        self.finishResumable = finishResumable
        self.wait = wait
    }
}

extension EngineStopRequest {
    package init(_ manner: StopManner, wait: Bool? = nil) {
        self.init(
            finishRunning: manner != .now, finishResumable: manner == .finishingUnresumable ? false : nil, wait: wait)
    }

    package var manner: StopManner {
        guard finishRunning == true else { return .now }
        return finishResumable == false ? .finishingUnresumable : .finishingRunning
    }
}

/// Answer of `engine.stop`.
package struct EngineStopAnswer: Codable, Hashable, Sendable {
    /// Somebody had the engine go on.
    package var takenBack: Bool
    package init(takenBack: Bool) { self.takenBack = takenBack }
}

/// Answer of `engine.goOn`.
package struct EngineGoOnAnswer: Codable, Hashable, Sendable {
    /// The engine was about to stop.
    package var wasStopping: Bool
    package init(wasStopping: Bool) { self.wasStopping = wasStopping }
}

/// Parameters of `limits.set`: what is missing stays as it is.
package struct LimitsChange: Codable, Hashable, Sendable {
    /// Bytes a second; 0 takes the limit away.
    package var up: Int64?
    package var down: Int64?
    /// Instead of `up`: a timetable such as `08:00,512K 18:00,off`.
    package var upTimetable: String?
    package var downTimetable: String?
    /// 1…256
    package var transfers: Int?
    package var transfersPerHost: Int?
    /// Limits of hosts and sessions; a rate of 0 takes the limit away.
    package var scoped: [ScopedLimit]?

    package init(
        up: Int64? = nil, down: Int64? = nil, upTimetable: String? = nil, downTimetable: String? = nil,
        transfers: Int? = nil, transfersPerHost: Int? = nil, scoped: [ScopedLimit]? = nil
    ) {
        self.up = up
        self.down = down
        self.upTimetable = upTimetable
        self.downTimetable = downTimetable
        self.scoped = scoped
        self.transfers = transfers
        self.transfersPerHost = transfersPerHost
    }
}

/// Parameters of `log.read`: the newest lines, or those behind a cursor.
package struct LogReadRequest: Codable, Hashable, Sendable {
    /// At least this level; default `info`.
    package var level: LogLevel?
    package var batch: BatchID?
    package var task: TaskID?
    /// 1…1000, default 200.
    package var limit: Int?
    /// A `next` of an earlier answer: only what came behind it.
    package var after: Int64?
    /// When there is none behind `after` yet, answer only when there is one.
    package var wait: Bool?

    package init(
        level: LogLevel? = nil, batch: BatchID? = nil, task: TaskID? = nil, limit: Int? = nil, after: Int64? = nil,
        wait: Bool? = nil
    ) {
        self.level = level
        self.batch = batch
        self.task = task
        self.limit = limit
        self.after = after
        self.wait = wait
    }
}

/// Answer of `log.read`, oldest line first.
package struct LogReadAnswer: Codable, Hashable, Sendable {
    package var lines: [LogLine]
    /// Cursor behind the last line of the log. Holds for this run of the engine.
    package var next: Int64

    package init(lines: [LogLine], next: Int64) {
        self.lines = lines
        self.next = next
    }
}

/// Parameters of `throughput`.
package struct ThroughputRequest: Codable, Hashable, Sendable {
    /// Missing: everything.
    package var batch: BatchID?

    package init(batch: BatchID? = nil) { self.batch = batch }
}
