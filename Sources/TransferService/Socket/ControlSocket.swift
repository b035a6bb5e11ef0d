import Glibc
package import LinuxSystem
package import ServiceWire

/// The listening socket of the one engine of a queue.
package struct ControlSocket: Sendable {
    package let listener: OwnedDescriptor
    /// Handed over by a service manager, whose socket it stays.
    package let isActivated: Bool

    /// Takes the socket that a service manager listens on, or makes one beside the queue.
    ///
    /// The caller holds the queue's lock, so whatever socket is found there belongs to an engine that has gone.
    /// - Parameter handedOver: from ``activatedDescriptor()``.
    package init(places: Places, handedOver: OwnedDescriptor?) throws(ControlSocketError) {
        isActivated = handedOver != nil
        listener = if let handedOver { handedOver } else { try Self.listen(places) }
    }

    private static func listen(_ places: Places) throws(ControlSocketError) -> OwnedDescriptor {
        let directory = Array(places.socketDirectory.utf8)
        let socket = Array(places.socketFile.utf8)
        do {
            _ = try System.openOwnFolder(directory)
            if (try? System.lstat(socket)) != nil { try System.unlink(socket) }
            return try UnixSocket.listen(in: directory, name: Places.socketName)
        } catch {
            if let error = error as? Untrusted { throw .untrusted(error) }
            throw .unusable(places.socketFile, "\(error)")
        }
    }

    /// Takes the name away, so that a front sees at once that nobody listens. Before the queue's lock is given up.
    package func remove(places: Places) {
        if isActivated { return }
        // The next engine replaces what cannot be removed.
        try? System.unlink(Array(places.socketFile.utf8))
        listener.close()
    }

    /// The socket a service manager handed over: `LISTEN_PID`, `LISTEN_FDS`; sd_listen_fds(3). Once, at the start.
    package static func activatedDescriptor() -> OwnedDescriptor? {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        func number(_ name: String) -> Int32? {
            System.environment(name).flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
        }
        guard number("LISTEN_PID") == System.processID, let count = number("LISTEN_FDS"), count >= 1 else { return nil }
        let descriptor = OwnedDescriptor(3)
        guard (try? System.setNonBlocking(descriptor.rawValue)) != nil,
            fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        return descriptor
    }
}

/// The reason why there is no control socket. Each message names the way out.
package enum ControlSocketError: Error, CustomStringConvertible {
    case untrusted(Untrusted)
    case unusable(String, String)

    package var description: String {
        switch self {
        case .untrusted(let error): "\(error)"
        case .unusable(let socket, let reason): "the socket \(socket) cannot be made (\(reason)): check its directory"
        }
    }
}
