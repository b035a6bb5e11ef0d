import CTerminalRescue
import Glibc

/// The signals of a terminal program as bytes of a pipe, so that they are handled on our thread, between two other
/// things, and not inside whatever they interrupted.
final class SignalPipe {
    /// Readable when a signal waits. Does not block.
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(TerminalError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .noPipe(errno: errno) }
        (descriptor, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Remembers what the signals did before.
    func remember() { CTerminalRescue_remember_signals() }

    /// Signals become bytes.
    func start() { CTerminalRescue_forward_signals(writeEnd) }

    /// Puts back what was remembered.
    func stop() { CTerminalRescue_restore_signals() }

    /// The signals that came, in order, each once.
    func take() -> [Int32] {
        var signals: [Int32] = []
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return signals }
            for byte in bytes[..<count] where !signals.contains(Int32(byte)) { signals.append(Int32(byte)) }
        }
    }
}
