import CurlTransport
import Glibc
import LinuxSystem
import TransferModel

/// Those who wait for a batch's file of authorities, and the files that are being read. A value of the batch's context.
struct AuthoritiesLine {
    private var waiters: [(path: RawPath, waiter: AuthoritiesWaiter, timer: LoopTimer)] = []
    private var beingRead: Set<RawPath> = []

    /// - Parameter timer: ends the waiter's patience.
    mutating func join(_ waiter: AuthoritiesWaiter, _ timer: LoopTimer, for path: RawPath) {
        waiters.removeAll { $0.waiter.isOver }
        waiters.append((path, waiter, timer))
    }

    /// - Returns: false: it is being read.
    mutating func beginReading(_ path: RawPath) -> Bool { beingRead.insert(path).inserted }

    /// - Returns: those who waited for that file.
    mutating func endReading(_ path: RawPath) -> [(waiter: AuthoritiesWaiter, timer: LoopTimer)] {
        beingRead.remove(path)
        let served = waiters.filter { $0.path == path }
        waiters.removeAll { $0.path == path }
        return served.map { ($0.waiter, $0.timer) }
    }
}

/// One who waits for the file. On the engine's loop.
final class AuthoritiesWaiter {
    enum Outcome: Sendable {
        /// The file was read, or found to be none.
        case read
        case notNow
        /// The disk has not answered yet.
        case late
    }

    private var continuation: CheckedContinuation<Outcome, Never>?

    init(_ continuation: CheckedContinuation<Outcome, Never>) { self.continuation = continuation }

    var isOver: Bool { continuation == nil }

    /// The first call counts.
    func goOn(_ outcome: Outcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}

enum AuthoritiesReader {
    enum Found: Sendable, Equatable {
        case authorities(Authorities)
        /// The file cannot be read, or is no file of certificates.
        case unusable
        /// No descriptor or thread was left to read it; it says nothing of the file.
        case notNow
    }

    static func read(_ path: RawPath) async -> Found {
        let found = try? await BlockingWorker.alone("authorities") {
            Result { () throws(Errno) in try contents(path) }
        }
        switch found {
        case nil: return .notNow
        case .failure(let error): return error.isShortage ? .notNow : .unusable
        case .success(let bytes): return bytes.map { .authorities(Authorities(bytes: $0)) } ?? .unusable
        }
    }

    private static func contents(_ path: RawPath) throws(Errno) -> [UInt8]? {
        // A FIFO without a writer is opened at once, and is none.
        let file = try System.open(path.bytes, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let status = try System.fstat(file.rawValue)
        guard status.kind == .regular, status.size > 0, status.size <= Int64(TransferOptions.largestCAFile) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = bytes.withUnsafeMutableBytes { try? System.preadAll(file.rawValue, $0, at: 0) }
        return count.map { Array(bytes.prefix($0)) }
    }
}
