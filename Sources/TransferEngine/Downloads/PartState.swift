/// The temporary file that an earlier attempt of a download has left here.
enum PartState: Hashable {
    /// No file, or not ours.
    case nothing
    /// The folder that it was made in is not there, or cannot be read: it says nothing of the file.
    case outOfReach(LocalRefusal)
    /// Ours, and shorter than it was.
    case cut(length: Int64)
    /// So much of it is on the disk for sure, and so long the file is: a kill left bytes that may be there or not.
    case part(synced: Int64, length: Int64)

    /// Bytes that the next attempt goes on behind.
    var usable: Int64 {
        if case .part(let synced, _) = self { synced } else { 0 }
    }
}

/// The bytes of an earlier attempt that have to come again.
enum PartLoss: Hashable {
    case nothing
    /// Bytes behind the last checkpoint.
    case tail(Int64)
    /// Everything, and why.
    case all(reason: String, Int64)

    /// - Parameter accepted: how much of it the queue knows.
    init(_ left: PartState, accepted: Int64) {
        switch left {
        case .nothing:
            self = accepted > 0 ? .all(reason: "the temporary file is not there any more", accepted) : .nothing
        // We empty it ourselves before a new beginning is recorded; a kill in between leaves nobody who knows whose deed it was.
        case .cut(0): self = .all(reason: "the temporary file is empty", accepted)
        case .cut:
            self = .all(reason: "somebody else has cut the temporary file", accepted)
        case .part(0, let length) where length > 0:
            self = .all(reason: "it was broken off before anything was safe on the disk", max(length, accepted))
        case .part(let synced, let length) where length > synced: self = .tail(length - synced)
        case .part, .outOfReach: self = .nothing
        }
    }
}
