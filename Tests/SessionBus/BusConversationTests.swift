import Testing

@testable import SessionBus

@Suite("A notification is told to a bus")
struct BusConversationTests {
    private let notification = DesktopNotification(summary: "\u{201c}a\u{201d} is done", body: "1 <file> & more")

    /// An answer to one of our calls, as a bus writes it in either byte order.
    private func reply(
        to serial: UInt32, kind: BusMessage.Kind = .reply, error: String? = nil, body: [UInt8] = [], isBig: Bool = false
    ) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] {
            let bytes = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
            return isBig ? bytes.reversed() : bytes
        }
        var fields: [UInt8] = [5, 1] + Array("u\0".utf8) + number(serial)
        if let error {
            fields += [4, 1] + Array("s\0".utf8) + number(UInt32(error.utf8.count)) + Array(error.utf8) + [0]
        }
        let head = [isBig ? UInt8(ascii: "B") : UInt8(ascii: "l"), kind.rawValue, 0, 1] as [UInt8]
        var bytes = head + number(UInt32(body.count)) + number(77) + number(UInt32(fields.count)) + fields
        while bytes.count % 8 != 0 { bytes.append(0) }
        return bytes + body
    }

    private func strings(_ words: [String]) -> [UInt8] {
        var writer = BusWriter()
        writer.array(alignment: 4) { array in for word in words { array.string(word) } }
        return writer.bytes
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("the whole conversation, in any pieces and either byte order", arguments: [1, 7, 4096], [false, true])
    func whole(piece: Int, isBig: Bool) throws {
        var conversation = BusConversation(notification)
        #expect(BusConversation.opening(userID: 1000) == Array("\0AUTH EXTERNAL 31303030\r\n".utf8))
        func feed(_ bytes: [UInt8]) throws -> [UInt8] {
            var answer: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: piece) {
                answer += try conversation.take(Array(bytes[start..<min(bytes.count, start + piece)]))
            }
            return answer
        }
        let hello = try feed(Array("OK 1234deadbeef\r\n".utf8))
        #expect(hello.starts(with: Array("BEGIN\r\nl".utf8)) && text(hello).contains("Hello"))
        // A signal that nobody asked for is passed over.
        let asked = try feed(reply(to: 1, isBig: isBig) + reply(to: 9, kind: .signal, isBig: isBig))
        #expect(text(asked).contains("GetCapabilities"))
        let capabilities =
            isBig
            ? reply(to: 2, kind: .error, error: "x", isBig: true) : reply(to: 2, body: strings(["body-markup"]))
        let told = try feed(capabilities)
        #expect(text(told).contains("susssasa{sv}i") && text(told).contains("transfer.complete"))
        #expect(text(told).contains(isBig ? "1 <file> & more" : "1 &lt;file&gt; &amp; more"))
        #expect(!conversation.isOver)
        #expect(try feed(reply(to: 3, body: [4, 0, 0, 0], isBig: isBig)).isEmpty)
        #expect(conversation.isOver)
    }

    @Test("a bus that lets nobody in, no server for notifications, and bytes that are no message")
    func failures() throws {
        var conversation = BusConversation(notification)
        #expect(throws: BusConversation.Failure.refused) { try conversation.take(Array("REJECTED EXTERNAL\r\n".utf8)) }
        conversation = BusConversation(notification)
        _ = try conversation.take(Array("OK 1\r\n".utf8) + reply(to: 1) + reply(to: 2, body: strings([])))
        let name = "org.freedesktop.DBus.Error.ServiceUnknown"
        #expect(throws: BusConversation.Failure.error(name: name)) {
            try conversation.take(reply(to: 3, kind: .error, error: name))
        }
        conversation = BusConversation(notification)
        _ = try conversation.take(Array("OK 1\r\n".utf8))
        #expect(throws: BusConversation.Failure.malformed) { try conversation.take(Array(repeating: 0x78, count: 16)) }
    }

    @Test("bytes of any kind never trap")
    func anyBytes() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var bytes = reply(to: 2, body: strings(["body", "actions"]), isBig: Bool.random(using: &generator))
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            while let message = try? BusMessage.take(from: &bytes) { _ = try? message.strings() }
        }
    }

    @Test("addresses of Unix sockets are taken from the list, others are passed over")
    func addresses() {
        let list =
            "tcp:host=127.0.0.1,port=1;unix:guid=1,path=/run/us%65r/bus;unix:abstract=/tmp/dbus-1,guid=2;unix:path=%zz"
        #expect(BusAddress.list(list) == [.path(Array("/run/user/bus".utf8)), .abstract(Array("/tmp/dbus-1".utf8))])
        let usual = SessionBus(variable: "", runtimeDirectory: "/run/user/7")
        #expect(usual.addresses == [.path(Array("/run/user/7/bus".utf8))])
    }
}
