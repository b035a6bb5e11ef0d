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
            try System.mkdirs(directory.bytes, mode: 0o700)
        } catch {
            throw .system(error, doing: "make the directory \(directory.displayed)")
        }
    }

    /// Makes sure that a file exists and nobody else may read it. SQLite gives the files beside it the same mode.
    /// Not while SQLite has it open: closing a second descriptor would drop SQLite's locks.
    static func makePrivate(_ file: RawPath) throws(QueueOpenError) {
        do {
            let descriptor = try System.open(file.bytes, flags: O_RDWR | O_CREAT, mode: 0o600)
            defer { descriptor.close() }
            try System.fchmod(descriptor.rawValue, mode: 0o600)
        } catch {
            throw .system(error, doing: "open \(file.displayed)")
        }
    }
}

/// The exclusive lock on a queue: flock on `queue.lock`, in which the holder's pid and version stand.
/// The kernel lets go of it when the holder dies, so a left-over file means nothing.
final class QueueLock: Sendable {
    private let descriptor: OwnedDescriptor

    init(_ files: QueueFiles, version: String) throws(QueueOpenError) {
        do {
            descriptor = try System.open(files.lock.bytes, flags: O_RDWR | O_CREAT, mode: 0o600)
            guard try System.tryLockExclusively(descriptor.rawValue) else {
                throw Self.held(by: descriptor)
            }
            try System.ftruncate(descriptor.rawValue, to: 0)
            let text = Array("\(System.processID) \(version)\n".utf8)
            try text.withUnsafeBytes { bytes in try System.writeAll(descriptor.rawValue, bytes) }
        } catch let error as QueueOpenError {
            throw error
        } catch let error as Errno {
            throw .system(error, doing: "lock \(files.lock.displayed)")
        } catch {
            // The calls above throw nothing else.
            throw .system(.inputOutput, doing: "lock \(files.lock.displayed)")
        }
    }

    private static func held(by descriptor: OwnedDescriptor) -> QueueOpenError {
        var text = [UInt8](repeating: 0, count: 256)
        let count = text.withUnsafeMutableBytes { (try? System.preadAll(descriptor.rawValue, $0, at: 0)) ?? 0 }
        let words = String(decoding: text.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return .locked(pid: words.first.flatMap { Int32($0) }, version: words.dropFirst().first.map { String($0) })
    }

    /// Closing alone would not do: a child that is being started holds a copy of the descriptor until its `exec`.
    func release() {
        flock(descriptor.rawValue, LOCK_UN)
        descriptor.close()
    }
}
