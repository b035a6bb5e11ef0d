import LinuxSystem

/// The connections that lead to a program of this user on this machine. A value of the transport; the kernel is asked once for each
/// connection, because a connection never changes its other end, and its port here is its own until it is closed.
struct OwnListeners {
    /// A connection's other end, and its port on this side.
    struct Connection {
        let address: String
        let port: UInt16
        let localPort: UInt16
    }

    /// Ports on this side of the connections that were found to lead to one.
    private var localPorts: Set<UInt16> = []
    private let isOwn: (_ address: [UInt8], _ port: UInt16, _ localPort: UInt16) -> Bool

    /// - Parameter isOwn: whether the other end is this user's; see `ListenerOwner`.
    init(
        _ isOwn: @escaping ([UInt8], UInt16, UInt16) -> Bool = ListenerOwner.isOwnOtherEnd(address:port:localPort:)
    ) {
        self.isOwn = isOwn
    }

    /// A connection was opened from this port, which an earlier one may have had.
    mutating func opened(_ connection: Connection) { localPorts.remove(connection.localPort) }

    /// Returns true when the program at the other end is this user's, and is on this machine.
    mutating func include(_ connection: Connection) -> Bool {
        if localPorts.contains(connection.localPort) { return true }
        guard let address = InternetSocket.bytes(ofAddress: connection.address), InternetSocket.isLoopback(address),
            isOwn(address, connection.port, connection.localPort)
        else { return false }
        localPorts.insert(connection.localPort)
        return true
    }
}
