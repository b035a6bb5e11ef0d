import CMicrohttpd
import DisplayText
import LinuxSystem

/// libmicrohttpd's daemon: the one owner of its handle. It serves connections on threads of its own.
///
/// They wait in `poll`, not `epoll`: 0.9.75 uses epoll edge-triggered and takes a short read for the end of what there is,
/// so a connection whose end arrived together with its last bytes would look alive until it is silent for too long, and
/// the torso of its upload would stay as long. With some hundred connections `poll` costs nothing that can be measured.
///
/// Lifetimes: the daemon's callbacks get an unretained pointer to this object, which is valid because `stop`, the only
/// way in which it ends, returns after the library's threads have. Each request's slot holds one retained `ServedExchange`, made
/// at the first call for the request and released by the completion call, which the library makes exactly once for it.
///
/// Unchecked: `handle` is set by `init` and cleared by `stop`, both on the owner's thread; the rest is immutable.
final class HTTPDaemon: @unchecked Sendable {
    private let context: ReceiverContext
    private let gate: StopGate
    private let isTLS: Bool
    private let connections: ConnectionTable
    private var handle: OpaquePointer?
    /// PEM texts and the versions of TLS, with a NUL behind; the library keeps their addresses.
    private let pem: [UnsafeMutableBufferPointer<CChar>]
    /// The library's messages while it starts; `nil` afterwards. Later ones are about peers and show as the ends of their requests.
    private let complaints = Mutex<[String]?>([])

    /// Takes over `listener`. Throws what the library had to say when it does not start.
    init(_ context: ReceiverContext, _ gate: StopGate, listener: OwnedDescriptor, threads: Int) throws(ReceiverError) {
        self.context = context
        self.gate = gate
        let configuration = context.configuration
        connections = ConnectionTable(configuration.limits)
        isTLS = configuration.tls != nil
        pem =
            configuration.tls.map {
                [
                    Self.terminated($0.key), Self.terminated($0.certificate),
                    Self.terminated(Array(Self.tlsVersions.utf8)),
                ]
            } ?? []
        var flags = MHD_USE_POLL_INTERNAL_THREAD.rawValue | MHD_USE_TURBO.rawValue
        flags |= MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ERROR_LOG.rawValue
        if isTLS { flags |= MHD_USE_TLS.rawValue }
        let options = Self.options(configuration.limits, listener: listener.rawValue, threads: threads, pem: pem)
        handle = CMicrohttpd_start_daemon(
            flags, Unmanaged.passUnretained(self).toOpaque(), handleRequest, handleCompletion, keepEscapes,
            handleComplaint, handleConnection, options)
        let said = complaints.withLock { complaints in
            defer { complaints = nil }
            return complaints ?? []
        }
        guard handle != nil else { throw .httpLibrary(said.joined(separator: "; ")) }
        _ = listener.release()
    }

    deinit {
        for text in pem {
            text.update(repeating: 0)
            text.deallocate()
        }
    }

    /// Takes no more connections; those there are go on.
    func stopListening() {
        guard let handle else { return }
        let listener = MHD_quiesce_daemon(handle)
        if listener >= 0 { OwnedDescriptor(listener).close() }
    }

    /// Closes all connections and ends the threads. No connection may sleep.
    func stop() {
        if let handle { MHD_stop_daemon(handle) }
        handle = nil
    }

    private static func options(
        _ limits: ReceiverConfiguration.Limits, listener: Int32, threads: Int,
        pem: [UnsafeMutableBufferPointer<CChar>]
    ) -> [MHD_OptionItem] {
        var options: [MHD_OptionItem] = []
        func add(_ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil) {
            options.append(MHD_OptionItem(option: option, value: value, ptr_value: pointer))
        }
        add(.LISTEN_SOCKET, Int(listener))
        // Each thread has its share of them. The table closes connections beyond our own limit; the library's is for those that are
        // on their way out.
        add(.CONNECTION_LIMIT, 2 * limits.connections + 64)
        // Until a request is let in.
        add(.CONNECTION_TIMEOUT, Int(limits.unprovenSilence))
        add(.CONNECTION_MEMORY_LIMIT, connectionMemory)
        add(.SIGPIPE_HANDLED_BY_APP, 1)
        if threads > 1 { add(.THREAD_POOL_SIZE, threads) }
        if pem.count == 3 {
            add(.HTTPS_MEM_KEY, 0, pem[0].baseAddress)
            add(.HTTPS_MEM_CERT, 0, pem[1].baseAddress)
            add(.HTTPS_PRIORITIES, 0, pem[2].baseAddress)
        }
        add(.END, 0)
        return options
    }

    /// Head and body share it; most of it is the body's buffer, so it is also the size of a read. The head's part bounds
    /// the header fields (431) and the request line (414).
    private static let connectionMemory = 64 << 10

    /// The TLS versions that GnuTLS may use, in the syntax of gnutls_priority_init(3).
    private static let tlsVersions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

    private static func terminated(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<CChar> {
        let text = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count + 1)
        _ = text.initialize(from: bytes.map { CChar(bitPattern: $0) } + [0])
        return text
    }

    fileprivate func exchange(_ connection: OpaquePointer, method: String, target: [UInt8], version: String)
        -> ServedExchange
    {
        var fields = RequestFields()
        withUnsafeMutablePointer(to: &fields) { pointer in
            _ = MHD_get_connection_values_n(connection, .HEADER_KIND, collectField, pointer)
        }
        let peer = CMicrohttpd_client_address(connection).map { InternetSocket.host(of: $0) } ?? "unknown"
        let head = RequestHead(
            method: RequestMethod(method), target: target, fields: fields, peer: peer, isTLS: isTLS,
            understandsInterim: version == "HTTP/1.1", isHTTP10: version == "HTTP/1.0",
            socket: CMicrohttpd_connection_fd(connection))
        return ServedExchange(
            context, gate, connections, ConnectionTable.ID(CMicrohttpd_socket_context(connection)), head)
    }

    fileprivate func opened(_ connection: OpaquePointer) -> ConnectionTable.ID {
        let address = CMicrohttpd_client_address(connection).map { InternetSocket.host(of: $0) } ?? "unknown"
        return connections.opened(CMicrohttpd_connection_fd(connection), from: address)
    }

    fileprivate func closed(_ connection: ConnectionTable.ID) { connections.closed(connection) }

    fileprivate func note(_ complaint: String) {
        complaints.withLock { $0?.append(complaint) }
    }
}

private func daemon(_ context: UnsafeMutableRawPointer?) -> HTTPDaemon {
    // It is the pointer that `init` gave; see the type's comment for how long it is valid.
    Unmanaged<HTTPDaemon>.fromOpaque(context!).takeUnretainedValue()
}

/// Called when the head has arrived, for every piece of the body, and when the request is whole or was resumed.
private func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection, let count, let slot else { return .NO }
    guard let stored = slot.pointee else {
        guard let url, let method, let version else { return .NO }
        let target = [UInt8](UnsafeRawBufferPointer(start: url, count: length(of: url)))
        let exchange = daemon(context).exchange(
            connection, method: String(peer: method), target: target, version: String(peer: version))
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return exchange.begin(connection)
    }
    let exchange = Unmanaged<ServedExchange>.fromOpaque(stored).takeUnretainedValue()
    guard count.pointee > 0 else { return exchange.end(connection) }
    let result = exchange.body(connection, UnsafeRawBufferPointer(start: data, count: count.pointee))
    count.pointee = 0
    return result
}

/// Called when a connection was accepted, and before its descriptor is closed. The number of the connection is all that is kept with it.
private func handleConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let connection, let slot else { return }
    if code == .CONNECTION_NOTIFY_STARTED {
        slot.pointee = daemon(context).opened(connection).pointer
    } else {
        daemon(context).closed(ConnectionTable.ID(slot.pointee))
        slot.pointee = nil
    }
}

/// Called once when a request is over, however that came about.
private func handleCompletion(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let slot, let stored = slot.pointee else { return }
    slot.pointee = nil
    Unmanaged<ServedExchange>.fromOpaque(stored).takeRetainedValue().ended(ExchangeEnding(code))
}

/// The path is decoded by `TargetPath`, component by component: the library would turn `%2F` into a separator.
private func keepEscapes(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    text.map { length(of: $0) } ?? 0
}

private func handleComplaint(
    _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?
) {
    guard let format, let arguments else { return }
    daemon(context).note(formatted(format, arguments))
}

private func collectField(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let context, let name else { return .YES }
    // The pointer that `exchange` lends for the time of the iteration.
    context.assumingMemoryBound(to: RequestFields.self).pointee.append(
        text(name, nameCount), value.map { text($0, valueCount) } ?? "")
    return .YES
}

private func text(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
    String(peer: UnsafeRawBufferPointer(start: start, count: count))
}

extension ExchangeEnding {
    fileprivate init(_ code: MHD_RequestTerminationCode) {
        switch code {
        case .REQUEST_TERMINATED_COMPLETED_OK: self = .answered
        case .REQUEST_TERMINATED_TIMEOUT_REACHED: self = .silent
        case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: self = .stopped
        default: self = .cut
        }
    }
}
