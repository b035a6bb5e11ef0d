import CCurl
import LinuxSystem
import WireOperations

/// One exchange in flight: what libcurl's callbacks need and what they found out.
///
/// The callbacks only record; ``HTTPTransport`` acts after libcurl has returned. On the transport's loop. Kept alive by
/// the transport's table until its handle has left the multi handle, because libcurl holds its address unretained.
final class HTTPTransfer {
    /// The reasons for which libcurl pauses a direction of this exchange. A person's pause is none of them: that one abandons the exchange.
    struct Standstill: OptionSet {
        let rawValue: UInt8
        static let gate = Standstill(rawValue: 1)
        static let throttledDown = Standstill(rawValue: 2)
        static let throttledUp = Standstill(rawValue: 4)
        /// The sink is full.
        static let full = Standstill(rawValue: 8)
        static let receiving: Standstill = [.gate, .throttledDown, .full]
    }

    /// libcurl 7.88.1 sends a body of fewer bytes together with the head (`MAX_INITIAL_POST_SIZE`).
    static let headRoom = 64 * 1024

    private enum Destination {
        case gate
        case discard
        case memory(limit: Int)
        case sink(SinkBuffer)
    }

    let id: WireID
    let request: HTTPRequest
    let handle: EasyHandle
    private(set) var limits: RateLimits
    /// The transport outlives its exchanges: it holds them.
    private unowned let transport: HTTPTransport
    private let source: (any TransferBodySource)?

    /// Bytes of the body that libcurl has fetched in this pass.
    private(set) var bodyOffset: Int64 = 0
    private var collector = ResponseHeadCollector()
    private(set) var head: HTTPAnswer?
    /// A 401, 407 or 417 that libcurl may go on from by itself; told when a body or the end shows that it does not.
    private var heldHead: HTTPAnswer?
    private(set) var sawContinue = false
    private var destination: Destination
    private(set) var body = ResponseBody()
    private(set) var bytesReceived: Int64 = 0
    private(set) var cause: CurlFailureCause?
    private(set) var standstills: Standstill = []
    /// When a throttled direction may go on; nil while only a changed rate helps.
    private(set) var throttledUntil: MonotonicInstant?
    /// The connection that libcurl last waited for on its behalf; `CURLINFO_ACTIVESOCKET` knows none below a multi handle.
    var socket: Int32?
    /// The number of times that the request was about to be sent; 0 is still connecting.
    private var passes = 0
    /// A connection was opened for it since its request was last about to be sent.
    private var isOnNewConnection = false
    /// An answer came that makes another pass the server's own wish (authentication, 417).
    private var mayPassAgain = false
    /// The watchdog's: bytes moved when it last looked, and when that last changed.
    var movedBefore: Int64 = 0
    var movedAt: MonotonicInstant
    /// The watchdog's: when it last looked, and how long the answer has been coming since all was sent.
    var lookedAt: MonotonicInstant?
    var answering = Duration.zero
    /// A request with `Expect`, to learn whether the host answers it.
    let asksBeforeSending: Bool
    /// The body is at hand, small and unlimited: libcurl gets it with the head, and sends both at once.
    let bodyGoesWithHead: Bool
    /// The zone of the server's address; `nil` without a connection yet. A proxy stands for the internet.
    private(set) var zone: AddressZone?

    init(
        _ id: WireID, _ request: HTTPRequest, handle: EasyHandle, transport: HTTPTransport,
        source: (any TransferBodySource)?, limits: RateLimits, asksBeforeSending: Bool
    ) {
        self.id = id
        self.request = request
        self.handle = handle
        self.transport = transport
        self.source = source
        self.limits = limits
        self.asksBeforeSending = asksBeforeSending
        if case .bytes(let bytes) = request.body {
            bodyGoesWithHead =
                bytes.count < Self.headRoom && !asksBeforeSending && limits.up.allSatisfy { $0.rate == nil }
        } else {
            bodyGoesWithHead = false
        }
        movedAt = transport.clock.awake
        destination =
            switch request.response {
            case .discard: .discard
            case .buffer(let limit): .memory(limit: limit)
            case .gated: .gate
            }
        limits.take()
    }

    deinit { limits.leave() }

    /// True when the answer's body goes to memory or is dropped.
    var answersToNoFile: Bool {
        switch destination {
        case .memory, .discard: true
        case .gate, .sink: false
        }
    }

    /// From now on it draws from these.
    func draw(from limits: RateLimits) {
        limits.take()
        self.limits.leave()
        self.limits = limits
    }

    // MARK: What libcurl calls

    /// libcurl opens a connection for it.
    func socketOpened() { isOnNewConnection = true }

    /// The connection stands and the request is about to be sent, for the first time or again. False ends the exchange.
    func requestBegins(on connection: OwnListeners.Connection) -> Bool {
        passes += 1
        movedAt = transport.clock.awake
        // The address of a proxy says nothing of the server's.
        let isStraight = request.connection.proxy == .none
        zone = isStraight ? AddressZone(connection.peer) : .internet
        if isOnNewConnection { transport.ownListeners.opened(connection) }
        isOnNewConnection = false
        if isStraight, let limit = request.mostPrivateZone, let zone, zone > limit {
            cause = .addressTooPrivate
            return false
        }
        if request.connection.onlyToOwnListener, !transport.ownListeners.include(connection) {
            cause = .foreignListener
            return false
        }
        if passes > 1, !mayPassAgain, !request.mayRepeat {
            cause = .repeatRefused
            return false
        }
        mayPassAgain = false
        return true
    }

    /// Fetches the next bytes of the body. Returns a count or one of `CURL_READFUNC_…`.
    func fetchBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let left = request.body.length - bodyOffset
        if left <= 0 { return 0 }
        var wanted = Int(min(Int64(buffer.count), left))
        if !limits.up.isEmpty {
            switch limits.up.grant(wanted, transport.clock.now) {
            case .bytes(let allowed): wanted = allowed
            case .wait(let delay):
                throttle(.throttledUp, delay)
                return Int(CURL_READFUNC_PAUSE)
            }
        }
        do {
            let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
            if count <= 0 {
                // Returning 0 here would leave libcurl and the server waiting for each other.
                cause = .sourceEnded(at: bodyOffset)
                return Int(CURL_READFUNC_ABORT)
            }
            limits.up.take(count)
            bodyOffset += Int64(count)
            return count
        } catch {
            cause = .sourceFailed(error)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        if case .bytes(let bytes) = request.body {
            let start = Int(bodyOffset)
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + buffer.count]))
            }
            return buffer.count
        }
        return try source?.read(into: buffer, at: bodyOffset) ?? 0
    }

    /// Goes back in the body for another pass; false refuses, which ends the exchange with code 65.
    ///
    /// libcurl wants this for authentication, 417, and for a kept connection that died before an answer: there it
    /// would send gigabytes again, unseen. So only while little was read.
    func rewindBody(to offset: Int64) -> Bool {
        if !request.mayRepeat, !mayPassAgain, bodyOffset > 0 {
            cause = .repeatRefused
            return false
        }
        guard bodyOffset <= HTTPTransport.resendLimit, (0...request.body.length).contains(offset) else { return false }
        bodyOffset = offset
        return true
    }

    /// True when libcurl may have refused the 104s of this exchange: it takes no more than 300 KiB of headers, and no line over 100.
    var mayHaveTooMuchProgress: Bool { collector.progressSize > 200 * 1024 }

    /// Takes a line of a header; false ends the exchange.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        switch collector.append(line) {
        case .more: break
        case .interim(let head):
            if head.status == 100 { sawContinue = true } else { transport.record(.interim(id, head)) }
        case .final(let head):
            heldHead = nil
            self.head = head
            if ResponseHeadCollector.mayGoOn(after: head.status) {
                heldHead = head
                mayPassAgain = true
            } else {
                transport.record(.head(id, head, retryAfter: retryAfter, zone: zone))
            }
        case .tooLarge:
            cause = .headerTooLarge
            return false
        }
        return true
    }

    enum Taken { case taken, pause, failed }

    /// Takes bytes of the final answer's body.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Taken {
        tellHeldHead()
        if case .gate = destination {
            standstills.insert(.gate)
            return .pause
        }
        if case .sink(let buffer) = destination, buffer.sink.isFull {
            if standstills.insert(.full).inserted { transport.waitForRoom(self, in: buffer.sink) }
            return .pause
        }
        if !limits.down.isEmpty {
            // Received bytes are taken whole, so a quantum must be there and the rest is debt.
            if case .wait(let delay) = limits.down.grant(8192, transport.clock.now) {
                throttle(.throttledDown, delay)
                return .pause
            }
            limits.down.take(bytes.count)
        }
        bytesReceived += Int64(bytes.count)
        return keep(bytes) ? .taken : .failed
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch destination {
        case .gate, .discard:
            return withinDropped(limit: 0)
        case .memory(let limit):
            let room = max(0, limit - body.bytes.count)
            body.bytes.append(contentsOf: bytes.prefix(room))
            if bytes.count > room { body.isTruncated = true }
            return withinDropped(limit: limit)
        case .sink(let buffer):
            do {
                try buffer.append(bytes)
                return true
            } catch {
                cause = .sinkFailed(error)
                return false
            }
        }
    }

    /// A little more than is kept is read to the end, so that the connection can be used again; not gigabytes.
    private func withinDropped(limit: Int) -> Bool {
        if bytesReceived <= Int64(limit) + HTTPTransport.droppedLimit { return true }
        cause = .responseTooLarge
        return false
    }

    private func throttle(_ standstill: Standstill, _ delay: Duration?) {
        standstills.insert(standstill)
        let now = transport.clock.now
        // 10 ms at least: finer ticks move the same bytes with more passes.
        throttledUntil = delay.map { now.advanced(by: max($0, .milliseconds(10))) }
        transport.throttled(self)
    }

    // MARK: What the transport does

    /// Returns true when a proxy wants a login before it makes a tunnel: its answer is the exchange's, as it is without a tunnel. Any other
    /// answer of a proxy that makes none is noted as the cause of the failure.
    func hasProxyAnswered() -> Bool {
        guard head == nil, cause == nil, let status = handle.proxyRefusal else { return false }
        guard status == 407 else {
            cause = .proxyRefused(status)
            return false
        }
        (head, heldHead) = (HTTPAnswer(status: status), HTTPAnswer(status: status))
        return true
    }

    /// Tells a head that was held back, once it is clear that libcurl stops there.
    func tellHeldHead() {
        guard let head = heldHead else { return }
        heldHead = nil
        mayPassAgain = false
        transport.record(.head(id, head, retryAfter: retryAfter, zone: zone))
    }

    /// Opens the gate; an opened one stays as it is.
    func openGate(_ gate: GateDestination) {
        guard case .gate = destination else { return }
        switch gate {
        case .sink(let sink):
            destination = .sink(SinkBuffer(sink, expected: head?.field("content-length").flatMap { Int64($0) }))
        case .buffer(let limit): destination = .memory(limit: limit)
        case .discard: destination = .discard
        }
        standstills.remove(.gate)
    }

    /// The sink has room again.
    func endFull() { standstills.remove(.full) }

    func endThrottle() {
        standstills.subtract([.throttledDown, .throttledUp])
        throttledUntil = nil
    }

    /// Gives the sink what was collected; what came before a failure is good and must not be fetched again.
    func flush() {
        guard case .sink(let buffer) = destination else { return }
        do { try buffer.flush() } catch { cause = cause ?? .sinkFailed(error) }
    }

    func fail(_ cause: CurlFailureCause) { self.cause = cause }

    /// The exchange looks up, connects or shakes hands; `CURLOPT_CONNECTTIMEOUT` watches that.
    var isConnecting: Bool { passes == 0 }

    var progress: CurlProgress {
        var delivered = bytesReceived
        if case .sink(let buffer) = destination { delivered = buffer.delivered }
        return CurlProgress(arrived: bytesArrived, received: bytesReceived, delivered: delivered)
    }

    /// Bytes of the body that the peer's machine has. libcurl also counts those in this machine's send queue, on a slow line many seconds'
    /// worth. The connection is this exchange's alone; encrypted bytes are a few more than they carry.
    var bytesArrived: Int64 {
        let sent = bytesSent
        guard sent > 0, let socket, let queued = try? System.unacknowledged(socket) else { return sent }
        return max(0, sent - queued)
    }

    /// Corresponds to `CURLINFO_SIZE_UPLOAD_T`.
    var bytesSent: Int64 {
        // libcurl counts anew when it begins the pass that is refused; what left with the first head may have arrived.
        if bodyGoesWithHead, cause == .repeatRefused { return request.body.length }
        return min(handle.offset(CURLINFO_SIZE_UPLOAD_T), request.body.length)
    }

    /// libcurl says 0 for none and less for a date that is past. Corresponds to `CURLINFO_RETRY_AFTER`.
    var retryAfter: Duration? {
        let seconds = handle.offset(CURLINFO_RETRY_AFTER)
        return seconds == 0 ? nil : .seconds(min(max(seconds, 0), 86400))
    }
}
