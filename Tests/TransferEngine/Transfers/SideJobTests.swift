import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// What looks and read-backs do beside other batches, other logins and other rules than those that the files were sent with.
@Suite("Looks and read-backs beside other work", .timeLimit(.minutes(2))) struct SideJobTests {
    private func upload(
        _ harness: EngineHarness, _ name: String, _ change: (inout BatchRequest) -> Void = { _ in }
    ) -> BatchRequest {
        let source = UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name)))
        let url = "dav" + harness.store.url("/in/").dropFirst("http".count)
        var request = BatchRequest(work: .upload([source], to: url))
        request.secrets.user = "me"
        request.secrets.password = "pw"
        change(&request)
        return request
    }

    private func readBack(
        _ batch: BatchID, _ harness: EngineHarness, _ change: (FileToReadBack) -> FileToReadBack = { $0 }
    ) async throws -> [ReadBackOutcome] {
        guard case .folder(let folder) = try await harness.queue.writer.folderToVerify(.batch(batch), after: nil) else {
            return []
        }
        var outcomes: [ReadBackOutcome] = []
        for file in try await harness.queue.reader.filesToReadBack(
            in: folder.look.folder, only: nil, after: nil, limit: 10)
        {
            outcomes.append(try await harness.engine.readBack(change(file), in: folder.look, ReadBackMeter()))
        }
        for case .unread(let error) in outcomes { Telling.note(error.message) }
        for case .other(let error) in outcomes { Telling.note(error.message) }
        return outcomes
    }

    @Test(
        "what cannot be compared, and what is not there or is not the same, is told as that",
        .tells(
            "/a has changed since it was sent, and no SHA-256 of it was kept: 'martlet again b1' sends it as it is now",
            " of the file here, which was not sent as one like it stood there: look at it",
            " does not have it any more: retry sends it again"))
    func told() async throws {
        let harness = try await EngineHarness()
        var batches: [BatchID] = []
        for name in ["a", "b", "c"] {
            try harness.sandbox.write(name, pattern(90_000))
            batches.append(try await harness.add(upload(harness, name)))
            try await harness.finished(batches[batches.count - 1])
        }
        try harness.sandbox.write("a", pattern(80_000, seed: 5))
        harness.store.put("/in/b", pattern(90_000, seed: 6))
        harness.store.remove("/in/c")
        for batch in batches {
            _ = try await readBack(batch, harness) { file in
                var file = file
                file.isSkipped = batch == batches[1]
                return file
            }
        }
        await harness.stop()
    }

    @Test(
        "a file whose name a later batch has written is not failed by reading it back",
        .tells(
            "a later batch of yours has sent another file to its name: 'martlet verify --read-back ID' of that batch reads it"
        ))
    func laterWriter() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("a", pattern(90_000))
        let first = try await harness.add(upload(harness, "a"))
        try await harness.finished(first)
        #expect(try await readBack(first, harness) == [.same])
        try harness.sandbox.write("a", pattern(70_000, seed: 5))
        let second = try await harness.add(upload(harness, "a") { $0.options.ifExists = .replace })
        try await harness.finished(second)
        guard case .unread? = try await readBack(first, harness).first else {
            Issue.record("another file's bytes are said to be its own, or it is failed")
            return
        }
        #expect(try await harness.tasks(first).map(\.state) == [.completed])
        #expect(try await readBack(second, harness) == [.same])
        // What nobody of us has written fails.
        harness.store.put("/in/a", pattern(70_000, seed: 6))
        guard case .other? = try await readBack(second, harness).first else {
            Issue.record("a stranger's bytes pass")
            return
        }
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that the rule of that time spared is nobody's to compare, whatever the rule is now")
    func spared() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("a", pattern(90_000))
        harness.store.put("/in/a", pattern(50_000, seed: 7))
        let batch = try await harness.add(upload(harness, "a") { $0.options.ifExists = .skip })
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).map(\.skipped) == [true])
        _ = try await harness.queue.writer.set([.batch(batch)], NodeSettings(ifExists: .replace))
        await harness.engine.queueChanged()
        #expect(try await readBack(batch, harness) == [.notCompared])
        #expect(try await harness.tasks(batch).map(\.state) == [.completed])
        await harness.stop()
    }

    @Test("a login that is refused is shown once by looks and read-backs, which go on when it is mended")
    func refusedLogin() async throws {
        let isRevoked = SharedValue(false)
        let refused = SharedValue(0)
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 2, transfersPerHost: 2)) { _, _ in
            guard isRevoked.withLock({ $0 }) else { return .ordinary }
            refused.withLock { $0 += 1 }
            return .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""])
        }
        for file in 0..<12 { try harness.sandbox.write("d/\(file)/f", [UInt8(file)]) }
        let batch = try await harness.add(upload(harness, "d"))
        try await harness.finished(batch)
        isRevoked.withLock { $0 = true }
        var outcomes: [ReadBackOutcome] = []
        for folder in try await folders(of: batch, harness) {
            let error = try await harness.engine.verify(folder, only: nil).error
            #expect(error?.httpStatus == 401)
            for file in try await harness.queue.reader.filesToReadBack(
                in: folder.folder, only: nil, after: nil, limit: 10)
            {
                outcomes.append(try await harness.engine.readBack(file, in: folder, ReadBackMeter()))
            }
        }
        #expect(outcomes.count == 12)
        #expect(refused.withLock { $0 } == 1)
        isRevoked.withLock { $0 = false }
        await harness.engine.tryAgain()
        for folder in try await folders(of: batch, harness) {
            #expect(try await harness.engine.verify(folder, only: nil).error == nil)
        }
        await harness.stop()
    }

    private func folders(of batch: BatchID, _ harness: EngineHarness) async throws -> [DueLook] {
        var looks: [DueLook] = []
        while case .folder(let found) = try await harness.queue.writer.folderToVerify(
            .batch(batch), after: looks.last?.folder.rawValue)
        { looks.append(found.look) }
        return looks
    }

    @Test("a look whose login is refused to files as well waits for another one")
    func waitsForLogin() async throws {
        let (isRevoked, isCured) = (SharedValue(false), SharedValue(false))
        let refused = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 2, transfersPerHost: 2)) { request, _ in
            let isLook = request.method == "PROPFIND" && request.fields["depth"] == "1"
            if isLook, !isCured.withLock({ $0 }) {
                isRevoked.withLock { $0 = true }
                // A server that answers is not asked for a list for ever: it is to hear of the files first.
                refused.waitBlocking()
            }
            return isRevoked.withLock { $0 }
                ? .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""]) : .ordinary
        }
        for name in ["a", "b/1", "b/2", "b/3"] { try harness.sandbox.write(name, [1]) }
        let looked = try await harness.add(upload(harness, "a"))
        try await harness.batch(looked) { $0.filesCompleted == 1 }
        try await until { isRevoked.withLock { $0 } }
        let other = try await harness.add(upload(harness, "b"))
        // The first casts doubt on the login, and another one finds out.
        try await harness.batch(other) { $0.filesWaiting == 3 }
        refused.reach()
        try await until { await harness.engine.live().held[looked]?.reason == .auth }
        #expect(try await harness.queue.reader.batch(looked)?.state.isTerminal == false)
        isCured.withLock { $0 = true }
        isRevoked.withLock { $0 = false }
        await harness.engine.tryAgain()
        #expect(try await harness.finished(looked).listed?.found == 1)
        try await harness.batch(other) { $0.filesCompleted == 3 }
        await harness.stop()
    }

    @Test("a server that takes files and lets nobody list them goes on taking files")
    func dropBox() async throws {
        let harness = try await EngineHarness { request, _ in
            request.method == "PROPFIND" && request.fields["depth"] == "1"
                ? .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""]) : .ordinary
        }
        for name in ["a", "b", "c"] {
            try harness.sandbox.write(name, Array(name.utf8))
            let batch = try await harness.add(upload(harness, name))
            try await harness.batch(batch) { $0.filesCompleted == 1 }
        }
        let looks = harness.store.server.requests.count { $0.method == "PROPFIND" && $0.fields["depth"] == "1" }
        #expect(looks <= 1)
        await harness.stop()
    }
}
