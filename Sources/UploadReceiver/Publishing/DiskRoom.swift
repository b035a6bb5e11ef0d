import LinuxSystem

/// The room that files may take: `--keep-free` is left alone, also while bytes arrive and while pieces are joined. Any thread.
final class DiskRoom: Sendable {
    /// Room for ordinary users, in bytes.
    typealias Look = @Sendable () -> UInt64

    private let root: OwnedDescriptor
    private let look: Look?
    /// In bytes; 0 leaves it to the disk to be full.
    private let keepFree: UInt64
    // Held while the disk is asked, so that no two writers are given the same room.
    private let granted = Mutex(GrantedRoom())

    /// - Parameter look: asks for the room, where it is not the disk of `root` that is asked.
    init(of root: OwnedDescriptor, keepFree: UInt64, look: Look? = nil) {
        self.root = root
        self.look = look
        self.keepFree = keepFree
    }

    /// Free bytes on the disk, including those that must stay free.
    func free() throws(Errno) -> UInt64 {
        if let look { return look() }
        return try System.space(of: root.rawValue).free
    }

    /// Takes room for bytes that are written next; `ENOSPC` when there is none but what must stay free.
    func take(_ count: Int) throws(Errno) {
        if keepFree == 0 || count == 0 { return }
        try granted.withLock { granted throws(Errno) in
            try granted.take(count) { () throws(Errno) in
                let room = try free()
                return room - min(room, keepFree)
            }
        }
    }

    /// Returns true when a whole file of this size fits and the room that must stay free remains.
    func has(_ count: UInt64) throws(Errno) -> Bool {
        let (needed, overflow) = count.addingReportingOverflow(keepFree)
        let room = try free()
        return !overflow && needed <= room
    }
}
