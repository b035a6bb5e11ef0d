/// TLS handshakes of a batch that failed for no reason that was told, by server. A server that begins anew behind a proxy breaks them off, too,
/// so they count one after the other, whatever the number of files side by side, and not at all once one has succeeded.
struct HandshakeFailures {
    private struct Standing {
        var failuresInARow = 0
        var isProven = false
        /// Nanoseconds of the engine's clock.
        var lastAt: Int64?
    }

    private var servers: [String: Standing] = [:]

    /// Servers that are remembered: redirects may lead to any number of them.
    private static let most = 100

    mutating func succeeded(with server: String) {
        if servers[server]?.isProven != true { set(Standing(isProven: true), of: server) }
    }

    /// - Parameter begun: when the attempt had begun.
    /// - Returns: the failures one after the other, this one included.
    mutating func failed(with server: String, begun: Int64, now: Int64) -> Int {
        var standing = servers[server] ?? Standing()
        // One that began before the last failure ran beside it, and that one counts already.
        if !standing.isProven, standing.lastAt.map({ begun > $0 }) ?? true {
            (standing.failuresInARow, standing.lastAt) = (standing.failuresInARow + 1, now)
            set(standing, of: server)
        }
        return standing.failuresInARow
    }

    private mutating func set(_ standing: Standing, of server: String) {
        if servers.count >= Self.most, servers[server] == nil { servers = [:] }
        servers[server] = standing
    }
}
