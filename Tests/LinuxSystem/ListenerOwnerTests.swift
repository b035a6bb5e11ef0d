import Glibc
import Testing

@testable import LinuxSystem

@Suite("Whose program listens on a port")
struct ListenerOwnerTests {
    /// As the kernel of a little-endian machine writes it.
    private static let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:4F61 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
           1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0
           2: 0100007F:4F61 0100007F:9C40 01 00000000:00000000 00:00000000 00000000    33        0 4713 1 0 100 0 0 10 0
        """
    private static var lines: [String] { table.split(separator: "\n").map { String($0) } }

    @Test("of a table only lines with these ports are looked at")
    func lines() {
        func lines(_ ports: UInt16...) -> [Int] {
            ListenerOwner.lines(of: Array(Self.table.utf8), naming: ports).compactMap {
                Self.lines.firstIndex(of: $0)
            }
        }
        #expect(lines(20_321) == [1, 3] && lines(8080) == [2] && lines(40_000, 20_321) == [3] && lines(9) == [])
        // A row that the kernel had not written to its end.
        #expect(ListenerOwner.lines(of: Array("   0: 0100007F:1F90 ".utf8), naming: [8080]).count == 1)
    }

    @Test("rows that listen are read, with address, port and user; others are left out")
    func table() {
        #expect(
            ListenerOwner.listeners(in: Self.lines) == [
                ListenerOwner.Listener(address: [127, 0, 0, 1], port: 20_321, userID: 1000),
                ListenerOwner.Listener(address: [0, 0, 0, 0], port: 8080, userID: 0),
            ])
        #expect(ListenerOwner.listeners(in: ["no table at all", "0: x y 0A z z z z"]).isEmpty)
    }

    @Test("an address is taken by its own listener and by one that listens to all")
    func addresses() throws {
        func listener(_ text: String) throws -> ListenerOwner.Listener {
            ListenerOwner.Listener(
                address: try #require(InternetSocket.bytes(ofAddress: text)), port: 1, userID: 0)
        }
        let (four, six) = ([UInt8]([127, 0, 0, 1]), [UInt8](repeating: 0, count: 15) + [1])
        #expect(try listener("127.0.0.1").takes(four) && !listener("127.0.0.1").takes(six))
        #expect(try !listener("127.0.0.2").takes(four))
        #expect(try listener("0.0.0.0").takes(four) && !listener("0.0.0.0").takes(six))
        #expect(try listener("::").takes(four) && listener("::").takes(six))
        #expect(try listener("::ffff:127.0.0.1").takes(four))
    }

    @Test("a listener of this process is this user's, and a port without one is nobody's")
    func own() throws {
        let listener = try InternetSocket.listen(host: "127.0.0.1", isIPv6: false, port: 0)
        let port = try InternetSocket.localPort(of: listener.rawValue)
        #expect(ListenerOwner.users(listeningAt: [127, 0, 0, 1], port: port) == [System.userID])
        #expect(ListenerOwner.users(listeningAt: [127, 9, 9, 9], port: port).isEmpty)
        let six = try InternetSocket.listen(host: "::1", isIPv6: true, port: 0)
        let sixPort = try InternetSocket.localPort(of: six.rawValue)
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        #expect(ListenerOwner.users(listeningAt: loopback, port: sixPort) == [System.userID])
    }

    /// A connection to a port of this machine, from an address and port of it.
    private func connect(_ from: UInt8, _ localPort: UInt16 = 0, to port: UInt16) throws -> OwnedDescriptor {
        func address(_ last: UInt8, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = (0x7F00_0000 | UInt32(last)).bigEndian
            return address
        }
        func with(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        let client = OwnedDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        try System.setOption(client.rawValue, level: SOL_SOCKET, option: SO_REUSEADDR, value: 1)
        #expect(with(address(from, localPort)) { bind(client.rawValue, $0, $1) } == 0)
        #expect(with(address(1, port)) { Glibc.connect(client.rawValue, $0, $1) } == 0)
        return client
    }

    /// A listener of ours, and a connection to it that nobody has accepted.
    private func connected() throws -> (listener: OwnedDescriptor, port: UInt16, client: OwnedDescriptor, local: UInt16)
    {
        let listener = try InternetSocket.listen(host: "127.0.0.1", isIPv6: false, port: 0)
        let port = try InternetSocket.localPort(of: listener.rawValue)
        let client = try connect(1, to: port)
        let local = try InternetSocket.localPort(of: client.rawValue)
        return (listener, port, client, local)
    }

    /// - Parameter last: byte of our address, 127.0.0.…
    private func isOwn(_ port: UInt16, _ local: UInt16, from last: UInt8 = 1) -> Bool {
        ListenerOwner.isOwnOtherEnd(
            of: ListenerOwner.Connection(
                address: [127, 0, 0, 1], port: port, localAddress: [127, 0, 0, last], localPort: local))
    }

    @Test("the other end of a connection is its program's, and the listener's while nobody accepted it")
    func otherEnds() throws {
        let (listener, port, client, local) = try connected()
        defer { client.close() }
        #expect(isOwn(port, local))
        #expect(!isOwn(port, local ^ 1) && !isOwn(port ^ 1, local))
        let accepted = OwnedDescriptor(accept(listener.rawValue, nil, nil))
        #expect(isOwn(port, local))
        // The program that has the connection counts, not who listens by now.
        listener.close()
        #expect(isOwn(port, local))
        accepted.close()
    }

    @Test("another connection with the same ports, from another address of the machine, is another connection")
    func samePorts() throws {
        let (listener, port, client, local) = try connected()
        defer { client.close() }
        let accepted = OwnedDescriptor(accept(listener.rawValue, nil, nil))
        // Its end here is closed already, so it is nobody's in the table.
        let other = try connect(2, local, to: port)
        OwnedDescriptor(accept(listener.rawValue, nil, nil)).close()
        #expect(isOwn(port, local) && !isOwn(port, local, from: 3))
        accepted.close()
        other.close()
    }

    @Test("rows of connections tell who has the end, and whether anybody has")
    func ends() {
        let waiting = Self.lines.map { $0.replacing("    33        0 4713", with: "     0        0 0") }
        let connection = ListenerOwner.Connection(
            address: [127, 0, 0, 1], port: 40_000, localAddress: [127, 0, 0, 1], localPort: 20_321)
        #expect(
            ListenerOwner.ends(in: Self.lines) == [
                ListenerOwner.End(connection: connection, userID: 33, isAccepted: true)
            ])
        #expect(ListenerOwner.ends(in: waiting).map(\.isAccepted) == [false])
    }
}
