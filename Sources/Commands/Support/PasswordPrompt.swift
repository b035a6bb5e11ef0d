import DisplayText
import Glibc
import LinuxSystem

/// Asks for a password on the terminal, without showing it.
enum PasswordPrompt {
    /// The line that was typed; `nil` without a terminal. Uses `/dev/tty`, so standard input may be a pipe.
    /// - Parameter prompt: may hold names that others chose: it is shown as harmless text.
    static func ask(_ prompt: String) -> String? {
        guard let terminal = try? System.open(Array("/dev/tty".utf8), flags: O_RDWR) else { return nil }
        var settings = termios()
        guard tcgetattr(terminal.rawValue, &settings) == 0 else { return nil }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal.rawValue, TCSAFLUSH, &silent)
        defer { tcsetattr(terminal.rawValue, TCSAFLUSH, &settings) }
        write(SafeText(prompt).string, to: terminal.rawValue)
        defer { write("\n", to: terminal.rawValue) }
        return readLine(from: terminal.rawValue)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        // A terminal that cannot be written to cannot be read from either; the read says so.
        Array(text.utf8).withUnsafeBytes { bytes in _ = try? System.writeAll(descriptor, bytes) }
    }

    private static func readLine(from descriptor: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while (try? withUnsafeMutableBytes(of: &byte, { bytes throws(Errno) in try System.read(descriptor, bytes) }))
            == 1
        {
            if byte == UInt8(ascii: "\n") { return String(validating: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
