import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct VerifiedTests {
    @Test("a receipt falls short of a digest that was asked for, and of nothing else; what was left out claims nothing")
    func fallsShort() {
        func receipt(_ verified: Verification) -> Receipt { Receipt(.answered, bytes: 1, verified: verified) }
        for verified in [Verification.none, .size] { #expect(receipt(verified).fallsShort(of: .digest)) }
        #expect(!receipt(.digest).fallsShort(of: .digest) && !Receipt.skipped(1).fallsShort(of: .digest))
        for wish in [nil, VerificationWish.size, VerificationWish.none] {
            #expect(!receipt(.none).fallsShort(of: wish))
        }
    }

    @Test(
        "no upload is completed with less than the digest that was asked for, whatever its protocol says",
        .tells(
            "has the file, but told no digest of it that was compared"))
    func gate() async throws {
        let first = try await EngineHarness(started: false)
        try first.sandbox.write("f", pattern(1000))
        let source = UploadSource(path: RawPath(first.sandbox.path("f")), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "dav" + first.store.url("/in/").dropFirst(4)))
        request.options.verify = .digest
        let batch = try await first.queue.writer.add(request).batch
        let status = try System.stat(first.sandbox.path("f"))
        let identity = SourceIdentity(
            size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
        let found = try await first.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(identity))
        }
        try await first.queue.writer.begin(found)
        _ = try await first.queue.writer.finishScan(batch)
        let lane = try #require(try await first.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await first.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        // An older engine asked for the MOVE, and did not note that anything was compared.
        var point = DavResumePoint(temporary: "/in/.f.martlet-part")
        point.publishing = true
        first.queue.writer.record(
            .checkpoint(resumePoint: ResumePoint(point).encoded, accepted: 0), for: task.claim)
        try await first.queue.writer.commit()
        await first.stop()
        first.store.put("/in/f", pattern(1000))

        let harness = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        try await harness.finished(batch)
        let ended = try #require(try await harness.tasks(batch).first)
        #expect(ended.state == .failed && ended.error?.code == .integrity, "\(ended)")
        #expect(ended.error?.finding.advice == "look there, or queue it again with a weaker --verify")
        #expect(harness.store.server.requests.allSatisfy { $0.method == "PROPFIND" })
        try await harness.expectSound()
        await harness.stop()
    }
}
