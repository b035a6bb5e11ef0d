import TransferModel
import Wording

/// Failures and waits of one cause in one batch: the first is a line of the log, the others are counted. A disk that was taken out, or a
/// wrong password, is one thing that happened, and not a hundred thousand. Pure: the caller brings the time.
struct FailureRuns {
    struct Cause: Hashable {
        var batch: BatchID
        /// `nil`: what it waits for is no failure.
        var code: TransferErrorCode?
        /// The status of failures by HTTP.
        var status: Int?
        /// The wait reasons of files that have not failed.
        var waits: [WaitReason]?

        /// `answered 403`, or what the code is called.
        var words: String { status.map { "answered \($0)" } ?? code?.words ?? (waits ?? []).words }

        /// The cause that an event tells of; `nil`: it is neither a failure nor a wait.
        init?(_ event: TransferEvent) {
            guard let batch = event.batch, event.task != nil else { return nil }
            switch event.type {
            case .taskFailed:
                guard let error = event.payload.error else { return nil }
                self.init(batch: batch, code: error.code, status: error.httpStatus)
            case .waiting:
                let error = event.payload.error
                self.init(
                    batch: batch, code: error?.code, status: error?.httpStatus, waits: event.payload.waitReasons ?? [])
            default: return nil
            }
        }

        init(batch: BatchID, code: TransferErrorCode?, status: Int? = nil, waits: [WaitReason]? = nil) {
            (self.batch, self.code, self.status, self.waits) = (batch, code, status, waits)
        }
    }

    /// So many more have failed, or began to wait, since the last line about it.
    struct Untold: Equatable {
        var cause: Cause
        var files: Int64

        var message: String {
            // One file may wait again and again.
            let what =
                cause.waits == nil ? files == 1 ? "file stopped" : "files stopped" : files == 1 ? "wait" : "waits"
            return "\(files) more \(what) for the same cause (\(cause.words))"
        }
    }

    private struct Run {
        var files: Int64 = 0
        /// When the last line about it was written.
        var toldAt: Timestamp
    }

    /// A count is told no sooner than this after the last line about it.
    static let interval = Duration.seconds(10)
    /// More causes than so many are not kept apart from new ones.
    static let most = 1000

    private var runs: [Cause: Run] = [:]

    /// Takes a failure or a wait in.
    /// - Returns: whether it is the first of its cause, to be told in full. A file that waits goes on, and may wait again: what comes long
    ///   after the last line about it is another story.
    mutating func isFirst(_ cause: Cause, at time: Timestamp) -> Bool {
        if let run = runs[cause], cause.waits != nil, run.files == 0, time.since(run.toldAt) >= Self.interval {
            runs[cause] = nil
        }
        if runs[cause] != nil {
            runs[cause]?.files += 1
            return false
        }
        if runs.count >= Self.most { runs = runs.filter { $0.value.files > 0 } }
        if runs.count < Self.most { runs[cause] = Run(toldAt: time) }
        return true
    }

    /// The counts that are to be told by now.
    mutating func due(_ now: Timestamp) -> [Untold] {
        let due = runs.filter { $0.value.files > 0 && now.since($0.value.toldAt) >= Self.interval }
        for cause in due.keys { runs[cause] = Run(toldAt: now) }
        return Self.told(due)
    }

    /// The counts to tell of a batch that is over. Whoever tries it again begins a new account.
    mutating func end(of batch: BatchID) -> [Untold] { end { $0.batch == batch } }

    /// The counts to tell of the waits of a batch that goes on: what it waits for again is news.
    mutating func endWaits(of batch: BatchID) -> [Untold] { end { $0.batch == batch && $0.waits != nil } }

    private mutating func end(_ isOver: (Cause) -> Bool) -> [Untold] {
        let ended = runs.filter { isOver($0.key) }
        for cause in ended.keys { runs[cause] = nil }
        return Self.told(ended.filter { $0.value.files > 0 })
    }

    /// When `due` has something; `nil`: all is told.
    var next: Timestamp? {
        runs.values.filter { $0.files > 0 }.map { $0.toldAt.advanced(by: Self.interval) }.min()
    }

    private static func told(_ runs: [Cause: Run]) -> [Untold] {
        runs.map { Untold(cause: $0.key, files: $0.value.files) }
            .sorted { ($0.cause.batch, $1.files) < ($1.cause.batch, $0.files) }
    }
}
