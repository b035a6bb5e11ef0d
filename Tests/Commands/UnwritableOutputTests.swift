import CommandLine
import Configuration
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("Output that cannot be written")
struct UnwritableOutputTests {
    @Test("output that cannot be written is said with cause and cure; a reader that has seen enough is no failure")
    func unwritable() {
        #expect(Console.end(after: .brokenPipe).status == .done)
        #expect(Console.end(after: .brokenPipe).message == nil)
        let full = Console.end(after: .noSpace)
        #expect(full.status == .refused)
        #expect(
            full.message
                == "martlet: the output could not be written (\(Errno.noSpace)): make room there, or write to another place"
        )
        #expect(Console.end(after: .badDescriptor).message?.contains(">/dev/null") == true)
    }

    @Test("every command that cannot write ends so, and what was queued is said to be queued")
    func unwritableCommands() async throws {
        let sandbox = try Sandbox()
        try sandbox.file("a")
        let end = { (words: [String]) async -> (statuses: [Int32], error: String) in
            let engine = FakeEngine { $0.batches = [.sample(7, .completed)] }
            var surroundings = Surroundings(currentDirectory: sandbox.path, now: { 0 }, calendar: .utc)
            surroundings.queueExists = true
            let said = Mutex<([Int32], [UInt8])>(([], []))
            let console = Console(leave: { status in said.withLock { $0.0.append(status.rawValue) } }) {
                stream, bytes throws(Errno) in
                if stream == .output { throw .noSpace }
                said.withLock { $0.1 += bytes }
            }
            guard case .run(let line)? = try? MartletProgram.program.parse(words.map { Argument($0) }) else {
                return ([], "")
            }
            _ = await CommandContext(engine: engine, console: console, surroundings: surroundings).run(line)
            return said.withLock { ($0.0, String(decoding: $0.1, as: UTF8.self)) }
        }
        for words in [["list"], ["list", "--json"], ["watch", "b7"], ["why"], ["session", "list"]] {
            let (statuses, error) = await end(words)
            #expect(statuses.first == 1, "\(words)")
            #expect(error.contains("could not be written"), "\(words)")
        }
        let (statuses, error) = await end(["upload", "a", "https://h/x/"])
        #expect(statuses == [0])
        #expect(error.contains("but b7 is queued: make room there"))
    }
}
