/// One notification told to a bus, as a machine: bytes in, bytes to be sent out. It does nothing by itself.
///
/// `authenticating` → `greeting` (Hello) → `asking` (what the desktop's server can show) → `telling` (Notify) → `over`.
package struct BusConversation: Sendable {
    /// The reasons for which nothing was shown.
    package enum Failure: Error, Hashable, Sendable {
        /// The bus does not let this user in.
        case refused
        /// The bytes that came make no sense.
        case malformed
        /// The bus, or the desktop's server, answered so: `org.freedesktop.DBus.Error.ServiceUnknown` when there is no such server.
        case error(name: String)
    }

    private enum Phase {
        case authenticating, greeting, asking, telling, over
    }

    private var phase = Phase.authenticating
    private var received: [UInt8] = []
    private let notification: DesktopNotification

    private static let server = "org.freedesktop.Notifications"

    package init(_ notification: DesktopNotification) { self.notification = notification }

    /// The notification was taken.
    package var isOver: Bool { if case .over = phase { true } else { false } }

    /// The first bytes to send: the user who asks, by the credentials of the socket.
    package static func opening(userID: UInt32) -> [UInt8] {
        let digits = Array("0123456789abcdef")
        let user = String(userID).utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return Array("\0AUTH EXTERNAL \(String(user))\r\n".utf8)
    }

    /// Takes what came and gives back what is to be sent.
    package mutating func take(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        received += bytes
        var answer: [UInt8] = []
        if case .authenticating = phase {
            guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else {
                if received.count > 4096 { throw .malformed }
                return []
            }
            guard received.starts(with: Array("OK ".utf8)) else { throw .refused }
            received.removeFirst(end + 1)
            phase = .greeting
            answer += Array("BEGIN\r\n".utf8)
            answer += BusMessage.call(
                "Hello", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", on: "org.freedesktop.DBus", serial: 1)
        }
        while let message = try next() { answer += try take(message) }
        return answer
    }

    private mutating func next() throws(Failure) -> BusMessage? {
        do { return try BusMessage.take(from: &received) } catch { throw .malformed }
    }

    /// Signals and answers to nothing of ours are passed over.
    private mutating func take(_ message: BusMessage) throws(Failure) -> [UInt8] {
        guard message.kind == .reply || message.kind == .error, message.replySerial == awaited else { return [] }
        if message.kind == .error, case .asking = phase {
            // A server that does not say what it can shows plain text.
            phase = .telling
            return notify(hasMarkup: false)
        }
        if message.kind == .error { throw .error(name: message.errorName ?? "") }
        switch phase {
        case .greeting:
            phase = .asking
            return Self.call("GetCapabilities", serial: 2)
        case .asking:
            let capabilities: [String]
            do { capabilities = try message.strings() } catch { throw .malformed }
            phase = .telling
            return notify(hasMarkup: capabilities.contains("body-markup"))
        case .telling: phase = .over
        case .authenticating, .over: break
        }
        return []
    }

    /// The serial of the call that is to be answered.
    private var awaited: UInt32? {
        switch phase {
        case .greeting: 1
        case .asking: 2
        case .telling: 3
        case .authenticating, .over: nil
        }
    }

    private func notify(hasMarkup: Bool) -> [UInt8] {
        var body = BusWriter()
        body.string("Martlet")
        body.number(0)
        body.string(notification.icon)
        body.string(notification.summary)
        body.string(hasMarkup ? DesktopNotification.escaped(notification.body) : notification.body)
        body.array(alignment: 4) { _ in }
        body.array(alignment: 8) { hints in
            hints.align(8)
            hints.string("urgency")
            hints.signature("y")
            hints.bytes.append(notification.urgency.rawValue)
            hints.align(8)
            hints.string("category")
            hints.signature("s")
            hints.string(notification.category)
        }
        // As long as the desktop thinks right.
        body.number(UInt32(bitPattern: -1))
        return Self.call("Notify", serial: 3, signature: "susssasa{sv}i", body: body.bytes)
    }

    private static func call(
        _ member: String, serial: UInt32, signature: String = "", body: [UInt8] = []
    ) -> [UInt8] {
        BusMessage.call(
            member, of: server, at: "/org/freedesktop/Notifications", on: server, serial: serial, signature: signature,
            body: body)
    }
}
