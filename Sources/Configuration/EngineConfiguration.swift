/// The engine's settings unless a batch says otherwise: the keys of `martlet.conf` before its first section, or
/// under `[engine]`.
package struct EngineConfiguration: SettingsSection {
    /// Files moved at the same time.
    package var transfers = 8
    /// The most files moved at the same time to or from one host.
    package var transfersPerHost = 8
    /// Progress is made durable after so many bytes …
    package var checkpointBytes = ByteSize(bytes: 4 << 20)
    /// … or after so long, whichever comes first.
    package var checkpointInterval = TimeSpan(seconds: 1)
    /// An engine with nothing to do and no client leaves after this; 0 is never.
    package var idleExit = TimeSpan(seconds: 600)
    /// Terminal work is forgotten after so many days; 0 is never.
    package var historyDays = 90
    /// The time in which `undo` can take a change back.
    package var grace = TimeSpan(seconds: 10)
    /// True when the desktop is told that a batch has ended or needs the user.
    package var notify = true
    /// True when lines of level debug go into the log's file, too; the newest of them can be read in any case.
    package var logsDetails = false
    /// All uploads together.
    package var uploadLimit = RateTimetable(.unlimited)
    /// All downloads together.
    package var downloadLimit = RateTimetable(.unlimited)

    package init() {}

    package static let settings: [Setting<EngineConfiguration>] = [
        Setting("transfers", .count(1...256), \.transfers, "files moved at the same time"),
        Setting(
            "transfers-per-host", .count(1...256), \.transfersPerHost, "of these, at most so many to or from one host"),
        Setting(
            "checkpoint-bytes", .size(in: ByteSize(bytes: 64 << 10)...ByteSize(bytes: 1 << 30)), \.checkpointBytes,
            "progress is made durable after so many bytes of a file"),
        Setting(
            "checkpoint-seconds", .seconds(1...3600), \.checkpointInterval,
            "or after so many seconds, whichever comes first"),
        Setting(
            "idle-exit", .duration, \.idleExit,
            "an engine with nothing to do and no client leaves after this (0: never)"),
        Setting(
            "history-days", .count(0...36500), \.historyDays, "finished work is forgotten after so many days (0: never)"
        ),
        Setting("notify", .onOff, \.notify, "tell the desktop when a batch is over or needs you"),
        Setting(
            "log-details", .onOff, \.logsDetails,
            "write lines of level debug into the log's file, too; martlet log --level debug shows the newest in any case"
        ),
        Setting("grace", .duration, \.grace, "how long undo can take a change back"),
        Setting(
            "limit-up", .timetable, \.uploadLimit,
            "bytes a second for all uploads together, or a timetable, until martlet limit says else"),
        Setting("limit-down", .timetable, \.downloadLimit, "the same for all downloads together"),
    ]
}

extension ValueSyntax where Value == TimeSpan {
    /// A whole number of seconds, with or without a unit.
    static func seconds(_ range: ClosedRange<Int64>) -> ValueSyntax {
        ValueSyntax("SECONDS", allowed: "seconds from \(range.lowerBound) to \(range.upperBound)") { text in
            guard let span = Int64(text).map(TimeSpan.init(seconds:)) ?? TimeSpan(text),
                range.contains(span.seconds)
            else { return nil }
            return span
        }
    }
}
