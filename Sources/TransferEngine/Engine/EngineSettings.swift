package import TransferModel

/// Limits of the whole engine; they change while it runs.
package struct EngineLimits: Hashable, Sendable {
    /// Bytes a second; `nil`: unlimited.
    package var bytesPerSecondUp: Int64?
    package var bytesPerSecondDown: Int64?
    /// Files at the same time.
    package var transfers: Int
    package var transfersPerHost: Int

    package init(
        bytesPerSecondUp: Int64? = nil, bytesPerSecondDown: Int64? = nil, transfers: Int = 8, transfersPerHost: Int = 8
    ) {
        self.bytesPerSecondUp = bytesPerSecondUp
        self.bytesPerSecondDown = bytesPerSecondDown
        self.transfers = transfers
        self.transfersPerHost = transfersPerHost
    }
}

/// Settings of the engine, decided when it starts.
package struct EngineSettings: Sendable {
    package var limits = EngineLimits()
    /// A download is synced and its resume point recorded after so many bytes, or after `checkpointInterval`.
    package var checkpointBytes: Int64 = 4 << 20
    package var checkpointInterval: Duration = .seconds(1)
    /// Time in which a cancel can be taken back; the queue must have been told the same.
    package var grace: Duration = .seconds(10)
    /// A folder of the engine's own, for the moment in which `ssh` asks for a password. Made when needed, 0700.
    package var privateFolder = RawPath("/nonexistent/martlet")
    /// The state directory, in which receivers of this user keep their tokens; `nil`: nobody looks for any.
    package var receiverState: RawPath?
    /// Returns the day of a time where the person is, as in `DayCount`.
    package var localDay: @Sendable (Timestamp) -> Int64 = EngineSettings.localDayHere
    /// Sent as `User-Agent`.
    package var userAgent: String
    /// Takes lines for the log; called on the engine's loop, so it hands over and does no work there.
    package var report: (@Sendable (EngineReport) -> Void)?

    package init(userAgent: String = "martlet") { self.userAgent = userAgent }
}

/// A line for the log. Its message is harmless to print and holds no secret.
package struct EngineReport: Sendable, Hashable {
    package enum Level: String, Sendable {
        case error, warning, info, debug
    }

    package var level: Level
    /// The task that the line is about; `nil`: the engine.
    package var task: TaskID?
    package var message: String

    package init(level: Level, task: TaskID?, message: String) {
        self.level = level
        self.task = task
        self.message = message
    }
}
