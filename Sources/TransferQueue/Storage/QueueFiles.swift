import Glibc
import LinuxSystem
import TransferModel

/// The files of a queue, and how they are made: the directory 0700, the files 0600.
struct QueueFiles: Sendable {
    let directory: RawPath
    var queue: RawPath { directory.appending(RawPath("queue.sqlite")) }
    var secrets: RawPath { directory.appending(RawPath("secrets.sqlite")) }
    var lock: RawPath { directory.appending(RawPath("queue.lock")) }

    func makeDirectory() throws(QueueOpenError) {
        do {
            _ = try System.openOwnFolder(directory.bytes)
        } catch {
            throw QueueOpenError(error, doing: "make the directory \(directory.displayed)")
        }
        // SQLite makes these itself; what stands there already is opened by it. Another engine may remove one at any moment.
        for suffix in ["-wal", "-shm", "-journal"] {
            for file in [queue, secrets] {
                let path = RawPath(file.bytes + Array(suffix.utf8))
                do throws(Untrusted) {
                    _ = try System.openOwnFile(path.bytes, flags: O_RDONLY, mayHaveNames: true)
                } catch .system(.noSuchFile, _) {
                    continue
                } catch {
                    throw QueueOpenError(error, doing: "open \(path.displayed)")
                }
            }
        }
    }

    /// The log that SQLite keeps beside the queue.
    var log: RawPath { RawPath(queue.bytes + Array("-wal".utf8)) }

    /// Refuses a queue that is empty, or gone, where there has been one: an empty one would be started without a word, and what
    /// was queued would be forgotten.
    func refuseEmptied() throws(QueueOpenError) {
        func size(_ path: RawPath) -> Int64? { try? System.lstat(path.bytes).size }
        let found = size(queue)
        guard found ?? 0 == 0 else { return }
        // Whoever wants an empty queue moves the file away, and may keep the logins of servers and the log.
        var signs = [log]
        if found != nil { signs += [secrets, directory.appending(RawPath("log/martletd.log"))] }
        guard let sign = signs.first(where: { size($0) ?? 0 > 0 }) else { return }
        throw .emptied(file: queue.displayed, sign: sign.displayed)
    }

    /// Makes sure that a file exists and nobody else may read it. SQLite gives the files beside it the same mode.
    /// Not while SQLite has it open: closing a second descriptor would drop SQLite's locks.
    static func makePrivate(_ file: RawPath) throws(QueueOpenError) {
        do {
            let descriptor = try System.openOwnFile(file.bytes, flags: O_RDWR | O_CREAT, mayHaveNames: true)
            descriptor.close()
        } catch {
            throw QueueOpenError(error, doing: "open \(file.displayed)")
        }
    }
}

/// The exclusive lock on a queue: flock on `queue.lock`, in which the holder's pid and version stand.
/// The kernel lets go of it when the holder dies, so a left-over file means nothing. One that loses its name while it is held lets a
/// second engine in, so ``QueueMarks`` watches it, too.
final class QueueLock: Sendable {
    private let descriptor: OwnedDescriptor

    init(_ files: QueueFiles, version: String) throws(QueueOpenError) {
        do {
            descriptor = try Self.locked(files.lock)
            try System.ftruncate(descriptor.rawValue, to: 0)
            let text = Array("\(System.processID) \(version)\n".utf8)
            try text.withUnsafeBytes { bytes in try System.writeAll(descriptor.rawValue, bytes) }
        } catch let error as QueueOpenError {
            throw error
        } catch let error as Untrusted {
            throw QueueOpenError(error, doing: "lock \(files.lock.displayed)")
        } catch let error as Errno {
            throw .system(error, doing: "lock \(files.lock.displayed)")
        } catch {
            // The calls above throw nothing else.
            throw .system(.inputOutput, doing: "lock \(files.lock.displayed)")
        }
    }

    /// Opens and locks the file that has the name by then: somebody may have removed the one that was opened.
    private static func locked(_ path: RawPath) throws -> OwnedDescriptor {
        while true {
            let opened = try System.openOwnFile(path.bytes, flags: O_RDWR | O_CREAT)
            guard try opened.tryLockExclusively() else { throw held(by: opened) }
            if let named = try? FileMark(path), named == FileMark(try System.fstat(opened.rawValue)) { return opened }
        }
    }

    private static func held(by descriptor: OwnedDescriptor) -> QueueOpenError {
        var text = [UInt8](repeating: 0, count: 256)
        let count = text.withUnsafeMutableBytes { (try? System.preadAll(descriptor.rawValue, $0, at: 0)) ?? 0 }
        let words = String(decoding: text.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return .locked(pid: words.first.flatMap { Int32($0) }, version: words.dropFirst().first.map { String($0) })
    }

    func release() { descriptor.close() }
}

/// Identities of an open queue's files, to see when one of them loses its name.
struct QueueMarks: Sendable {
    private var queue: FileMark?
    private var log: FileMark?
    private var lock: FileMark?

    init() {}

    init(_ files: QueueFiles) throws(Errno) {
        queue = try FileMark(files.queue)
        log = try? FileMark(files.log)
        lock = try? FileMark(files.lock)
    }

    /// The first of them that does not lead to its file any more.
    func lost(at files: QueueFiles) -> RawPath? {
        [(queue, files.queue), (log, files.log), (lock, files.lock)].first { mark, path in
            mark.map { !$0.isStill(at: path) } ?? false
        }?.1
    }
}

extension QueueOpenError {
    init(_ error: Untrusted, doing what: String) {
        if case .system(let errno, _) = error { self = .system(errno, doing: what) } else { self = .untrusted(error) }
    }
}
