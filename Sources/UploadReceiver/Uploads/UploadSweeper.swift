import LinuxSystem

/// Removes uploads that nobody went on with, and forgets complete ones: at the start, then once an hour.
final class UploadSweeper: Sendable {
    private let uploads: UploadStore
    private let thread: BlockingWorker
    /// Closing the writing end ends the waiting.
    private let stopping: (read: OwnedDescriptor, write: OwnedDescriptor)

    init(_ uploads: UploadStore) throws(Errno) {
        self.uploads = uploads
        thread = try BlockingWorker(name: "sweep-uploads")
        stopping = try System.pipe()
        thread.submit { [self] in
            // Readable only when the receiver stops.
            repeat { uploads.sweep(now: WallClock.seconds) } while !mustStop(within: .seconds(3600))
        }
    }

    func stop() {
        stopping.write.close()
        thread.stop()
    }

    private func mustStop(within patience: Duration) -> Bool {
        (try? System.poll(stopping.read.rawValue, .read, timeout: patience)) ?? true
    }
}

extension UploadStore {
    /// Looks at every upload once. Blocks.
    func sweep(now: Int64) {
        guard let contents = try? folder.contents(now: now) else { return }
        count(contents)
        for name in contents.orphans { folder.removeOrphan(name) }
        var expired = 0
        for id in contents.unfinished + contents.complete {
            // One that another receiver uses is not old.
            guard let upload = try? acquire(id) else { continue }
            let isComplete = upload.facts.isPublished
            let unfinished = limits.unfinishedLifetime
            let lifetime = isComplete ? min(limits.completeLifetime, unfinished) : unfinished
            guard upload.lastWritten + lifetime < now, !wasUsed(id, within: lifetime) else {
                release(upload)
                continue
            }
            if !isComplete { expired += 1 }
            upload.takeOver(
                { [self] in
                    // Somebody may have taken it up just now.
                    if upload.lastWritten + lifetime < now { remove(upload) }
                }, done: { [self] in release(upload) })
        }
        if expired > 0 { tell("removed \(expired) unfinished uploads that nobody went on with") }
    }
}
