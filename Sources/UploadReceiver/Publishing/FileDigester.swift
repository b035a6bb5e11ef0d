import Digests
import LinuxSystem
import struct Synchronization.Atomic

/// Computes SHA-256 of files that are there, for who asks by `Want-Repr-Digest`: one file after the other, on a thread of its own, so
/// that nothing else waits for it. What was computed stands beside the file from then on.
///
/// A connection sleeps while its file is digested, also when its client has hung up. So their number and the bytes that stand in line are
/// bounded, and who asks for the same version of a file shares its digest. Any thread.
final class FileDigester: Sendable {
    private struct Version: Hashable {
        let device: UInt64
        let facts: FileFacts
    }

    private struct State {
        var underWay: [Version: (digesting: Digesting, done: [@Sendable () -> Void])] = [:]
        /// Number of requests that wait.
        var wants = 0
        /// Bytes of the files under way.
        var bytes: UInt64 = 0
    }

    /// The most requests that wait: a quarter of the connections that a receiver has, and twice what one engine asks at once.
    static let mostWants = 128
    /// The most bytes that are digested before an answer, its own file among them: what a disk of 150 MB/s reads within the ten minutes
    /// for which `martlet` waits.
    static let mostBytes: UInt64 = 64 << 30

    private let thread: any Worker
    private let mustEnd = Atomic<Bool>(false)
    private let state = Mutex(State())

    init(on thread: any Worker) { self.thread = thread }

    convenience init() throws(Errno) { self.init(on: try BlockingWorker(name: "digest-files")) }

    /// Computes it sometime; `done` is called on another thread then.
    /// - Returns: `nil`: there is too much to do, and `done` is not called.
    func submit(_ file: OpenFile, done: @escaping @Sendable () -> Void) -> Digesting? {
        guard let device = try? System.fstat(file.descriptor.rawValue).device else { return nil }
        let version = Version(device: device, facts: file.facts)
        return state.withLock { state in
            guard state.wants < Self.mostWants else { return nil }
            if let shared = state.underWay[version] {
                state.underWay[version]?.done.append(done)
                state.wants += 1
                return shared.digesting
            }
            guard file.facts.size <= Self.mostBytes - state.bytes else { return nil }
            let digesting = Digesting(file)
            state.underWay[version] = (digesting, [done])
            state.wants += 1
            state.bytes += file.facts.size
            thread.submit { [self] in
                digesting.run { self.mustEnd.load(ordering: .relaxed) }
                for done in ended(version) { done() }
            }
            return digesting
        }
    }

    private func ended(_ version: Version) -> [@Sendable () -> Void] {
        state.withLock { state in
            let waiting = state.underWay.removeValue(forKey: version)?.done ?? []
            state.wants -= waiting.count
            state.bytes -= version.facts.size
            return waiting
        }
    }

    /// From now on what is under way ends soon, without a result.
    func giveUp() { mustEnd.store(true, ordering: .relaxed) }

    /// Ends the thread.
    func stop() {
        giveUp()
        thread.stop()
    }

    /// The SHA-256 of a file, of so many bytes at most; `nil` when `mustEnd` said so. Blocks.
    static func digest(
        of data: OwnedDescriptor, size: UInt64, unless mustEnd: () -> Bool = { false }
    ) throws(Errno) -> DigestValue? {
        let digest = RunningDigest(.sha256)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var position: UInt64 = 0
        while !mustEnd() {
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(size - position, UInt64(buffer.count)))))
            let count = try System.preadAll(data.rawValue, wanted, at: Int64(position))
            if count == 0 { return digest.value() }
            digest.update(UnsafeRawBufferPointer(rebasing: wanted[..<count]))
            position += UInt64(count)
        }
        return nil
    }
}

/// One version of a file that is being digested, for all who ask for it meanwhile.
///
/// Unchecked: `result` is written by the digester's thread before it calls `done`, and read only after that.
final class Digesting: @unchecked Sendable {
    private let file: OpenFile
    /// `nil`: the file changed meanwhile, could not be read, or the receiver is stopping.
    private(set) var result: DigestValue?

    init(_ file: OpenFile) { self.file = file }

    fileprivate func run(unless mustEnd: () -> Bool) {
        // Somebody may have asked for the same file just before.
        if let known = StoredDigest.read(of: file) {
            result = known
            return
        }
        guard let digest = try? FileDigester.digest(of: file.descriptor, size: file.facts.size, unless: mustEnd),
            let now = try? System.fstat(file.descriptor.rawValue), FileFacts(now) == file.facts
        else { return }
        result = digest
        // A file that was written to a moment ago may be written to again within the same tick of the kernel's clock.
        guard file.facts.modifiedNanoseconds + Self.quiet < WallClock.nanoseconds else { return }
        // Only a convenience for later readers; file systems without attributes do without.
        try? StoredDigest.write(digest, of: file.facts, to: file.descriptor.rawValue)
    }

    private static let quiet: Int64 = 2_000_000_000
}
