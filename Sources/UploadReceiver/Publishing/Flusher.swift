import LinuxSystem

/// Puts small files on the disk behind the answers: one sync of the file system within a second of the first of them,
/// for all that came meanwhile.
final class Flusher: Sendable {
    private let root: OwnedDescriptor
    private let thread: BlockingWorker
    private let tell: @Sendable (String) -> Void
    /// True when a sync is due.
    private let isDue = Mutex(false)
    /// Closing the writing end ends the waiting.
    private let stopping: (read: OwnedDescriptor, write: OwnedDescriptor)

    init(_ root: OwnedDescriptor, tell: @escaping @Sendable (String) -> Void) throws(Errno) {
        self.root = root
        self.tell = tell
        thread = try BlockingWorker(name: "flush")
        stopping = try System.pipe()
    }

    /// Something was written that nobody has synced.
    func flushSoon() {
        let isFirst = isDue.withLock { isDue in
            defer { isDue = true }
            return !isDue
        }
        if isFirst { thread.submit { [self] in flush() } }
    }

    /// Syncs what is due and ends the thread.
    func stop() {
        stopping.write.close()
        thread.stop()
    }

    private func flush() {
        // Readable only when the receiver stops.
        _ = try? System.poll(stopping.read.rawValue, .read, timeout: .seconds(1))
        // Before the sync: what is written during it may be missed by it and is due again.
        isDue.withLock { $0 = false }
        // Nobody waits for this, and the system tells it once: a line is all that can be said of files that were answered for.
        do throws(Errno) { try System.syncFileSystem(of: root.rawValue) } catch {
            tell(
                "the disk failed (\(error)): small files that arrived in the last seconds may be damaged; send them again"
            )
        }
    }
}
