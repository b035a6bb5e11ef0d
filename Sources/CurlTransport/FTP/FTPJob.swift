import LinuxSystem

/// One FTP exchange between the loop, which started it, and the thread that performs it.
///
/// Bytes that come are gathered here until the loop takes them; a thread that is ahead, or out of tokens, waits here. The
/// loop never waits.
final class FTPJob: Sendable {
    /// Bytes that a thread may be ahead of the loop.
    static let mostPending = 512 * 1024
    /// The loop is told when so many wait for it: the sink gets few, large pieces.
    static let tellAt = 256 * 1024

    struct State {
        /// The thread has begun.
        var isRunning = false
        /// The thread is to give up.
        var isStopped = false
        /// The handle that it works with, while it does.
        var handle: FTPHandle?
        var sent: Int64 = 0
        var received: Int64 = 0
        /// Came and not taken by the loop yet.
        var pending: [UInt8] = []
        var waitsForRoom = false
        /// No rate limits it at present.
        var isUnlimited = true
        /// Bytes that the limits allow now.
        var allowance = 0
        /// Bytes that it waits to be allowed; 0: it does not wait.
        var asksFor = 0
        /// Grows with everything that moves.
        var activity: UInt64 = 0
        /// The last byte of an upload was read: only the server's word is missing.
        var waitsForAnswer = false
        var end: FTPTransferEnd?
    }

    let request: FTPRequest
    let source: FTPSource?
    let state: Monitor<State>
    let signal: LoopSignal

    init(_ request: FTPRequest, source: FTPSource?, isUnlimited: Bool, signal: LoopSignal) {
        self.request = request
        self.source = source
        self.signal = signal
        state = Monitor(State(isUnlimited: isUnlimited))
    }

    // MARK: On the loop

    /// Has the thread give up, whatever it waits for.
    func stop() {
        let handle = state.change { state in
            state.isStopped = true
            return state.handle
        }
        handle?.sockets.cutAll()
        handle?.wake()
    }

    /// Takes what has come, in exchange for empty memory to gather in next; the thread may go on meanwhile.
    func takePending(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        state.change { swap(&bytes, &$0.pending) }
    }

    // MARK: On the thread

    /// False when the exchange was abandoned before its turn came.
    func begin(_ handle: FTPHandle) -> Bool {
        state.withLock { state in
            if state.isStopped { return false }
            state.handle = handle
            state.isRunning = true
            state.activity += 1
            return true
        }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Returns how many of these bytes may move now; waits for tokens. nil: give up.
    func allowance(for wanted: Int) -> Int? {
        state.wait { state in
            if state.isStopped { return .some(nil) }
            if state.isUnlimited || state.allowance > 0 {
                let granted = state.isUnlimited ? wanted : min(wanted, state.allowance)
                if !state.isUnlimited { state.allowance -= granted }
                state.asksFor = 0
                return granted
            }
            if state.asksFor == 0 {
                state.asksFor = wanted
                signal.raise()
            }
            return nil
        }
    }

    /// Adds bytes that came; waits for room. False: give up.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            if state.pending.count + bytes.count > Self.mostPending, !state.pending.isEmpty {
                state.waitsForRoom = true
                return nil
            }
            let before = state.pending.count
            state.waitsForRoom = false
            state.pending.append(contentsOf: bytes)
            state.received += Int64(bytes.count)
            state.activity += 1
            if before < Self.tellAt, state.pending.count >= Self.tellAt { signal.raise() }
            return true
        }
    }

    /// Notes where the connection stands. False: give up.
    func moved(sent: Int64) -> Bool {
        state.withLock { state in
            if sent > state.sent {
                state.sent = sent
                state.activity += 1
            }
            return !state.isStopped
        }
    }

    /// Something else happened that shows life.
    func showLife(waitsForAnswer: Bool = false) {
        state.withLock { state in
            state.activity += 1
            state.waitsForAnswer = state.waitsForAnswer || waitsForAnswer
        }
    }

    /// The end, told once; the loop takes it from here.
    func finish(_ end: FTPTransferEnd) {
        state.withLock { state in
            state.handle = nil
            state.end = end
        }
        signal.raise()
    }
}
