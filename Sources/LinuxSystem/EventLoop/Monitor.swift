import Glibc

/// A value under a lock, and threads that wait until it is as they need it. For threads that may block; an event loop
/// uses `withLock` alone.
///
/// Unchecked: `value` is touched under `lock` only.
package final class Monitor<Value>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        pthread_cond_destroy(changed)
        lock.deallocate()
        changed.deallocate()
    }

    /// Reads or changes the value; the body must be short and call nothing that waits. Wakes nobody.
    package func withLock<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value)
    }

    /// Changes the value, and has those who wait look again.
    package func change<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(lock)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock)
        }
        return body(&value)
    }

    /// Waits until the body gives something; it is asked at once and after every `change`.
    /// Corresponds to `pthread_cond_wait`.
    package func wait<R>(_ body: (inout Value) -> R?) -> R {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&value) { return result }
            pthread_cond_wait(changed, lock)
        }
    }
}
