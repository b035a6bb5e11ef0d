import CCurl
import DisplayText
import Glibc
import LinuxSystem
import TransferModel
import WireOperations

extension FTPPerformance {
    /// All options of one transfer or list of commands, on top of libcurl's defaults. This object must live until it is done.
    func options(for operation: FTPOperation) -> [CurlOption] {
        common + connection + way(of: operation)
    }

    /// libcurl counts them in milliseconds, in 32 bits: 24 days.
    private static let mostSeconds = Int64(Int32.max) / 1000

    private var common: [CurlOption] {
        let stall = request.timeouts.stall.nanoseconds / 1_000_000_000
        let context = Unmanaged.passUnretained(self).toOpaque()
        // Sockets outlive the exchange, and the list of them goes after the handle.
        let list = Unmanaged.passUnretained(sockets).toOpaque()
        return [
            .long(CURLOPT_NOSIGNAL, 1),
            .long(CURLOPT_NOPROGRESS, 0),
            .long(CURLOPT_QUICK_EXIT, 1),
            .string(CURLOPT_PROTOCOLS_STR, "ftp,ftps"),
            .long(CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            .long(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, request.timeouts.connect.nanoseconds / 1_000_000))),
            .long(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(min(max(1, stall), Self.mostSeconds))),
            // Paths go whole into each command, so the folder after the login stays the one that all of them start from.
            .long(CURLOPT_FTP_FILEMETHOD, CCurl_FTPFILE_NOCWD),
            .long(CURLOPT_TCP_KEEPALIVE, 1),
            .long(CURLOPT_TCP_KEEPIDLE, 30),
            .long(CURLOPT_TCP_KEEPINTVL, 15),
            // Replies and the commands that they answer are told to the debug function alone.
            .long(CURLOPT_VERBOSE, 1),
            CurlOption(CURLOPT_DEBUGFUNCTION, .debug(debugCallback)),
            CurlOption(CURLOPT_DEBUGDATA, .pointer(context)),
            CurlOption(CURLOPT_XFERINFOFUNCTION, .progress(progressCallback)),
            CurlOption(CURLOPT_XFERINFODATA, .pointer(context)),
            CurlOption(CURLOPT_WRITEFUNCTION, .write(writeCallback)),
            CurlOption(CURLOPT_WRITEDATA, .pointer(context)),
            CurlOption(CURLOPT_SOCKOPTFUNCTION, .sockopt(openedCallback)),
            CurlOption(CURLOPT_SOCKOPTDATA, .pointer(list)),
            CurlOption(CURLOPT_CLOSESOCKETFUNCTION, .close(closeCallback)),
            CurlOption(CURLOPT_CLOSESOCKETDATA, .pointer(list)),
        ]
    }

    private func way(of operation: FTPOperation) -> [CurlOption] {
        let context = Unmanaged.passUnretained(self).toOpaque()
        switch operation {
        case .size(let path):
            return [.string(CURLOPT_URL, url(path)), .long(CURLOPT_NOBODY, 1), .long(CURLOPT_FILETIME, 1)]
        case .enter, .commands:
            return [.string(CURLOPT_URL, url(RawPath([]))), .long(CURLOPT_NOBODY, 1)]
        case .download(let path, let offset, let isBounded):
            // libcurl that ignores the length asks for no SIZE, and sends no REST either: `transfer` sends it.
            let bound =
                isBounded
                ? CurlOption(CURLOPT_RESUME_FROM_LARGE, .offset(offset)) : .long(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
            return [
                .string(CURLOPT_URL, url(path)), .long(CURLOPT_FILETIME, 1), .long(CURLOPT_BUFFERSIZE, 256 * 1024),
                bound,
            ]
        case .list(let path):
            // An address that ends in a slash is a folder's; its path goes whole behind the command.
            return [
                .string(CURLOPT_URL, folderURL(path)), .string(CURLOPT_CUSTOMREQUEST, "MLSD"),
                .long(CURLOPT_BUFFERSIZE, 64 * 1024),
            ]
        case .upload(let path, let range, let appends):
            let length = Int64(range.count)
            return [
                .string(CURLOPT_URL, url(path)), .long(CURLOPT_UPLOAD, 1), .flag(CURLOPT_APPEND, appends),
                CurlOption(CURLOPT_INFILESIZE_LARGE, .offset(length)),
                .long(CURLOPT_UPLOAD_BUFFERSIZE, length > 64 * 1024 ? 512 * 1024 : 64 * 1024),
                CurlOption(CURLOPT_READFUNCTION, .read(readCallback)),
                CurlOption(CURLOPT_READDATA, .pointer(context)),
            ]
        }
    }

    private var connection: [CurlOption] {
        let server = request.server
        let tls = server.allowsTLS13 ? CCurl_SSLVERSION_TLSv1_2 : CCurl_SSLVERSION_MAX_TLSv1_2
        var options = server.connection.options(tls: tls)
        options.append(
            .long(CURLOPT_USE_SSL, server.security == .explicit ? CCurl_USESSL_ALL : CCurl_USESSL_NONE))
        // Without a tunnel an HTTP proxy would be asked by HTTP, which knows no SIZE and no APPE.
        if case .url = server.connection.proxy { options.append(.long(CURLOPT_HTTPPROXYTUNNEL, 1)) }
        return options
    }

    private func folderURL(_ path: RawPath) -> String {
        let slash = UInt8(ascii: "/")
        return url(path.bytes.isEmpty || path.bytes.last == slash ? path : RawPath(path.bytes + [slash]))
    }

    /// The path's bytes percent-encoded: no `;type=` can stand in it, and a leading slash is `%2F` (RFC 1738 section 3.2.2).
    private func url(_ path: RawPath) -> String {
        let server = request.server
        let scheme = server.security == .implicit ? "ftps" : "ftp"
        let port = server.port.map { ":\($0)" } ?? ""
        return "\(scheme)://\(server.host)\(port)/\(FTPRequest.encoded(path.bytes))"
    }
}

extension FTPRequest {
    /// RFC 3986: everything encoded but unreserved characters and the slashes after the first place.
    static func encoded(_ path: [UInt8]) -> String {
        let isAbsolute = path.first == UInt8(ascii: "/")
        return (isAbsolute ? "%2F" : "")
            + PercentEncoding.encode(Array(path.dropFirst(isAbsolute ? 1 : 0)), keepingSlashes: true)
    }

    /// The error of a request that FTP cannot express; nil: none. A line end would begin a command of somebody else's choosing, and
    /// libcurl takes no other control character in a path either.
    var fault: CurlError? {
        if server.host.utf8.contains(where: { $0 <= 32 || $0 == 127 || "/?#@\\".utf8.contains($0) })
            || server.host.isEmpty
        {
            return CurlError(.badURL, "host")
        }
        let isBroken =
            switch operation {
            case .size(let path), .upload(let path, _, _), .download(let path, _, _):
                path.bytes.isEmpty || path.bytes.last == UInt8(ascii: "/") || path.bytes.contains { $0 < 32 }
            case .list(let path): path.bytes.contains { $0 < 32 }
            case .enter(let path): path.bytes.isEmpty || path.bytes.contains { $0 < 32 }
            case .commands(let commands): commands.contains { Self.isBroken($0) }
            }
        return isBroken ? CurlError(.badURL, "path") : nil
    }

    private static func isBroken(_ command: [UInt8]) -> Bool {
        let verb = command.drop { $0 == UInt8(ascii: "*") }.prefix { $0 != UInt8(ascii: " ") }
        let moves = ["CWD", "CDUP", "XCWD", "XCUP", "REIN"].contains(String(peer: verb).uppercased())
        return moves || command.isEmpty || command.contains { $0 < 32 }
    }
}

// libcurl's callbacks. The context is a performance, unretained: it waits for the transfer's end; or the handle's sockets.

private func performance(_ context: UnsafeMutableRawPointer?) -> FTPPerformance? {
    context.map { Unmanaged<FTPPerformance>.fromOpaque($0).takeUnretainedValue() }
}

private func sockets(_ context: UnsafeMutableRawPointer?) -> SocketList? {
    context.map { Unmanaged<SocketList>.fromOpaque($0).takeUnretainedValue() }
}

private let writeCallback: curl_write_callback = { data, size, count, context in
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return performance(context)?.receive(bytes) == true ? bytes.count : Int(CURL_WRITEFUNC_ERROR)
}

private let readCallback: curl_read_callback = { data, size, count, context in
    performance(context)?.fetch(into: UnsafeMutableRawBufferPointer(start: data, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
}

private let debugCallback: curl_debug_callback = { _, type, data, count, context in
    if type == CURLINFO_HEADER_IN || type == CURLINFO_HEADER_OUT {
        performance(context)?.see(type, UnsafeRawBufferPointer(start: data, count: count))
    }
    return 0
}

private let progressCallback: curl_xferinfo_callback = { context, _, _, _, sent in
    performance(context)?.progress(sent: Int64(sent)) == true ? 0 : 1
}

/// Data that nobody acknowledges for a minute is an error, as over HTTP.
private let openedCallback: curl_sockopt_callback = { context, socket, _ in
    try? System.setOption(socket, level: Int32(IPPROTO_TCP), option: TCP_USER_TIMEOUT, value: 60_000)
    sockets(context)?.add(socket)
    return Int32(CURL_SOCKOPT_OK)
}

private let closeCallback: curl_closesocket_callback = { context, socket in
    sockets(context)?.close(socket)
    return 0
}
