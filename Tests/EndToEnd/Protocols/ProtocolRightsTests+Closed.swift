import Testing
import TransferModel

/// Servers that nobody here wrote and that let nobody in from one moment on.
extension ProtocolRightsTests {
    /// What a server says from one moment on, and a client that may nothing any more.
    struct Closing: Sendable, CustomTestStringConvertible {
        let wire: WireProtocol
        let setting: String
        var testDescription: String { "\(wire) \(setting)" }
    }

    private static let closings = [
        Closing(wire: .put, setting: "DENY=401"), Closing(wire: .dav, setting: "AUTH=1"),
        Closing(wire: .ftp, setting: "CLOSED=1"), Closing(wire: .sftp, setting: "KEYS=none"),
    ].filter { WireProtocol.tested.contains($0.wire) }

    @Test(arguments: closings)
    func `a server that lets nobody in any more`(closing: Closing) throws {
        let bench = try WireBench(closing.wire)
        let (source, batch) = try begin(bench)
        try bench.far.crash()
        try bench.far.restart([closing.setting])
        try expectWait(bench, batch, for: "auth")
        try bench.far.crash()
        try bench.far.restart()
        guard closing.wire.resumes else {
            try bench.proxy.set()
            try bench.sandbox.succeed("retry", batch)
            try bench.push(batch) { $0["finishedAt"] != .null }
            try bench.expectArrived(batch, source)
            return
        }
        try expectGoesOn(bench, batch, source)
    }

    // nginx before it says who may; what lies at the tus server stays there.
    @Test(.enabled(if: WireProtocol.tested.contains(.tus)), arguments: [401, 403])
    func `a tus server behind one that lets nobody in any more`(status: Int) throws {
        let sandbox = try Sandbox()
        let server = try TusServer(sandbox)
        let nginx = try Nginx(sandbox, before: server.address, buffering: false)
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 6M")
        let source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 5), to: source)
        let batch = try sandbox.send(source.displayed, "tus+http://\(proxy.address)/files/")
        try waitUntil("something is sent") { try (sandbox.batch(batch)["bytesSent"].integer ?? 0) >= 10_000_000 }
        try nginx.crash()
        // What the server still writes it must have written down, or it would stand still when it is asked.
        try proxy.awaitClosed()
        try nginx.restart(["DENY=\(status)"])
        try waitUntil("it waits for a person") {
            let task = try sandbox.task(batch)
            if task["waitReasons"].texts == ["auth"] { return true }
            if task["state"].text == "waiting" { try sandbox.martlet("retry", batch) }
            return false
        }
        #expect(try sandbox.wait(batch).status == 4)
        try nginx.crash()
        try nginx.restart()
        try proxy.set()
        try sandbox.succeed("retry", batch)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try server.uploads().map(\.digest) == [digest(of: source)])
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 0, "\(task)")
        #expect((task["resumedFrom"].array.compactMap(\.integer).max() ?? 0) >= 4_000_000, "\(task)")
    }
}
