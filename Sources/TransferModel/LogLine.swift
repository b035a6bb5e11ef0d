/// How much a line of the engine's log matters, the least first.
public enum LogLevel: String, Codable, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error
    /// 0 (debug) to 3 (error).
    public var severity: Int { LogLevel.allCases.firstIndex(of: self) ?? 1 }
    public static func < (one: LogLevel, other: LogLevel) -> Bool { one.severity < other.severity }
}

/// One line of the engine's log.
public struct LogLine: Codable, Hashable, Sendable {
    public var at: Timestamp
    public var level: LogLevel
    @OrNull public var batch: BatchID?
    @OrNull public var task: TaskID?
    /// Harmless to print, one line, nothing secret in it.
    public var message: String

    public init(at: Timestamp, level: LogLevel, batch: BatchID?, task: TaskID?, message: String) {
        self.at = at
        self.level = level
        _batch = OrNull(wrappedValue: batch)
        _task = OrNull(wrappedValue: task)
        self.message = message
    }
}
