import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// Without a free descriptor everything waits and goes on by itself; nothing fails for good, and nobody has to do anything.
@Suite(.timeLimit(.minutes(2))) struct ShortageTests {
    /// Of this test alone: others run beside it.
    private let name = "short-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

    private func exhaust(_ part: String, times: Int = 2) {
        ForcedFailures.fail(.open, on: .path(containing: part), with: .tooManyOpenFiles, times: times)
    }

    @Test("an upload whose source cannot be opened for that, and no other file of its batch is tried meanwhile")
    func source() async throws {
        let harness = try await EngineHarness()
        let names = (0..<20).map { "\(name)-\($0)" }
        for name in names { try harness.sandbox.write(name, [1, 2, 3]) }
        exhaust(name)
        let batch = try await harness.add(harness.request(upload: names))
        let end = try await harness.finished(batch)
        #expect(end.filesCompleted == 20 && end.filesFailed == 0)
        let waits = try await harness.events(.waiting)
        #expect(waits.count == 2 && waits.allSatisfy { $0.payload.error?.code == .tooManyOpenFiles })
        #expect(harness.store.count("PUT", "/in/\(names[0])") == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("FTP waits for a thread that is not to be had now")
    func thread() async {
        // In a process of its own: other tests beside this one begin threads for FTP, too.
        await #expect(processExitsWith: .success) {
            let harness = try await EngineHarness()
            try harness.sandbox.write("f", [1])
            let port = try ClosedPort()
            ForcedFailures.fail(.pthreadCreate, on: .path(containing: "ftp"), with: .wouldBlock)
            let source = UploadSource(path: RawPath(harness.sandbox.path("f")), placement: .named(RawPath("f")))
            let batch = try await harness.add(
                BatchRequest(work: .upload([source], to: "ftp://127.0.0.1:\(port.port)/in/")))
            let task = try await harness.task(of: batch) { $0.error != nil }
            let told = try await harness.events(.waiting).first?.payload.error?.message
            precondition(
                told
                    == "this machine has no thread left for FTP: raise the limit (ulimit -u, or TasksMax of the service) or lower --transfers; Martlet tries again by itself"
            )
            precondition(!task.state.isTerminal)
            await harness.stop()
        }
    }

    @Test("a folder that cannot be listed for that is listed later, and no file of it is left out or sent twice")
    func walk() async throws {
        let harness = try await EngineHarness()
        for folder in ["a", name, "z"] {
            for file in 0..<3 { try harness.sandbox.write("d/\(folder)/\(file)", [1]) }
        }
        ForcedFailures.fail(.openat2, on: .path(containing: name), with: .tooManyOpenFiles, times: 2)
        let batch = try await harness.add(harness.request(upload: ["d"]))
        let end = try await harness.finished(batch)
        #expect(end.filesCompleted == 9 && end.filesFailed == 0)
        #expect(harness.store.paths.count == 9)
        #expect(harness.store.count("PUT", "/in/d/\(name)/1") == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a netrc file that cannot be opened for that is read later, and no person is waited for")
    func credentials() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let netrc = try harness.sandbox.write(name, Array("machine 127.0.0.1 login me password pw\n".utf8))
        exhaust(name)
        let task = try await harness.run(
            harness.request(upload: ["f"]) { $0.secrets.netrcFile = RawPath(netrc) })
        #expect(task.state == .completed)
        #expect(try await harness.events(.waiting).isEmpty)
        await harness.stop()
    }
}
