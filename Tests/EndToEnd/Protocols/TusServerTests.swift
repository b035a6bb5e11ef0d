import Testing
import TransferModel

/// A tus server that nobody here wrote and that has every extension: checksums, concatenation, termination, expiration, limits.
@Suite(.inLane) struct TusServerTests {
    let sandbox: Sandbox
    let source: RawPath
    /// Large enough for parts.
    private let size: Int64 = 260 << 20

    init() throws {
        sandbox = try Sandbox()
        source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 41), to: source)
    }

    private func send(_ proxy: FaultProxy, _ options: String...) throws -> String {
        try sandbox.queue(
            "upload", options + [source.displayed, "tus+http://\(proxy.address)/files/"], #_sourceLocation)
    }

    private func awaitSent(_ bytes: Int64, _ batch: String) throws {
        try waitUntil("\(bytes) bytes are sent") {
            let shown = try sandbox.batch(batch)
            guard shown["finishedAt"] == .null else { throw HarnessError("\(batch) ended early: \(shown)") }
            return (shown["bytesSent"].integer ?? 0) >= bytes
        }
    }

    @discardableResult
    private func expectArrived(_ batch: String, _ server: TusServer) throws -> JSON {
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        let uploads = try server.uploads()
        #expect(try uploads.map(\.digest) == [digest(of: source)], "\(uploads)")
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 0, "\(task)")
        return task
    }

    /// Bytes that went to the server. Ends the engine.
    private func carried(_ proxy: FaultProxy) throws -> Int64 {
        try sandbox.killEngine()
        return try proxy.finalLog().reduce(0) { $0 + ($1["up"].integer ?? 0) }
    }

    @Test func `checksums are sent with every piece, also after kills, and the task says that they were compared`()
        throws
    {
        let server = try TusServer(sandbox, .resumableUpload)
        let proxy = try FaultProxy(sandbox, before: server, rules: "rate up 40M")
        let batch = try send(proxy, "--verify", "digest")
        for share: Int64 in [3, 6] {
            try awaitSent(size * share / 10, batch)
            try sandbox.killEngine()
        }
        let task = try expectArrived(batch, server)
        #expect(task["verified"].text == "digest", "\(task)")
        #expect(!task["resumedFrom"].array.isEmpty, "\(task)")
        // One piece, of eight mebibytes, for each kill.
        let twice = try carried(proxy) - size
        #expect(twice <= 2 * (8 << 20) + 200_000, "\(twice) bytes were sent twice")
    }

    @Test func `a bit that was flipped on the way is found by the server, and its piece sent again`() throws {
        let server = try TusServer(sandbox, .resumableUpload)
        let proxy = try FaultProxy(sandbox, before: server, rules: "corrupt up 3M first=2")
        let batch = try send(proxy, "--verify", "digest")
        let task = try expectArrived(batch, server)
        #expect(task["verified"].text == "digest", "\(task)")
        #expect(try readText("\(server.folder)/log").contains("Checksum mismatch"), "460 was answered")
        let twice = try carried(proxy) - size
        #expect(twice <= 8 << 20 + 200_000, "\(twice) bytes were sent twice")
    }

    @Test func `a line that flips a bit again and again is said, and nothing is taken for whole`() throws {
        let server = try TusServer(sandbox, .resumableUpload)
        let proxy = try FaultProxy(sandbox, before: server, rules: "corrupt up 3M")
        let batch = try send(proxy, "--verify", "digest")
        #expect(try sandbox.wait(batch).status == 1)
        let task = try sandbox.task(batch)
        #expect(task["error"]["code"].text == "integrity", "\(task)")
        #expect(try server.uploads().isEmpty)
    }

    @Test func `413 to a piece is answered by smaller ones, without being told`() throws {
        let server = try TusServer(sandbox, .resumableUpload, settings: ["MAX_CHUNK=3000000"])
        let proxy = try FaultProxy(sandbox, before: server)
        let batch = try send(proxy)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try server.uploads().map(\.digest) == [digest(of: source)])
        // The server answers and hangs up in the middle of the body: where that overtakes the answer, the next attempt hears it.
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer ?? 0 < task["attempts"].integer ?? 0, "\(task)")
    }

    @Test func `parts side by side go on where they stood, are joined, and none is left`() throws {
        let server = try TusServer(sandbox, .resumableUpload)
        // So far away that four parts are worth it; what it takes whole into memory is a chunk of one.
        let proxy = try FaultProxy(sandbox, before: server, rules: "delay 200ms", "rate up 10M")
        let batch = try send(proxy, "--if-exists", "replace", "--chunk", "2MiB")
        for share: Int64 in [3, 6] {
            try awaitSent(size * share / 10, batch)
            try sandbox.killEngine()
        }
        try expectArrived(batch, server)
        #expect(server.stored.count == 1, "no part is left: \(server.stored)")
        let twice = try carried(proxy) - size
        #expect(twice <= 2 * 4 * (2 << 20) + 200_000, "\(twice) bytes were sent twice")
    }

    @Test func `an upload that has expired is made anew, and that is said`() throws {
        let server = try TusServer(sandbox, .resumableUpload, settings: ["EXPIRY=3600"])
        let proxy = try FaultProxy(sandbox, before: server, rules: "rate up 40M")
        let batch = try send(proxy, "--chunk", "4MiB")
        try awaitSent(size / 2, batch)
        try sandbox.killEngine()
        try proxy.awaitClosed()
        try server.run(["expire", server.folder])
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try server.uploads().map(\.digest).contains(digest(of: source)))
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 1, "\(task)")
    }

    @Test func `a cancelled upload is taken away from the server, with all its parts`() throws {
        try write("grace = 1s\n", to: "\(sandbox.home)/config/martlet.conf")
        let server = try TusServer(sandbox, .resumableUpload)
        let proxy = try FaultProxy(sandbox, before: server, rules: "delay 200ms", "rate up 8M")
        let batch = try send(proxy, "--if-exists", "replace", "--chunk", "2MiB")
        try awaitSent(size / 3, batch)
        #expect(server.stored.count == 4)
        try sandbox.succeed("cancel", batch)
        try proxy.set()
        try waitUntil("nothing is left") { server.stored.isEmpty }
        try waitUntil("and known to be") { try sandbox.leftovers().isEmpty }
    }
}
