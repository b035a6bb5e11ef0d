import CommandLine
package import Configuration
import DisplayText
import FoundationEssentials
import Glibc
import LinuxSystem

/// The output of a command: lines on standard output, messages on standard error, one progress line that replaces
/// itself. Output is collected and written in large pieces, unless ``flush()`` says that it is wanted now.
package final class Console: Sendable {
    package enum Stream: Sendable { case output, error }

    /// Standard output is a terminal: tables get titles and fit its width.
    let outputIsTerminal: Bool
    /// Standard error is a terminal: progress may be shown there.
    let errorIsTerminal: Bool
    /// Columns of the terminal.
    let width: Int
    let units: ScreenConfiguration.Units
    private let sink: @Sendable (Stream, [UInt8]) throws(Errno) -> Void
    /// Ends the program when the output cannot be written.
    private let leave: @Sendable (ExitStatus) -> Void
    private let state = Mutex(State())

    private struct State {
        var output: [UInt8] = []
        /// Cells of the progress line on the screen.
        var progressWidth = 0
        /// The reader of the output has gone: what is still written is thrown away.
        var readerLeft = false
        /// The command is over when its reader has gone.
        var endsWithReader = false
        /// The deed that was done already, whatever becomes of the output.
        var done: String?
    }

    /// A console that writes through `sink`; for tests.
    init(
        outputIsTerminal: Bool = false, errorIsTerminal: Bool = false, width: Int = 80,
        units: ScreenConfiguration.Units = .iec, leave: @escaping @Sendable (ExitStatus) -> Void = { _ in },
        sink: @escaping @Sendable (Stream, [UInt8]) throws(Errno) -> Void
    ) {
        self.outputIsTerminal = outputIsTerminal
        self.errorIsTerminal = errorIsTerminal
        self.width = width
        self.units = units
        self.leave = leave
        self.sink = sink
    }

    /// The console of this process.
    package convenience init(units: ScreenConfiguration.Units) {
        self.init(
            outputIsTerminal: System.isTerminal(STDOUT_FILENO), errorIsTerminal: System.isTerminal(STDERR_FILENO),
            width: Self.columns(), units: units, leave: { exit($0.rawValue) }
        ) { stream, bytes throws(Errno) in
            let rest = bytes.span.bytes
            try rest.withUnsafeBytes { buffer throws(Errno) in
                try System.writeAll(stream == .output ? STDOUT_FILENO : STDERR_FILENO, buffer)
            }
        }
    }

    private func write(_ stream: Stream, _ bytes: [UInt8]) {
        if stream == .output, state.withLock(\.readerLeft) { return }
        do throws(Errno) {
            try sink(stream, bytes)
        } catch {
            // Nobody can be told of a standard error that takes nothing.
            guard stream == .output else { return }
            // Whoever read has seen enough (a pipe into head). That says nothing of the command, whose own status counts.
            if error == .brokenPipe {
                let ends = state.withLock { state in
                    state.readerLeft = true
                    return state.endsWithReader
                }
                if ends { leave(.done) }
                return
            }
            let (status, message) = Self.end(after: error, done: state.withLock(\.done))
            write(.error, Array("\(message)\n".utf8))
            leave(status)
        }
    }

    /// Says that the command only lists, for as long as somebody reads: it is over, and well, when its reader has gone. Others run to their end
    /// without one.
    func endsWithReader() { state.withLock { $0.endsWithReader = true } }

    /// Says what was done already and stays so, should the output fail: a status other than 0 would deny it.
    func note(done: String) { state.withLock { $0.done = done } }

    /// The end of the program when its output cannot be written: a script must not take a cut list for a whole one.
    /// - Parameter done: what is done all the same.
    static func end(after error: Errno, done: String? = nil) -> (status: ExitStatus, message: String) {
        let remedy =
            switch error {
            case .noSpace, .quotaExceeded, .fileTooLarge: "make room there, or write to another place"
            case .badDescriptor: "leave it open; >/dev/null throws it away"
            default: "write to another place"
            }
        let what = "martlet: the output could not be written (\(error))"
        if let done { return (.done, "\(what), but \(done): \(remedy)") }
        return (.refused, "\(what): \(remedy)")
    }

    /// One line of the result.
    func line(_ line: String) { text(line + "\n") }

    /// A line of the result that has a title; the texts of several stand below each other.
    func line(_ title: String, _ text: String) {
        line(title + String(repeating: " ", count: max(1, 10 - title.count)) + text)
    }

    /// Makes text harmless: what a terminal would obey or be misled by never leaves this process, whoever made the text: names, servers,
    /// another machine's ssh. Lines and columns stay.
    private static func shown(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).harmless }.joined(
                separator: "\t")
        }.joined(separator: "\n")
    }

    /// One line of the result that need not be text. A terminal gets it harmless, anything else as it is.
    func line(bytes: [UInt8]) {
        if outputIsTerminal { return line(String(decoding: bytes, as: UTF8.self)) }
        let full = state.withLock { state -> [UInt8]? in
            state.output += bytes + [UInt8(ascii: "\n")]
            guard state.output.count >= 1 << 16 else { return nil }
            defer { state.output = [] }
            return state.output
        }
        if let full { write(.output, full) }
    }

    /// A piece of the result that has its own line ends.
    func text(_ text: String) {
        let shown = Self.shown(text)
        let full = state.withLock { state -> [UInt8]? in
            state.output += shown.utf8
            guard state.output.count >= 1 << 16 else { return nil }
            defer { state.output = [] }
            return state.output
        }
        if let full { write(.output, full) }
    }

    /// One object of the result, on a line.
    func json(_ value: some Encodable) {
        let encoder = JSONEncoder()
        // Sorted, so that two runs can be compared; slashes as they are, so that paths can be read.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return }
        let text = String(decoding: data, as: UTF8.self)
        // In JSON the same is written so that it can be read back.
        guard text.unicodeScalars.contains(where: HarmlessText.hides) else { return line(text) }
        line(text.unicodeScalars.map { HarmlessText.hides($0) ? Self.escaped($0) : String($0) }.joined())
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }.joined()
    }

    /// A message for the person, after the results so far.
    func note(_ text: String) {
        flush()
        clearProgress()
        write(.error, Array("\(Self.shown(text))\n".utf8))
    }

    /// Replaces the progress line; only on a terminal.
    func progress(_ text: String) {
        guard errorIsTerminal else { return }
        flush()
        let shown = SafeText(text.harmless).beginning(of: max(width - 1, 10))
        let before = state.withLock { state in
            defer { state.progressWidth = shown.width }
            return state.progressWidth
        }
        write(.error, Array("\r\(shown.fitted(to: max(before, shown.width)))".utf8))
    }

    /// Takes the progress line away.
    func clearProgress() {
        let before = state.withLock { state in
            defer { state.progressWidth = 0 }
            return state.progressWidth
        }
        if before > 0 { write(.error, Array(("\r" + String(repeating: " ", count: before) + "\r").utf8)) }
    }

    /// Writes what was collected.
    package func flush() {
        let waiting = state.withLock { state in
            defer { state.output = [] }
            return state.output
        }
        if !waiting.isEmpty { write(.output, waiting) }
    }

    /// ioctl(TIOCGWINSZ) of the streams that are a terminal.
    private static func columns() -> Int {
        var size = winsize()
        for descriptor in [STDOUT_FILENO, STDERR_FILENO]
        where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
            return Int(size.ws_col)
        }
        return 80
    }
}
