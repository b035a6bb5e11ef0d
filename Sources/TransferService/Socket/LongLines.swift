import LinuxSystem

/// The right to have much here at once, sent or not read: few clients of a service have it at the same time, and the others wait, so that all
/// of them together cost a bounded memory. Who has it and is waited for too long while somebody else wants it is let go. On the service's loop.
///
/// Time counts in looks: of a loop that comes late, or has much to do, each look is one, and a client that the service owes something at that
/// moment is not waited for.
final class LongLines {
    /// Bytes of requests and of lines that were not read that each client may have here without that right.
    static let allowance = 256 << 10
    /// Clients that may have up to the longest line.
    static let most = 4
    /// Looks in the time that a line may take while others wait.
    static let looks = 8

    private let clock: any TransportClock
    /// The time between two looks.
    private let pause: Duration
    private var holders: [Int: Holder] = [:]
    private var waiting: [(client: Int, wake: () -> Void)] = []
    private var timer: LoopTimer?

    /// A client that wants the right, or has it.
    struct Claimant {
        /// Called when the client has the right later.
        let wake: () -> Void
        /// Returns true while only the client keeps its line from coming to its end: it is read from, and has sent nothing that is unread.
        let isAwaited: () -> Bool
        /// Ends the client, which was waited for too long.
        let tooSlow: () -> Void
    }

    private struct Holder {
        let claimant: Claimant
        /// Looks since its line began at which it was waited for, while others wanted the right.
        var awaited = 0
    }

    /// - Parameter patience: the time in which a line has to come to its end while others wait.
    init(clock: any TransportClock, patience: Duration) {
        self.clock = clock
        pause = max(.milliseconds(1), patience / Self.looks)
    }

    /// Gives a client the right, now (true) or later (false).
    func take(_ client: Int, _ claimant: Claimant) -> Bool {
        if holders.count < Self.most {
            holders[client] = Holder(claimant: claimant)
            return true
        }
        waiting.append(
            (
                client,
                { [weak self] in
                    self?.holders[client] = Holder(claimant: claimant)
                    claimant.wake()
                }
            ))
        lookLater()
        return false
    }

    /// Takes the right, or the wish for it, back.
    func give(_ client: Int) {
        waiting.removeAll { $0.client == client }
        guard holders.removeValue(forKey: client) != nil, !waiting.isEmpty else { return }
        waiting.removeFirst().wake()
    }

    /// A line of a client that has the right has come to its end.
    /// - Returns: whether others wait for the right.
    func lineEnded(_ client: Int) -> Bool {
        holders[client]?.awaited = 0
        return !waiting.isEmpty
    }

    private func lookLater() {
        guard timer == nil, !waiting.isEmpty else { return }
        timer = clock.schedule(after: pause) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        for client in holders.keys.sorted() {
            // Each one that ends gives its right to the next.
            if waiting.isEmpty { return }
            guard let holder = holders[client], holder.claimant.isAwaited() else { continue }
            holders[client]?.awaited += 1
            if holder.awaited >= Self.looks { holder.claimant.tooSlow() }
        }
        lookLater()
    }
}
