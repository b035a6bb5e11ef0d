import LinuxSystem

/// The stall watchdog. libcurl's own (`LOW_SPEED_…`) kills paused uploads and servers that digest; this one counts
/// only the time in which bytes could have moved.
extension HTTPTransport {
    /// Watches one more exchange, and looks more often if it is less patient than the others.
    func watch(_ exchange: HTTPTransfer) {
        let period = exchange.watchdogPeriod
        if watchdogTimer != nil, period >= watchdogPeriod { return }
        stopWatchdog()
        setWatchdog(period)
    }

    func stopWatchdog() {
        if let watchdogTimer { clock.cancel(watchdogTimer) }
        watchdogTimer = nil
    }

    private func setWatchdog(_ period: Duration) {
        watchdogPeriod = period
        watchdogTimer = clock.schedule(after: period) { [weak self] in
            guard let self else { return }
            watchdogTimer = nil
            endStalled()
            if let period = exchanges.values.map(\.watchdogPeriod).min() { setWatchdog(period) }
        }
    }

    private func endStalled() {
        let now = clock.awake
        for exchange in exchanges.values {
            guard let cause = exchange.stall(now) else { continue }
            exchange.fail(cause)
            end(exchange, .timedOut, reusable: false)
        }
    }
}

extension HTTPTransfer {
    /// A quarter of its patience: a stall is seen after 1 to 1.25 times of it, with few wake-ups.
    fileprivate var watchdogPeriod: Duration {
        max(min(request.timeouts.stall, request.timeouts.answer) / 4, .milliseconds(10))
    }

    /// Adds up how long the answer has been coming, and returns true when its body comes too slowly: slower than `slowestAnswer` after
    /// `timeouts.answer` have passed. Only after the whole request, only for bodies that go to no file. Time of a standstill does not count.
    private func isAnswerTooSlow(sent: Int64, _ now: MonotonicInstant) -> Bool {
        defer { lookedAt = now }
        guard answersToNoFile, head != nil, sent >= request.body.length, standstills.isEmpty, let lookedAt else {
            return false
        }
        answering += lookedAt.duration(to: now)
        return answering >= request.timeouts.answer + .seconds(bytesReceived / Self.slowestAnswer)
    }

    /// The least average speed of such a body, in bytes a second.
    private static var slowestAnswer: Int64 { 1024 }

    /// Returns the cause for which to give the exchange up now, or nil. Notes what moved since the last look.
    fileprivate func stall(_ now: MonotonicInstant) -> CurlFailureCause? {
        // What a slow line still drains from the send queue is progress.
        let sent = bytesArrived
        let moved = sent + bytesReceived
        if isAnswerTooSlow(sent: sent, now) { return .stalled }
        if moved != movedBefore || isConnecting || !standstills.isEmpty {
            movedBefore = moved
            movedAt = now
            return nil
        }
        let waitsForAnswer = head == nil && sent >= request.body.length
        let patience = waitsForAnswer ? request.timeouts.answer : request.timeouts.stall
        if movedAt.duration(to: now) < patience { return nil }
        return waitsForAnswer ? .noAnswer : .stalled
    }
}
