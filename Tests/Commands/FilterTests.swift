import CommandLine
import MartletKit
import Testing

@testable import Commands

@Suite("--filter selects what the screen's filter shows")
struct FilterTests {
    @Test("list and wait ask the engine for the tasks that match, with the other conditions")
    func asks() async {
        let bench = Bench(FakeEngine { $0.tasks = [.sample(1, .completed)] })
        #expect(await bench.run("list", "--filter", "size>1G !@done", "--batch", "b7") == .done)
        #expect(bench.engine.asked.contains("tasks  size>1G !@done"))
        #expect(await bench.run("wait", "--filter", "*.cr3", "--failed") == .done)
        #expect(bench.engine.asked.contains("tasks failed *.cr3"))
    }

    @Test("changes are for what matches", arguments: ["pause", "resume", "cancel", "retry"])
    func changes(command: String) async throws {
        guard
            case .run(let invocation) = try MartletProgram.program.parse(
                [command, "--filter", "@err 403"].map { Argument($0) })
        else { return }
        let selection = try Selection(invocation, command: command)
        #expect(selection?.choice == .matching(NodeSelector(filter: "@err 403")))
    }

    @Test("what is no filter is refused with its place, before anything is asked")
    func refused() async {
        let bench = Bench(FakeEngine())
        #expect(await bench.run("pause", "--filter", "size>") == .usage)
        #expect(bench.error.contains("pause: --filter is wrong at character 6: a number is missing"))
        #expect(await bench.run("list", "--filter", "@err", "--session", "photos") == .usage)
        #expect(bench.error.contains("--filter and --session together"))
        #expect(await bench.run("cancel", "t7", "--filter", "@err") == .usage)
        #expect(bench.engine.asked.isEmpty)
    }
}
