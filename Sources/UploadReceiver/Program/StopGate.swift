import LinuxSystem

/// Counts what must not be cut off when the receiver stops: work that is under way, and answers that it owes.
final class StopGate: Sendable {
    private struct State {
        var isStopping = false
        var working = 0
        var owed = 0
    }

    private let state = Mutex(State())
    /// Gets a byte at every change while somebody waits.
    private let changes: (read: OwnedDescriptor, write: OwnedDescriptor)

    init() throws(Errno) { changes = try System.pipe(nonBlocking: true) }

    /// Work begins, unless the receiver is stopping.
    func beginWork() -> Bool {
        state.withLock { state in
            if state.isStopping { return false }
            state.working += 1
            state.owed += 1
            return true
        }
    }

    /// The work is done; its answer is still owed.
    func endWork() { change { $0.working -= 1 } }

    /// The answer was delivered, or nobody waits for it any more.
    func endExchange() { change { $0.owed -= 1 } }

    /// From now on no work begins; returns when none is under way.
    func stop() {
        state.withLock { $0.isStopping = true }
        while state.withLock({ $0.working > 0 }) { waitForChange(.seconds(1)) }
    }

    /// Waits until no answer is owed, for as long as `patience` at most.
    func waitForAnswers(_ patience: Duration) {
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while state.withLock({ $0.owed > 0 }), MonotonicInstant.now < deadline {
            waitForChange(MonotonicInstant.now.duration(to: deadline))
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let mustTell = state.withLock { state in
            body(&state)
            return state.isStopping
        }
        // A full pipe has told already.
        if mustTell { _ = try? [UInt8(0)].withUnsafeBytes { try System.write(changes.write.rawValue, $0) } }
    }

    private func waitForChange(_ patience: Duration) {
        guard (try? System.poll(changes.read.rawValue, .read, timeout: patience)) == true else { return }
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            _ = try? System.read(changes.read.rawValue, buffer)
        }
    }
}
