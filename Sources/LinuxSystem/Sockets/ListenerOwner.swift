import CLinux
import Glibc

/// The users whose programs listen on a TCP port of this machine, by the kernel's own table.
package enum ListenerOwner {
    /// A connection within this machine, from one side. Nothing less names one: another user's may have the same ports, between other
    /// addresses of the machine.
    package struct Connection: Hashable, Sendable {
        /// The other end's: 4 bytes of IPv4, else 16, in network order. Both addresses are written alike.
        let address: [UInt8]
        let port: UInt16
        /// This end's.
        let localAddress: [UInt8]
        let localPort: UInt16

        package init(address: [UInt8], port: UInt16, localAddress: [UInt8], localPort: UInt16) {
            self.address = InternetSocket.plain(address)
            self.port = port
            self.localAddress = InternetSocket.plain(localAddress)
            self.localPort = localPort
        }

        /// As its other end sees it.
        var reversed: Connection {
            Connection(address: localAddress, port: localPort, localAddress: address, localPort: port)
        }
    }

    /// The users of every socket that could take a connection to this address; empty when nobody listens there or the tables cannot
    /// be read.
    ///
    /// - Parameter address: numeric; of IPv4 in 4 bytes, of IPv6 in 16, in network order.
    static func users(listeningAt address: [UInt8], port: UInt16) -> Set<UInt32> {
        read([port]) { lines in
            Set(listeners(in: lines).filter { $0.port == port && $0.takes(address) }.map(\.userID))
        }
    }

    /// The kernel gives a long table in pieces, and while other connections come and go a row may be in none of them, or in two: what is not
    /// found is looked for again.
    private static func read<Row: Hashable>(_ ports: [UInt16], _ find: ([String]) -> Set<Row>) -> Set<Row> {
        for _ in 0..<4 {
            let found = find(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { lines(of: bytes(of: $0), naming: ports) })
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Returns true when the program at the other end of a connection within this machine is this user's.
    ///
    /// The other end has a row of its own. One that was accepted names the program's user, whoever listens on the port by now; one that
    /// still waits to be accepted belongs to who listens, because it would end with the listener.
    package static func isOwnOtherEnd(of connection: Connection) -> Bool {
        let wanted = connection.reversed
        let rows = read([wanted.port, wanted.localPort]) { lines in
            Set(ends(in: lines).filter { $0.connection == wanted })
        }
        guard rows.count == 1, let end = rows.first else { return false }
        if end.isAccepted { return end.userID == System.userID }
        return users(listeningAt: connection.address, port: connection.port) == [System.userID]
    }

    /// One end of a connection.
    struct End: Hashable {
        var connection: Connection
        var userID: UInt32
        /// A program has accepted the connection: its row has an inode.
        var isAccepted: Bool
    }

    /// The rows of connections; those that are over (`TIME_WAIT`, 06) or listen are left out.
    static func ends(in lines: [String]) -> [End] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 9, words[3] != "0A", words[3] != "06", let userID = UInt32(words[7]),
                let own = endpoint(words[1]), let other = endpoint(words[2])
            else { return nil }
            let connection = Connection(
                address: other.address, port: other.port, localAddress: own.address, localPort: own.port)
            return End(connection: connection, userID: userID, isAccepted: words[9] != "0")
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
    static func listeners(in lines: [String]) -> [Listener] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 7, words[3] == "0A", let userID = UInt32(words[7]), let own = endpoint(words[1]) else {
                return nil
            }
            return Listener(address: own.address, port: own.port, userID: userID)
        }
    }

    /// The lines of a table that have each of these ports in them. Any user can make the table long, and it is read between the bytes of
    /// other transfers: no other line is looked at closely.
    static func lines(of table: [UInt8], naming ports: [UInt16]) -> [String] {
        let marks = ports.map { port in
            let digits = String(port, radix: 16, uppercase: true)
            return Array((":" + String(repeating: "0", count: 4 - digits.count) + digits + " ").utf8)
        }
        return table.withUnsafeBytes { table in
            var lines: [String] = []
            var rest = table[...]
            while let first = marks.first, let hit = position(of: first, in: rest) {
                let start = rest[..<hit].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.startIndex
                let end = rest[hit...].firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
                let line = rest[start..<end]
                if marks.dropFirst().allSatisfy({ position(of: $0, in: line) != nil }) {
                    lines.append(String(decoding: line, as: UTF8.self))
                }
                rest = rest[end...]
            }
            return lines
        }
    }

    /// Corresponds to `memmem`.
    private static func position(of mark: [UInt8], in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        let whole = UnsafeRawBufferPointer(rebasing: bytes)
        guard let base = whole.baseAddress, let hit = CLinux_memmem(base, whole.count, mark, mark.count) else {
            return nil
        }
        return bytes.startIndex + (hit - UnsafeMutableRawPointer(mutating: base))
    }

    /// `0100007F:1F90`
    private static func endpoint(_ word: Substring) -> (address: [UInt8], port: UInt16)? {
        let halves = word.split(separator: ":")
        guard halves.count == 2, let address = address(halves[0]), let port = UInt16(halves[1], radix: 16) else {
            return nil
        }
        return (address, port)
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

    private static func bytes(of path: String) -> [UInt8] {
        guard let table = try? System.open(Array(path.utf8)) else { return [] }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while let count = try? chunk.withUnsafeMutableBytes({ try System.read(table.rawValue, $0) }), count > 0 {
            bytes += chunk[..<count]
        }
        return bytes
    }
}
