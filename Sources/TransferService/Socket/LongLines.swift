import LinuxSystem

/// The right to send much at once: few clients of a service have it at the same time, and the others wait unread, so that all of them together
/// cost a bounded memory. Who has it and does not come to the end of a line while somebody waits is let go. On the service's loop.
final class LongLines {
    /// Bytes of requests that each client may have here without that right.
    static let allowance = 256 << 10
    /// Clients that may have up to the longest line.
    static let most = 4

    private let loop: EventLoop
    /// The time in which a line has to come to its end while others wait.
    private let patience: Duration
    private var holders: [Int: Holder] = [:]
    private var waiting: [(client: Int, wake: () -> Void)] = []
    private var timer: LoopTimer?

    private struct Holder {
        let since: MonotonicInstant
        /// Ends the client, unless its line is here as a whole.
        let tooSlow: () -> Void
    }

    init(loop: EventLoop, patience: Duration) {
        self.loop = loop
        self.patience = patience
    }

    /// Gives a client the right, now (true) or later (false).
    /// - Parameters:
    ///   - wake: called when the client has it later.
    ///   - tooSlow: called when it has had it for long and others wait.
    func take(_ client: Int, wake: @escaping () -> Void, tooSlow: @escaping () -> Void) -> Bool {
        let entry = Holder(since: .now, tooSlow: tooSlow)
        if holders.count < Self.most {
            holders[client] = entry
            return true
        }
        waiting.append(
            (
                client,
                { [weak self] in
                    self?.holders[client] = Holder(since: .now, tooSlow: tooSlow)
                    wake()
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

    private func lookLater() {
        guard timer == nil, !waiting.isEmpty, let first = holders.values.map(\.since).min() else { return }
        let passed = first.duration(to: .now)
        timer = loop.schedule(after: max(.milliseconds(10), patience - passed)) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        let now = MonotonicInstant.now
        guard !waiting.isEmpty else { return }
        for client in holders.keys.sorted() {
            // Each one that ends gives its right to the next.
            guard let holder = holders[client], holder.since.duration(to: now) >= patience else { continue }
            holder.tooSlow()
        }
        lookLater()
    }
}
