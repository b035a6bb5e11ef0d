import Glibc

/// The users whose programs listen on a TCP port of this machine, by the kernel's own table.
package enum ListenerOwner {
    /// The users of every socket that could take a connection to this address; empty when nobody listens there or the tables cannot
    /// be read. Reads `/proc/net/tcp` and `/proc/net/tcp6`, which takes part of a millisecond.
    ///
    /// - Parameter address: numeric; of IPv4 in 4 bytes, of IPv6 in 16, in network order.
    package static func users(listeningAt address: [UInt8], port: UInt16) -> Set<UInt32> {
        read { tables in
            let found = tables.flatMap { listeners(in: $0) }.filter { $0.port == port && $0.takes(address) }
            return Set(found.map(\.userID))
        }
    }

    /// The kernel gives a long table in pieces, and while other connections come and go a row may be in none of them, or in two: what is not
    /// found is looked for again.
    private static func read<Row: Hashable>(_ find: ([String]) -> Set<Row>) -> Set<Row> {
        for _ in 0..<4 {
            let found = find(["/proc/net/tcp", "/proc/net/tcp6"].map { text(of: $0) })
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns true when the program at the other end of a connection within this machine is this user's.
    ///
    /// The other end has a row of its own. One that was accepted names the program's user, whoever listens on the port by now; one that
    /// still waits to be accepted belongs to who listens, because it would end with the listener.
    /// - Parameters:
    ///   - address: of the other end, and its port.
    ///   - localPort: of this end.
    package static func isOwnOtherEnd(address: [UInt8], port: UInt16, localPort: UInt16) -> Bool {
        let rows = read { tables in
            Set(
                tables.flatMap { ends(in: $0) }.filter {
                    $0.port == port && $0.remotePort == localPort
                        && InternetSocket.plain($0.address) == InternetSocket.plain(address)
                })
        }
        guard rows.count == 1, let end = rows.first else { return false }
        if end.isAccepted { return end.userID == System.userID }
        return users(listeningAt: address, port: port) == [System.userID]
    }

    /// One end of a connection.
    struct End: Hashable {
        /// 4 or 16 bytes in network order.
        var address: [UInt8]
        var port: UInt16
        var remotePort: UInt16
        var userID: UInt32
        /// A program has accepted the connection: its row has an inode.
        var isAccepted: Bool
    }

    /// The rows of connections; those that are over (`TIME_WAIT`, 06) or listen are left out.
    static func ends(in table: String) -> [End] {
        table.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 9, words[3] != "0A", words[3] != "06", let userID = UInt32(words[7]) else { return nil }
            let (own, other) = (words[1].split(separator: ":"), words[2].split(separator: ":"))
            guard own.count == 2, other.count == 2, let address = address(own[0]),
                let port = UInt16(own[1], radix: 16), let remotePort = UInt16(other[1], radix: 16)
            else { return nil }
            return End(
                address: address, port: port, remotePort: remotePort, userID: userID, isAccepted: words[9] != "0")
        }
    }

    struct Listener: Equatable {
        /// 4 or 16 bytes in network order.
        var address: [UInt8]
        var port: UInt16
        var userID: UInt32

        /// Returns true when a connection to this address may go to this listener: the address is its own, or it listens to all.
        func takes(_ other: [UInt8]) -> Bool {
            let (own, wanted) = (InternetSocket.plain(address), InternetSocket.plain(other))
            // What listens to all of IPv6 usually takes IPv4 as well; nobody tells whether it does.
            if own.allSatisfy({ $0 == 0 }) { return own.count == 16 || wanted.count == 4 }
            return own == wanted
        }
    }

    /// The rows of the table whose state is `0A` (LISTEN): `sl local_address rem_address st tx:rx tr:when retrnsmt uid …`.
    static func listeners(in table: String) -> [Listener] {
        table.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 7, words[3] == "0A", let userID = UInt32(words[7]) else { return nil }
            let halves = words[1].split(separator: ":")
            guard halves.count == 2, let address = address(halves[0]), let port = UInt16(halves[1], radix: 16) else {
                return nil
            }
            return Listener(address: address, port: port, userID: userID)
        }
    }

    /// The kernel writes each 32 bits of an address as a number of this machine.
    private static func address(_ digits: Substring) -> [UInt8]? {
        guard digits.utf8.count == 8 || digits.utf8.count == 32 else { return nil }
        var bytes: [UInt8] = []
        var rest = digits
        while !rest.isEmpty {
            guard let number = UInt32(rest.prefix(8), radix: 16) else { return nil }
            withUnsafeBytes(of: number) { bytes += $0 }
            rest = rest.dropFirst(8)
        }
        return bytes
    }

    private static func text(of path: String) -> String {
        guard let table = try? System.open(Array(path.utf8)) else { return "" }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while let count = try? chunk.withUnsafeMutableBytes({ try System.read(table.rawValue, $0) }), count > 0 {
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
