import Testing
import TransferModel

/// What an interruption costs is said, and what the server has kept is shown: by a person's hand, and by a kill of the engine.
@Suite(.inLane) struct InterruptionTests {
    let sandbox: Sandbox
    let receiver: Receiver

    init() throws {
        sandbox = try Sandbox()
        receiver = try Receiver(sandbox)
        try write(SeededBytes.bytes(12_000_000, seed: 21), to: RawPath("\(sandbox.root)/film.mov"))
    }

    /// Queues the file and waits until a good part of it is on its way.
    private func begin(_ way: String) throws -> String {
        let batch = try sandbox.send("--protocol", way, "--limit", "1M", "\(sandbox.root)/film.mov", receiver.url)
        try waitUntil("\(batch) is under way") { (try sandbox.task(batch)["bytesSent"].integer ?? 0) > 3 << 20 }
        return batch
    }

    @Test func `pausing and cancelling a plain PUT says what is sent again`() throws {
        let batch = try begin("put")
        let paused = try sandbox.succeed("pause", batch).output
        #expect(paused.hasPrefix("\(batch) paused; "), "\(paused)")
        #expect(paused.hasSuffix(" already sent must be sent again: it cannot resume there\n"), "\(paused)")
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 1 && (task["bytesRepeated"].integer ?? 0) > 3 << 20, "\(task)")
        let id = try #require(task["id"].text)
        let shown = try sandbox.succeed("show", id, "--history").output
        #expect(shown.contains("restarted: it was broken off, and this server cannot resume"), "\(shown)")
        try sandbox.succeed("resume", batch)
        try waitUntil("\(batch) moves") { (try sandbox.task(batch)["bytesSent"].integer ?? 0) > 1 << 20 }
        let cancelled = try sandbox.succeed("cancel", batch).output
        #expect(cancelled.contains("and undo sends them again"), "\(cancelled)")
    }

    @Test func `a plain PUT that is killed with the engine shows what is sent again`() throws {
        let batch = try begin("put")
        try sandbox.killEngine()
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 1, "\(task)")
        #expect((task["bytesRepeated"].integer ?? 0) > 1 << 20, "as of the last second: \(task)")
        try sandbox.succeed("cancel", batch)
    }

    @Test(arguments: ["tus", "ietf"])
    func `a paused upload shows what its server has kept`(way: String) throws {
        let batch = try begin(way)
        let paused = try sandbox.succeed("pause", batch).output
        #expect(paused == "\(batch) paused\n")
        try waitUntil("the server has said what it has") {
            (try sandbox.task(batch)["bytesAccepted"].integer ?? 0) > 2 << 20
        }
        let listed = try sandbox.succeed("list").output
        #expect(listed.contains("paused") && !listed.contains(" 0%"), "\(listed)")
        try sandbox.succeed("cancel", batch)
    }

    @Test func `what is paused until a time goes on by itself, in an engine that was started meanwhile, too`() throws {
        let batch = try sandbox.upload("--limit", "1M", "\(sandbox.root)/film.mov", receiver.url)
        try waitUntil("\(batch) is under way") { (try sandbox.task(batch)["bytesSent"].integer ?? 0) > 1 << 20 }
        #expect(try sandbox.martlet("pause", batch, "--until", "2020-01-01").status == 2, "it is over already")
        let paused = try sandbox.succeed("pause", batch, "--until", "+3s").output
        #expect(paused.hasPrefix("\(batch) paused until "), "\(paused)")
        #expect(try sandbox.succeed("why", batch).output.contains("is paused until"))
        try sandbox.killEngine()
        try sandbox.succeed("set", batch, "--limit", "off")
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
    }

    @Test func `a batch and one of its files cancelled together are taken back together`() throws {
        let batch = try begin("put")
        let id = try #require(try sandbox.task(batch)["id"].text)
        try sandbox.succeed("cancel", batch, id)
        let outcome = try sandbox.martlet("undo", batch)
        #expect(outcome.status == 0, "\(outcome)")
        try sandbox.succeed("cancel", batch)
    }
}
