/// The state of a task or a batch. The order of the cases is the order of a task's life.
public enum TransferState: String, Codable, Sendable, CaseIterable {
    /// Held when it was queued; never started. Next: `queued` by resume, `cancelled`.
    case created
    /// May run and stands in line for a slot. Next: `running`, `waiting`, `paused`, `cancelled`, `failed`.
    case queued
    /// Has at least one `WaitReason`. Next: `queued` when the last is gone, `paused`, `cancelled`, `failed`.
    case waiting
    /// Has an attempt with a slot. Next: `finishing`, `waiting`, `queued` (pre-empted), `paused`, `cancelled`, `failed`.
    case running
    /// All bytes are accepted; sync, digest, rename or commit go on. Next: `completed`, `failed`, `waiting`,
    /// `paused`, `queued`, `cancelled`.
    case finishing
    /// Stopped by a person, by the node's own flag or an ancestor's. Next: what it was, `cancelled`.
    case paused
    /// Terminal: the server (or the synced local file) has every byte.
    case completed
    /// Terminal: stopped with a cause; `retry` starts a new run.
    case failed
    /// Terminal: by a person, or with the session; `undo` within the grace time or `retry` starts a new run.
    case cancelled

    /// True when the task is over, and its one terminal event of this run stored.
    public var isTerminal: Bool { self == .completed || self == .failed || self == .cancelled }

    /// True when it counts as active in `filesActive`.
    public var isActive: Bool { self == .running || self == .finishing }

    /// True when nothing in this state moves before a person does something: what is paused without an end, held, or waits for what only a
    /// person can end. It is the rule of every wait that is not patient.
    /// - Parameters:
    ///   - reasons: why it waits.
    ///   - end: when its pause, or the first pause in it, ends by itself; `nil`: when somebody resumes it.
    package func needsPerson(_ reasons: [WaitReason], pausedUntil end: Timestamp?) -> Bool {
        switch self {
        case .created: true
        case .paused: end == nil
        case .waiting: end == nil && !reasons.isEmpty && reasons.allSatisfy(\.needsPerson)
        case .queued, .running, .finishing, .completed, .failed, .cancelled: false
        }
    }
}

/// The direction of the bytes.
public enum TransferDirection: String, Codable, Sendable {
    case upload, download
}

/// The reason why a task waits, in the order in which a person is told. Signals of `martlet signals` bear the same names.
public enum WaitReason: String, Codable, Sendable, CaseIterable {
    case auth, hostKey, remoteDiskSpace, diskSpace, connectivity, metered, constrained, battery, powerSaver, pressure
    case notBefore, dependency, hostBackoff, backoff, draining

    /// True when only a person can end the wait (`wait` returns 4 when nothing else is left).
    public var needsPerson: Bool { self == .auth || self == .hostKey }

    /// True when it belongs among the problems: nobody but a person can end the wait, or makes the room that is missing.
    package var isProblem: Bool { needsPerson || self == .remoteDiskSpace || self == .diskSpace }
}

/// A set of wait reasons as the queue stores it: bit `n` is the `n`th case of `WaitReason`, in the order above.
/// The order is part of the schema: append only.
public struct WaitReasons: OptionSet, Hashable, Sendable {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public init(_ reason: WaitReason) {
        // Every case is in allCases.
        rawValue = 1 << Int32(WaitReason.allCases.firstIndex(of: reason)!)
    }

    /// The reasons, in the order of `WaitReason`.
    public var reasons: [WaitReason] { WaitReason.allCases.filter { contains(WaitReasons($0)) } }
}

/// A batch's or task's urgency. The scheduler takes the highest first, then the queue's order.
public enum TransferPriority: String, Codable, Sendable, CaseIterable, Comparable {
    case background, low, normal, high, interactive

    /// 0 (background) to 4 (interactive); stored in the queue.
    public var level: Int { TransferPriority.allCases.firstIndex(of: self) ?? 2 }
    public static func < (one: TransferPriority, other: TransferPriority) -> Bool { one.level < other.level }
}
