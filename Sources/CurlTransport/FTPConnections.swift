import CCurl
import Glibc
import LinuxSystem
import Synchronization

/// The sockets that an easy handle has open, so that another thread can cut them.
final class SocketList: Sendable {
    /// A number and its inode: a number alone may be somebody else's by the time it is cut.
    private let open = Mutex<[(number: Int32, inode: UInt64)]>([])

    func add(_ socket: Int32) {
        guard let status = try? System.fstat(socket) else { return }
        open.withLock { $0.append((socket, status.inode)) }
    }

    /// Closes one of them. Under the lock, so that `cutAll` never meets a closed one.
    func close(_ socket: Int32) {
        open.withLock { open in
            open.removeAll { $0.number == socket }
            _ = Glibc.close(socket)
        }
    }

    /// Ends both directions of all, so that whoever waits for them wakes. Corresponds to `shutdown`.
    func cutAll() {
        open.withLock { open in
            for socket in open {
                guard let status = try? System.fstat(socket.number), status.inode == socket.inode else { continue }
                try? System.shutdown(socket.number, .both)
            }
        }
    }
}

/// An easy handle with the connection that it keeps, after a login.
///
/// Unchecked: `easy` and `isUsed` belong to the thread that took the handle from ``FTPConnections``; `sockets` to all.
final class FTPHandle: @unchecked Sendable {
    let server: FTPServer
    let sockets = SocketList()
    /// nil only while this object goes.
    private var handle: EasyHandle?
    /// It may have a connection.
    var isUsed = false

    init(_ server: FTPServer) throws(CurlError) {
        self.server = server
        handle = try EasyHandle()
    }

    /// The libcurl handle, on the thread that has this object.
    var easy: EasyHandle {
        // It is taken away by `deinit` alone.
        handle!
    }

    deinit {
        // Over a live connection libcurl would say QUIT and wait a minute for the answer. Closing needs `sockets` still.
        sockets.cutAll()
        handle = nil
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
