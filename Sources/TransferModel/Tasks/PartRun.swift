/// Parts of one file that stand side by side and are in the same state. A file of ten thousand parts needs few of these.
public struct PartRun: Codable, Hashable, Sendable {
    /// The progress of a part.
    public enum State: String, Codable, Sendable {
        case waiting, running, completed
    }

    /// The first part's number, counted from 1.
    public var first: Int
    /// The last part's; the same as `first` for one that stands alone.
    public var last: Int
    public var state: State
    /// Bytes of all of them.
    public var bytesTotal: Int64
    /// Sent bytes of these; of completed ones all.
    public var bytesSent: Int64

    public init(first: Int, last: Int, state: State, bytesTotal: Int64, bytesSent: Int64) {
        self.first = first
        self.last = last
        self.state = state
        self.bytesTotal = bytesTotal
        self.bytesSent = bytesSent
    }
}

extension PartRun {
    /// Adds the next part: to the last run when it is in the same state, else as a run of its own. Parts that move are
    /// never put together, because each has its own speed.
    package static func add(_ state: State, bytes: Int64, sent: Int64, to runs: inout [PartRun]) {
        let number = (runs.last?.last ?? 0) + 1
        if let last = runs.indices.last, runs[last].state == state, state != .running {
            runs[last].last = number
            runs[last].bytesTotal += bytes
            runs[last].bytesSent += sent
        } else {
            runs.append(PartRun(first: number, last: number, state: state, bytesTotal: bytes, bytesSent: sent))
        }
    }
}

extension [PartRun] {
    /// Parts that are completed.
    package var completed: Int64 { ByteSum.of(lazy.map { $0.state == .completed ? Int64($0.last - $0.first + 1) : 0 }) }

    /// `8 of 12 completed; 9 at 88%, 10 at 3%`.
    package var sentence: String {
        let moving = filter { $0.state == .running }.map { "\($0.first) at \($0.percent)%" }
        return "\(completed) of \(last?.last ?? 0) completed"
            + (moving.isEmpty ? "" : "; " + moving.joined(separator: ", "))
    }
}

extension PartRun {
    /// Rounded down: 100 only when all of it is there.
    package var percent: Int {
        if state == .completed || bytesTotal <= 0 { return state == .completed ? 100 : 0 }
        let share = Int(Double(bytesSent) * 100 / Double(bytesTotal))
        return min(99, share)
    }
}
