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

    @Test("rows that listen are read, with address, port and user; others are left out")
    func table() {
        #expect(
            ListenerOwner.listeners(in: Self.table) == [
                ListenerOwner.Listener(address: [127, 0, 0, 1], port: 20_321, userID: 1000),
                ListenerOwner.Listener(address: [0, 0, 0, 0], port: 8080, userID: 0),
            ])
        #expect(ListenerOwner.listeners(in: "no table at all\n0: x y 0A z z z z").isEmpty)
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

    @Test("the other end of a connection is its program's, and the listener's while nobody accepted it")
    func otherEnds() throws {
        let listener = try InternetSocket.listen(host: "127.0.0.1", isIPv6: false, port: 0)
        let port = try InternetSocket.localPort(of: listener.rawValue)
        let client = OwnedDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
        let local = try InternetSocket.localPort(of: client.rawValue)
        func isOwn(_ port: UInt16, _ local: UInt16) -> Bool {
            ListenerOwner.isOwnOtherEnd(address: [127, 0, 0, 1], port: port, localPort: local)
        }
        #expect(isOwn(port, local))
        #expect(!isOwn(port, local ^ 1) && !isOwn(port ^ 1, local))
        let accepted = OwnedDescriptor(accept(listener.rawValue, nil, nil))
        #expect(isOwn(port, local))
        // The program that has the connection counts, not who listens by now.
        listener.close()
        #expect(isOwn(port, local))
        accepted.close()
    }

    @Test("rows of connections tell who has the end, and whether anybody has")
    func ends() {
        let waiting = Self.table.replacing("    33        0 4713", with: "     0        0 0")
        #expect(
            ListenerOwner.ends(in: Self.table) == [
                ListenerOwner.End(
                    address: [127, 0, 0, 1], port: 20_321, remotePort: 40_000, userID: 33, isAccepted: true)
            ])
        #expect(ListenerOwner.ends(in: waiting).map(\.isAccepted) == [false])
    }
}
