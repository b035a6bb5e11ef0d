import Glibc
package import LinuxSystem

/// The right to read a small file, change it and write it again: one of all processes of a person has it at a time. It is held by flock on
/// a file beside it, which stays; the kernel takes it from a process that ends, so that file means nothing by itself. Ends with the object.
package final class FileLock: Sendable {
    private let descriptor: OwnedDescriptor

    private init(_ descriptor: OwnedDescriptor) { self.descriptor = descriptor }

    /// Takes it; `nil`: another one has it now. Where the file system knows no locks it is had by everybody. Of a link it is that of the file
    /// that the link leads to: other links may lead there, too, and where it lies something can be written.
    package static func take(_ path: String) throws(Errno) -> FileLock? {
        let path = (try? System.realpath(Array(path.utf8))) ?? Array(path.utf8)
        try System.mkdirs((RawPath(path).parent ?? RawPath(".")).bytes, mode: 0o700)
        return try lock(
            try System.open(
                path + Array(".lock".utf8), flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600))
    }

    /// The same by a file of ours that is there for it alone.
    private static func take(_ file: OwnFile) throws(Errno) -> FileLock? {
        let opened: OwnedDescriptor
        do throws(Untrusted) { opened = try file.open(flags: O_RDWR | O_CREAT) } catch { throw .notPermitted }
        return try lock(opened)
    }

    private static func lock(_ file: OwnedDescriptor) throws(Errno) -> FileLock? {
        do throws(Errno) {
            return try file.tryLockExclusively() ? FileLock(file) : nil
        } catch {
            guard [ENOLCK, EOPNOTSUPP, ENOSYS].contains(error.rawValue) else { throw error }
            return FileLock(file)
        }
    }

    /// Pause between two tries of somebody who waits, and the number of tries: whoever has it may be waiting for an engine's answer.
    package static let retryInterval = Duration.milliseconds(20)
    package static let patience = 1500

    /// As `take`, and waits while another one has it. Throws `wouldBlock` when that one does not end.
    /// - Parameter tries: at least one.
    @concurrent
    package static func wait(for path: String, tries: Int = patience) async throws(Errno) -> FileLock {
        try await wait(tries) { () throws(Errno) in try take(path) }
    }

    @concurrent
    package static func wait(for file: OwnFile, tries: Int = patience) async throws(Errno) -> FileLock {
        try await wait(tries) { () throws(Errno) in try take(file) }
    }

    private static func wait(
        _ tries: Int, _ take: () throws(Errno) -> FileLock?
    ) async throws(Errno) -> FileLock {
        for count in 1...tries {
            if let lock = try take() { return lock }
            // Nobody wants the lock for a task that was cancelled.
            if count < tries, (try? await Task.sleep(for: retryInterval)) == nil { break }
        }
        throw .wouldBlock
    }
}
