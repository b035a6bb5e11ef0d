import CLinux
import Glibc

/// Signals as events of a loop.
package enum Signals {
    /// Writing to a closed pipe or socket becomes `EPIPE`; once, at the program's start. Corresponds to `signal(SIGPIPE, SIG_IGN)`.
    package static func ignoreBrokenPipe() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Holds signals back from this thread and those it starts later, so that a ``SignalSource`` gets them. At the
    /// program's start, before any thread. Corresponds to `pthread_sigmask(SIG_BLOCK)`.
    package static func block(_ signals: [Int32]) {
        var set = signalSet(signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    static func signalSet(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}

/// Delivers blocked signals to a loop. On the loop's thread throughout. Corresponds to `signalfd`.
package final class SignalSource {
    private let loop: EventLoop
    private let descriptor: OwnedDescriptor
    private var registration: Registration?

    /// Starts delivering `signals`, which ``Signals/block(_:)`` must hold back in every thread. On the loop.
    package init(on loop: EventLoop, _ signals: [Int32], _ handler: @escaping (Int32) -> Void) throws(Errno) {
        var set = Signals.signalSet(signals)
        let descriptor = OwnedDescriptor(
            try systemCall(.signalfd) { signalfd(-1, &set, O_CLOEXEC | O_NONBLOCK) })
        self.loop = loop
        self.descriptor = descriptor
        registration = try loop.register(descriptor.rawValue, .read) { _ in
            while let signal = Self.next(descriptor) { handler(signal) }
        }
    }

    /// Ends the delivery. On the loop.
    package func cancel() {
        if let registration { loop.cancel(registration) }
        registration = nil
        descriptor.close()
    }

    private static func next(_ descriptor: OwnedDescriptor) -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        let count = withUnsafeMutableBytes(of: &info) { try? System.read(descriptor.rawValue, $0) }
        return count == size ? Int32(bitPattern: info.ssi_signo) : nil
    }
}
