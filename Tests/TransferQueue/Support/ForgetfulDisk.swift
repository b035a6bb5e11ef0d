import CSQLite
import Glibc
import LinuxSystem
import SQLiteConnection

/// A disk for one write-ahead log: it knows which bytes a power cut would leave, and can fail a sync as Linux does, which tells so once and
/// takes the lost pages for written.
///
/// A file system of SQLite's own, the process's default from the first disk on: all of it is SQLite's usual one, but for `xWrite`, `xSync`
/// and `xTruncate` of logs that a test names.
final class ForgetfulDisk: Sendable {
    private struct Log {
        /// One for each connection.
        var slots: Set<UInt> = []
        var durable: [UInt8] = []
        var written: [(offset: Int, bytes: [UInt8])] = []
        var failures = 0
    }

    private let path: String

    /// - Parameters:
    ///   - path: of the log.
    ///   - durable: what the disk has of it already.
    init(_ path: String, durable: [UInt8] = []) {
        self.path = path
        Self.isRegistered
        Self.logs.withLock { $0[path] = Log(durable: durable) }
    }

    deinit { Self.logs.withLock { $0[path] = nil } }

    /// Lets the next sync fail, which loses all that was written since the last one.
    func failNextSync() { Self.logs.withLock { $0[path]?.failures = 1 } }

    /// True when the next sync is still to fail.
    var isFailing: Bool { Self.logs.withLock { $0[path]?.failures ?? 0 } > 0 }

    /// The log as it is after a power cut.
    var durable: [UInt8] { Self.logs.withLock { $0[path]?.durable ?? [] } }

    /// Notes from now on each removal of a file.
    static func watchRemovals(of path: String) {
        isRegistered
        removals.withLock { $0[path] = [] }
    }

    /// The removals of a watched file: true where SQLite had the disk told of it before it went on.
    static func removals(of path: String) -> [Bool] { removals.withLock { $0[path] ?? [] } }

    private static let removals = Mutex<[String: [Bool]]>([:])
    /// Held for one call's notes.
    private static let logs = Mutex<[String: Log]>([:])
    // Written once, below, before the first use.
    private nonisolated(unsafe) static var usual = sqlite3_io_methods()

    private static let isRegistered: Void = {
        guard let found = sqlite3_vfs_find(nil) else { return }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: found.pointee)
        own.pointee.pNext = nil
        own.pointee.xOpen = { own, path, slot, flags, used in
            let result = sqlite3_vfs_find("unix")?.pointee.xOpen(own, path, slot, flags, used) ?? SQLITE_CANTOPEN
            guard result == SQLITE_OK, let path, let slot, let methods = slot.pointee.pMethods else { return result }
            ForgetfulDisk.logs.withLock { logs in
                let path = String(cString: path)
                guard logs[path] != nil else { return }
                logs[path]?.slots.insert(UInt(bitPattern: slot))
                ForgetfulDisk.usual = methods.pointee
                slot.pointee.pMethods = ForgetfulDisk.methods(methods.pointee)
            }
            return result
        }
        own.pointee.xDelete = { own, path, isSynced in
            if let path {
                let path = String(cString: path)
                ForgetfulDisk.removals.withLock { $0[path]?.append(isSynced != 0) }
            }
            return sqlite3_vfs_find("unix")?.pointee.xDelete(own, path, isSynced) ?? SQLITE_IOERR
        }
        own.pointee.zName = UnsafePointer(strdup("forgetful"))
        sqlite3_vfs_register(own, 1)
    }()

    private static func note(_ slot: UnsafeMutablePointer<sqlite3_file>?, _ body: (inout Log) -> Int32) -> Int32 {
        logs.withLock { logs in
            for path in logs.keys where logs[path]?.slots.contains(UInt(bitPattern: slot)) == true {
                guard var log = logs[path] else { continue }
                let result = body(&log)
                logs[path] = log
                return result
            }
            return SQLITE_OK
        }
    }

    private static func methods(_ usual: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
        let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        own.initialize(to: usual)
        own.pointee.xWrite = { slot, bytes, count, offset in
            let copy = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            _ = ForgetfulDisk.note(slot) { log in
                log.written.append((Int(offset), copy))
                return SQLITE_OK
            }
            return ForgetfulDisk.usual.xWrite(slot, bytes, count, offset)
        }
        own.pointee.xTruncate = { slot, size in
            _ = ForgetfulDisk.note(slot) { log in
                log.durable = Array(log.durable.prefix(Int(size)))
                return SQLITE_OK
            }
            return ForgetfulDisk.usual.xTruncate(slot, size)
        }
        own.pointee.xSync = { slot, flags in
            let failed = ForgetfulDisk.note(slot) { log in
                defer { log.written = [] }
                if log.failures > 0 {
                    log.failures -= 1
                    return SQLITE_IOERR | 4 << 8
                }
                for (offset, bytes) in log.written {
                    let missing = offset + bytes.count - log.durable.count
                    if missing > 0 { log.durable += [UInt8](repeating: 0, count: missing) }
                    log.durable.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                }
                return SQLITE_OK
            }
            return failed == SQLITE_OK ? ForgetfulDisk.usual.xSync(slot, flags) : failed
        }
        return UnsafePointer(own)
    }
}
