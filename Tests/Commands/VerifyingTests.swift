import CommandLine
import MartletKit
import Synchronization
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
                error: TransferError(.notThere, "h does not list it: retry sends it again"))
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
                b7: at the server, 12,002 of 12,003: 'martlet retry b7' sends the rest again

                """)
    }

    @Test("where nobody can say it, that is said, and is not well")
    func unlisted() async {
        let folder = VerifiedFolder(
            destination: "ftp://h/a", files: 3, found: 0, absent: [], unlisted: "h does not list folders: look there")
        let bench = bench([folder])
        #expect(await bench.run("verify", "b7") == .refused)
        #expect(bench.output.hasPrefix("ftp://h/a: h does not list folders: look there\nb7: "))
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
