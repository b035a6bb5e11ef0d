import LinuxSystem

/// The connections that lead to a program of this user on this machine. A value of the transport; the kernel is asked once for each
/// connection, because a connection never changes its other end, and its two ends are its own until it is closed.
struct OwnListeners {
    /// A connection by its two ends, as libcurl tells them.
    struct Connection: Hashable {
        let address: String
        let port: UInt16
        let localAddress: String
        let localPort: UInt16

        /// The address of the other end in bytes; empty when it is no number.
        var peer: [UInt8] { InternetSocket.bytes(ofAddress: address) ?? [] }

        /// `nil`: the addresses are no numbers, or the other end is not on this machine.
        fileprivate var within: ListenerOwner.Connection? {
            guard let address = InternetSocket.bytes(ofAddress: address), InternetSocket.isLoopback(address),
                let localAddress = InternetSocket.bytes(ofAddress: localAddress)
            else { return nil }
            return ListenerOwner.Connection(
                address: address, port: port, localAddress: localAddress, localPort: localPort)
        }
    }

    /// Connections that were found to lead to one.
    private var own: Set<Connection> = []
    private let isOwn: (ListenerOwner.Connection) -> Bool

    /// - Parameter isOwn: whether the other end is this user's; see `ListenerOwner`.
    init(_ isOwn: @escaping (ListenerOwner.Connection) -> Bool = ListenerOwner.isOwnOtherEnd(of:)) {
        self.isOwn = isOwn
    }

    /// A connection was opened whose ends an earlier one may have had.
    mutating func opened(_ connection: Connection) { own.remove(connection) }

    /// Returns true when the program at the other end is this user's, and is on this machine.
    mutating func include(_ connection: Connection) -> Bool {
        if own.contains(connection) { return true }
        guard let within = connection.within, isOwn(within) else { return false }
        own.insert(connection)
        return true
    }
}
