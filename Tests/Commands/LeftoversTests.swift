import CommandLine
import MartletKit
import Synchronization
import Testing

@testable import Commands

@Suite("leftovers") struct LeftoversTests {
    private static let cancelled = Leftover(
        task: TaskID(rawValue: 3), batch: BatchID(rawValue: 1), state: .cancelled, protocol: "tus",
        destination: "tus+https://h/a", since: nil)
    private static let waiting = Leftover(
        task: TaskID(rawValue: 4), batch: BatchID(rawValue: 1), state: .waiting, protocol: "s3",
        destination: "s3://b/c", since: nil)

    private func bench(_ remains: [Leftover]) -> Bench {
        let bench = Bench { _ in }
        bench.engine.state.withLock { $0.remains = remains }
        return bench
    }

    @Test("are listed with what they would have become")
    func list() async {
        let bench = bench([Self.cancelled, Self.waiting])
        #expect(await bench.run("leftovers") == .done)
        #expect(bench.output.contains("t3       tus        cancelled  tus+https://h/a"))
        #expect(bench.output.contains("t4       s3         waiting    s3://b/c"))
        let none = self.bench([])
        #expect(await none.run("leftovers", "list") == .done)
        #expect(none.error == "nothing is left at any server\n")
    }

    @Test("--all means those of work that is over; a batch is no task")
    func abort() async {
        let bench = bench([Self.cancelled, Self.waiting])
        #expect(await bench.run("leftovers", "abort", "--all") == .done)
        #expect(bench.engine.asked.last == "abort t3")
        #expect(await bench.run("leftovers", "abort", "b1") == .usage)
        #expect(await bench.run("leftovers", "abort") == .usage)
    }
}
