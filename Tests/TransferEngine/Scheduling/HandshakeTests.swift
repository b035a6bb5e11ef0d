import Testing

@testable import TransferEngine

@Suite("Failed TLS handshakes")
struct HandshakeTests {
    @Test("files side by side count once, and the third one after the other is believed")
    func sideBySide() {
        var handshakes = HandshakeFailures()
        for _ in 0..<8 { handshakes.failed(begun: 10, now: 20) }
        #expect(handshakes.inARow == 1)
        handshakes.failed(begun: 20, now: 30)
        #expect(handshakes.inARow == 1)
        handshakes.failed(begun: 21, now: 31)
        handshakes.failed(begun: 32, now: 40)
        #expect(handshakes.inARow == 3)
    }

    @Test("once one has succeeded the server speaks TLS, and a failure is a broken line")
    func proven() {
        var handshakes = HandshakeFailures()
        handshakes.failed(begun: 1, now: 2)
        handshakes.succeeded()
        for begun in 10..<20 { handshakes.failed(begun: Int64(begun), now: Int64(begun)) }
        #expect(handshakes.inARow == 0)
    }
}
