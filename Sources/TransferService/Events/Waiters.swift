import TransferModel

/// Clients that wait for something to come. Waking one takes it out.
struct Waiters {
    struct Waiter {
        var client: Int
        var level: LogLevel
        fileprivate var wake: CheckedContinuation<Void, Never>
    }

    private var waiters: [Int: Waiter] = [:]
    private var last = 0

    /// - Parameter level: log only: lines that matter less wake nobody.
    mutating func add(_ client: Int, level: LogLevel = .debug, _ wake: CheckedContinuation<Void, Never>) {
        last += 1
        waiters[last] = Waiter(client: client, level: level, wake: wake)
    }

    mutating func wake(where isMeant: (Waiter) -> Bool) {
        for (number, waiter) in waiters where isMeant(waiter) {
            waiters[number] = nil
            waiter.wake.resume()
        }
    }
}
