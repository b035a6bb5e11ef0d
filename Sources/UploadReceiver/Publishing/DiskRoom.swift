import LinuxSystem

/// The room that files may take: `--keep-free` is left alone, also while bytes arrive and while pieces are joined. Any thread.
final class DiskRoom: Sendable {
    private struct State {
        /// Bytes that may be written before the disk is asked again.
        var granted: UInt64 = 0
        var askedAt = MonotonicInstant.now
    }

    /// Room for ordinary users, in bytes.
    typealias Look = @Sendable () -> UInt64

    private let root: OwnedDescriptor
    private let look: Look?
    /// In bytes; 0 leaves it to the disk to be full.
    private let keepFree: UInt64
    // Held while the disk is asked, so that no two writers are given the same room.
    private let state = Mutex(State())

    /// - Parameter look: asks for the room, where it is not the disk of `root` that is asked.
    init(of root: OwnedDescriptor, keepFree: UInt64, look: Look? = nil) {
        self.root = root
        self.look = look
        self.keepFree = keepFree
    }

    /// Free bytes on the disk, including those that must stay free.
    func free() throws(Errno) -> UInt64 {
        if let look { return look() }
        return try System.freeSpace(of: root.rawValue)
    }

    /// Takes room for bytes that are written next; `ENOSPC` when there is none but what must stay free.
    func take(_ count: Int) throws(Errno) {
        if keepFree == 0 || count == 0 { return }
        let wanted = UInt64(count)
        try state.withLock { state throws(Errno) in
            let now = MonotonicInstant.now
            // Others write to the disk, too.
            if state.granted < wanted || state.askedAt.duration(to: now) > Self.patience {
                state.granted = 0
                let room = try free()
                guard room > keepFree, room - keepFree >= wanted else { throw .noSpace }
                state.granted = max(wanted, min(room - keepFree, Self.step))
                state.askedAt = now
            }
            state.granted -= wanted
        }
    }

    /// Returns true when a whole file of this size fits and the room that must stay free remains.
    func has(_ count: UInt64) throws(Errno) -> Bool {
        let (needed, overflow) = count.addingReportingOverflow(keepFree)
        let room = try free()
        return !overflow && needed <= room
    }

    private static let step: UInt64 = 16 << 20
    private static let patience = Duration.seconds(1)
}
