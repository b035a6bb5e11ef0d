import Glibc
import LinuxSystem
import Testing

@testable import CurlTransport

/// What a server sees of an upload's data connection at its end.
@Suite struct SocketListTests {
    private enum End { case orderly, reset }

    /// Opens a connection to this process, both ends blocking.
    private func connection() throws -> (client: Int32, server: OwnedDescriptor) {
        let listener = try InternetSocket.listen(host: "127.0.0.1", isIPv6: false, port: 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = try InternetSocket.localPort(of: listener.rawValue).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
        let server = accept(listener.rawValue, nil, nil)
        try #require(server >= 0)
        return (client, OwnedDescriptor(server))
    }

    private func end(of server: OwnedDescriptor) -> End? {
        var byte: UInt8 = 0
        let count = recv(server.rawValue, &byte, 1, 0)
        if count == 0 { return .orderly }
        return count < 0 && errno == ECONNRESET ? .reset : nil
    }

    /// Closes a data connection after that, and tells how its server saw it end.
    private func closed(_ tails: SocketList.Tail..., cuts: Bool = false) throws -> End? {
        let list = SocketList()
        let (control, data) = (try connection(), try connection())
        list.add(control.client)
        if let first = tails.first { list.set(first) }
        list.add(data.client)
        for tail in tails.dropFirst() { list.set(tail) }
        if cuts { list.cutAll() }
        list.close(data.client)
        let seen = end(of: data.server)
        list.close(control.client)
        #expect(end(of: control.server) == .orderly)
        return seen
    }

    @Test("no byte of an upload outlives its data connection, unless all of it was handed over and nobody cut it")
    func tails() throws {
        #expect(try closed() == .orderly)
        #expect(try closed(.isCut) == .reset)
        #expect(try closed(.isCut, .whole) == .orderly)
        // Also what a failed exchange leaves open until its handle goes.
        #expect(try closed(.isCut, .arrives) == .reset)
        #expect(try closed(.isCut, cuts: true) != nil)
    }
}
