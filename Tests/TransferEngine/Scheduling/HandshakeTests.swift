import Testing

@testable import TransferEngine

@Suite("Failed TLS handshakes")
struct HandshakeTests {
    @Test("files side by side count once, and the third one after the other is believed")
    func sideBySide() {
        var handshakes = HandshakeFailures()
        for _ in 0..<8 { #expect(handshakes.failed(with: "h", begun: 10, now: 20) == 1) }
        #expect(handshakes.failed(with: "h", begun: 20, now: 30) == 1)
        #expect(handshakes.failed(with: "h", begun: 21, now: 31) == 2)
        #expect(handshakes.failed(with: "h", begun: 32, now: 40) == 3)
        #expect(handshakes.failed(with: "other", begun: 32, now: 40) == 1)
    }

    @Test("once one has succeeded the server speaks TLS, and a failure is a broken line")
    func proven() {
        var handshakes = HandshakeFailures()
        _ = handshakes.failed(with: "h", begun: 1, now: 2)
        handshakes.succeeded(with: "h")
        for begun in Int64(10)..<20 { #expect(handshakes.failed(with: "h", begun: begun, now: begun) == 0) }
        #expect(handshakes.failed(with: "other", begun: 1, now: 2) == 1)
    }

    @Test("any number of servers is met, and a bounded one remembered")
    func bounded() {
        var handshakes = HandshakeFailures()
        for number in 0..<1000 { handshakes.succeeded(with: "\(number)") }
        let known = (0..<1000).count { handshakes.failed(with: "\($0)", begun: 1, now: 2) == 0 }
        // Each that is not known is remembered in the place of another.
        #expect(known <= 100)
    }
}
