import LinuxSystem
import Synchronization

/// The receiver's lines on standard output, written by a thread of its own so that a reader who does not read, or a
/// terminal that is held, never holds up a transfer. When too many lines wait, the newest are dropped and counted.
final class ReceiverJournal: Sendable {
    private struct State {
        var waiting: [String] = []
        var dropped = 0
        var isStopping = false
        var isClosed = false
    }

    private let output: Int32
    private let writer: BlockingWorker
    private let state = Mutex(State())

    /// `output` stays the caller's.
    init(output: Int32) throws(Errno) {
        self.output = output
        writer = try BlockingWorker(name: "journal")
    }

    func report(_ event: ReceiverEvent) {
        let isFirst = state.withLock { state in
            if state.isClosed { return false }
            if state.waiting.count >= Self.capacity {
                state.dropped += 1
                return false
            }
            state.waiting.append(event.line)
            return state.waiting.count == 1
        }
        if isFirst { writer.submit { [self] in write() } }
    }

    /// Writes what waits, for a second at most, and ends the thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        writer.stop()
    }

    private static let capacity = 10_000
    /// PIPE_BUF: what a pipe takes at once whenever `poll` says that it can be written.
    private static let pieceSize = 4096

    private func write() {
        let (lines, dropped) = state.withLock { state in
            defer { (state.waiting, state.dropped) = ([], 0) }
            return (state.waiting, state.dropped)
        }
        var text = lines.joined(separator: "\n") + "\n"
        if dropped > 0 { text += "\(dropped) lines were left out here\n" }
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

    private func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        do {
            return try bytes.withUnsafeBytes { try System.write(output, $0) }
        } catch let error as Errno where error == .wouldBlock {
            return 0
        }
    }
}
