import TransferQueue

/// The furthest that a file ever came in its run, and whether this attempt brought it further. To confirm once more what a server had and
/// lost is no progress: the pauses between attempts rise, and one day the file is given up.
struct ProgressMark {
    private var furthest: Int64
    /// Bytes were confirmed that never were before.
    private(set) var hasAdvanced = false

    init(_ task: ClaimedTask) { furthest = task.furthest }

    /// So many bytes are confirmed now.
    mutating func reach(_ bytes: Int64) {
        guard bytes > furthest else { return }
        furthest = bytes
        hasAdvanced = true
    }

    /// The source is another one by now, of which nothing was confirmed yet.
    mutating func beginAnother() { furthest = 0 }
}
