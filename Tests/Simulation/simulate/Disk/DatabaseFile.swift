import CSQLite
import Glibc

/// A file that SQLite has open in the simulated world. SQLite has the memory of its `sqlite3_file`, which holds this object.
final class DatabaseFile {
    /// What SQLite allocates for each open file.
    struct Slot {
        var methods: UnsafePointer<sqlite3_io_methods>?
        var file: Unmanaged<DatabaseFile>?
    }

    let path: String
    let locks: DatabaseLocks
    private let disk: SimulatedDisk
    private let file: DiskFile
    private var descriptor: Int32
    /// A journal or log that this one has made: its folder is synced with its first sync, as SQLite's own file system does it.
    private var syncsFolder: Bool
    /// `SQLITE_LOCK_NONE` and up.
    var lock: Int32 = SQLITE_LOCK_NONE
    /// Bits of the places in the shared memory that this one has locked.
    var sharedPlaces: UInt32 = 0
    var exclusivePlaces: UInt32 = 0

    init(
        _ path: String, _ descriptor: Int32, _ file: DiskFile, _ locks: DatabaseLocks, syncsFolder: Bool,
        on disk: SimulatedDisk
    ) {
        self.path = path
        self.descriptor = descriptor
        self.file = file
        self.locks = locks
        self.syncsFolder = syncsFolder
        self.disk = disk
        locks.add(self)
    }

    /// Its program was killed, or SQLite is done with it.
    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        locks.remove(self)
        DatabaseFiles.closed(self)
    }

    private var isDead: Bool { descriptor < 0 }

    // MARK: Bytes

    func read(_ buffer: UnsafeMutableRawPointer, _ count: Int, _ offset: Int) -> Int32 {
        if isDead { return SQLITE_IOERR_READ }
        let found = pread(descriptor, buffer, count, offset)
        if found < 0 { return SQLITE_IOERR_READ }
        if found == count { return SQLITE_OK }
        memset(buffer + found, 0, count - found)
        return SQLITE_IOERR_SHORT_READ
    }

    func write(_ buffer: UnsafeRawPointer, _ count: Int, _ offset: Int) -> Int32 {
        disk.beforeChange()
        if isDead { return SQLITE_IOERR_WRITE }
        if disk.isFull() { return SQLITE_FULL }
        guard pwrite(descriptor, buffer, count, offset) == count else { return SQLITE_FULL }
        file.wrote(UnsafeRawBufferPointer(start: buffer, count: count), at: offset, descriptor)
        return SQLITE_OK
    }

    func truncate(_ size: Int) -> Int32 {
        disk.beforeChange()
        if isDead || ftruncate(descriptor, size) != 0 { return SQLITE_IOERR_TRUNCATE }
        file.resized(to: size)
        return SQLITE_OK
    }

    func sync() -> Int32 {
        disk.beforeChange()
        if isDead || !disk.sync(file, path) { return SQLITE_IOERR_FSYNC }
        if syncsFolder {
            disk.syncedFolder(SimulatedDisk.parts(path).folder)
            syncsFolder = false
        }
        return SQLITE_OK
    }

    var size: Int? {
        var status = stat()
        return !isDead && fstat(descriptor, &status) == 0 ? status.st_size : nil
    }

    // MARK: The table of functions

    static func of(_ slot: UnsafeMutablePointer<sqlite3_file>?) -> DatabaseFile? {
        slot.map { UnsafeMutableRawPointer($0).load(as: Slot.self) }?.file?.takeUnretainedValue()
    }

    /// For the life of the process.
    nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        var methods = sqlite3_io_methods()
        // 2: with shared memory, without mapped files.
        methods.iVersion = 2
        methods.xClose = { slot in
            guard let slot else { return SQLITE_OK }
            let raw = UnsafeMutableRawPointer(slot)
            guard let file = raw.load(as: Slot.self).file else { return SQLITE_OK }
            file.takeUnretainedValue().close()
            file.release()
            raw.storeBytes(of: Slot(), as: Slot.self)
            return SQLITE_OK
        }
        methods.xRead = { slot, buffer, count, offset in
            guard let file = DatabaseFile.of(slot), let buffer else { return SQLITE_IOERR_READ }
            return file.read(buffer, Int(count), Int(offset))
        }
        methods.xWrite = { slot, buffer, count, offset in
            guard let file = DatabaseFile.of(slot), let buffer else { return SQLITE_IOERR_WRITE }
            return file.write(buffer, Int(count), Int(offset))
        }
        methods.xTruncate = { slot, size in DatabaseFile.of(slot)?.truncate(Int(size)) ?? SQLITE_IOERR_TRUNCATE }
        methods.xSync = { slot, _ in DatabaseFile.of(slot)?.sync() ?? SQLITE_IOERR_FSYNC }
        methods.xFileSize = { slot, size in
            guard let found = DatabaseFile.of(slot)?.size else { return SQLITE_IOERR_FSTAT }
            size?.pointee = sqlite3_int64(found)
            return SQLITE_OK
        }
        methods.xLock = { slot, level in
            DatabaseFile.of(slot).map { $0.locks.lock($0, level) } ?? SQLITE_IOERR_LOCK
        }
        methods.xUnlock = { slot, level in
            DatabaseFile.of(slot)?.lock = level
            return SQLITE_OK
        }
        methods.xCheckReservedLock = { slot, result in
            result?.pointee = DatabaseFile.of(slot)?.locks.isReserved == true ? 1 : 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4096 }
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        methods.xShmMap = { slot, region, size, isExtended, place in
            guard let file = DatabaseFile.of(slot) else { return SQLITE_IOERR_SHMMAP }
            let memory = file.locks.region(Int(region), size: Int(size), makes: isExtended != 0)
            place?.pointee = memory.map { UnsafeMutableRawPointer(mutating: UnsafeRawPointer($0)) }
            return SQLITE_OK
        }
        methods.xShmLock = { slot, first, count, flags in
            DatabaseFile.of(slot).map { $0.locks.lockShared($0, Int(first), Int(count), flags) } ?? SQLITE_IOERR_SHMLOCK
        }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { slot, _ in
            DatabaseFile.of(slot)?.sharedPlaces = 0
            DatabaseFile.of(slot)?.exclusivePlaces = 0
            return SQLITE_OK
        }
        let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        place.initialize(to: methods)
        return UnsafePointer(place)
    }()
}
