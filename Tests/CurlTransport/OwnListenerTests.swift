import LinuxSystem
import Testing

@testable import CurlTransport

@Suite struct OwnListenerTests {
    private func connection(from port: UInt16, to address: String = "127.0.0.1") -> OwnListeners.Connection {
        OwnListeners.Connection(address: address, port: 8080, localAddress: address, localPort: port)
    }

    @Test func `a connection is this user's when its other end is, on this machine`() {
        var own = OwnListeners { _ in true }
        let found = ["::1", "127.9.9.9"].enumerated().map { own.include(connection(from: UInt16($0 + 1), to: $1)) }
        #expect(found == [true, true])
        let outside = ["192.0.2.1", "no address"].map { own.include(connection(from: 9, to: $0)) }
        #expect(outside == [false, false])
        var foreign = OwnListeners { _ in false }
        let isOwn = foreign.include(connection(from: 1))
        #expect(!isOwn)
    }

    @Test func `the kernel is asked once a connection, and again when its port is another's`() {
        let asked = Mutex(0)
        let isOwn = Mutex(true)
        var listeners = OwnListeners { _ in
            asked.withLock { $0 += 1 }
            return isOwn.withLock { $0 }
        }
        let first = (0..<3).map { _ in listeners.include(connection(from: 1)) }
        #expect(first == [true, true, true])
        #expect(asked.withLock { $0 } == 1)
        isOwn.withLock { $0 = false }
        // An open connection keeps its other end.
        let kept = [1, 2].map { listeners.include(connection(from: $0)) }
        #expect(kept == [true, false])
        listeners.opened(connection(from: 1))
        let later = listeners.include(connection(from: 1))
        #expect(!later)
    }
}
