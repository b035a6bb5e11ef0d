import Glibc

/// Unix sockets in a directory of any length.
///
/// A socket's address holds 107 bytes, a state directory may be longer: the directory is opened and the socket
/// reached as `/proc/self/fd/N/name`, which the kernel resolves to the same place.
package enum UnixSocket {
    /// Listens at `directory/name` with permissions 0600; the name must be free (`EADDRINUSE`).
    ///
    /// The result is non-blocking, for an ``EventLoop`` and `System.accept`. Corresponds to `bind` and `listen`.
    package static func listen(in directory: [UInt8], name: String, backlog: Int32 = 64) throws(Errno)
        -> OwnedDescriptor
    {
        let parent = try System.open(directory, flags: O_RDONLY | O_DIRECTORY)
        defer { parent.close() }
        let socket = try make(nonBlocking: true)
        // Linux gives the name of a socket the mode that the socket has, less the umask.
        try System.fchmod(socket.rawValue, mode: 0o600)
        try withAddress(parent, name) { (address, size) throws(Errno) in
            _ = try systemCall(.bind, descriptor: socket.rawValue) { bind(socket.rawValue, address, size) }
        }
        _ = try systemCall(.listen, descriptor: socket.rawValue) { Glibc.listen(socket.rawValue, backlog) }
        return socket
    }

    /// Connects to `directory/name` and returns a non-blocking socket. `ENOENT` and `ECONNREFUSED` mean that nobody
    /// listens. A full backlog waits, as a local connect does not otherwise, until the limit (`EAGAIN`). Corresponds to `connect`.
    /// - Parameter seconds: how long a listener that takes nobody in is waited for.
    package static func connect(in directory: [UInt8], name: String, within seconds: Int = 5) throws(Errno)
        -> OwnedDescriptor
    {
        let parent = try System.open(directory, flags: O_RDONLY | O_DIRECTORY)
        defer { parent.close() }
        let socket = try make(nonBlocking: false)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        _ = try systemCall(.setsockopt, descriptor: socket.rawValue) {
            setsockopt(socket.rawValue, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        try withAddress(parent, name) { (address, size) throws(Errno) in
            _ = try systemCall(.connect, descriptor: socket.rawValue) { Glibc.connect(socket.rawValue, address, size) }
        }
        try System.setNonBlocking(socket.rawValue)
        return socket
    }

    private static func make(nonBlocking: Bool) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall(.socket) { socket(AF_UNIX, System.streamType(nonBlocking), 0) })
    }

    private static func path(_ parent: OwnedDescriptor, _ name: String) -> String {
        "/proc/self/fd/\(parent.rawValue)/\(name)"
    }

    private static func withAddress(
        _ parent: OwnedDescriptor, _ name: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Void
    ) throws(Errno) {
        let bytes = Array(path(parent, name).utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        if bytes.count >= MemoryLayout.size(ofValue: address.sun_path) { throw .nameTooLong }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result: Result<Void, Errno> = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                Result { () throws(Errno) in try body(rebound, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            }
        }
        try result.get()
    }
}
