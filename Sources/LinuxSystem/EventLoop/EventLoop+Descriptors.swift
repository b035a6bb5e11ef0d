import CLinux
import Glibc

extension EventLoop {
    /// Calls `handler` on the loop whenever the descriptor is ready (level-triggered). A descriptor has one
    /// registration at a time; a new one replaces the old. On the loop. Corresponds to `epoll_ctl(EPOLL_CTL_ADD)`.
    package func register(
        _ descriptor: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void
    ) throws(Errno) -> Registration {
        checkIsolated()
        let registration = registrations.add(descriptor, handler)
        do {
            try control(EPOLL_CTL_ADD, descriptor, interest, data: registration.userData)
        } catch {
            _ = registrations.remove(registration)
            throw error
        }
        return registration
    }

    /// Changes what is waited for; a cancelled registration is left alone. On the loop.
    /// Corresponds to `epoll_ctl(EPOLL_CTL_MOD)`.
    package func update(_ registration: Registration, _ interest: Interest) throws(Errno) {
        checkIsolated()
        guard registrations.isCurrent(registration) else { return }
        try control(EPOLL_CTL_MOD, registration.descriptor, interest, data: registration.userData)
    }

    /// Ends a registration, before or after its descriptor was closed; a second time does nothing. On the loop.
    /// Corresponds to `epoll_ctl(EPOLL_CTL_DEL)`.
    package func cancel(_ registration: Registration) {
        checkIsolated()
        guard registrations.remove(registration) else { return }
        // What control lets through here is a kernel out of memory; the table no longer knows the number anyhow.
        try? control(EPOLL_CTL_DEL, registration.descriptor, [], data: 0)
    }

    /// Hands an event to its owner, unless the registration has gone in the same batch of events.
    func dispatch(_ userData: UInt64, _ readiness: Readiness) {
        registrations.handler(of: userData)?(readiness)
    }
}
