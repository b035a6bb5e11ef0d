import CommandLine
import Configuration
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("Output that cannot be written")
struct UnwritableOutputTests {
    @Test("output that cannot be written is said with cause and cure")
    func unwritable() {
        let full = Console.end(after: .noSpace)
        #expect(full.status == .refused)
        #expect(
            full.message
                == "martlet: the output could not be written (\(Errno.noSpace)): make room there, or write to another place"
        )
        #expect(Console.end(after: .badDescriptor).message.contains(">/dev/null"))
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

    @Test("a reader that has gone ends what only lists, and of nothing else it decides the status")
    func brokenPipe() async throws {
        // As a unit of systemd ignores it.
        Signals.ignoreBrokenPipe()
        let sandbox = try Sandbox()
        try sandbox.file("a")
        let end = { (words: [String], state: TransferState) async throws -> (status: Int32, left: [Int32]) in
            var batch = BatchSnapshot.sample(7, state)
            if state == .failed { batch.filesFailed = 1 }
            let engine = FakeEngine { [batch] in $0.batches = [batch] }
            var surroundings = Surroundings(currentDirectory: sandbox.path, now: { 0 }, calendar: .utc)
            surroundings.queueExists = true
            let left = Mutex<[Int32]>([])
            let pipe = try System.pipe()
            pipe.read.close()
            let console = Console(leave: { status in left.withLock { $0.append(status.rawValue) } }) {
                stream, bytes throws(Errno) in
                guard stream == .output else { return }
                let rest = bytes.span.bytes
                try rest.withUnsafeBytes { buffer throws(Errno) in try System.writeAll(pipe.write.rawValue, buffer) }
            }
            guard case .run(let line) = try MartletProgram.program.parse(words.map { Argument($0) }) else {
                throw Errno.invalidArgument
            }
            let context = CommandContext(engine: engine, console: console, surroundings: surroundings)
            let status = await context.run(line)
            return (status.rawValue, left.withLock(\.self))
        }
        for words in [["wait", "b7"], ["wait", "b7", "--json"], ["upload", "--wait", "a", "https://h/x/"]] {
            let failed = try await end(words, .failed)
            #expect(failed.status == 1 && failed.left.isEmpty, "\(words) \(failed)")
            let done = try await end(words, .completed)
            #expect(done.status == 0 && done.left.isEmpty, "\(words) \(done)")
        }
        #expect(try await end(["list"], .failed).left == [0])
        #expect(try await end(["list", "b9"], .failed).status == 3)
    }
}
