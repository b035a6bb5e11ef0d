import CommandLine
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("Sessions are shown, and forgotten when their work is over")
struct SessionTests {
    @Test("show prints sums, limit and batches")
    func show() async {
        let engine = FakeEngine {
            $0.batches = [.sample(7, .completed), .sample(8, .running)]
            $0.limits.scoped = [ScopedLimit(kind: .session, name: "default", rate: 2048)]
        }
        let bench = Bench(engine)
        #expect(await bench.run("session", "show", "default") == .done)
        #expect(bench.output.contains("Batches   2, 1 of them not over\n"))
        #expect(bench.output.contains("Limit     2.0K/s\n"))
        #expect(bench.output.contains("b8 "))
        let json = Bench(engine)
        #expect(await json.run("session", "show", "default", "--json") == .done)
        #expect(json.output.contains("\"limit\":2048"))
        #expect(await bench.run("session", "show", "photos") == .noSuchObject)
    }

    @Test("remove forgets nothing while something is not over, then all of it and the limit")
    func remove() async {
        let busy = Bench(FakeEngine { $0.batches = [.sample(7, .completed), .sample(8, .running)] })
        #expect(await busy.run("session", "remove", "default") == .refused)
        #expect(
            busy.error.contains("b8 of default are not over: wait for them, or run martlet cancel --session default"))
        #expect(!busy.engine.asked.contains { $0.hasPrefix("purge") })
        let engine = FakeEngine {
            $0.batches = [.sample(7, .completed)]
            $0.results = [NodeResult(id: .batch(BatchID(rawValue: 7)), result: .done)]
            $0.limits.scoped = [ScopedLimit(kind: .session, name: "default", rate: 2048)]
        }
        let over = Bench(engine)
        #expect(await over.run("session", "remove", "default") == .done)
        #expect(over.output == "b7 forgotten\n")
        #expect(engine.asked.contains("purge b7"))
        #expect(
            engine.state.withLock { $0.wishes } == [
                LimitsWish(scoped: [ScopedLimit(kind: .session, name: "default", rate: 0)])
            ])
    }
}
