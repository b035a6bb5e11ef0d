/// Room on a file system, in bytes.
package struct DiskSpace: Sendable, Hashable {
    /// For ordinary users.
    package let free: UInt64
    /// 0: it does not tell.
    package let total: UInt64

    package init(free: UInt64, total: UInt64) {
        self.free = free
        self.total = total
    }

    /// Bytes that downloads leave free, for whoever else needs a little of the disk, such as the queue: 64 MiB, or 1 % of a smaller disk.
    package var reserve: UInt64 { min(64 << 20, total / 100) }

    /// Bytes that downloads may still take.
    package var room: UInt64 { total == 0 ? .max : free - min(free, reserve) }
}

/// Room that was found on a disk and is not written to yet, so that the disk is not asked before each write.
package struct GrantedRoom: Sendable {
    private var left: UInt64 = 0
    private var askedAt = MonotonicInstant.now

    package init() {}

    /// Takes room for bytes that are written next; `ENOSPC` when there is none.
    /// - Parameter room: asks the disk for the bytes that may be written to it.
    package mutating func take(_ count: Int, of room: () throws(Errno) -> UInt64) throws(Errno) {
        let wanted = UInt64(count)
        let now = MonotonicInstant.now
        // Others write to the disk, too.
        if left < wanted || askedAt.duration(to: now) > Self.patience {
            left = 0
            let room = try room()
            guard room >= wanted else { throw .noSpace }
            left = max(wanted, min(room, Self.step))
            askedAt = now
        }
        left -= wanted
    }

    private static let step: UInt64 = 16 << 20
    private static let patience = Duration.seconds(1)
}
