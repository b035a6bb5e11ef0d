import CSQLite

/// The locks of one database file and the memory that its connections share: what the kernel does for programs, done here for connections,
/// because all lives of an engine are in one process.
final class DatabaseLocks {
    private var files: [DatabaseFile] = []
    private var regions: [UnsafeMutableRawBufferPointer] = []

    deinit { for region in regions { region.deallocate() } }

    func add(_ file: DatabaseFile) { files.append(file) }

    func remove(_ file: DatabaseFile) {
        file.lock = SQLITE_LOCK_NONE
        (file.sharedPlaces, file.exclusivePlaces) = (0, 0)
        files.removeAll { $0 === file }
    }

    var isUnused: Bool { files.isEmpty }
    var isReserved: Bool { files.contains { $0.lock >= SQLITE_LOCK_RESERVED } }

    // MARK: The file

    func lock(_ file: DatabaseFile, _ level: Int32) -> Int32 {
        if file.lock >= level { return SQLITE_OK }
        let others = files.filter { $0 !== file }.map(\.lock).max() ?? SQLITE_LOCK_NONE
        switch level {
        case SQLITE_LOCK_SHARED where others >= SQLITE_LOCK_PENDING: return SQLITE_BUSY
        case SQLITE_LOCK_RESERVED where others >= SQLITE_LOCK_RESERVED: return SQLITE_BUSY
        case SQLITE_LOCK_EXCLUSIVE where others >= SQLITE_LOCK_RESERVED: return SQLITE_BUSY
        case SQLITE_LOCK_EXCLUSIVE where others >= SQLITE_LOCK_SHARED:
            // Nobody else comes to read from now on.
            file.lock = SQLITE_LOCK_PENDING
            return SQLITE_BUSY
        default: break
        }
        file.lock = level
        return SQLITE_OK
    }

    // MARK: The shared memory

    /// `nil`: there is none yet, and none is to be made.
    func region(_ number: Int, size: Int, makes: Bool) -> UnsafeMutableRawPointer? {
        while regions.count <= number {
            if !makes { return nil }
            let made = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
            made.initializeMemory(as: UInt8.self, repeating: 0)
            regions.append(made)
        }
        return regions[number].baseAddress
    }

    func lockShared(_ file: DatabaseFile, _ first: Int, _ count: Int, _ flags: Int32) -> Int32 {
        let places = (UInt32(1) << UInt32(count) - 1) << UInt32(first)
        if flags & SQLITE_SHM_UNLOCK != 0 {
            file.sharedPlaces &= ~places
            file.exclusivePlaces &= ~places
            return SQLITE_OK
        }
        let isShared = flags & SQLITE_SHM_SHARED != 0
        for other in files where other !== file {
            if other.exclusivePlaces & places != 0 { return SQLITE_BUSY }
            if !isShared, other.sharedPlaces & places != 0 { return SQLITE_BUSY }
        }
        if isShared { file.sharedPlaces |= places } else { file.exclusivePlaces |= places }
        return SQLITE_OK
    }
}
