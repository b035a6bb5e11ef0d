import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

extension QueueWriter {
    private struct Refused: Error {}

    /// Makes changes in a transaction that is rolled back at its end.
    fileprivate func rolledBack(_ body: @Sendable (QueueStore) throws -> Void) {
        do {
            try change { () throws -> Void in
                try body(store)
                throw Refused()
            }
            Issue.record("it was committed")
        } catch {}
    }

    fileprivate var freshClaims: Set<TaskID> { store.queue.notes.freshClaims }
}

@Suite("A transaction that is rolled back leaves the memory as it was") struct RolledBackTests {
    @Test("the start of an attempt is still known when its end was not committed")
    func starts() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.claim)
        try await queue.writer.commit()
        let began = sandbox.clock.now
        sandbox.clock.advance(by: .seconds(5))
        let end = RecordedFact(
            claim: task.claim, change: .failed(TransferError(.http, "no")), time: sandbox.clock.now)
        await queue.writer.rolledBack { try $0.facts.apply([end]) }
        queue.writer.record(end.change, for: end.claim)
        try await queue.writer.commit()
        #expect(try sandbox.database().integer("SELECT started_at FROM attempts") == began.milliseconds)
        try await queue.close()
    }

    @Test("credentials that were refused a commit are not in force at the next start")
    func credentials() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/f"])
        (request.secrets.user, request.secrets.password) = ("me", "old")
        let batch = try await queue.writer.add(request).batch
        @Sendable func login(_ password: String) -> TransferSecrets {
            var secrets = TransferSecrets()
            secrets.password = password
            return secrets
        }
        await queue.writer.rolledBack { store in
            _ = try store.logins.replaceSecrets(of: [.batch(batch)], by: login("new"))
            _ = try store.logins.replaceSecrets(of: [.batch(batch)], by: login("newest"))
        }
        #expect(try await queue.writer.order(of: batch)?.secrets.password == "old")
        _ = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: login("new"))
        #expect(try await queue.writer.order(of: batch)?.secrets.password == "new")
        await queue.writer.rolledBack { _ in }
        let bare = try await queue.writer.add(.downloads(["https://host/g"])).batch
        await queue.writer.rolledBack { _ = try $0.logins.replaceSecrets(of: [.batch(bare)], by: login("new")) }
        #expect(try await queue.writer.order(of: bare)?.secrets.password == nil)
        #expect(try await queue.writer.order(of: batch)?.secrets.password == "new")
        try await queue.close()
    }

    @Test("a folder in which nothing was completed after all is not listed at its server")
    func completedFolders() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(
            BatchRequest(
                work: .upload(
                    [UploadSource(path: RawPath("/src/f"), placement: .named(RawPath("f")))], to: "dav://host/in/"))
        ).batch
        let identity = SourceIdentity(size: 100, modifiedNanoseconds: 7, inode: 9)
        let source = try await queue.writer.unscannedSources(of: batch)[0].source
        try await queue.writer.begin([FoundSource(source: source, kind: .file(identity))])
        _ = try await queue.writer.finishScan(batch)
        let task = try await queue.claimAll()[0]
        let end = RecordedFact(
            claim: task.claim, change: .completed(Completion(size: 100, verified: .size)), time: sandbox.clock.now)
        await queue.writer.rolledBack { try $0.facts.apply([end]) }
        queue.writer.record(.running, for: task.claim)
        try await queue.writer.commit()
        #expect(try sandbox.database().integer("SELECT count(*) FROM last_looks") == 0)
        queue.writer.record(end.change, for: end.claim)
        try await queue.writer.commit()
        #expect(try sandbox.database().integer("SELECT count(*) FROM last_looks") == 1)
        try await queue.close()
    }

    @Test("a claim that was taken back unstarted is still known as such when giving it back was not committed")
    func freshStops() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let task = try await queue.claimAll()[0]
        _ = try await queue.writer.cancel([.task(task.id)])
        let begunAt = "SELECT begun_at FROM tasks WHERE begun_at IS NOT NULL"
        #expect(try sandbox.database().integer(begunAt) != nil)
        await queue.writer.rolledBack { try $0.running.release(unstarted: [task.claim]) }
        try await queue.writer.release(unstarted: [task.claim])
        #expect(try sandbox.database().integer(begunAt) == nil)
        try await queue.close()
    }

    @Test("a claim that was not committed is no claim, and what begins in it has not begun")
    func freshClaims() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        let lane = try await queue.writer.lanes()[0].lane
        let now = sandbox.clock.now
        await queue.writer.rolledBack { _ = try $0.running.claim(lane, limit: 1, now: now) }
        #expect(await queue.writer.freshClaims.isEmpty)
        try await queue.close()
    }
}
