import CCurl
package import LinuxSystem
package import WireOperations

/// FTP exchanges over libcurl, each on a thread that may block: libcurl waits for a server's last word in one piece.
///
/// The loop's side, in the manner of ``HTTPTransport``: `start` an ``FTPRequest`` under an id, `openGate` of a download, hear
/// of the end in a batch at the end of a turn. Sinks and speed limits belong to the loop and are used there; the threads
/// read sources. Everything here is on the loop. Start reading here, then ``FTPJob`` (what loop and thread share) and
/// ``FTPPerformance`` (what the thread does with libcurl).
package final class FTPTransport {
    /// The time for which a connection is kept for the next exchange; servers let few users in.
    package static let idleTime = Duration.seconds(30)

    let loop: EventLoop
    let clock: any TransportClock
    private let threads: Int
    private let deliver: ([FTPEvent]) -> Void
    private let signal: LoopSignal
    private var registration: Registration?
    private let connections = FTPConnections()
    /// Made with the first exchange.
    private var worker: BlockingWorker?
    private(set) var exchanges: [WireID: FTPTransfer] = [:]
    private var events: [FTPEvent] = []
    private var flushIsScheduled = false
    private var idleTimer: LoopTimer?
    // FTPTransport+Watching.swift
    let throttleTimer: EarliestTimer
    var watchdogTimer: LoopTimer?
    var watchdogPeriod = Duration.zero

    /// A transport on a loop with so many exchanges at a time; more wait for their turn. The scheduler never has as many under way: one that
    /// waited here would move as little as its server lets those before it. `onEvents` is called on the loop and may call everything here.
    /// On the loop.
    package init(
        loop: EventLoop, clock: (any TransportClock)? = nil, threads: Int = 1024,
        onEvents: @escaping ([FTPEvent]) -> Void
    ) throws(Errno) {
        loop.checkIsolated()
        self.loop = loop
        self.clock = clock ?? loop
        throttleTimer = EarliestTimer(on: self.clock)
        self.threads = threads
        deliver = onEvents
        signal = try LoopSignal()
        registration = try signal.connect(to: loop) { [weak self] in self?.look() }
    }

    /// Begins an exchange. Throws when the request cannot be said over FTP, or no thread can be had; then there are no events.
    /// `source` gives the bytes of an upload, from its first one on. On the loop.
    package func start(
        _ id: WireID, _ request: FTPRequest, source: FTPSource? = nil, limits: RateLimits = .none
    ) throws(CurlError) {
        precondition(exchanges[id] == nil, "an exchange's id is used once")
        if let fault = request.fault { throw fault }
        let worker: BlockingWorker
        do throws(Errno) { worker = try startedWorker() } catch {
            throw CurlError(.outOfMemory, "threads for FTP: \(error)")
        }
        let job = FTPJob(request, source: source, isUnlimited: limits.areUnlimited, signal: signal)
        let transfer = FTPTransfer(id, job, limits: limits, at: clock.awake)
        exchanges[id] = transfer
        let connections = connections
        worker.submit { FTPPerformance.perform(job, connections) }
        watch(transfer)
    }

    /// Lets the bytes of a download go to their place. On the loop.
    package func openGate(_ id: WireID, to sink: any TransferBodySink) {
        guard let transfer = exchanges[id] else { return }
        transfer.open(sink)
        signal.raise()
    }

    /// Ends an exchange now and without an event; what its sink can still get, it gets before this returns. The thread gives
    /// up by itself. On the loop, not from a sink.
    package func abandon(_ id: WireID) {
        // It may have ended in this turn, and not told yet.
        events.removeAll { if case .ended(id, _) = $0 { true } else { false } }
        guard let transfer = exchanges[id] else { return }
        transfer.flush(isLast: true)
        transfer.job.stop()
        remove(id)
    }

    /// Gives the sink all that has arrived, for a checkpoint. A sink that fails fails the exchange. On the loop.
    package func flush(_ id: WireID) {
        guard let transfer = exchanges[id] else { return }
        transfer.flush(isLast: true)
        if transfer.cause != nil { end(transfer, .writeFailed) }
    }

    /// The progress of an exchange; nil when there is none of that id. On the loop.
    package func progress(_ id: WireID) -> CurlProgress? { exchanges[id]?.progress }

    /// Exchanges that have not ended.
    package var activeCount: Int { exchanges.count }

    /// Abandons everything, cuts all connections and waits for the threads; the transport cannot be used afterwards. On the
    /// loop.
    package func shutDown() {
        for id in Array(exchanges.keys) { abandon(id) }
        events = []
        for timer in [watchdogTimer, idleTimer] { timer.map { clock.cancel($0) } }
        (watchdogTimer, idleTimer) = (nil, nil)
        throttleTimer.cancel()
        if let registration { loop.cancel(registration) }
        registration = nil
        _ = connections.close()
        worker?.stop()
        worker = nil
    }

    private func startedWorker() throws(Errno) -> BlockingWorker {
        if let worker { return worker }
        let made = try BlockingWorker(name: "ftp", upTo: threads)
        worker = made
        return made
    }

    // MARK: What the threads tell

    /// Looks at all exchanges: bytes for sinks, wishes for tokens, ends.
    private func look() {
        for transfer in Array(exchanges.values) {
            // A sink or an earlier end may have taken it away.
            guard exchanges[transfer.id] != nil else { continue }
            // The end is read before the bytes: those that came before it are there then.
            let end = transfer.job.state.withLock { $0.end }
            transfer.flush(isLast: end != nil)
            if transfer.cause != nil {
                self.end(transfer, .writeFailed)
            } else if let end, transfer.isOpen || end.failure != nil {
                self.end(transfer, with: end)
            }
        }
        grantAll()
    }

    /// Ends an exchange by a decision of the loop.
    func end(_ transfer: FTPTransfer, _ code: CurlCode) {
        transfer.job.stop()
        var end = FTPTransferEnd()
        end.bytesSent = transfer.progress.arrived
        end.bytesReceived = transfer.progress.received
        end.failure = CurlFailure(code, cause: transfer.cause, text: code.description)
        self.end(transfer, with: end)
    }

    private func end(_ transfer: FTPTransfer, with end: FTPTransferEnd) {
        var end = end
        end.bytesDelivered = transfer.delivered
        remove(transfer.id)
        events.append(.ended(transfer.id, end))
        scheduleFlush()
        scheduleIdleLook()
    }

    private func remove(_ id: WireID) {
        exchanges[id] = nil
        if exchanges.isEmpty { stopWatchdog() }
    }

    private func scheduleFlush() {
        if flushIsScheduled { return }
        flushIsScheduled = true
        loop.atEndOfTurn { [weak self] in
            guard let self else { return }
            flushIsScheduled = false
            var batch: [FTPEvent] = []
            swap(&batch, &events)
            if !batch.isEmpty { deliver(batch) }
        }
    }

    // MARK: Kept connections

    private func scheduleIdleLook() {
        if idleTimer != nil { return }
        idleTimer = clock.schedule(after: Self.idleTime) { [weak self] in
            guard let self else { return }
            idleTimer = nil
            // On a thread: closing TLS may write.
            let connections = connections
            let limit = MonotonicInstant.now.advanced(by: .zero - Self.idleTime)
            worker?.submit { _ = connections.takeIdle(before: limit) }
            if !connections.isEmpty || !exchanges.isEmpty { scheduleIdleLook() }
        }
    }
}
