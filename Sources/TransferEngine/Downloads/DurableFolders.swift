import TransferModel

/// Folders of which the engine knows that their own names are on the disk: a file is lost with a folder that a power cut takes away.
struct DurableFolders {
    private var known: Set<RawPath> = []

    /// The folders in which the names on the way to this one stand and may not be on the disk yet.
    func unsynced(above directory: RawPath) -> [RawPath] {
        var above: [RawPath] = []
        var here = directory
        while let parent = here.parent, !known.contains(here) {
            above.append(parent)
            here = parent
        }
        return above
    }

    /// The names on the way to a folder are on the disk.
    mutating func note(_ directory: RawPath) {
        if known.count >= Self.most { known = [] }
        var here = directory
        while let parent = here.parent, known.insert(here).inserted { here = parent }
    }

    /// A folder was made, where an earlier one of its name may have been known.
    mutating func forget() { known = [] }

    private static let most = 10_000
}
