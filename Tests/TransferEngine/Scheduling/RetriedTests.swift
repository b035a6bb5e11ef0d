import Digests
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// What a person's retry does about a copy at the server that is not the file.
@Suite("Retried after a copy went wrong", .timeLimit(.minutes(2))) struct RetriedTests {
    private func retry(_ batch: BatchID, _ harness: EngineHarness) async throws -> TaskSnapshot {
        let change = try await harness.queue.writer.retry([.batch(batch)])
        #expect(change.results.map(\.result) == [.done])
        await harness.engine.queueChanged()
        return try await harness.task(of: batch) { $0.state.isTerminal }
    }

    @Test(
        "a copy with other bytes never passes for the file at a retry, and when it is gone the file is sent from its beginning"
    )
    func differing() async throws {
        let bytes = pattern(300_000)
        let others = DigestAlgorithm.sha256.digest(of: pattern(7)).base64
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0
                ? .answer("201 Created", fields: ["Repr-Digest: sha-256=:\(others):"]) : .ordinary
        }
        try harness.sandbox.write("f", bytes)
        let batch = try await harness.add(harness.request(upload: ["f"]))
        let failed = try await harness.task(of: batch) { $0.state == .failed }
        // All of it was sent; none of that counts when it begins anew.
        #expect(failed.cause == .integrity && failed.bytesAccepted == 300_000)
        // As long as the file, and as new as the attempt.
        harness.store.put("/in/f", pattern(300_000, seed: 3))
        #expect(try await retry(batch, harness).cause == .destinationExists)
        harness.store.remove("/in/f")
        let sent = try await retry(batch, harness)
        #expect(sent.state == .completed && harness.store["/in/f"] == bytes)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "a damaged copy of ours is replaced at a retry and passes for nothing, whatever is done about other people's files",
        arguments: [ExistingFilePolicy.fail, .skip, .replace])
    func damaged(policy: ExistingFilePolicy) async throws {
        let bytes = pattern(300_000)
        let others = DigestAlgorithm.sha256.digest(of: pattern(7)).base64
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0
                ? .answer("201 Created", fields: ["Repr-Digest: sha-256=:\(others):", "ETag: \"v1\""]) : .ordinary
        }
        try harness.sandbox.write("f", bytes)
        harness.store.put("/in/f", pattern(300_000, seed: 3))
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.ifExists = policy })
        #expect(try await harness.task(of: batch) { $0.state == .failed }.cause == .integrity)
        let sent = try await retry(batch, harness)
        #expect(sent.state == .completed && !sent.skipped && harness.store["/in/f"] == bytes, "\(sent)")
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that is sent anew begins at nothing, and its bytes are those of a run of its own")
    func anew() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(300_000))
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.ifExists = .replace })
        let sent = try await harness.task(of: batch) { $0.state.isTerminal }
        let absent = AbsentFile(
            SentRun(sent.id, run: 0, finishedAt: try #require(sent.finishedAt)),
            error: TransferError(.notThere, "other"),
            isOther: true)
        #expect(
            try await harness.queue.writer.fail(absent: [absent], otherLies: LastLookVerdict.otherLies) == [sent.id])
        let again = try await retry(batch, harness)
        #expect(again.state == .completed && again.restarts == 1 && again.bytesRepeated == 300_000, "\(again)")
        try await harness.expectSound()
        await harness.stop()
    }

    /// A file that is written to while its server takes it; `fail` is said for that.
    private func changed(_ sandbox: Sandbox, _ harness: EngineHarness) async throws -> BatchID {
        try sandbox.write("f", pattern(300_000))
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.ifChanged = .fail })
        let failed = try await harness.task(of: batch) { $0.state == .failed }
        #expect(failed.cause == .sourceChanged && failed.bytesAccepted == 300_000)
        #expect(failed.error?.message.contains("is not a faithful copy of it") == true, "\(failed)")
        #expect(harness.store.paths == ["/in/f"])
        return batch
    }

    /// Writes to the source when all of the first PUT has come.
    private func harness(_ sandbox: Sandbox, _ newer: [UInt8]) async throws -> EngineHarness {
        try await EngineHarness(sandbox: sandbox) { request, earlier in
            guard request.method == "PUT", earlier == 0 else { return .ordinary }
            return .afterBody { _ = try? sandbox.write("f", newer) }
        }
    }

    @Test(
        "a source that is written to before its last byte went leaves no mixture at the server",
        .tells(
            "/f changed before all of it was sent: retry when nobody writes to it any more"))
    func changedInTime() async throws {
        let sandbox = try Sandbox("engine")
        let newer = pattern(300_000, seed: 5)
        let harness = try await EngineHarness(sandbox: sandbox) { request, _ in
            if request.method == "PUT" { _ = try? sandbox.write("f", newer) }
            return .ordinary
        }
        try sandbox.write("f", pattern(300_000))
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.ifChanged = .fail })
        let failed = try await harness.task(of: batch) { $0.state == .failed }
        #expect(failed.cause == .sourceChanged, "\(failed)")
        #expect(harness.store.paths.isEmpty)
        await harness.stop()
    }

    @Test(
        "--if-changed fail holds for what happens by itself: a retry sends the source as it is now, over what was left there"
    )
    func changed() async throws {
        let sandbox = try Sandbox("engine")
        let newer = pattern(400_000, seed: 5)
        let harness = try await harness(sandbox, newer)
        let batch = try await changed(sandbox, harness)
        let sent = try await retry(batch, harness)
        #expect(sent.state == .completed && sent.bytesTotal == 400_000, "\(sent)")
        #expect((harness.store["/in/f"] == newer) as Bool)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "what was left there may be gone at the retry; another one's file in its place is not replaced",
        arguments: [true, false])
    func gone(isGone: Bool) async throws {
        let sandbox = try Sandbox("engine")
        let newer = pattern(300_000, seed: 5)
        let harness = try await harness(sandbox, newer)
        let batch = try await changed(sandbox, harness)
        let foreign = pattern(300_000, seed: 9)
        if isGone { harness.store.remove("/in/f") } else { harness.store.put("/in/f", foreign) }
        let task = try await retry(batch, harness)
        #expect(isGone ? task.state == .completed : task.cause == .unknownOutcome, "\(task)")
        #expect((harness.store["/in/f"] == (isGone ? newer : foreign)) as Bool)
        await harness.stop()
    }

    @Test("a source that changed after it was queued is sent as it is when a person retries it")
    func changedBefore() async throws {
        let harness = try await EngineHarness(started: false)
        try harness.sandbox.write("f", pattern(10))
        let request = harness.request(upload: ["f"]) { request in
            request.options.ifChanged = .fail
            request.held = true
        }
        let batch = try await harness.queue.writer.add(request).batch
        try await harness.engine.start()
        try await harness.batch(batch) { $0.filesTotal == 1 && !$0.scanning }
        try harness.sandbox.write("f", pattern(20))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.task(of: batch) { $0.cause == .sourceChanged }
        let sent = try await retry(batch, harness)
        #expect(sent.state == .completed && harness.store["/in/f"] == pattern(20), "\(sent)")
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "a name with control characters is told to be none that FTP carries, before anything is asked",
        arguments: ["a\nb", "a\u{1b}b"])
    func ftpName(name: String) async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write(name, [1])
        let closed = try ClosedPort()
        let task = try await harness.run(
            harness.request(upload: [name]) { request in
                if case .upload(let sources, _) = request.work {
                    request.work = .upload(sources, to: "ftp://127.0.0.1:\(closed.port)/in/")
                }
            })
        #expect(task.state == .failed && task.cause == .unsupported)
        #expect(task.error?.happening.hasSuffix("has control characters in its name, which FTP cannot carry") == true)
        #expect(task.error?.finding.advice.contains("rename it") == true)
        #expect(task.error?.message.utf8.allSatisfy { $0 >= 32 } == true)
        await harness.stop()
    }
}
