import Digests
import LinuxSystem
import struct Synchronization.Atomic

/// Computes SHA-256 of files that are there, for who asks by `Want-Repr-Digest`: one file after the other, on a thread of its own, so
/// that nothing else waits for it. What was computed stands beside the file from then on.
final class FileDigester: Sendable {
    private let thread: BlockingWorker
    private let mustEnd = Atomic<Bool>(false)

    init() throws(Errno) { thread = try BlockingWorker(name: "digest-files") }

    /// Computes it sometime; `done` is called on another thread.
    func submit(_ digesting: Digesting, done: @escaping @Sendable () -> Void) {
        thread.submit { [self] in
            digesting.run { self.mustEnd.load(ordering: .relaxed) }
            done()
        }
    }

    /// From now on what is under way ends soon, without a result.
    func giveUp() { mustEnd.store(true, ordering: .relaxed) }

    /// Ends the thread.
    func stop() {
        giveUp()
        thread.stop()
    }

    /// The SHA-256 of a whole file; `nil` when `mustEnd` said so. Blocks.
    static func digest(
        of data: OwnedDescriptor, unless mustEnd: () -> Bool = { false }
    ) throws(Errno) -> DigestValue? {
        let digest = RunningDigest(.sha256)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while !mustEnd() {
            let count = try System.preadAll(data.rawValue, buffer, at: position)
            if count == 0 { return digest.value() }
            digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
        return nil
    }
}

/// One file that is being digested.
///
/// Unchecked: `result` is written by the digester's thread before it calls `done`, and read only after that.
final class Digesting: @unchecked Sendable {
    let file: OpenFile
    /// `nil`: the file changed meanwhile, could not be read, or the receiver is stopping.
    private(set) var result: DigestValue?

    init(_ file: OpenFile) { self.file = file }

    fileprivate func run(unless mustEnd: () -> Bool) {
        // Somebody may have asked for the same file just before.
        if let known = StoredDigest.read(of: file) {
            result = known
            return
        }
        guard let digest = try? FileDigester.digest(of: file.descriptor, unless: mustEnd),
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
