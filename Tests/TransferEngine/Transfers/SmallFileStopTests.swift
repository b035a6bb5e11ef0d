import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

/// A small file over SFTP has no recorded resume point while it moves: a stop records one. The server is OpenSSH's own, reached
/// without ssh.
@Suite(.timeLimit(.minutes(2))) struct SmallFileStopTests {
    @Test("a pause in the middle of a small file over SFTP records what the next attempt goes on by")
    func paused() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(900_000))
        let go = String(decoding: harness.sandbox.path("go"), as: UTF8.self)
        #expect(mkfifo(go, 0o600) == 0)
        // Open at both ends, so that the server waits for the rest of the file, and its input does not end.
        let gate = try System.open(Array(go.utf8), flags: O_RDWR)
        let server = "/usr/lib/openssh/sftp-server"
        let script = "{ dd bs=1 count=200000 2>/dev/null; exec cat <\(go); } | \(server)\n"
        try harness.sandbox.write("ssh", Array(script.utf8))
        let folder = String(decoding: harness.sandbox.path("far"), as: UTF8.self)
        let source = UploadSource(path: RawPath(harness.sandbox.path("f")), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "sftp://there\(folder)/"))
        request.options.sshCommand = "/bin/sh \(String(decoding: harness.sandbox.path("ssh"), as: UTF8.self))"
        let batch = try await harness.add(request)
        try await until { await harness.engine.live().tasks.contains { $0.bytesSent > 0 } }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        let left = try #require(try await harness.queue.writer.remains(in: [.queued]).first)
        #expect(left.protocolName == "sftp")
        #expect(try await harness.queue.reader.task(left.task.id)?.restarts == 0)
        await harness.stop()
        _ = gate
    }
}
