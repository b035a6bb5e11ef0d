import CommandLine
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("verify") struct VerifyingTests {
    private func bench(_ folders: [VerifiedFolder]) -> Bench {
        let bench = Bench { _ in }
        bench.engine.state.withLock { $0.verified = folders }
        return bench
    }

    private let whole = VerifiedFolder(destination: "dav://h/a/", files: 12_000, found: 12_000, absent: [])
    private let broken = VerifiedFolder(
        destination: "dav://h/b/", files: 3, found: 2,
        absent: [
            AbsentTask(
                task: TaskID(rawValue: 5), path: "b/x",
                error: TransferError(.notThere, "h does not list it", .retry("retry sends it again")))
        ])

    @Test("says that all is there, folder by folder and in all")
    func all() async {
        let bench = bench([whole, whole])
        #expect(await bench.run("verify", "b7") == .done)
        #expect(bench.output == "b7: at the server, 24,000 of 24,000\n")
        #expect(bench.engine.asked.last == "verify b7")
    }

    @Test("names each file that is not, what brings it back, and has a status for it")
    func missing() async {
        let bench = bench([whole, broken])
        #expect(await bench.run("verify", "b7") == .refused)
        #expect(
            bench.output == """
                t5 b/x: h does not list it: retry sends it again
                b7: at the server, 12,002 of 12,003; 'martlet retry b7' sends again what is missing

                """)
    }

    @Test("what failed or was cancelled before it was there is not there, and does not pass")
    func unsent() async {
        let bench = bench([whole])
        bench.engine.state.withLock { $0.unsent = 2 }
        #expect(await bench.run("verify", "b7") == .refused)
        #expect(bench.output == "b7: at the server, 12,000 of 12,000; 2 not sent: see 'martlet why b7'\n")
        bench.engine.state.withLock { $0.verified = [] }
        #expect(await bench.run("verify", "b7") == .refused)
    }

    @Test("where nobody can say it, that is said, and is not well")
    func unlisted() async {
        let folder = VerifiedFolder(
            destination: "ftp://h/a", files: 3, found: 0, absent: [], unlisted: "h does not list folders: look there")
        let bench = bench([folder])
        #expect(await bench.run("verify", "b7") == .refused)
        #expect(bench.output.hasPrefix("ftp://h/a: h does not list folders: look there\nb7: "))
    }

    @Test("--read-back says what every byte says, where nobody lists, too")
    func readBack() async {
        let bench = bench([
            VerifiedFolder(destination: "ftp://h/a", files: 3, found: 0, absent: [], unlisted: "h has no lists: look")
        ])
        let unread = AbsentTask(
            task: TaskID(rawValue: 6), path: "b/y",
            error: TransferError(.sourceChanged, "it has changed", .step("again")))
        let other = AbsentTask(
            task: TaskID(rawValue: 5), path: "b/x",
            error: TransferError(.notThere, "h gives other bytes", .step("look at it")))
        bench.engine.state.withLock {
            $0.readBack = [
                ReadBackProgress(files: 1, same: 1, bytes: 100),
                ReadBackProgress(files: 3, same: 3, bytes: 3 << 20, isOver: true),
            ]
        }
        #expect(await bench.run("verify", "b7", "--read-back") == .done)
        #expect(bench.engine.asked == ["verify b7", "readBack b7"])
        #expect(bench.output.contains("read back (3.0M), 3 of 3 are byte for byte as they were sent"))
        // One that was not read, as --if-exists skip leaves it, is nobody's word where nobody lists.
        bench.engine.state.withLock { $0.readBack = [ReadBackProgress(files: 2, same: 2, bytes: 100, isOver: true)] }
        #expect(await bench.run("verify", "b7", "--read-back") == .refused)
        bench.engine.state.withLock {
            $0.readBack = [
                ReadBackProgress(files: 2, same: 1, bytes: 100, findings: [other]),
                ReadBackProgress(files: 3, same: 1, bytes: 200, findings: [unread], isOver: true),
            ]
        }
        #expect(await bench.run("verify", "b7", "--read-back") == .refused)
        #expect(bench.output.contains("t5 b/x: h gives other bytes: look at it\n"))
        #expect(bench.output.contains("t6 b/y: it has changed: again\n"))
        #expect(bench.output.contains("1 of 3 are byte for byte"))
        #expect(bench.output.contains("'martlet retry b7' sends again what is missing"))
        #expect(await bench.run("verify", "b7", "--read-back", "--json") == .refused)
        let last = bench.output.split(separator: "\n").last ?? ""
        #expect(
            last.contains(#""readBack":{"bytes":200,"files":3,"same":1,"unread":[{"#) && last.contains(#""task":"t5""#))
    }

    @Test("a read-back that is broken off keeps what it has found, and says that the rest was not read")
    func brokenOff() async {
        let bench = bench([whole])
        let other = AbsentTask(
            task: TaskID(rawValue: 5), path: "b/x", error: TransferError(.notThere, "h gives other bytes: look at it"))
        bench.engine.state.withLock {
            $0.readBack = [ReadBackProgress(files: 2, same: 1, bytes: 100, findings: [other])]
            $0.readBackEnd = RequestError(.refused, "the others were not read")
        }
        #expect(await bench.run("verify", "b7", "--read-back") == .refused)
        #expect(bench.output.contains("t5 b/x: h gives other bytes: look at it\n"))
        #expect(!bench.output.contains("byte for byte"))
        #expect(await bench.run("verify", "b7", "--read-back", "--json") == .refused)
        let verified = bench.output.split(separator: "\n").first { $0.contains("readBack") } ?? ""
        #expect(verified.contains(#""brokenOff":"the others were not read""#) && verified.contains(#""task":"t5""#))
    }

    @Test("more findings than are told are counted")
    func untold() async {
        let bench = bench([whole])
        bench.engine.state.withLock {
            $0.readBack = [ReadBackProgress(files: 12_000, same: 11_000, bytes: 100, isOver: true)]
        }
        #expect(await bench.run("verify", "b7", "--read-back") == .refused)
        #expect(bench.output.contains("1000 more differ or could not be read"))
    }

    @Test("--json is one object for each ID")
    func json() async {
        let bench = bench([whole, broken])
        #expect(await bench.run("verify", "b7", "t9", "--json") == .refused)
        let lines = bench.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(#""id":"b7""#) && lines[1].contains(#""id":"t9""#))
        #expect(lines[0].contains(#""found":12002"#) && lines[0].contains(#""code":"notThere""#))
    }

    @Test("wants an ID")
    func usage() async {
        #expect(await bench([]).run("verify") == .usage)
    }
}
