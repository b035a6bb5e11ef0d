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
}
