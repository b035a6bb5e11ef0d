import CCurl
import Glibc
import LinuxSystem

/// The sockets that an easy handle has open, so that another thread can cut them.
final class SocketList: Sendable {
    private struct State {
        /// A number and its inode: a number alone may be somebody else's by the time it is cut.
        var open: [(number: Int32, inode: UInt64)] = []
        /// The one on which the server's last words are wanted when it is closed.
        var heard: Int32?
        var lastWords: [UInt8] = []
        /// Bytes in the data connection's send queue when it was closed: the kernel goes on sending them.
        var closedWith: Int64 = 0
        /// The fate of the bytes that a data connection still has to send when it is closed.
        var tail = Tail.arrives
        /// All of them were cut, for good.
        var isCutOff = false

        /// Bytes in the send queue of the data connection, the last one that was opened.
        var queued: Int64 {
            guard open.count > 1, let data = open.last else { return closedWith }
            return (try? System.unacknowledged(data.number)) ?? 0
        }
    }

    private let state = Mutex(State())

    func add(_ socket: Int32) {
        guard let status = try? System.fstat(socket) else { return }
        state.withLock { state in
            if state.tail != .arrives, !state.open.isEmpty { try? System.setResetsOnClose(socket, true) }
            state.open.append((socket, status.inode))
            state.closedWith = 0
        }
    }

    /// Closes one of them. Under the lock, so that `cutAll` never meets a closed one.
    func close(_ socket: Int32) {
        if state.withLock({ $0.heard == socket }) { listen(to: socket) }
        state.withLock { state in
            if state.open.count > 1, state.open.last?.number == socket {
                if state.tail == .whole, !state.isCutOff { try? System.setResetsOnClose(socket, false) }
                state.closedWith = state.queued
            }
            state.open.removeAll { $0.number == socket }
            _ = Glibc.close(socket)
        }
    }

    /// A server that gives an upload up closes the data connection and says why on the other one, which libcurl closes unread.
    private func listen(to socket: Int32) {
        guard (try? System.poll(socket, .read, timeout: .milliseconds(300))) == true else { return }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = (try? bytes.withUnsafeMutableBytes { try System.receive(socket, into: $0) }) ?? nil
        if let count, count > 0 { state.withLock { $0.lastWords += bytes.prefix(count) } }
    }

    /// The fate of bytes that the kernel still has to send when a data connection is closed. It would go on for a minute, and the server add
    /// them to a file that somebody goes on with by then.
    enum Tail: Sendable {
        /// No upload is under way.
        case arrives
        /// An upload is: none of it outlives its connection, whoever closes that.
        case isCut
        /// All of an upload was handed over: what is on its way is the rest of it.
        case whole
    }

    /// For the connections that are opened from here on, and the one that is.
    func set(_ tail: Tail) { state.withLock { $0.tail = tail } }

    /// Bytes that the data connection has not brought to the server yet, as far as anybody can tell.
    var unacknowledged: Int64 { state.withLock { $0.queued } }

    /// From now on what is said last on the control connection is kept: that is the first one that was opened.
    func beginListening() { state.withLock { $0.heard = $0.open.first?.number } }

    func endListening() { state.withLock { $0.heard = nil } }

    func takeLastWords() -> [UInt8] {
        state.withLock { state in
            defer { state.lastWords = [] }
            return state.lastWords
        }
    }

    /// Ends both directions of all, so that whoever waits for them wakes. Corresponds to `shutdown`.
    func cutAll() {
        state.withLock { state in
            state.isCutOff = true
            for socket in state.open {
                guard let status = try? System.fstat(socket.number), status.inode == socket.inode else { continue }
                try? System.shutdown(socket.number, .both)
            }
        }
    }
}

/// An easy handle with the connection that it keeps, after a login.
///
/// Unchecked: `easy`, `multi` and `isUsed` belong to the thread that took the handle from ``FTPConnections``; `sockets` and
/// `wake` to all.
final class FTPHandle: @unchecked Sendable {
    let server: FTPServer
    let sockets = SocketList()
    /// Holds the connection, and can be woken from outside.
    private let multi: UnsafeMutableRawPointer
    /// nil only while this object goes.
    private var handle: EasyHandle?
    /// It may have a connection.
    var isUsed = false

    init(_ server: FTPServer) throws(CurlError) {
        self.server = server
        // The first easy handle starts the library.
        let easy = try EasyHandle()
        guard let multi = curl_multi_init() else { throw CurlError(.outOfMemory, "curl_multi_init") }
        _ = CCurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 1)
        handle = easy
        self.multi = multi
    }

    /// The libcurl handle, on the thread that has this object.
    var easy: EasyHandle {
        // It is taken away by `deinit` alone.
        handle!
    }

    /// Performs what the easy handle is configured for, to its end. As `curl_easy_perform`, but for the pauses: that one waits a second
    /// for nothing when libcurl 7.88.1 is to connect for the data and has already read the server's answer to EPSV.
    func perform() -> CurlCode {
        isUsed = true
        guard curl_multi_add_handle(multi, easy.raw) == CURLM_OK else { return .outOfMemory }
        defer { curl_multi_remove_handle(multi, easy.raw) }
        var running: Int32 = 1
        var pause: Int32 = 5
        while true {
            guard curl_multi_perform(multi, &running) == CURLM_OK else { return .outOfMemory }
            if running == 0 { break }
            var ready: Int32 = 0
            curl_multi_poll(multi, nil, 0, pause, &ready)
            pause = ready > 0 ? 5 : min(2 * pause, 500)
        }
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            if message.pointee.msg == CURLMSG_DONE { return CurlCode(CCurl_message_result(message)) }
        }
        return .aborted
    }

    /// Has `perform` look around. From any thread.
    func wake() { curl_multi_wakeup(multi) }

    deinit {
        // Over a live connection libcurl would say QUIT and wait a minute for the answer. Closing needs `sockets` still.
        sockets.cutAll()
        handle = nil
        curl_multi_cleanup(multi)
    }
}

/// Handles that wait for the next exchange with the same server, by the same settings. For all threads of the transport.
final class FTPConnections: Sendable {
    private struct Idle {
        var handle: FTPHandle
        var since: MonotonicInstant
    }

    private struct State {
        var idle: [FTPServer: [Idle]] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// A handle of that server, the one that was used last; a new one when none waits.
    func take(_ server: FTPServer) throws(CurlError) -> FTPHandle {
        let found = state.withLock { $0.idle[server]?.popLast()?.handle }
        if let found { return found }
        return try FTPHandle(server)
    }

    /// Keeps a handle for the next exchange.
    func give(_ handle: FTPHandle) {
        state.withLock { state in
            if !state.isClosed { state.idle[handle.server, default: []].append(Idle(handle: handle, since: .now)) }
        }
    }

    /// Takes away those that nobody wanted since then; letting them go closes them.
    func takeIdle(before limit: MonotonicInstant) -> [FTPHandle] {
        state.withLock { state in
            var taken: [FTPHandle] = []
            for (server, handles) in state.idle {
                taken += handles.filter { $0.since < limit }.map(\.handle)
                let kept = handles.filter { $0.since >= limit }
                state.idle[server] = kept.isEmpty ? nil : kept
            }
            return taken
        }
    }

    var isEmpty: Bool { state.withLock { $0.idle.isEmpty } }

    /// Takes all away; none is kept any more.
    func close() -> [FTPHandle] {
        state.withLock { state in
            state.isClosed = true
            defer { state.idle = [:] }
            return state.idle.values.flatMap { $0.map(\.handle) }
        }
    }
}
