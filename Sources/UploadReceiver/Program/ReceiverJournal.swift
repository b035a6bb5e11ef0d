import DisplayText
import Glibc
import LinuxSystem

/// The receiver's lines on standard output, written by a thread of its own so that a reader who does not read, or a
/// terminal that is held, never holds up a transfer. When too many lines wait, the newest are dropped and counted.
/// On a terminal there is below them, while it is under way, one line an upload.
final class ReceiverJournal: Sendable {
    private struct State {
        /// Marks the writing as scheduled; returns true when the caller must submit it.
        mutating func schedule() -> Bool {
            defer { isScheduled = true }
            return !isScheduled
        }

        var waiting: [String] = []
        var dropped = 0
        /// `write` will run.
        var isScheduled = false
        var isQuiet = false
        var isStopping = false
        var isClosed = false
        var display: Display?
    }

    /// The live part of a terminal, below the lines.
    private struct Display {
        let underWay: UploadsUnderWay
        let pace: DrawingPace
        /// The writer's alone.
        var terminal = LiveTerminal()
    }

    private let output: Int32
    private let writer: BlockingWorker
    private let state = Mutex(State())

    /// `output` stays the caller's.
    init(output: Int32) throws(Errno) {
        self.output = output
        writer = try BlockingWorker(name: "journal")
    }

    /// The output is a terminal: uploads that are under way are shown there.
    func showUploads(_ characterSet: CharacterSet) throws(Errno) {
        let pace = try DrawingPace { [weak self] isQuiet in self?.redraw(isQuiet: isQuiet) }
        let underWay = UploadsUnderWay(characterSet) { pace.touch() }
        state.withLock { $0.display = Display(underWay: underWay, pace: pace) }
    }

    /// The running uploads that the terminal shows; `nil` when there is no such terminal.
    var underWay: UploadsUnderWay? { state.withLock { $0.display?.underWay } }

    func report(_ event: ReceiverEvent) {
        let isFirst = state.withLock { state in
            if state.isClosed { return false }
            if state.waiting.count >= Self.capacity {
                state.dropped += 1
                return false
            }
            state.waiting.append(event.line)
            return state.schedule()
        }
        if isFirst { writer.submit { [self] in write() } }
    }

    /// Writes what waits, for a second at most, and ends the threads. What is under way is shown no more.
    func stop() {
        let (pace, isFirst) = state.withLock { state in
            state.isStopping = true
            return (state.display?.pace, state.display != nil && state.schedule())
        }
        pace?.stop()
        if isFirst { writer.submit { [self] in write() } }
        writer.stop()
    }

    private func redraw(isQuiet: Bool) {
        let isFirst = state.withLock { state in
            state.isQuiet = isQuiet
            return !state.isClosed && state.schedule()
        }
        if isFirst { writer.submit { [self] in write() } }
    }

    private static let capacity = 10_000
    /// PIPE_BUF: what a pipe takes at once whenever `poll` says that it can be written.
    private static let pieceSize = 4096

    private func write() {
        let size = windowSize
        let text = state.withLock { state in
            var lines = state.waiting
            if state.dropped > 0 { lines.append("\(state.dropped) lines were left out here") }
            (state.waiting, state.dropped, state.isScheduled) = ([], 0, false)
            let live =
                state.isStopping ? [] : state.display?.underWay.lines(at: .now, isQuiet: state.isQuiet)
            return state.display?.terminal.draw(
                staying: lines, live: live ?? [], columns: size.columns, rows: size.rows)
                ?? lines.map { $0 + "\n" }.joined()
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            do {
                guard try System.poll(output, .write, timeout: .seconds(1)) else {
                    if state.withLock({ $0.isStopping }) { return }
                    continue
                }
                rest = rest.dropFirst(try writeSome(rest.prefix(Self.pieceSize)))
            } catch {
                // Nobody reads any more; the receiver goes on without.
                state.withLock { state in (state.isClosed, state.waiting) = (true, []) }
                return
            }
        }
    }

    /// 80 x 24 when the terminal does not say.
    private var windowSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        do {
            return try bytes.withUnsafeBytes { try System.write(output, $0) }
        } catch let error as Errno where error == .wouldBlock {
            return 0
        }
    }
}
