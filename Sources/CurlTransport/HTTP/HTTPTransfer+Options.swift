import CCurl
import DisplayText
import Glibc
import LinuxSystem
import TransferModel

/// The options that exchanges share when they differ in address and body alone. Only for small uploads without
/// credentials: with them libcurl remembers on the handle what a server asked for.
struct HTTPTransferKind: Equatable {
    let method: String
    let fields: [HeaderField]
    let response: ResponsePlan
    let connection: ConnectionSettings
    let connect: Duration
}

extension HTTPTransfer {
    /// Gives the handle all options of the exchange. The exchange must stay alive as long as the handle transfers.
    func configureHandle(fresh: Bool) throws(CurlError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let own = own(context) + [.flag(CURLOPT_FRESH_CONNECT, fresh)]
        let kind = kind
        // Of thousands of small files each would set forty options to what they are.
        if let kind, handle.kind == kind { return try handle.change(own) }
        try handle.configure(common + method(context) + own, fields: headerLines())
        handle.kind = kind
    }

    private var kind: HTTPTransferKind? {
        guard bodyGoesWithHead, request.connection.credentials == nil else { return nil }
        return HTTPTransferKind(
            method: request.method, fields: request.fields, response: request.response, connection: request.connection,
            connect: request.timeouts.connect)
    }

    /// The header's lines; `Expect:` without a value takes away what libcurl would add.
    func headerLines() throws(CurlError) -> [String] {
        var lines: [String] = []
        for field in request.fields {
            if !Self.isToken(field.name) || !Self.isFieldValue(field.value) {
                throw CurlError(.badArgument, "header field \(field.name.debugDescription)")
            }
            // A field without a value is written so; "Name:" would take libcurl's own field away.
            lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // libcurl 7.88.1 adds Expect to every body that is sent as a PUT, which ours all are. Only its own one is left out
        // again when the server answers 417, so where we want it we leave it to libcurl.
        if hasBody, !asksBeforeSending { lines.append("Expect:") }
        // A body that goes with the head is a form to libcurl, unless it is told otherwise.
        if bodyGoesWithHead, !request.fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        return lines
    }

    private var hasBody: Bool { request.body != .none }

    private var common: [CurlOption] {
        let isLarge = request.response == .gated
        // libcurl fills its buffer up to 100 times before it returns, and the loop must not wait for long: 64 KiB cost no
        // more processor time than 512 and return after a few milliseconds even on loopback.
        return [
            .long(CURLOPT_NOSIGNAL, 1),
            .long(CURLOPT_NOPROGRESS, 1),
            // Abandoning a name look-up must not wait for the resolver's thread, which may take half a minute.
            .long(CURLOPT_QUICK_EXIT, 1),
            .string(CURLOPT_PROTOCOLS_STR, "http,https"),
            .long(CURLOPT_PATH_AS_IS, 1),
            .long(CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            .long(CURLOPT_FOLLOWLOCATION, 0),
            // HTTP/2 of libcurl 7.88.1 spins when the peer's window is full and may call a reset a success.
            .long(CURLOPT_HTTP_VERSION, CCurl_HTTP_VERSION_1_1),
            .long(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            .long(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, request.timeouts.connect.nanoseconds / 1_000_000))),
            .long(CURLOPT_BUFFERSIZE, isLarge ? 64 * 1024 : 16 * 1024),
            .long(CURLOPT_TCP_KEEPALIVE, 1),
            .long(CURLOPT_TCP_KEEPIDLE, 30),
            .long(CURLOPT_TCP_KEEPINTVL, 15),
            CurlOption(CURLOPT_HEADERFUNCTION, .write(headerCallback)),
            CurlOption(CURLOPT_WRITEFUNCTION, .write(writeCallback)),
            CurlOption(CURLOPT_SOCKOPTFUNCTION, .sockopt(socketCallback)),
            CurlOption(CURLOPT_PREREQFUNCTION, .prereq(beginCallback)),
        ] + request.connection.options(tls: CCurl_SSLVERSION_TLSv1_2)
    }

    /// The options that belong to this exchange alone.
    private func own(_ context: UnsafeMutableRawPointer) -> [CurlOption] {
        var options: [CurlOption] = [
            .string(CURLOPT_URL, request.url),
            CurlOption(CURLOPT_PRIVATE, .pointer(context)),
            CurlOption(CURLOPT_HEADERDATA, .pointer(context)),
            CurlOption(CURLOPT_WRITEDATA, .pointer(context)),
            CurlOption(CURLOPT_PREREQDATA, .pointer(context)),
            CurlOption(CURLOPT_SOCKOPTDATA, .pointer(context)),
        ]
        if bodyGoesWithHead, case .bytes(let bytes) = request.body {
            options += [
                CurlOption(CURLOPT_POSTFIELDSIZE_LARGE, .offset(request.body.length)),
                CurlOption(CURLOPT_COPYPOSTFIELDS, .bytes(bytes)),
            ]
        }
        return options
    }

    /// A method with a body is libcurl's PUT under another name: bytes by callback, length announced. Where the whole body is at
    /// hand it is libcurl's POST, because there head and body are one packet: half the work for small files, also at the server.
    private func method(_ context: UnsafeMutableRawPointer) -> [CurlOption] {
        if !hasBody {
            if request.method == "HEAD" { return [.long(CURLOPT_NOBODY, 1)] }
            return request.method == "GET" ? [] : [.string(CURLOPT_CUSTOMREQUEST, request.method)]
        }
        if bodyGoesWithHead { return request.method == "POST" ? [] : [.string(CURLOPT_CUSTOMREQUEST, request.method)] }
        let isLarge = request.body.length > 64 * 1024
        return [
            .long(CURLOPT_UPLOAD, 1),
            .string(CURLOPT_CUSTOMREQUEST, request.method == "PUT" ? nil : request.method),
            CurlOption(CURLOPT_INFILESIZE_LARGE, .offset(request.body.length)),
            .long(CURLOPT_UPLOAD_BUFFERSIZE, isLarge ? 512 * 1024 : 64 * 1024),
            CurlOption(CURLOPT_READFUNCTION, .read(readCallback)),
            CurlOption(CURLOPT_READDATA, .pointer(context)),
            CurlOption(CURLOPT_SEEKFUNCTION, .seek(seekCallback)),
            CurlOption(CURLOPT_SEEKDATA, .pointer(context)),
        ]
    }

    /// RFC 9110 section 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// No control character but the tab: a line end would begin a field, or a request, of somebody else's choosing.
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}

// libcurl's callbacks. The context is an exchange, unretained: the transport holds it while its handle transfers.

private func exchange(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
    context.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private let headerCallback: curl_write_callback = { data, size, count, context in
    let line = UnsafeRawBufferPointer(start: data, count: size * count)
    return exchange(context)?.receiveHeader(line) == true ? line.count : 0
}

private let writeCallback: curl_write_callback = { data, size, count, context in
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return switch exchange(context)?.receiveBody(bytes) {
    case .taken: bytes.count
    case .pause: Int(CURL_WRITEFUNC_PAUSE)
    // Any other number than the count; 0 would be right for an empty piece.
    case .failed, nil: Int(CURL_WRITEFUNC_ERROR)
    }
}

private let readCallback: curl_read_callback = { data, size, count, context in
    exchange(context)?.fetchBody(into: UnsafeMutableRawBufferPointer(start: data, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
}

private let seekCallback: curl_seek_callback = { context, offset, origin in
    guard origin == SEEK_SET, exchange(context)?.rewindBody(to: Int64(offset)) == true else {
        return CURL_SEEKFUNC_FAIL
    }
    return CURL_SEEKFUNC_OK
}

private let beginCallback: curl_prereq_callback = { context, address, localAddress, port, localPort in
    let connection = OwnListeners.Connection(
        address: address.map { String(peer: $0) } ?? "", port: UInt16(truncatingIfNeeded: port),
        localAddress: localAddress.map { String(peer: $0) } ?? "", localPort: UInt16(truncatingIfNeeded: localPort))
    return exchange(context)?.requestBegins(on: connection) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Data that nobody acknowledges for a minute is an error, instead of a full send queue for a quarter of an hour.
private let socketCallback: curl_sockopt_callback = { context, socket, _ in
    exchange(context)?.socketOpened()
    // A kernel that refuses it leaves us with the stall watchdog, which is slower but sees the same.
    try? System.setOption(socket, level: Int32(IPPROTO_TCP), option: TCP_USER_TIMEOUT, value: 60_000)
    return Int32(CURL_SOCKOPT_OK)
}
