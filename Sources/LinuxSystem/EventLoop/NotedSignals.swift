import Glibc
import struct Synchronization.Atomic

/// Signals that are noted instead of obeyed for a short time, such as while a prompt has the terminal in other modes. Whoever ends it puts
/// back what it changed and then raises the signals, which do what they always do. Ignored ones stay ignored.
///
/// One at a time in a process, on one thread. Any thread may get the signal, so the handler writes its number into a pipe. Corresponds to
/// `sigaction`.
package final class NotedSignals {
    /// Readable when a signal was noted: a byte for each, its number.
    private let notes: OwnedDescriptor
    /// The actions of before.
    private var before: [(signal: Int32, action: sigaction)] = []

    /// Stays open: on another thread a handler may be on its way yet when the actions of before are back.
    private static let pipe = try? System.pipe(nonBlocking: true)
    /// The pipe's end for the handler, set before there is one. Nothing but a number may be read in a handler.
    private static let target = Atomic<Int32>(-1)

    /// Begins to note `signals`; `nil`: no descriptor is free.
    package init?(_ signals: [Int32]) {
        guard let pipe = Self.pipe else { return nil }
        notes = pipe.read
        Self.target.store(pipe.write.rawValue, ordering: .sequentiallyConsistent)
        _ = take()
        var note = sigaction()
        // Without SA_RESTART: whoever waits for the terminal has to come back.
        note.__sigaction_handler = .init(sa_handler: { number in
            let error = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = Glibc.write(NotedSignals.target.load(ordering: .relaxed), &byte, 1)
            errno = error
        })
        for signal in signals {
            var action = sigaction()
            guard sigaction(signal, nil, &action) == 0, !Self.isIgnored(action) else { continue }
            before.append((signal, action))
            _ = sigaction(signal, &note, nil)
        }
    }

    deinit { _ = end() }

    /// Waits until a descriptor can be read, an error or a hang-up counting as that; false: a signal was noted. Corresponds to `poll`.
    package func wait(for descriptor: Int32) throws(Errno) -> Bool {
        var wanted = [notes.rawValue, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = try systemCall(.poll, descriptor: descriptor) { Glibc.poll(&wanted, 2, -1) }
        return wanted[0].revents == 0
    }

    /// Puts the actions of before back.
    /// - Returns: the signals that came, each once, the first one first.
    package func end() -> [Int32] {
        for (signal, action) in before {
            var action = action
            _ = sigaction(signal, &action, nil)
        }
        before = []
        return take()
    }

    /// Does what a signal asks for, before it returns: this thread may leave signals to others, which take them when they come to it.
    package static func obey(_ signal: Int32) {
        var (one, old) = (sigset_t(), sigset_t())
        sigemptyset(&one)
        sigaddset(&one, signal)
        pthread_sigmask(SIG_UNBLOCK, &one, &old)
        raise(signal)
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }

    private func take() -> [Int32] {
        var came: [Int32] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while let count = bytes.withUnsafeMutableBytes({ try? System.read(notes.rawValue, $0) }), count > 0 {
            for byte in bytes.prefix(count) where !came.contains(Int32(byte)) { came.append(Int32(byte)) }
        }
        return came
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
