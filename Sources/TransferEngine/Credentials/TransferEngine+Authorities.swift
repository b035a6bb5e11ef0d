import CurlTransport
import Glibc
import LinuxSystem
import TransferModel

/// The file of authorities that a batch trusts (`--ca`): read beside everything else, and not waited for without end.
extension TransferEngine {
    private static let patience = Duration.seconds(10)
    /// Times that `patience` is waited for a disk that does not answer, or for a file descriptor.
    private static let mostWaits = 6

    /// Reads the file where it was not read yet, or may have been mended since. Until it has been read nobody is trusted.
    func readAuthorities(_ context: BatchContext) async {
        for _ in 0..<Self.mostWaits {
            guard phase != .stopping, let path = context.trust.pathToRead else { return }
            switch await wait(for: path, context) {
            // A person may have set another one meanwhile.
            case .read: if context.trust.path == path { return }
            case .late: break
            case .notNow:
                report(
                    .error,
                    "\(path.displayed) cannot be read: this machine has no file descriptor left; raise the limit (ulimit -n)"
                )
                await sleep(for: .seconds(1))
            }
        }
    }

    private func wait(for path: RawPath, _ context: BatchContext) async -> AuthoritiesWaiter.Outcome {
        await withCheckedContinuation { continuation in
            let waiter = AuthoritiesWaiter(continuation)
            let timer = timeline.clock.schedule(after: Self.patience) { waiter.goOn(.late) }
            context.authoritiesLine.join(waiter, timer, for: path)
            beginReading(path, context)
        }
    }

    private func beginReading(_ path: RawPath, _ context: BatchContext) {
        // One thread waits for a disk that does not answer, however often the batch is tried.
        guard context.authoritiesLine.beginReading(path) else { return }
        Task { [self] in
            let found = await AuthoritiesReader.read(path)
            context.trust.take(found, of: path, at: timeline.now)
            for (waiter, timer) in context.authoritiesLine.endReading(path) {
                timeline.clock.cancel(timer)
                waiter.goOn(found == .notNow ? .notNow : .read)
            }
        }
    }

    /// Reads a file anew that was read a while ago; nobody waits for it.
    func renewAuthorities(_ context: BatchContext) {
        if let path = context.trust.path, context.trust.isOld(at: timeline.now) { beginReading(path, context) }
    }

    /// Suspends the attempt's further actions until the file has been read: a server would be refused in the name of nobody.
    func untilTrusted(_ attempt: Attempt) {
        attempt.access.awaitTrust(of: attempt.context)
        suspend(attempt) { [self] in await readAuthorities(attempt.context) }
    }
}
