import Glibc
import LinuxSystem
import Testing

@Suite struct UnixSocketTests {
    @Test func `a socket in a directory longer than an address works`() throws {
        let sandbox = try Sandbox()
        let directory = sandbox.file([String](repeating: "long-directory-name", count: 12).joined(separator: "/"))
        try System.mkdirs(directory)
        let listener = try UnixSocket.listen(in: directory, name: "control.sock")
        #expect(try System.stat(directory + Array("/control.sock".utf8)).permissions == 0o600)
        #expect(try System.accept(listener.rawValue) == nil)
        let client = try UnixSocket.connect(in: directory, name: "control.sock")
        let server = try #require(try System.accept(listener.rawValue))
        let peer = try System.peerCredentials(server.rawValue)
        #expect(peer.processID == System.processID)
        #expect(peer.userID == System.userID)
        #expect(peer.groupID == getgid())
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try buffer.withUnsafeMutableBytes { try System.receive(server.rawValue, into: $0) } == nil)
        #expect(try Array("hi".utf8).withUnsafeBytes { try System.send(client.rawValue, $0) } == 2)
        #expect(try buffer.withUnsafeMutableBytes { try System.receive(server.rawValue, into: $0) } == 2)
        try System.shutdown(client.rawValue, .writing)
        #expect(try buffer.withUnsafeMutableBytes { try System.receive(server.rawValue, into: $0) } == 0)
        client.close()
        #expect(throws: Errno.brokenPipe) {
            try Array("x".utf8).withUnsafeBytes { try System.send(server.rawValue, $0) }
        }
    }

    @Test func `nobody listening is told from a name that is taken`() throws {
        let sandbox = try Sandbox()
        #expect(throws: Errno.noSuchFile) { try UnixSocket.connect(in: sandbox.path, name: "s") }
        do { _ = try UnixSocket.listen(in: sandbox.path, name: "s") }
        // A child that another test starts holds the listener, too, until it has become its program.
        while let early = try? UnixSocket.connect(in: sandbox.path, name: "s") { early.close() }
        #expect(throws: Errno.connectionRefused) { try UnixSocket.connect(in: sandbox.path, name: "s") }
        #expect(throws: Errno.addressInUse) { try UnixSocket.listen(in: sandbox.path, name: "s") }
    }
}
