/// The ways to refuse a request whose body has not all been read. The kernel resets a connection that is closed with unread
/// bytes, and the reset may overtake the answer; so the answer goes out in a way that lets the client see it.
enum RefusalManner: Equatable, Sendable {
    /// The library answers now and closes the connection: the client has sent no body yet.
    case atOnce
    /// The rest is read and thrown away, then answered; the connection goes on.
    case afterTheBody
    /// The answer is written past the library, which answers only between head and body. The rest is thrown away until
    /// the client has read the answer and hangs up.
    case byHand

    /// Refused when only the head has arrived.
    static func atHead(_ body: BodyLength, expectsContinue: Bool, isTLS: Bool) -> RefusalManner {
        switch body {
        case .none: .afterTheBody
        case _ where expectsContinue: .atOnce
        case .known(let size) where size <= smallRest: .afterTheBody
        case .known, .unknown: isTLS ? .atOnce : .byHand
        }
    }

    /// Refused in the middle of the body.
    static func inBody(_ body: BodyLength, received: UInt64, isTLS: Bool) -> RefusalManner {
        if case .known(let size) = body, size - min(received, size) <= smallRest { return .afterTheBody }
        // Nothing can be written past TLS: the client has to send all before it hears of it.
        return isTLS ? .afterTheBody : .byHand
    }

    /// Reading this much costs less than a new connection.
    private static let smallRest: UInt64 = 1 << 20
}
