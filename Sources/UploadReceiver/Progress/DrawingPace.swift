import LinuxSystem

/// When what is under way is drawn: at most four times a second while something comes, once more when nothing has come for two seconds, and
/// then not before something comes again. Any thread.
final class DrawingPace: Sendable {
    private struct State {
        var hasNews = false
        var isRunning = false
    }

    private let state = Mutex(State())
    private let thread: BlockingWorker
    /// Closing the writing end ends the waiting.
    private let stopping: (read: OwnedDescriptor, write: OwnedDescriptor)
    private let draw: @Sendable (_ isQuiet: Bool) -> Void

    /// `draw` is called on a thread of its own.
    init(_ draw: @escaping @Sendable (_ isQuiet: Bool) -> Void) throws(Errno) {
        self.draw = draw
        thread = try BlockingWorker(name: "progress")
        stopping = try System.pipe()
    }

    /// Something has come.
    func touch() {
        let isFirst = state.withLock { state in
            defer { (state.hasNews, state.isRunning) = (true, true) }
            return !state.isRunning
        }
        if isFirst { thread.submit { [self] in run() } }
    }

    /// Ends the thread. Nothing is drawn any more.
    func stop() {
        stopping.write.close()
        thread.stop()
    }

    private static let step = Duration.milliseconds(250)
    private static let quietSteps = 8

    private func run() {
        while true {
            state.withLock { $0.hasNews = false }
            draw(false)
            var quiet = 0
            while quiet < Self.quietSteps {
                // Readable only when the receiver stops.
                if (try? System.poll(stopping.read.rawValue, .read, timeout: Self.step)) != false { return }
                if state.withLock({ $0.hasNews }) { break }
                quiet += 1
            }
            if quiet < Self.quietSteps { continue }
            draw(true)
            let isOver = state.withLock { state in
                if !state.hasNews { state.isRunning = false }
                return !state.hasNews
            }
            if isOver { return }
        }
    }
}
