import CurlTransport
import Glibc
import LinuxSystem
import TransferModel

/// The file of authorities that a batch trusts (`--ca`): read beside everything else, and not waited for without end.
extension TransferEngine {
    private static let patience = Duration.seconds(10)
    /// Times that `patience` is waited for a disk that does not answer, or for a file descriptor.
    private static let mostWaits = 6

    /// Reads the file where it was not read yet, or may have been mended since. Until it has been read nobody is trusted.
    func readAuthorities(_ context: BatchContext) async {
        for _ in 0..<Self.mostWaits {
            guard phase != .stopping, let path = context.trust.pathToRead else { return }
            switch await wait(for: path, context) {
            // A person may have set another one meanwhile.
            case .read: if context.trust.path == path { return }
            case .late: break
            case .notNow:
                report(
                    .error,
                    "\(path.displayed) cannot be read: this machine has no file descriptor left; raise the limit (ulimit -n)"
                )
                await sleep(for: .seconds(1))
            }
        }
    }

    private func wait(for path: RawPath, _ context: BatchContext) async -> AuthoritiesWaiter.Outcome {
        await withCheckedContinuation { continuation in
            let waiter = AuthoritiesWaiter(continuation)
            let timer = timeline.clock.schedule(after: Self.patience) { waiter.goOn(.late) }
            context.authoritiesLine.join(waiter, timer, for: path)
            beginReading(path, context)
        }
    }

    private func beginReading(_ path: RawPath, _ context: BatchContext) {
        // One thread waits for a disk that does not answer, however often the batch is tried.
        guard context.authoritiesLine.beginReading(path) else { return }
        Task { [self] in
            let found = await AuthoritiesReader.read(path)
            context.trust.take(found, of: path, at: timeline.now)
            for (waiter, timer) in context.authoritiesLine.endReading(path) {
                timeline.clock.cancel(timer)
                waiter.goOn(found == .notNow ? .notNow : .read)
            }
        }
    }

    /// Reads a file anew that was read a while ago; nobody waits for it.
    func renewAuthorities(_ context: BatchContext) {
        if let path = context.trust.path, context.trust.isOld(at: timeline.now) { beginReading(path, context) }
    }

    /// Holds the attempt's further actions until the file has been read: a server would be refused in the name of nobody.
    func untilTrusted(_ attempt: Attempt) {
        attempt.access.awaitTrust(of: attempt.context)
        hold(attempt) { [self] in await readAuthorities(attempt.context) }
    }
}

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
