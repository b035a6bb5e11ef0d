/// The importance of a line of the engine's log, the least first.
public enum LogLevel: String, Codable, Sendable, CaseIterable, Comparable {
    case debug, info
    /// Actions of people.
    case user
    case warning, error
    /// 0 (debug) to 4 (error).
    public var severity: Int { LogLevel.allCases.firstIndex(of: self) ?? 1 }
    public static func < (one: LogLevel, other: LogLevel) -> Bool { one.severity < other.severity }
}

/// One line of the engine's log.
public struct LogLine: Codable, Hashable, Sendable {
    public var at: Timestamp
    public var level: LogLevel
    @OrNull public var batch: BatchID?
    @OrNull public var task: TaskID?
    /// The names of both: the batch's name, then the file's path in it. Harmless text; missing where nobody knows them any more.
    public var place: String?
    /// Harmless to print, one line, nothing secret in it.
    public var message: String

    public init(
        at: Timestamp, level: LogLevel, batch: BatchID?, task: TaskID?, place: String? = nil, message: String
    ) {
        self.at = at
        self.level = level
        _batch = OrNull(wrappedValue: batch)
        _task = OrNull(wrappedValue: task)
        self.place = place
        self.message = message
    }

    /// The place, or the ID where there is none; with a blank behind it, or empty.
    package var subject: String { (place ?? task?.description ?? batch?.description).map { $0 + " " } ?? "" }
}
