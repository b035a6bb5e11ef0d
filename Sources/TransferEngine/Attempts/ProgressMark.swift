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
    /// Nothing that is confirmed counts before an attempt goes on from it: the file has begun again too often (`ProgressRule`).
    private(set) var isInDoubt: Bool
    /// Bytes were confirmed that never were before.
    private(set) var hasAdvanced = false

    init(_ task: ClaimedTask) {
        furthest = task.furthest
        start = task.progressStart
        followsFailures = task.failures > 0
        restarts = task.restarts
        isInDoubt = ProgressRule.isInDoubt(restarts: task.restarts) && task.accepted == 0
    }

    /// So many bytes are confirmed now, of a file of that size; `nil`: not known.
    mutating func reach(_ bytes: Int64, of size: Int64?) {
        guard bytes > furthest, !isInDoubt else { return }
        furthest = bytes
        if !followsFailures || ProgressRule.isWorthwhile(bytes - start, of: size) { hasAdvanced = true }
    }

    /// The file goes on from what was confirmed of it.
    mutating func goOn(at offset: Int64, of size: Int64?) {
        isInDoubt = false
        reach(offset, of: size)
    }

    /// The source is another one by now, of which nothing was confirmed yet.
    mutating func beginAnother() { (furthest, start) = (0, 0) }

    /// The file begins again at zero.
    /// - Parameters:
    ///   - isOther: its server has another version; of the first ones every byte is new.
    ///   - loses: false: what there was to lose is told of already.
    mutating func startOver(isOther: Bool, loses: Bool = true) {
        guard loses || restarts == 0 else { return }
        if isOther, restarts < ProgressRule.versions { beginAnother() } else { start = max(start, furthest) }
        restarts += 1
        isInDoubt = ProgressRule.isInDoubt(restarts: restarts)
    }
}
