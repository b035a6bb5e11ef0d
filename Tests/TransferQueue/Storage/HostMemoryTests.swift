import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("What is known of hosts") struct HostMemoryTests {
    @Test("hosts that nothing leads to are forgotten after a time, some of them at once; those of a batch stay")
    func forgotten() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        // The origin of the batch is that of `http://host/in/`.
        let used = try await queue.writer.lanes()[0].origin
        for origin in [used, "https://a:443", "https://b:443"] {
            try await queue.writer.remember(host: origin, facts: [1])
        }
        sandbox.clock.advance(by: .seconds(10))
        try await queue.writer.remember(host: "https://new:443", facts: [1])
        let limit = sandbox.clock.now
        #expect(try await queue.writer.forgetHosts(learntBefore: limit, limit: 1) == ["https://a:443"])
        #expect(try await queue.writer.forgetHosts(learntBefore: limit, limit: 9) == ["https://b:443"])
        let commits = await queue.writer.commits
        #expect(try await queue.writer.forgetHosts(learntBefore: limit, limit: 9) == [])
        #expect(await queue.writer.commits == commits, "nothing to forget is no commit")
        #expect(try await queue.writer.hosts().keys.sorted() == [used, "https://new:443"].sorted())
        try await queue.close()
    }

    @Test("damaged names of hosts are forgotten like all others, and never come again")
    func damaged() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        for value in ["CAST(x'68FF' AS TEXT)", "x'00FF'", "'a' || char(0) || 'b'", "'https://a:443'"] {
            try await queue.writer.learn(value)
        }
        let limit = Timestamp(milliseconds: 1000)
        var rounds = 0
        while try await queue.writer.forgetHosts(learntBefore: limit, limit: 1).count == 1, rounds < 10 { rounds += 1 }
        #expect(rounds == 4)
        #expect(try await queue.writer.hosts().isEmpty)
        try await queue.close()
    }
}

extension QueueWriter {
    /// Writes a host whose name is an expression of SQL.
    fileprivate func learn(_ name: String) throws {
        try store.database.execute(script: "INSERT INTO hosts VALUES (\(name), x'7B7D', 1)")
    }
}
