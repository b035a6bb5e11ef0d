import LinuxSystem
import TransferModel

/// Threads for what blocks at this machine. Each kind of work has its own for each disk: a digest of 100 GB holds no checkpoint up, and a
/// disk that does not answer holds up what lies on it and nothing else. On the engine's loop.
final class DiskWorkers {
    enum Kind: Hashable {
        /// A file's bytes go to the disk.
        case sync
        /// A file is read, piece by piece.
        case digest
        /// A file gets its final name.
        case name
        /// A folder is looked at that may be of a server which is away, whatever its disk.
        case look

        /// Those that may be at work side by side on one disk.
        var threads: Int {
            switch self {
            case .sync: 2
            case .digest, .name: 1
            case .look: 8
            }
        }
    }

    private struct Lane: Hashable {
        let kind: Kind
        let device: UInt64
    }

    private var workers: [Lane: any Worker] = [:]
    /// For who gets no thread of its own.
    private let shared: any Worker
    private let platform: any Platform

    init(_ platform: any Platform = LinuxPlatform()) throws(Errno) {
        self.platform = platform
        shared = try platform.worker(named: "files", threads: 1)
    }

    /// - Parameter descriptor: of a file on the disk in question.
    func worker(_ kind: Kind, of descriptor: OwnedDescriptor) -> any Worker {
        worker(kind, device: (try? System.fstat(descriptor.rawValue))?.device ?? 0)
    }

    func worker(_ kind: Kind, device: UInt64) -> any Worker {
        let lane = Lane(kind: kind, device: device)
        if let known = workers[lane] { return known }
        guard let made = try? platform.worker(named: "disk \(kind)", threads: kind.threads) else { return shared }
        workers[lane] = made
        return made
    }

    /// Computes digests of a range of a file, in the order of their algorithms (`sha-256`, `sha-1`, `md5`). Files on one disk take turns, so
    /// that an endless one, which anybody can make of a hole, keeps no other waiting.
    /// - Parameter isWanted: asked before each piece; false ends it.
    /// - Returns: `nil`: the file ends before the range does, or the digests are not wanted any more.
    func digests(
        of range: Range<Int64>, _ algorithms: [String], in file: OwnedDescriptor, while isWanted: () -> Bool
    ) async throws(Errno) -> [TransferDigest]? {
        let digest = RangeDigest(range, algorithms, in: file)
        let worker = worker(.digest, of: file)
        while isWanted() {
            if try await worker.run({ () throws(Errno) in try digest.readPiece() }) { return digest.values }
        }
        return nil
    }

    /// The SHA-256 of a file of so many bytes; the rest as above.
    func digest(
        of file: OwnedDescriptor, size: Int64, while isWanted: () -> Bool
    ) async throws(Errno) -> TransferDigest? {
        try await digests(of: 0..<size, ["sha-256"], in: file, while: isWanted)?.first
    }

    /// Work that goes on may take long: the process ends without it.
    func stop() {
        let all: [any Worker] = [shared] + workers.values
        workers = [:]
        Task.detached { for worker in all { worker.stop() } }
    }
}
