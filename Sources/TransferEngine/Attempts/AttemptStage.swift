/// The stage of an attempt, and what scheduler and queue know of it. A value of the attempt.
struct AttemptStage {
    enum Phase {
        /// Exchanges go on. Next: `finishing`, `over`.
        case running
        /// All bytes are here; sync and digest go on without a connection. Next: `publishing`, `over`.
        case finishing
        /// A download has the queue's leave to take its final name: nothing stops that. Next: `over`.
        case publishing
        /// Told to the queue, or given up by the engine. Whatever comes later is dropped.
        case over
    }

    private(set) var phase = Phase.running
    /// It counts among the transfers at once.
    private(set) var holdsSlot = false
    /// It has kept its slot for a while and asked nothing.
    var hasRested = false
    private var isToldRunning = false
    /// Nanoseconds of the engine's clock.
    let startedAt: Int64

    init(at nanoseconds: Int64) { startedAt = nanoseconds }

    /// Only the last answers are awaited, or the disk: another one has its slot already.
    var hasGivenSlotAway: Bool { phase == .finishing || phase == .publishing || !holdsSlot }

    mutating func takeSlot() { holdsSlot = true }

    /// - Returns: false: it held none.
    mutating func giveSlotAway() -> Bool {
        defer { holdsSlot = false }
        return holdsSlot
    }

    /// Returns true once, when the queue is to be told that it runs. Small files are over before that.
    mutating func tellRunning() -> Bool {
        defer { isToldRunning = true }
        return !isToldRunning
    }

    mutating func beginFinishing() { phase = .finishing }
    mutating func beginPublishing() { phase = .publishing }
    mutating func end() { phase = .over }
}
