import CLinux
import Glibc

/// Process, user and group at the other end of a Unix socket. Corresponds to `struct ucred`.
package struct PeerCredentials: Sendable, Equatable {
    package let processID: Int32
    package let userID: UInt32
    package let groupID: UInt32
}

extension System {
    /// Two connected stream sockets. Corresponds to `socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)`.
    package static func socketPair(
        nonBlocking: Bool = false
    ) throws(Errno) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        _ = try systemCall(.socketpair) { socketpair(AF_UNIX, streamType(nonBlocking), 0, &ends) }
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    /// The next waiting connection, non-blocking, or nil when none waits. Corresponds to `accept4`.
    package static func accept(_ listener: Int32) throws(Errno) -> OwnedDescriptor? {
        let flags = O_NONBLOCK | O_CLOEXEC  // The same numbers as SOCK_NONBLOCK and SOCK_CLOEXEC on Linux.
        do {
            return OwnedDescriptor(
                try systemCall(.accept4, descriptor: listener) { CLinux_accept4(listener, flags) })
        } catch .wouldBlock {
            return nil
        } catch .connectionAborted {
            return nil  // The client left between its connect and our accept; there is nothing to serve.
        }
    }

    /// Asks the kernel for the peer of a Unix socket. Corresponds to `getsockopt(SO_PEERCRED)`.
    package static func peerCredentials(_ socket: Int32) throws(Errno) -> PeerCredentials {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
        _ = try systemCall(.getsockopt, descriptor: socket) { CLinux_peer_credentials(socket, &pid, &uid, &gid) }
        return PeerCredentials(processID: pid, userID: uid, groupID: gid)
    }

    /// Receives the bytes that have arrived and returns their number: nil when none have yet, 0 when the peer has ended its side.
    /// Never waits, never raises `SIGPIPE`. Corresponds to `recv(MSG_DONTWAIT)`.
    package static func receive(
        _ socket: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int? {
        do {
            return try systemCall(.recv, descriptor: socket) {
                recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
        } catch .wouldBlock {
            return nil
        }
    }

    /// Sends a prefix of `buffer`: nil when nothing fits now. Never waits, never raises `SIGPIPE` (`EPIPE` instead).
    /// Corresponds to `send(MSG_DONTWAIT | MSG_NOSIGNAL)`.
    package static func send(_ socket: Int32, _ buffer: UnsafeRawBufferPointer) throws(Errno) -> Int? {
        do {
            return try systemCall(.send, descriptor: socket) {
                Glibc.send(
                    socket, buffer.baseAddress, buffer.count,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
        } catch .wouldBlock {
            return nil
        }
    }

    /// The side of a connection that ends.
    package enum ShutdownSide: Sendable { case reading, writing, both }

    /// Ends one side or both of a connection. Corresponds to `shutdown`.
    package static func shutdown(_ socket: Int32, _ side: ShutdownSide) throws(Errno) {
        let how: Int32 =
            switch side {
            case .reading: Int32(SHUT_RD)
            case .writing: Int32(SHUT_WR)
            case .both: Int32(SHUT_RDWR)
            }
        _ = try systemCall(.shutdown, descriptor: socket) { Glibc.shutdown(socket, how) }
    }

    /// Sets one whole-number option of a socket. Corresponds to `setsockopt`.
    package static func setOption(_ socket: Int32, level: Int32, option: Int32, value: Int32) throws(Errno) {
        var value = value
        _ = try systemCall(.setsockopt, descriptor: socket) {
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Has the close of a connection throw away what is still to be sent, and reset it, or not. The end of the process closes it, too.
    /// Corresponds to `setsockopt(SO_LINGER)`.
    package static func setResetsOnClose(_ socket: Int32, _ resets: Bool) throws(Errno) {
        var value = linger(l_onoff: resets ? 1 : 0, l_linger: 0)
        _ = try systemCall(.setsockopt, descriptor: socket) {
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Bytes that were written into a TCP connection and that the other end has not acknowledged. Corresponds to `ioctl(SIOCOUTQ)`.
    package static func unacknowledged(_ socket: Int32) throws(Errno) -> Int64 {
        var count: Int32 = 0
        _ = try systemCall(.ioctl, descriptor: socket) { ioctl(socket, UInt(TIOCOUTQ), &count) }
        return Int64(count)
    }

    static func streamType(_ nonBlocking: Bool) -> Int32 {
        Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (nonBlocking ? SOCK_NONBLOCK.rawValue : 0))
    }
}
