import TransferModel
import TransferQueue

/// The bytes of an attempt's file: how far they are, how much of them was confirmed, and how much had to go again. A value of the attempt.
struct AttemptProgress {
    /// Bytes of the file; `nil`: nobody has told them yet.
    private(set) var total: Int64?
    /// When receiving: the offset in the file, in bytes, at which the exchange in flight began.
    private(set) var base: Int64 = 0
    /// The position in the file up to which it is sent, or received, as last looked at; never more than `total`.
    private(set) var position: Int64 = 0
    /// Bytes that the server of an upload has confirmed, or that are on the disk for a download.
    private(set) var accepted: Int64
    /// Bytes of this version of the file that the server had before this attempt: to hear of them again is no progress.
    private(set) var knownBefore: Int64
    private(set) var repeated: Int64 = 0
    /// Bytes were accepted in this attempt: host and line are well.
    private(set) var hasProgressed = false
    /// The bytes that were accepted in earlier attempts, of whichever version.
    private let acceptedBefore: Int64
    private var mark: ProgressMark

    init(_ task: ClaimedTask) {
        total = task.size
        (accepted, knownBefore, acceptedBefore) = (task.accepted, task.accepted, task.accepted)
        mark = ProgressMark(task)
    }

    /// This attempt brought the file further than any before (`ProgressMark`).
    var hasAdvanced: Bool { mark.hasAdvanced }

    /// It may have brought the file further: when the next attempt goes on from here, it did.
    var mayBeOfUse: Bool { accepted > 0 && mark.isInDoubt }

    // MARK: Beginning

    /// An upload begins: how much its server has is counted anew from what that says.
    mutating func begin(of size: Int64) { (total, accepted) = (size, 0) }

    /// A download begins where the temporary file ends.
    mutating func begin(at offset: Int64) {
        accepted = offset
        receive(from: offset)
    }

    /// The source of an upload is another one by now, of which nothing is there.
    mutating func beginAnother(of size: Int64) {
        repeated += position
        (total, position, accepted, knownBefore) = (size, 0, 0, 0)
        mark.beginAnother()
    }

    /// The file begins again at zero.
    /// - Parameters:
    ///   - lost: bytes that have to go again.
    ///   - isOther: its server has another version.
    mutating func startOver(losing lost: Int64, isOther: Bool) {
        repeated += lost
        (base, position, accepted, knownBefore) = (0, 0, 0, 0)
        mark.startOver(isOther: isOther, loses: lost > 0)
    }

    // MARK: Moving

    /// The file has this size. - Returns: whether that is new.
    mutating func learn(total: Int64) -> Bool {
        defer { self.total = total }
        return self.total != total
    }

    /// An answer begins with the bytes at this offset.
    mutating func receive(from offset: Int64) { (base, position) = (offset, offset) }

    /// The file was seen to have come to this position; a position beyond its end counts as its end.
    /// - Returns: bytes that have moved since the last look.
    mutating func move(to seen: Int64) -> Int64 {
        let moved = max(0, min(seen, total ?? seen) - position)
        position += moved
        return moved
    }

    /// Bytes beyond this position were sent and are not at the server: they have to be sent again.
    mutating func fallBack(to there: Int64) {
        guard there < position else { return }
        repeated += position - there
        position = there
    }

    /// Bytes that an earlier attempt had moved have to go again.
    mutating func repeatEarlier(_ bytes: Int64) { repeated += bytes }

    // MARK: Confirming

    /// The server of an upload says that it has so many bytes.
    mutating func accept(_ bytes: Int64) {
        if bytes > max(accepted, knownBefore) { hasProgressed = true }
        reach(bytes)
    }

    /// An upload goes on at this offset.
    mutating func resume(at offset: Int64) {
        // The attempt before had more through than it was told.
        if offset > acceptedBefore { hasProgressed = true }
        if offset > 0 { mark.goOn(at: offset, of: total) }
        reach(offset)
        position = max(position, offset)
    }

    /// A download goes on at this offset, which is on the disk.
    mutating func goOn(at offset: Int64) { mark.goOn(at: offset, of: total) }

    /// A download is on the disk up to this offset.
    mutating func sync(through offset: Int64) {
        if offset > acceptedBefore { hasProgressed = true }
        reach(offset)
    }

    private mutating func reach(_ bytes: Int64) {
        mark.reach(bytes, of: total)
        accepted = bytes
    }

    /// All of the file is there.
    mutating func complete(_ bytes: Int64) { accepted = bytes }
}
