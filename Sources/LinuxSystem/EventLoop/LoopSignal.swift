import CLinux
import Glibc

/// A call from any thread to a handler on an event loop. Calls that come before the handler runs are one.
///
/// Sendable: the descriptor is immutable, and writing to it is the kernel's affair.
package final class LoopSignal: Sendable {
    private let counter: OwnedDescriptor

    package init() throws(Errno) {
        counter = OwnedDescriptor(try systemCall(.eventfd) { eventfd(0, O_CLOEXEC | O_NONBLOCK) })
    }

    /// Has `handler` called on the loop after each `raise`, until the registration is cancelled. On the loop.
    package func connect(to loop: EventLoop, _ handler: @escaping () -> Void) throws(Errno) -> Registration {
        try loop.register(counter.rawValue, .read) { [counter] _ in
            var count: UInt64 = 0
            // It takes the count away, so that the next raise is seen; it fails only when there is none.
            _ = read(counter.rawValue, &count, 8)
            handler()
        }
    }

    /// From any thread. Corresponds to a `write` to an `eventfd`.
    package func raise() {
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the loop is called anyhow.
        _ = write(counter.rawValue, &one, 8)
    }
}
