import CLinux
import Glibc

/// Threads of our own, for loops and for work that blocks.
enum Thread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a joinable thread. `name` shows in `top -H`, 15 bytes of it. Signals go to other threads: all are
    /// blocked here, so that `signalfd` and the main thread see them. Corresponds to `pthread_create`.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) -> pthread_t {
        #if DEBUG
            if let failure = ForcedFailures.take(.pthreadCreate, descriptor: -1, path: Array(name.utf8)) {
                throw failure
            }
        #endif
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &old)
        defer { pthread_sigmask(SIG_SETMASK, &old, nil) }

        // The new thread takes this reference back; only when there is no new thread do we.
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                _ = CLinux_pthread_setname_np(pthread_self(), String(start.name.prefix(15)))
                start.body()
                return nil
            }, start.toOpaque())
        if code != 0 {
            start.release()
            throw Errno(rawValue: code)
        }
        return thread
    }

    /// Waits until a thread has ended. Corresponds to `pthread_join`.
    static func join(_ thread: pthread_t) {
        pthread_join(thread, nil)
    }

    /// Lets a thread's memory go when the thread ends, or now when it has: nobody may join it. Corresponds to `pthread_detach`.
    static func detach(_ thread: pthread_t) {
        pthread_detach(thread)
    }

    /// The calling thread, as a number that fits an atomic. Corresponds to `pthread_self`.
    static var current: UInt { UInt(pthread_self()) }
}
