/// Counts, for each server, the TLS handshakes of a batch that failed without a stated reason. A server that restarts behind a proxy breaks
/// handshakes off, too, so failures of files side by side count as one, and none counts after a success.
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

    /// Counts a failed handshake, unless its attempt began before the last one that was counted.
    /// - Parameter begun: when the attempt began, in nanoseconds of the engine's clock.
    /// - Returns: counted failures in a row; 0 for a server that a handshake has succeeded with.
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
        if servers.count >= Self.most, servers[server] == nil, let other = servers.keys.first { servers[other] = nil }
        servers[server] = standing
    }
}
