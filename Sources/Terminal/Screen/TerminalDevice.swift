import CTerminalRescue
import Glibc

/// The controlling terminal: its descriptors, its modes before we came, its size. Owns the descriptors.
final class TerminalDevice {
    /// For drawing; blocks.
    let output: Int32
    /// For keys; does not block. A descriptor of its own, because O_NONBLOCK belongs to the open file and ncurses
    /// would lose output on it.
    let input: Int32
    /// The modes as the shell had set them.
    let originalModes: termios

    init() throws(TerminalError) {
        output = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard output >= 0 else { throw .noTerminal(errno: errno) }
        input = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        var modes = termios()
        guard input >= 0, tcgetattr(output, &modes) == 0 else {
            let error = errno
            Glibc.close(output)
            if input >= 0 { Glibc.close(input) }
            throw .noTerminal(errno: error)
        }
        originalModes = modes
    }

    deinit {
        Glibc.close(input)
        Glibc.close(output)
    }

    /// The size now, or 80 x 24 when the terminal says 0, as one without a window does. ioctl(TIOCGWINSZ).
    var size: ScreenSize {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return ScreenSize(columns: 80, rows: 24)
        }
        return ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// True when a write would go out now: a slow line gets fewer frames, not a queue of them.
    var takesOutput: Bool {
        var poller = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        return poll(&poller, 1, 0) == 1 && poller.revents & Int16(POLLOUT) != 0
    }

    /// True when our process group may draw. tcgetpgrp(3).
    var isForeground: Bool { tcgetpgrp(output) == getpgrp() }

    /// Writes one of our own strings.
    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }

    /// Puts the modes back and throws away what was typed and not read: late answers would end up in the shell.
    func restoreModes() {
        var modes = originalModes
        tcflush(output, TCIFLUSH)
        tcsetattr(output, TCSANOW, &modes)
    }

    /// Waiting bytes, empty when there are none, nil when the terminal is gone.
    func read() -> [UInt8]? {
        var all: [UInt8] = []
        while true {
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                let length = Glibc.read(input, buffer.baseAddress, buffer.count)
                if length < 0 { failure = errno }
                count = max(0, length)
            }
            all += chunk
            if chunk.count == 4096 && all.count < 1 << 20 { continue }
            if failure == EINTR { continue }
            if !all.isEmpty || failure == EAGAIN { return all }
            return nil
        }
    }

    /// From now on a crash or exit gives the terminal back. `standardError` is the descriptor that 2 must become.
    func armRescue(standardError: Int32?) {
        var modes = originalModes
        let text = Array(TerminalModes.rescue.utf8)
        text.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                CTerminalRescue_arm(output, &modes, $0.baseAddress, $0.count, standardError ?? -1)
            }
        }
    }
}
