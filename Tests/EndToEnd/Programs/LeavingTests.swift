import Glibc
import Testing
import TransferModel

/// Leaving is never losing: quitting the screen, ending the engine, watching with two fronts.
@Suite(.inLane) struct LeavingTests {
    let sandbox: Sandbox
    let nginx: Nginx
    let proxy: FaultProxy

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
        proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 500k")
    }

    /// Accepted rather than sent: a whole small file fits between here and the server.
    private func bytesAccepted(_ batch: String) throws -> Int64 {
        try sandbox.batch(batch)["bytesAccepted"].integer ?? 0
    }

    @Test func `the screen is left while four uploads run, and the work goes on`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", files: 4, each: 3_000_000)
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        let engine = try sandbox.enginePid()
        do {
            let screen = try TerminalScreen(sandbox, size: "80x24", name: "first")
            try screen.awaitText("holiday")
            try waitUntil("four files are under way") { try sandbox.batch(batch)["filesActive"].integer == 4 }
            try screen.press("q")
            #expect(try screen.awaitEnd() == 0)
        }
        #expect(try sandbox.enginePid() == engine)
        let left = try bytesAccepted(batch)
        try waitUntil("more bytes are accepted") { try bytesAccepted(batch) > left }

        let again = try TerminalScreen(sandbox, size: "80x24", name: "second")
        try again.awaitText("holiday")
        try again.press("q")
        #expect(try again.awaitEnd() == 0)
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/holiday").verify()
        #expect(try sandbox.enginePid() == engine)
        #expect(try nginx.timesStored(below: "up/holiday").values.allSatisfy { $0 == 1 })
    }

    @Test func `a hangup and a kill of the screen stop nothing`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", files: 4, each: 2_000_000)
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        let engine = try sandbox.enginePid()
        do {
            let screen = try TerminalScreen(sandbox, size: "80x24")
            try screen.awaitText("holiday")
            // The terminal is taken away here, which is SIGHUP for the screen.
        }
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/holiday").verify()
        #expect(try sandbox.enginePid() == engine)
    }

    @Test func `an engine that is asked to end records where everything stands and exits with 0`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/batch", count: 40, seed: 3)
        let engine = try sandbox.start("martletd", [])
        try waitUntil("the engine answers") { try sandbox.enginePid() == engine.pid }
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        var proof = BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch")
        try proof.awaitCompleted(5)
        try proof.remember()
        engine.signal(SIGTERM)
        let ended = try engine.wait()
        #expect(ended.status == 0, "\(ended)")

        // Any command starts the next one.
        try proof.verify()
        let next = try #require(try sandbox.enginePid())
        #expect(next != engine.pid)
    }

    @Test func `a download survives an engine that is asked to end, without repeating what is on disk`() throws {
        let content = SeededBytes.bytes(10_000_000, seed: 5)
        try write(content, to: nginx.data.appending(RawPath("film.mov")))
        let engine = try sandbox.start("martletd", [])
        try waitUntil("the engine answers") { try sandbox.enginePid() == engine.pid }
        let batch = try sandbox.download(nginx.url + "slow/film.mov", "\(sandbox.root)/film.mov")
        try waitUntil("bytes arrive") { try (sandbox.task(batch)["bytesSent"].integer ?? 0) > 2_000_000 }
        engine.signal(SIGTERM)
        #expect(try engine.wait().status == 0)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(RawPath("\(sandbox.root)/film.mov")) == content)
        let gets = try nginx.answers().filter { $0.method == "GET" }
        #expect(gets.map(\.status) == [200, 206], "\(gets)")
    }

    @Test func `two fronts see the same, and what one does the other shows`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", files: 4, each: 3_000_000)
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        let first = try TerminalScreen(sandbox, size: "80x24", name: "first")
        let second = try TerminalScreen(sandbox, size: "100x30", name: "second")
        try first.awaitText("holiday")
        try second.awaitText("holiday")
        try sandbox.succeed("pause", batch)
        try first.awaitRow("holiday", "pause")
        try second.awaitRow("holiday", "pause")
        #expect(try sandbox.batch(batch)["state"].text == "paused")
        try sandbox.succeed("resume", batch)
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/holiday").verify()
        try first.awaitRow("holiday", "done")
        try second.awaitRow("holiday", "done")
    }
}
