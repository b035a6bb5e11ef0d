import FoundationEssentials
import LinuxSystem
import TestSupport
import Testing

@testable import SessionBus

@Suite("A notification reaches the desktop over a real bus")
struct SessionBusTests {
    private let notification = DesktopNotification(summary: "done", body: "1 file, 12 bytes")

    /// A bus of its own, for the time of a test.
    private final class Bus: Sendable {
        let address: String
        private let sandbox: Sandbox
        private let child: ChildProcess

        init() throws {
            sandbox = try Sandbox("martlet-bus")
            let directory = String(decoding: sandbox.path, as: UTF8.self)
            let (output, childsEnd) = try System.pipe()
            let text = """
                <busconfig><type>session</type><listen>unix:path=\(directory)/bus</listen>
                <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
                <allow own="*"/></policy></busconfig>
                """
            let configuration = String(decoding: try sandbox.write("bus.conf", Array(text.utf8)), as: UTF8.self)
            var program = ChildProgram(
                "dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"])
            program.standardOutput = childsEnd.rawValue
            child = try ChildProcess(program)
            childsEnd.close()
            // It prints its address when it listens.
            var said: [UInt8] = []
            var byte: [UInt8] = [0]
            while said.last != UInt8(ascii: "\n") {
                let count = try byte.withUnsafeMutableBytes { try System.read(output.rawValue, $0) }
                guard count == 1 else { break }
                said += byte
            }
            address = String(decoding: said.dropLast(), as: UTF8.self)
        }

        func end() throws {
            try child.signal(15)
            _ = try child.wait()
        }
    }

    @Test("without a server for notifications the bus says so")
    func nobody() throws {
        let bus = try Bus()
        #expect(bus.address.hasPrefix("unix:path="))
        let session = SessionBus(variable: bus.address, runtimeDirectory: "/nowhere")
        let name = "org.freedesktop.DBus.Error.ServiceUnknown"
        #expect(throws: SessionBus.Failure.conversation(.error(name: name))) { try session.show(notification) }
        try bus.end()
    }

    /// A server for notifications, written down to what it is asked: it says what it can, and takes one.
    private static func serve(_ bus: Bus, ready: @escaping @Sendable () -> Void) throws -> String {
        let socket = try #require(BusAddress.list(bus.address).first).connect()
        var received: [UInt8] = []
        func send(_ bytes: [UInt8]) throws {
            #expect(try bytes.withUnsafeBytes { try System.send(socket.rawValue, $0) } == bytes.count)
        }
        func receive() throws {
            var chunk = [UInt8](repeating: 0, count: 4096)
            #expect(try System.poll(socket.rawValue, .read, timeout: .seconds(60)))
            let count = try chunk.withUnsafeMutableBytes { try System.receive(socket.rawValue, into: $0) } ?? 0
            try #require(count > 0)
            received += chunk[..<count]
        }
        func next(_ kind: BusMessage.Kind) throws -> BusMessage {
            while true {
                while let message = try BusMessage.take(from: &received) { if message.kind == kind { return message } }
                try receive()
            }
        }
        func own(_ member: String, _ serial: UInt32, _ signature: String = "", _ body: [UInt8] = []) -> [UInt8] {
            let name = "org.freedesktop.DBus"
            return BusMessage.call(
                member, of: name, at: "/org/freedesktop/DBus", on: name, serial: serial, signature: signature,
                body: body)
        }
        func answer(_ call: BusMessage, _ serial: UInt32, _ signature: String, _ body: [UInt8]) throws {
            var writer = BusWriter()
            writer.bytes = [UInt8(ascii: "l"), BusMessage.Kind.reply.rawValue, 0, 1]
            writer.number(UInt32(body.count))
            writer.number(serial)
            writer.array(alignment: 8) { fields in
                for (code, type, value) in [(5, "u", ""), (6, "s", call.sender ?? ""), (8, "g", signature)] {
                    fields.align(8)
                    fields.bytes.append(UInt8(code))
                    fields.signature(type)
                    switch type {
                    case "u": fields.number(call.serial)
                    case "s": fields.string(value)
                    default: fields.signature(value)
                    }
                }
            }
            writer.align(8)
            try send(writer.bytes + body)
        }
        try send(BusConversation.opening(userID: System.userID))
        while received.last != UInt8(ascii: "\n") { try receive() }
        received = []
        try send(Array("BEGIN\r\n".utf8) + own("Hello", 1))
        _ = try next(.reply)
        var name = BusWriter()
        name.string("org.freedesktop.Notifications")
        name.number(0)
        try send(own("RequestName", 2, "su", name.bytes))
        _ = try next(.reply)
        ready()
        var capabilities = BusWriter()
        capabilities.array(alignment: 4) { $0.string("body-markup") }
        try answer(try next(.call), 3, "as", capabilities.bytes)
        let notify = try next(.call)
        try answer(notify, 4, "u", [1, 0, 0, 0])
        return String(decoding: notify.body, as: UTF8.self)
    }

    @Test("a server for notifications gets it, and it counts as shown when it was answered")
    func shown() async throws {
        let bus = try Bus()
        let address = bus.address
        let worker = try BlockingWorker(name: "desktop of a test")
        let (readiness, tell) = AsyncStream.makeStream(of: Void.self)
        let box = Box(bus: bus)
        async let asked = worker.run { () throws -> String in try Self.serve(box.bus) { tell.yield() } }
        var ready = readiness.makeAsyncIterator()
        _ = await ready.next()
        let session = SessionBus(variable: address, runtimeDirectory: "/nowhere")
        let shower = try BlockingWorker(name: "engine of a test")
        let notification = notification
        try await shower.run { () throws(SessionBus.Failure) in try session.show(notification) }
        let body = try await asked
        #expect(body.contains("Martlet") && body.contains("done") && body.contains("1 file, 12 bytes"))
        worker.stop()
        shower.stop()
        try bus.end()
    }

    private struct Box: Sendable { let bus: Bus }

    @Test("without a bus nothing is shown, and that is no surprise")
    func noBus() {
        let session = SessionBus(variable: nil, runtimeDirectory: "/nowhere")
        #expect(throws: SessionBus.Failure.noBus(.noSuchFile)) { try session.show(notification) }
    }
}
