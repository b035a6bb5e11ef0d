import LinuxSystem

/// The reason why the queue takes no changes now: a full disk, a file that is gone. What was recorded is kept and tried again.
package final class QueueHealth: Sendable {
    /// Held for a read or a write only.
    private let current = Mutex<QueueError?>(nil)

    /// `nil`: the last change was taken.
    package var trouble: QueueError? { current.withLock { $0 } }

    /// - Returns: whether it is another than before.
    @discardableResult
    func note(_ trouble: QueueError?) -> Bool {
        current.withLock { current in
            defer { current = trouble }
            return current != trouble
        }
    }
}
