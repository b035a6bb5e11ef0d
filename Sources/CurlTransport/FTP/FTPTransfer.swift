import LinuxSystem
import WireOperations

/// The loop's side of one FTP exchange: its sink and its limits. On the loop.
final class FTPTransfer {
    let id: WireID
    let job: FTPJob
    private(set) var limits: RateLimits
    private var sink: (any TransferBodySink)?
    /// Bytes that the sink has taken.
    private(set) var delivered: Int64 = 0
    /// The reason for which the loop gives it up.
    private(set) var cause: CurlFailureCause?
    /// Gathered in next, to keep its memory.
    private var spare: [UInt8] = []
    /// The watchdog's: what it saw when it last looked, and when that last changed.
    private var activityBefore: UInt64 = 0
    private var movedAt: MonotonicInstant

    init(_ id: WireID, _ job: FTPJob, limits: RateLimits, at now: MonotonicInstant) {
        self.id = id
        self.job = job
        self.limits = limits
        movedAt = now
        limits.take()
    }

    deinit { limits.leave() }

    /// From now on it draws from these.
    func draw(from limits: RateLimits) {
        limits.take()
        self.limits.leave()
        self.limits = limits
    }

    /// Nothing stands between the bytes that come and their place.
    var isOpen: Bool {
        job.request.operation.brings ? sink != nil : true
    }

    func open(_ sink: any TransferBodySink) {
        if self.sink == nil { self.sink = sink }
    }

    /// It waits for room in the sink; the thread waits here when enough has come meanwhile.
    private var waitsForSink = false

    /// Gives the sink what has come.
    /// - Parameter isLast: nothing follows, so that a full one gets it, too.
    func flush(isLast: Bool = false) {
        guard let sink, cause == nil else { return }
        if sink.isFull, !isLast {
            if waitsForSink { return }
            waitsForSink = true
            return sink.whenRoom { [weak self] in
                self?.waitsForSink = false
                self?.job.signal.raise()
            }
        }
        // Out of the property, so that its memory has one owner and is not copied.
        var bytes: [UInt8] = []
        swap(&bytes, &spare)
        job.takePending(into: &bytes)
        let count = bytes.count
        let failure: Errno? = bytes.withUnsafeBytes { bytes in
            do throws(Errno) {
                if count > 0 { try sink.write(bytes) }
                return nil
            } catch {
                return error
            }
        }
        if let failure { cause = .sinkFailed(failure) } else { delivered += Int64(count) }
        swap(&bytes, &spare)
    }

    var progress: CurlProgress {
        let (sent, received) = job.state.withLock { ($0.sent, $0.received) }
        return CurlProgress(arrived: sent, received: received, delivered: delivered)
    }

    // MARK: Limits

    /// Gives the thread tokens if it waits for them and there are some; else says how long to wait, nil until a rate changes.
    func grant(_ now: MonotonicInstant) -> Grant {
        let asked = job.state.withLock { $0.asksFor }
        if asked == 0 { return .bytes(0) }
        let isUpload = if case .upload = job.request.operation { true } else { false }
        let buckets = isUpload ? limits.up : limits.down
        switch buckets.grant(isUpload ? asked : min(asked, 8192), now) {
        case .bytes(let granted):
            // What has been received is taken whole: a quantum must be there, and the rest is debt.
            let allowed = isUpload ? granted : asked
            buckets.take(allowed)
            job.state.change { state in
                state.allowance += allowed
                state.asksFor = 0
            }
            return .bytes(allowed)
        case .wait(let delay): return .wait(delay)
        }
    }

    /// Has the thread ask again, or never, after a rate has changed.
    func limitsChanged() {
        let areUnlimited = limits.areUnlimited
        job.state.change { state in
            state.isUnlimited = areUnlimited
            if areUnlimited { state.asksFor = 0 }
        }
    }

    // MARK: Stalls

    var patience: Duration { min(job.request.timeouts.stall, job.request.timeouts.answer) }

    /// Returns the cause for which to give the exchange up now, or nil. Notes what moved since the last look.
    func stall(_ now: MonotonicInstant) -> CurlFailureCause? {
        let (activity, stands, waitsForAnswer) = job.state.withLock { state in
            // libcurl itself watches the connecting; what waits for tokens, room or a thread does so by our own will.
            (
                state.activity, state.asksFor > 0 || state.waitsForRoom || !state.isRunning || state.end != nil,
                state.waitsForAnswer
            )
        }
        if activity != activityBefore || stands {
            activityBefore = activity
            movedAt = now
            return nil
        }
        let timeouts = job.request.timeouts
        if movedAt.duration(to: now) < (waitsForAnswer ? timeouts.answer : timeouts.stall) { return nil }
        return waitsForAnswer ? .noAnswer : .stalled
    }

    func fail(_ cause: CurlFailureCause) { self.cause = cause }
}

extension RateLimits {
    /// No bucket has a rate now.
    var areUnlimited: Bool { (up + down).allSatisfy { $0.rate == nil } }
}
