import CCurl
package import LinuxSystem
package import WireOperations

/// The most connections that a transport makes and keeps. The scheduler chooses what runs; these are the hard limits.
package struct TransportCapacity: Sendable {
    package var connections = 64
    package var connectionsPerHost = 32
    /// Idle ones kept for the next request.
    package var keptConnections = 32

    package init() {}
}

/// HTTP exchanges over libcurl, on one event loop: the module's door.
///
/// `start` an ``HTTPRequest`` under an id; what happens comes as ``HTTPEvent`` values, told in batches after
/// libcurl has returned, at the end of the loop's turn. Nothing here knows a protocol: no retry, no redirect, no
/// resume. Everything, making and releasing included, happens on the loop's thread, so there is no lock and
/// no `Sendable`. Start reading here, then ``HTTPTransfer`` (what libcurl's callbacks do), `HTTPTransport+Multi.swift`
/// (the multi handle's sockets and timer), `+Throttle` and `+Watchdog`.
package final class HTTPTransport {
    /// Bytes of a body that may have been read when libcurl wants to send it again by itself.
    package static let resendLimit: Int64 = 256 * 1024
    /// Bytes of an unwanted body that are read and dropped to keep the connection.
    static let droppedLimit: Int64 = 1 << 20

    let loop: EventLoop
    let clock: any TransportClock
    let multi: UnsafeMutableRawPointer
    private let deliver: ([HTTPEvent]) -> Void
    private(set) var exchanges: [WireID: HTTPTransfer] = [:]
    /// Handles of exchanges that ended well, ready for the next.
    private var spareHandles: [EasyHandle] = []
    /// Hosts that took a body without ever answering `Expect`; they get a new connection instead.
    private var hostsWithoutContinue: Set<String> = []

    /// The connections that lead to programs of this user.
    var ownListeners = OwnListeners()

    // The multi handle's wishes, see HTTPTransport+Multi.swift.
    var sockets: [Int32: Registration] = [:]
    /// Those that no exchange waits for any more; still in `sockets` until the turn ends.
    var released: [Int32] = []
    var curlTimer: LoopTimer?
    /// The timeout that libcurl asked for last: milliseconds, or -1 for no timer. nil is no change since.
    var wantedTimeout: Int?
    private var events: [HTTPEvent] = []
    private var flushIsScheduled = false

    // HTTPTransport+Throttle.swift
    var throttledExchanges: [HTTPTransfer] = []
    let throttleTimer: EarliestTimer
    // HTTPTransport+Watchdog.swift
    var watchdogTimer: LoopTimer?
    /// The present interval between two looks of the watchdog.
    var watchdogPeriod = Duration.zero

    /// A transport on a loop. `onEvents` is called on the loop, outside of libcurl; it may call everything here. On the loop.
    package init(
        loop: EventLoop, clock: (any TransportClock)? = nil, capacity: TransportCapacity = TransportCapacity(),
        onEvents: @escaping ([HTTPEvent]) -> Void
    ) throws(CurlError) {
        loop.checkIsolated()
        // The first handle starts the library.
        spareHandles = [try EasyHandle()]
        guard let multi = curl_multi_init() else { throw CurlError(.outOfMemory, "curl_multi_init") }
        self.loop = loop
        self.clock = clock ?? loop
        throttleTimer = EarliestTimer(on: self.clock)
        self.multi = multi
        deliver = onEvents
        configureMulti(capacity)
    }

    /// Begins an exchange. Throws when the request cannot be expressed or libcurl refuses an option; then there are no
    /// events. `source` gives the bytes of a `.source` body. On the loop, not from a source or sink.
    package func start(
        _ id: WireID, _ request: HTTPRequest, source: (any TransferBodySource)? = nil,
        limits: RateLimits = .none
    ) throws(CurlError) {
        precondition(exchanges[id] == nil, "an exchange's id is used once")
        if !HTTPTransfer.isToken(request.method) { throw CurlError(.badArgument, "method") }
        if !HTTPTransfer.isFieldValue(request.url) { throw CurlError(.badURL, "URL") }
        let isLarge = request.body.length > 64 * 1024
        let asks =
            isLarge && request.asksBeforeSending && !hostsWithoutContinue.contains(Self.host(of: request.url))
        let handle: EasyHandle
        if let spare = spareHandles.popLast() { handle = spare } else { handle = try EasyHandle() }
        let exchange = HTTPTransfer(
            id, request, handle: handle, transport: self, source: source, limits: limits, asksBeforeSending: asks)
        // A kept connection that dies under a large body costs the body: 100 Continue shows that it lives, and a
        // handshake is nothing beside megabytes.
        let fresh = isLarge && (!asks || request.body.length > 1 << 20)
        try exchange.configureHandle(fresh: fresh)
        exchanges[id] = exchange
        let code = curl_multi_add_handle(multi, handle.raw)
        if code != CURLM_OK {
            exchanges[id] = nil
            throw CurlError(.outOfMemory, "curl_multi_add_handle: \(String(cString: curl_multi_strerror(code)))")
        }
        watch(exchange)
        scheduleFlush()
    }

    /// Lets the body of an answer behind a gate go to its place; the head was told before. On the loop.
    package func openGate(_ id: WireID, to destination: GateDestination) {
        guard let exchange = exchanges[id] else { return }
        let waited = exchange.standstills.contains(.gate)
        exchange.openGate(destination)
        if waited { applyStandstills(of: exchange) }
    }

    /// Ends an exchange now and without an event; what its sink can still get, it gets before this returns. Its events
    /// that wait are dropped; those of the batch being told right now may still be met there. On the loop, not from a
    /// source or sink.
    package func abandon(_ id: WireID) {
        guard let exchange = exchanges[id] else { return }
        exchange.flush()
        remove(exchange)
        events.removeAll { $0.id == id }
        scheduleFlush()
    }

    /// Gives the sink all that has arrived, for a checkpoint. A sink that fails fails the exchange. On the loop.
    package func flush(_ id: WireID) {
        guard let exchange = exchanges[id] else { return }
        exchange.flush()
        if case .sinkFailed = exchange.cause { end(exchange, .writeFailed, reusable: false) }
    }

    /// The progress of an exchange; nil when there is none of that id. On the loop.
    package func progress(_ id: WireID) -> CurlProgress? {
        exchanges[id]?.progress
    }

    /// Exchanges that have not ended.
    package var activeCount: Int { exchanges.count }

    /// Abandons everything and closes all connections; the transport cannot be used afterwards. Before the last
    /// reference goes. On the loop.
    package func shutDown() {
        for id in Array(exchanges.keys) { abandon(id) }
        events = []
        for timer in [curlTimer, watchdogTimer] { timer.map { clock.cancel($0) } }
        throttleTimer.cancel()
        if let curlTimer { loop.cancel(curlTimer) }
        (curlTimer, watchdogTimer) = (nil, nil)
        releaseConnections()
    }

    deinit {
        // shutDown has ended all exchanges; what is left is memory.
        curl_multi_cleanup(multi)
    }

    // MARK: Events

    /// Keeps an event until libcurl has returned.
    func record(_ event: HTTPEvent) {
        events.append(event)
    }

    /// Sees to it that what libcurl did in this turn is looked at when the turn ends.
    func scheduleFlush() {
        if flushIsScheduled { return }
        flushIsScheduled = true
        loop.atEndOfTurn { [weak self] in self?.flushTurn() }
    }

    private func flushTurn() {
        flushIsScheduled = false
        runCurlTimerIfDue()
        takeMessages()
        applyTimeout()
        if events.isEmpty { return dropReleased() }
        var batch: [HTTPEvent] = []
        swap(&batch, &events)
        deliver(batch)
        // Behind what was just begun, which may want the sockets.
        if !released.isEmpty { scheduleFlush() }
    }

    // MARK: Ends

    /// Ends an exchange and tells it. `reusable` says that its handle did well.
    func end(_ exchange: HTTPTransfer, _ code: CurlCode, reusable: Bool) {
        exchange.flush()
        let code = code != .ok && exchange.hasProxyAnswered() ? .ok : code
        exchange.tellHeldHead()
        let end = ending(of: exchange, code)
        if exchange.asksBeforeSending, !exchange.sawContinue, end.failure == nil, end.bodyWasSent {
            if hostsWithoutContinue.count >= 1024 { hostsWithoutContinue = [] }
            hostsWithoutContinue.insert(Self.host(of: exchange.request.url))
        }
        remove(exchange)
        if reusable, end.failure == nil, spareHandles.count < 64 { spareHandles.append(exchange.handle) }
        record(.ended(exchange.id, end))
        scheduleFlush()
    }

    private func remove(_ exchange: HTTPTransfer) {
        curl_multi_remove_handle(multi, exchange.handle.raw)
        forgetThrottle(of: exchange)
        exchanges[exchange.id] = nil
        if exchanges.isEmpty { stopWatchdog() }
    }

    private func ending(of exchange: HTTPTransfer, _ code: CurlCode) -> HTTPTransferEnd {
        let handle = exchange.handle
        var end = HTTPTransferEnd()
        end.head = exchange.head
        end.retryAfter = exchange.retryAfter
        end.body = exchange.body
        end.bytesSent = exchange.bytesSent
        end.bodyWasSent = end.bytesSent == exchange.request.body.length
        end.bytesReceived = exchange.bytesReceived
        end.sawContinue = exchange.sawContinue
        end.zone = exchange.head == nil ? nil : exchange.zone
        end.address = handle.string(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 }
        var cause = exchange.cause
        // libcurl is content with 101 and a body; only a final status is an answer.
        if code == .ok, cause == nil, exchange.head == nil { cause = .noFinalStatus }
        if code == .receiveFailed, exchange.mayHaveTooMuchProgress { cause = cause ?? .tooMuchProgress }
        if code != .ok || cause != nil {
            end.failure = handle.failure(code, or: .gotNothing, cause: cause, address: end.address)
        }
        return end
    }

    /// `scheme://host:port` of a URL.
    private static func host(of url: String) -> String {
        let bytes = Array(url.utf8)
        var slashes = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "/") {
            slashes += 1
            if slashes == 3 { return String(decoding: bytes[..<index], as: UTF8.self) }
        }
        return url
    }
}

extension HTTPEvent {
    /// The exchange it is about.
    package var id: WireID {
        switch self {
        case .interim(let id, _), .head(let id, _, _, _), .ended(let id, _): id
        }
    }
}
