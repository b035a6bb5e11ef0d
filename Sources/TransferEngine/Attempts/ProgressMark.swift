import TransferModel
import TransferQueue

/// The furthest that a file ever came in its run, and whether this attempt brought it further by what is worth something
/// (`ProgressRule`). To confirm once more what a server had and lost is no progress: the pauses between attempts rise, and one day the file
/// is given up.
struct ProgressMark {
    private var furthest: Int64
    /// The position from which progress is measured.
    private var start: Int64
    /// The attempts right before this one failed: what they confirmed was too little.
    private let followsFailures: Bool
    /// Times that it began again.
    private var restarts: Int
    /// Confirmed bytes count: an attempt went on from some of them, or the file has not begun again too often (`ProgressRule`).
    private(set) var isOfUse: Bool
    /// Bytes were confirmed that never were before.
    private(set) var hasAdvanced = false

    init(_ task: ClaimedTask) {
        furthest = task.furthest
        start = task.progressStart
        followsFailures = task.failures > 0
        restarts = task.restarts
        isOfUse = ProgressRule.isOfUse(restarts: task.restarts, accepted: task.accepted)
    }

    /// So many bytes are confirmed now, of a file of that size; `nil`: not known.
    mutating func reach(_ bytes: Int64, of size: Int64?) {
        guard bytes > furthest else { return }
        furthest = bytes
        guard isOfUse else { return }
        if !followsFailures || ProgressRule.isWorthwhile(bytes - start, of: size) { hasAdvanced = true }
    }

    /// The file goes on from what was confirmed of it.
    mutating func goOn() { isOfUse = true }

    /// The source is another one by now, of which nothing was confirmed yet.
    mutating func beginAnother() { (furthest, start) = (0, 0) }

    /// The file begins again. - Parameter isOther: its server has another version; of the first ones every byte is new.
    mutating func startOver(isOther: Bool) {
        if isOther, restarts < ProgressRule.versions { beginAnother() } else { start = max(start, furthest) }
        restarts += 1
        isOfUse = ProgressRule.isOfUse(restarts: restarts, accepted: 0)
    }
}
