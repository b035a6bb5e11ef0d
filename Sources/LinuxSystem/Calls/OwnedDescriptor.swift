import Glibc
import struct Synchronization.Atomic

/// A file descriptor with one owner, closed when the owner goes.
///
/// Sendable: the number is immutable until `close`, and closing happens once whoever asks. The owner sees to it
/// that nobody still uses the number when it closes early. Bind the owner to a name while its number is in use: in
/// `read(open(path).rawValue)` the file is closed before it is read.
package final class OwnedDescriptor: Sendable {
    /// The descriptor, or -1 after `close`.
    private let number: Atomic<Int32>
    /// True once this descriptor has locked the file.
    private let isLocked = Atomic(false)

    /// Takes over a descriptor that nobody else closes.
    package init(_ rawValue: Int32) {
        number = Atomic(rawValue)
    }

    /// The descriptor's number, or -1 after `close`.
    package var rawValue: Int32 { number.load(ordering: .relaxed) }

    /// Closes now; later calls do nothing. Corresponds to `close`, which is never repeated after `EINTR`: on Linux
    /// the number is free by then.
    package func close() {
        let old = number.exchange(-1, ordering: .acquiringAndReleasing)
        guard old >= 0 else { return }
        // Closing alone would not do: a program that is being started holds a copy, and the lock with it, until its `exec`.
        if isLocked.load(ordering: .relaxed) { _ = flock(old, LOCK_UN) }
        _ = Glibc.close(old)
    }

    /// Takes the exclusive lock on the file, or says false when another holds it. It ends with `close`. Corresponds to
    /// `flock(LOCK_EX | LOCK_NB)`.
    package func tryLockExclusively() throws(Errno) -> Bool {
        let file = rawValue
        do {
            _ = try systemCall(.flock, descriptor: file) { flock(file, LOCK_EX | LOCK_NB) }
            isLocked.store(true, ordering: .relaxed)
            return true
        } catch .wouldBlock {
            return false
        }
    }

    /// Gives the number away; the object no longer closes it.
    package func release() -> Int32 {
        number.exchange(-1, ordering: .acquiringAndReleasing)
    }

    deinit { close() }
}
