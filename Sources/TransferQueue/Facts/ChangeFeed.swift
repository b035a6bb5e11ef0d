import LinuxSystem
import TransferModel

/// Hands committed changes to any number of listeners. A listener that is slow gets one merged change, never a backlog.
final class ChangeFeed: Sendable {
    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var lastNumber: UInt64 = 0
        var isClosed = false
    }

    /// A listener: the change that it has not taken yet, or the continuation it waits with; never both.
    private struct Listener {
        var pending: QueueChange?
        var waiting: CheckedContinuation<QueueChange?, Never>?
    }

    /// Held for a look-up or a merge only; continuations are resumed outside.
    private let state = Mutex(State())

    func publish(_ change: QueueChange) {
        if change.isEmpty { return }
        let due = state.withLock { state in
            var due: [CheckedContinuation<QueueChange?, Never>] = []
            for number in state.listeners.keys {
                if let waiting = state.listeners[number]?.waiting {
                    state.listeners[number]?.waiting = nil
                    due.append(waiting)
                } else if state.listeners[number]?.pending?.merge(change) == nil {
                    state.listeners[number]?.pending = change
                }
            }
            return due
        }
        for waiting in due { waiting.resume(returning: change) }
    }

    /// Ends every listener's sequence.
    func close() {
        let due = state.withLock { state in
            state.isClosed = true
            let due = state.listeners.values.compactMap(\.waiting)
            state.listeners = [:]
            return due
        }
        for waiting in due { waiting.resume(returning: nil) }
    }

    func join() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            if !state.isClosed { state.listeners[state.lastNumber] = Listener() }
            return state.lastNumber
        }
    }

    func leave(_ number: UInt64) {
        let waiting = state.withLock { $0.listeners.removeValue(forKey: number)?.waiting }
        waiting?.resume(returning: nil)
    }

    func next(_ number: UInt64, isolation: isolated (any Actor)? = #isolation) async -> QueueChange? {
        await withTaskCancellationHandler {
            // Named, so that this runs where the caller is: it would go through the language's pool of threads else, and a pool that
            // was used once wakes up every second for good.
            _ = isolation
            return await withCheckedContinuation { continuation in
                let ready: QueueChange?? = state.withLock { state in
                    guard let listener = state.listeners[number], !Task.isCancelled else { return .some(nil) }
                    if let pending = listener.pending {
                        state.listeners[number]?.pending = nil
                        return pending
                    }
                    state.listeners[number]?.waiting = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            leave(number)
        }
    }
}

/// The changes of a queue since it was asked for, for one listener; ends when the queue is closed or the task is cancelled.
package struct QueueChanges: AsyncSequence, Sendable {
    package typealias Element = QueueChange

    /// Leaves the feed when nobody listens any more.
    fileprivate final class Membership: Sendable {
        let feed: ChangeFeed
        let number: UInt64

        init(_ feed: ChangeFeed) {
            self.feed = feed
            number = feed.join()
        }

        deinit { feed.leave(number) }
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        private let membership: Membership

        fileprivate init(_ membership: Membership) { self.membership = membership }

        package mutating func next() async -> QueueChange? { await membership.feed.next(membership.number) }

        // Where the listener is: the other one would send every change through a pool of threads.
        package mutating func next(isolation actor: isolated (any Actor)?) async -> QueueChange? {
            await membership.feed.next(membership.number)
        }
    }

    private let membership: Membership

    init(_ feed: ChangeFeed) { membership = Membership(feed) }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(membership) }
}
