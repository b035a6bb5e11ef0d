import CommandLine
import DisplayText
import Glibc
import LinuxSystem

/// Asks for a password on the terminal, without showing it. A signal that ends or stops the process while it is typed finds the terminal as
/// it was, and a process that goes on asks once more. As OpenBSD's `readpassphrase` does it.
enum PasswordPrompt {
    private static let noted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]

    /// The end of one prompt; the terminal is as before.
    private enum Outcome {
        case line([UInt8])
        /// Ctrl-D: no line comes any more.
        case end
        /// Nobody can be asked.
        case noTerminal
        /// These came and were not obeyed yet.
        case signals([Int32])
    }

    /// The line that was typed; `nil` without a terminal. Uses `/dev/tty`, so standard input may be a pipe.
    /// - Parameter prompt: may hold names that others chose: it is shown as harmless text.
    /// - Throws: there is a terminal, and what was typed there is no answer.
    static func ask(_ prompt: String) throws(CommandFailure) -> String? {
        guard let terminal = try? System.open(Array("/dev/tty".utf8), flags: O_RDWR) else { return nil }
        while true {
            switch asked(prompt, on: terminal.rawValue) {
            case .line(let bytes):
                guard let line = String(validating: bytes, as: UTF8.self) else {
                    throw .usage("what was typed is not UTF-8", "type it in a terminal that sends UTF-8")
                }
                return line
            case .end: throw .usage("the input ended before an answer was typed", "type it, and press Enter")
            case .noTerminal: return nil
            case .signals(let signals): for signal in signals { NotedSignals.obey(signal) }
            }
        }
    }

    private static func asked(_ prompt: String, on terminal: Int32) -> Outcome {
        // In the background this stops us until we are in the foreground. What is set there before is a shell's own.
        tcflush(terminal, TCIFLUSH)
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0, let notes = NotedSignals(noted) else { return .noTerminal }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        var outcome = Outcome.noTerminal
        if tcsetattr(terminal, TCSAFLUSH, &silent) == 0 {
            write(SafeText(prompt).string, to: terminal)
            outcome = line(from: terminal, notes)
            // A shell that has the terminal by now has its own settings there.
            if tcgetpgrp(terminal) == getpgrp() {
                write("\n", to: terminal)
                // Not TCSAFLUSH, which one more signal could interrupt.
                tcflush(terminal, TCIFLUSH)
                tcsetattr(terminal, TCSANOW, &settings)
            }
        }
        let signals = notes.end()
        return signals.isEmpty ? outcome : .signals(signals)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        // A terminal that cannot be written to cannot be read from either; the read says so.
        Array(text.utf8).withUnsafeBytes { bytes in _ = try? System.writeAll(descriptor, bytes) }
    }

    /// Reads a line, unless a signal comes before its end.
    private static func line(from terminal: Int32, _ notes: NotedSignals) -> Outcome {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while (try? notes.wait(for: terminal)) == true {
            // Not System's, which repeats itself after a signal: in the background each try brings the next one.
            let count = Glibc.read(terminal, &byte, 1)
            if count == 0 { return .end }
            if count < 0 && errno != EINTR { return .noTerminal }
            guard count == 1 else { continue }
            if byte == UInt8(ascii: "\n") { return .line(line) }
            line.append(byte)
        }
        return .noTerminal
    }
}
