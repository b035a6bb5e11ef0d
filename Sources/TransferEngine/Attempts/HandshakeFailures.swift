/// TLS handshakes of a batch that failed for no reason that was told. A server that begins anew behind a proxy breaks them off, too, so they
/// count one after the other, whatever the number of files side by side, and not at all once one has succeeded.
struct HandshakeFailures {
    private(set) var inARow = 0
    private var isProven = false
    /// Nanoseconds of the engine's clock.
    private var lastAt: Int64?

    mutating func succeeded() { (inARow, isProven) = (0, true) }

    /// - Parameter begun: when the attempt had begun.
    mutating func failed(begun: Int64, now: Int64) {
        // It ran beside the one that counts already.
        if isProven || lastAt.map({ begun <= $0 }) ?? false { return }
        (inARow, lastAt) = (inARow + 1, now)
    }
}
