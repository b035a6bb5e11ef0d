import CommandLine
import LinuxSystem
import MartletKit
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
        #expect(await bench.run("leftovers", "abort", "--forget", "t3") == .done)
        #expect(bench.engine.asked.last == "forget t3")
        #expect(await bench.run("leftovers", "abort", "t3", "--upload", "x") == .usage)
    }

    private func bucketBench() -> Bench {
        let bench = Bench { $0.environment = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK"] }
        bench.engine.state.withLock {
            $0.uploads = [
                BucketUpload(
                    destination: "s3://b/p/ours", uploadID: "u1", begun: Timestamp(milliseconds: 0),
                    task: TaskID(rawValue: 3)),
                BucketUpload(destination: "s3://b/p/theirs", uploadID: "u2", begun: nil, task: nil),
            ]
        }
        return bench
    }

    @Test("in a bucket ours are told from others', and only what is named is taken away")
    func bucket() async {
        let bench = bucketBench()
        #expect(await bench.run("leftovers", "list", "--in", "s3://b/p") == .done)
        #expect(bench.engine.asked.last == "search s3://b/p AK")
        #expect(bench.output.contains("t3       1970-01-01T00:00:00.000Z  s3://b/p/ours  u1"))
        #expect(bench.output.contains("-        -                         s3://b/p/theirs  u2"))
        #expect(bench.error.contains("not this queue's"))
        #expect(await bench.run("leftovers", "abort", "--in", "s3://b/p", "--upload", "u2") == .done)
        #expect(bench.engine.asked.last == "search s3://b/p AK u2")
        #expect(bench.output.contains("u2 taken away"))
        #expect(await bench.run("leftovers", "abort", "--in", "s3://b/p", "--upload", "u9") == .noSuchObject)
        #expect(await bench.run("leftovers", "abort", "--in", "s3://b/p", "--all") == .usage)
        #expect(await bench.run("leftovers", "abort", "--in", "s3://b/p") == .usage)
        #expect(await bench.run("leftovers", "list", "--in", "https://h/") == .usage)
    }
}
