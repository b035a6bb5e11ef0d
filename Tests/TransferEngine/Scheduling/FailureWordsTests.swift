import LinuxSystem
import SQLiteConnection
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// Each failure is made to happen, and its message has to name what happened and what mends it.
@Suite("Failures are told as what they are", .timeLimit(.minutes(2))) struct FailureWordsTests {
    private func error(
        of request: (EngineHarness) -> BatchRequest, _ plan: @escaping FakeStore.Plan
    ) async throws -> TransferError {
        let harness = try await EngineHarness(plan: plan)
        try harness.sandbox.write("f", pattern(100_000))
        let batch = try await harness.add(request(harness))
        let task = try await harness.task(of: batch) { $0.error != nil }
        await harness.stop()
        return try #require(task.error)
    }

    @Test("a line of a header that is too long is the server's fault, not a lack of memory")
    func longHeader() async throws {
        let line = "X-Long: " + String(repeating: "a", count: 1 << 20)
        let error = try await error(of: { $0.request(upload: ["f"]) }) { _, _ in
            .answer("201 Created", fields: [line])
        }
        #expect(error.code == .badServerResponse)
        #expect(error.happening.hasSuffix("sent a line in its header that is too long"))
        #expect(!error.message.contains("memory"))
    }

    @Test("a server that a redirect leads to is named when it does not answer")
    func redirected() async throws {
        let dead = try ClosedPort()
        let error = try await error(of: { $0.request(upload: ["f"]) }) { request, _ in
            request.method == "PUT"
                ? .answer("307 Temporary Redirect", fields: ["Location: http://127.0.0.1:\(dead.port)/f"]) : .ordinary
        }
        #expect(error.code == .cannotConnectToHost)
        #expect(error.happening.hasPrefix("127.0.0.1:\(dead.port) does not accept the connection"), "\(error.message)")
    }

    @Test("raw blanks in a Location are followed, as browsers do")
    func blanks() async throws {
        let harness = try await EngineHarness { request, _ in
            request.target == "/in/f"
                ? .answer("307 Temporary Redirect", fields: ["Location: /other place/f"]) : .ordinary
        }
        try harness.sandbox.write("f", [1, 2, 3])
        let task = try await harness.run(harness.request(upload: ["f"]))
        #expect(task.state == .completed && harness.store["/other%20place/f"] == [1, 2, 3], "\(task)")
        await harness.stop()
    }

    @Test("a file that has become a directory is told to be one")
    func directory() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.held = true })
        _ = try await harness.batch(batch) { !$0.scanning && $0.filesTotal == 1 }
        try System.unlink(harness.sandbox.path("f"))
        try System.mkdirs(harness.sandbox.path("f"), mode: 0o755)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        let error = try #require(try await harness.task(of: batch) { $0.state == .failed }.error)
        #expect(error.happening.hasSuffix("/f was queued as a file and is a directory now"), "\(error.message)")
        #expect(error.finding.advice == "queue it again")
        await harness.stop()
    }

    @Test("an address or an ssh command that nobody can use is told before anything is sent")
    func unusable() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let source = UploadSource(path: RawPath(harness.sandbox.path("f")), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "sftp://127.0.0.1:9/in/"))
        request.options.sshCommand = "ssh 'a"
        let task = try await harness.run(request)
        #expect(task.error?.message == "the ssh command has an open quote: queue it again with another --ssh-command")
        await harness.stop()
    }

    @Test("what keeps a request from being made, or credentials from being had, is told")
    func unmade() async throws {
        let header = try await error(of: { harness in
            harness.request(upload: ["f"]) { $0.secrets.headers = [HeaderField("A", "b\nX-Evil: 1")] }
        }) { _, _ in .ordinary }
        #expect(
            header.message == "a header field is not one line 'Name: value': give it anew with 'martlet set b1'")
        let program = try await error(of: { harness in
            harness.request(upload: ["f"]) {
                $0.secrets.user = "ana"
                $0.secrets.netrcFile = RawPath("/no/such")
            }
        }) { _, _ in .ordinary }
        #expect(program.message == "/no/such cannot be read (No such file or directory): mend it and retry")
        #if DEBUG
            ForcedFailures.fail(.pthreadCreate, on: .path(containing: "credentials"), with: .notPermitted)
            guard case .failed(let error) = await CredentialSource.find(TransferSecrets()) else {
                Issue.record("credentials are had without a thread")
                return
            }
            #expect(
                error.message == "what lets it in cannot be asked for (Operation not permitted): mend it and retry")
        #endif
    }

    @Test("files that the queue does not take are told in the log, and are listed when it does")
    func unlisted() async throws {
        let reports = RecordingReports()
        let harness = try await EngineHarness(reports: reports)
        try harness.sandbox.write("d/f", [1])
        let batch = try await harness.queue.writer.add(harness.request(upload: ["d"])).batch
        try harness.refuseCommits()
        await harness.engine.batchAdded(batch)
        func told() -> String? { reports.all.withLock { $0 }.map(\.message).first { $0.hasPrefix("the files of b1 ") } }
        try await until { told() != nil }
        try harness.acceptCommits()
        #expect(told()?.hasPrefix("the files of b1 cannot be listed and queued now: ") == true)
        #expect(try await harness.finished(batch).filesCompleted == 1)
        await harness.stop()
    }

    @Test("a destination that is no address any more is told")
    func malformed() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.held = true })
        try await harness.batch(batch) { !$0.scanning && $0.filesTotal == 1 }
        let database = try SQLiteConnection(
            path: harness.sandbox.path("state/queue.sqlite"), access: .readWrite)
        try database.execute(script: "UPDATE batches SET destination = 'http:///in/'")
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        let error = try #require(try await harness.task(of: batch) { $0.state == .failed }.error)
        #expect(error.message == "the destination's address is malformed: queue it again")
        await harness.stop()
    }

    @Test("what has the name of a download, and is no file, is named")
    func noFile() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", [1, 2, 3])
        try System.mkdirs(harness.sandbox.path("out"), mode: 0o755)
        try System.mkfifo(harness.sandbox.path("out/f"), mode: 0o600)
        let piped = try await harness.run(harness.request(download: ["/f"], as: "f") { $0.options.ifExists = .skip })
        #expect(
            piped.error?.message.hasSuffix(
                "/out/f is there and is no file: move that away and retry, or queue it again under another name")
                == true)
        let taken = try await harness.run(harness.request(download: ["/f"], as: "f"))
        #expect(
            taken.error?.message.hasSuffix(
                "/out/f is already there: move it, or set --if-exists replace for its batch") == true,
            "\(String(describing: taken.error))")
        await harness.stop()
    }
}
