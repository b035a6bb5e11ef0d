import LinuxSystem
import Synchronization
import Testing

@testable import CurlTransport

@Suite struct OwnListenerTests {
    private func connection(from port: UInt16, to address: String = "127.0.0.1") -> OwnListeners.Connection {
        OwnListeners.Connection(address: address, port: 8080, localPort: port)
    }

    @Test func `a connection is this user's when all that could have taken it is`() {
        let (me, other) = (System.userID, System.userID + 1)
        for (users, expected) in [([me], true), ([other], false), ([me, other], false), ([], false)] {
            var listeners = OwnListeners { _, _ in Set(users) }
            let isOwn = listeners.include(connection(from: 1))
            #expect(isOwn == expected)
        }
        var all = OwnListeners { _, _ in [me] }
        let found = ["::1", "192.0.2.1", "no address"].map { all.include(connection(from: 1, to: $0)) }
        #expect(found == [true, true, true], "it is known by its port")
        var fresh = OwnListeners { _, _ in [me] }
        let others = ["192.0.2.1", "no address"].map { fresh.include(connection(from: 2, to: $0)) }
        #expect(others == [false, false])
    }

    @Test func `the kernel is asked once a connection, and again when its port is another's`() {
        let asked = Mutex(0)
        let owner = Mutex(System.userID)
        var listeners = OwnListeners { _, _ in
            asked.withLock { $0 += 1 }
            return [owner.withLock { $0 }]
        }
        let first = (0..<3).map { _ in listeners.include(connection(from: 1)) }
        #expect(first == [true, true, true])
        #expect(asked.withLock { $0 } == 1)
        owner.withLock { $0 += 1 }
        // An open connection keeps its other end.
        let kept = [1, 2].map { listeners.include(connection(from: $0)) }
        #expect(kept == [true, false])
        listeners.opened(connection(from: 1))
        let later = listeners.include(connection(from: 1))
        #expect(!later)
    }
}
