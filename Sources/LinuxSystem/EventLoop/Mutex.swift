#if SANITIZE
    import Glibc
#else
    package import struct Synchronization.Mutex
#endif

/// A value that one thread at a time may touch. It is the lock of this package (only `WorkQueue`, which needs a condition too, has its own):
/// `.ci/check-imports` refuses the one of Synchronization elsewhere.
///
/// Thread sanitizer does not see a lock of Synchronization that was waited for, because its slow path is inside Swift's own library, and
/// reports what it guards as a race. So a build for a sanitizer (`make test SANITIZE=thread`) takes the lock of pthreads.
package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    #if SANITIZE
        /// Immutable; both are at a fixed address until the lock goes away.
        private let lock: UnsafeMutablePointer<pthread_mutex_t>
        /// Under the lock.
        private let value: UnsafeMutablePointer<Value>

        package init(_ initial: consuming sending Value) {
            lock = .allocate(capacity: 1)
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        /// Runs `body` while no other thread can: it must not wait, and must not come back to this lock.
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    #else
        @usableFromInline let lock: Synchronization.Mutex<Value>

        @inlinable package init(_ initial: consuming sending Value) { lock = Synchronization.Mutex(initial) }

        /// Runs `body` while no other thread can: it must not wait, and must not come back to this lock.
        @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try lock.withLock(body)
        }
    #endif
}
