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
}
