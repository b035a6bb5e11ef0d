import CSQLite
import Glibc

/// The file system that SQLite has in the simulated world (a VFS, the process's default): real files, the simulated disk below them, the
/// world's clock and chance.
enum DatabaseFiles {
    /// Of the run that goes on; the process has one thread.
    nonisolated(unsafe) private static var disk: SimulatedDisk?
    /// By path; those of a killed life are forgotten, and close their files.
    nonisolated(unsafe) private static var locks: [String: DatabaseLocks] = [:]
    nonisolated(unsafe) private static var opened: [String: [DatabaseFile]] = [:]
    nonisolated(unsafe) private static var usual: UnsafeMutablePointer<sqlite3_vfs>?

    /// A run begins.
    static func use(_ new: SimulatedDisk) {
        disk = new
        (locks, opened) = ([:], [:])
        // SQLite draws its seed anew.
        sqlite3_randomness(0, nil)
    }

    /// The program that has these open was killed.
    static func close(below folder: String) {
        for path in opened.keys.sorted() where path.hasPrefix(folder + "/") {
            for file in opened[path] ?? [] { file.close() }
        }
    }

    static func closed(_ file: DatabaseFile) {
        opened[file.path]?.removeAll { $0 === file }
        if file.locks.isUnused, locks[file.path] === file.locks { locks[file.path] = nil }
        if opened[file.path]?.isEmpty == true { opened[file.path] = nil }
    }

    /// Once, before SQLite's first call. Corresponds to `sqlite3_vfs_register`.
    static func register() {
        _ = CSQLite_config_memstatus(0)
        guard let usual = sqlite3_vfs_find(nil) else { return }
        Self.usual = usual
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: usual.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(strdup("simulated"))
        own.pointee.szOsFile = max(usual.pointee.szOsFile, Int32(MemoryLayout<DatabaseFile.Slot>.size))
        own.pointee.xOpen = { _, path, slot, flags, used in
            guard let slot else { return SQLITE_CANTOPEN }
            // Sorters and the like: nothing of theirs is read after a restart.
            guard let path else {
                let usual = DatabaseFiles.usual
                return usual?.pointee.xOpen(usual, nil, slot, flags, used) ?? SQLITE_CANTOPEN
            }
            used?.pointee = flags
            return DatabaseFiles.open(String(cString: path), slot, flags)
        }
        own.pointee.xDelete = { _, path, syncsFolder in
            guard let path, let disk = DatabaseFiles.disk else { return SQLITE_IOERR_DELETE }
            disk.beforeChange()
            if unlink(path) != 0 { return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE }
            let name = String(cString: path)
            disk.removed(name)
            if syncsFolder != 0 { disk.syncedFolder(SimulatedDisk.parts(name).folder) }
            return SQLITE_OK
        }
        own.pointee.xRandomness = { _, count, bytes in
            guard let disk = DatabaseFiles.disk else { return 0 }
            for place in 0..<Int(count) { bytes?[place] = CChar(truncatingIfNeeded: disk.chance.next()) }
            return count
        }
        // Nobody else works meanwhile.
        own.pointee.xSleep = { _, microseconds in microseconds }
        own.pointee.xCurrentTime = { _, day in
            day?.pointee = Double(DatabaseFiles.milliseconds) / 86_400_000
            return SQLITE_OK
        }
        own.pointee.xCurrentTimeInt64 = { _, time in
            time?.pointee = DatabaseFiles.milliseconds
            return SQLITE_OK
        }
        sqlite3_vfs_register(own, 1)
    }

    /// Milliseconds of the Julian calendar.
    private static var milliseconds: Int64 { 24_405_875 * 8_640_000 + (disk?.world.wallMilliseconds ?? 0) }

    private static func open(_ path: String, _ slot: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32) -> Int32 {
        let raw = UnsafeMutableRawPointer(slot)
        raw.storeBytes(of: DatabaseFile.Slot(), as: DatabaseFile.Slot.self)
        guard let disk else { return SQLITE_CANTOPEN }
        var mode = flags & SQLITE_OPEN_READWRITE != 0 ? O_RDWR : O_RDONLY
        let isThere = access(path, F_OK) == 0
        if flags & SQLITE_OPEN_CREATE != 0 { mode |= O_CREAT }
        let descriptor = Glibc.open(path, mode | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { return SQLITE_CANTOPEN }
        let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
        let shared = locks[path] ?? DatabaseLocks()
        locks[path] = shared
        let file = DatabaseFile(
            path, descriptor, isThere ? disk.file(path) : disk.made(path), shared,
            syncsFolder: flags & SQLITE_OPEN_CREATE != 0 && flags & journals != 0, on: disk)
        opened[path, default: []].append(file)
        raw.storeBytes(
            of: DatabaseFile.Slot(methods: DatabaseFile.methods, file: Unmanaged.passRetained(file)),
            as: DatabaseFile.Slot.self)
        return SQLITE_OK
    }
}
