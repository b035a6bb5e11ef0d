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
        #expect(throws: SessionBus.Failure.refused(name: name)) { try session.show(notification) }
        try bus.end()
    }

    /// Shows a notification while a desktop serves, and gives back what the desktop was told.
    private func shown(
        _ notification: DesktopNotification, to desktop: FakeDesktop
    ) async throws -> FakeDesktop.Told {
        let bus = try Bus()
        let worker = try BlockingWorker(name: "desktop of a test")
        let (readiness, tell) = AsyncStream.makeStream(of: Void.self)
        let address = bus.address
        async let asked = worker.run { () throws -> FakeDesktop.Told in
            // A desktop that failed must not be waited for.
            defer { tell.finish() }
            return try desktop.serve(on: address) { tell.yield() }
        }
        var ready = readiness.makeAsyncIterator()
        _ = await ready.next()
        let session = SessionBus(variable: address, runtimeDirectory: "/nowhere")
        let shower = try BlockingWorker(name: "engine of a test")
        try await shower.run { () throws(SessionBus.Failure) in try session.show(notification, within: .seconds(60)) }
        let told = try await asked
        worker.stop()
        shower.stop()
        try bus.end()
        return told
    }

    @Test("a desktop that shows markup gets it escaped, and it counts as shown when it was answered")
    func markup() async throws {
        let notification = DesktopNotification(summary: "\u{201c}a\u{201d} is done", body: "1 <file> & more")
        let told = try await shown(notification, to: FakeDesktop(capabilities: ["actions", "body-markup"]))
        #expect(
            told
                == FakeDesktop.Told(
                    name: "Martlet", icon: "emblem-default", summary: "\u{201c}a\u{201d} is done",
                    body: "1 &lt;file&gt; &amp; more", hints: ["urgency": "1", "category": "transfer.complete"],
                    expiry: -1))
    }

    @Test("a desktop that shows no markup, or does not say, gets plain text", arguments: [[], nil] as [[String]?])
    func plain(capabilities: [String]?) async throws {
        let notification = DesktopNotification(summary: "b", body: "1 <file> & more", isProblem: true)
        let told = try await shown(notification, to: FakeDesktop(capabilities: capabilities))
        #expect(told.body == "1 <file> & more")
        #expect(told.icon == "dialog-warning" && told.hints["category"] == "transfer.error")
    }

    @Test("a bus that says nothing is not waited for longer than patience lasts")
    func silent() throws {
        let sandbox = try Sandbox("martlet-bus")
        let listener = try UnixSocket.listen(in: sandbox.path, name: "bus")
        defer { listener.close() }
        let path = String(decoding: sandbox.path, as: UTF8.self) + "/bus"
        let session = SessionBus(variable: "unix:path=" + path, runtimeDirectory: "/nowhere")
        #expect(throws: SessionBus.Failure.silent(.timedOut)) { try session.show(notification, within: .zero) }
    }

    @Test("addresses of Unix sockets are taken from the list, others are passed over")
    func addresses() {
        let list =
            "unixexec:path=/bin/true;unix:path=/run/us%65r/bus;tcp:host=127.0.0.1,port=1;unix:abstract=/tmp/dbus-1"
        let session = SessionBus(variable: list, runtimeDirectory: "/run/user/7")
        #expect(session.address == "unix:path=/run/us%65r/bus;unix:abstract=/tmp/dbus-1")
        for nothing in [nil, "", "tcp:host=127.0.0.1,port=1"] {
            let usual = SessionBus(variable: nothing, runtimeDirectory: "/run/user/7")
            #expect(usual.address == "unix:path=/run/user/7/bus")
        }
    }

    @Test("without a bus nothing is shown, and that is no surprise")
    func noBus() {
        let session = SessionBus(variable: nil, runtimeDirectory: "/nowhere")
        #expect(throws: SessionBus.Failure.noBus(.noSuchFile)) { try session.show(notification) }
    }
}
