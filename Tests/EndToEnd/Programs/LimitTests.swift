import Testing
import TransferModel

/// What a person says of order and speed holds for what runs, at a real server: by counts and order, never by the clock.
@Suite(.inLane) struct LimitTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    private func file(_ name: String, _ size: Int) throws -> String {
        try write(SeededBytes.bytes(size, seed: 5), to: RawPath("\(sandbox.root)/\(name)"))
        return "\(sandbox.root)/\(name)"
    }

    @Test func `a limit holds a running upload back, and taking it away lets the same upload end`() throws {
        let size = 4_000_000
        // A byte a second: it would take six weeks.
        let batch = try sandbox.upload("--limit", "1", try file("large.bin", size), nginx.url + "up/")
        try waitUntil("it is under way") { try sandbox.batch(batch)["filesActive"].integer == 1 }
        #expect(try sandbox.martlet("why", batch).output.contains("held to 1/s by the limit of \(batch)"))
        try sandbox.succeed("limit", "2", "--up")
        try sandbox.succeed("set", batch, "--limit", "off")
        // The whole engine's limit still holds.
        #expect((try sandbox.batch(batch)["bytesSent"].integer ?? 0) < size / 2)
        try sandbox.succeed("limit", "off")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try nginx.timesStored(below: "up").values.allSatisfy { $0 == 1 })
        #expect(try sandbox.task(batch)["restarts"].integer == 0)
    }

    @Test func `limits are kept over the engine's end`() throws {
        try sandbox.succeed("limit", "08:00,1M 20:00,1M", "--up", "--transfers", "3")
        _ = try sandbox.killEngine()
        let kept = try sandbox.succeed("engine", "start")
        #expect(kept.status == 0)
        let limits = try sandbox.succeed("limit").output
        #expect(limits.contains("1M/s now, by 08:00,1M 20:00,1M") && limits.contains("3 at once"))
    }

    @Test func `what is moved goes next, and what is asked for now does not wait for it`() throws {
        try sandbox.succeed("limit", "--transfers", "1")
        let slow = try sandbox.upload("--limit", "1", try file("slow.bin", 500_000), nginx.url + "up/")
        try waitUntil("the slot is taken") { try sandbox.batch(slow)["filesActive"].integer == 1 }
        var batches: [String] = []
        for name in ["first", "second", "third", "now"] {
            batches.append(try sandbox.upload(try file("\(name).txt", 10), nginx.url + "up/"))
        }
        try sandbox.succeed("move", batches[2], "--before", batches[0])
        try sandbox.succeed("move", batches[1], "--bottom")
        try sandbox.succeed("undo")
        try sandbox.succeed("run-now", batches[3])
        #expect(try sandbox.wait(batches[3]).status == 0)
        #expect(try sandbox.batch(slow)["filesActive"].integer == 1, "it goes beside what runs")
        try sandbox.succeed("set", slow, "--limit", "off")
        #expect(try sandbox.wait(batches[0], batches[1], batches[2], slow).status == 0)
        let order = try nginx.stored().compactMap {
            $0.path.split(separator: "/").last.map(String.init)
        }
        #expect(order == ["now.txt", "slow.bin", "third.txt", "first.txt", "second.txt"])
    }
}
