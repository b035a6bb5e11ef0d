import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

/// Files over SFTP: what a killed engine leaves of small ones, the place that they give away, and a source that changes meanwhile. The server
/// is OpenSSH's own, reached without ssh.
@Suite(.timeLimit(.minutes(2))) struct InterruptedTests {
    @Test(
        "the empty file of a download that was killed before it was recorded goes with the next start, and no other file"
    )
    func unrecordedPart() async throws {
        let first = try await EngineHarness(started: false)
        let batch = try await first.queue.writer.add(first.request(download: ["/f"])).batch
        let lane = try #require(try await first.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await first.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        await first.stop()
        let own = "f.\(task.partMark).part"
        try first.sandbox.write("out/\(own)", [])
        for other in ["f.00000000.part", "f.\(task.partMark).part.txt"] { try first.sandbox.write("out/\(other)", []) }
        try first.sandbox.write("out/g.\(task.partMark).part", [1])
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store, started: false)
        // Nobody takes it up again.
        _ = try await second.queue.writer.cancel([.batch(batch)])
        try await second.engine.start()
        try await until { !second.sandbox.names("out").contains(own) }
        #expect(second.sandbox.names("out").count == 3)
        await second.stop()
    }

    private func request(_ harness: EngineHarness, _ names: [String]) throws -> BatchRequest {
        try harness.sandbox.write("ssh", Array("exec /usr/lib/openssh/sftp-server\n".utf8))
        let script = String(decoding: harness.sandbox.path("ssh"), as: UTF8.self)
        let folder = String(decoding: harness.sandbox.path("far"), as: UTF8.self)
        let sources = names.map { name in
            UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name).lastComponent))
        }
        var request = BatchRequest(work: .upload(sources, to: "sftp://there\(folder)/"))
        request.options.sshCommand = "/bin/sh \(script)"
        return request
    }

    @Test("an edit of a file of which nothing has gone out spoils no copy, and is not counted")
    func editedWhileAway() async throws {
        let harness = try await EngineHarness(started: false)
        try harness.sandbox.write("f", pattern(10))
        let batch = try await harness.queue.writer.add(harness.request(upload: ["f"])).batch
        let status = try System.stat(harness.sandbox.path("f"))
        let queued = SourceIdentity(
            size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(queued))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await harness.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        // It was edited twice while bytes of it went out, and those of the third version never did.
        var point = ResumePoint(StoredVersion(stored: false, etag: nil))
        (point.sourceChanges, point.isOutdated) = (SourceChangeRule.restarts - 1, true)
        harness.queue.writer.record(.checkpoint(resumePoint: point.encoded, accepted: 0), for: task.claim)
        try await harness.queue.writer.commit()
        try await harness.queue.writer.release(unstarted: [task.claim])
        await harness.stop()
        let port = harness.store.server.port
        harness.store.stop()
        try harness.sandbox.write("f", pattern(11))
        let next = try await EngineHarness(sandbox: harness.sandbox, store: harness.store)
        try await next.task(of: batch) { $0.state == .waiting }
        try harness.sandbox.write("f", pattern(12))
        let back = try FakeStore(port: port)
        try await next.finished(batch)
        let end = try #require(try await next.tasks(batch).first)
        #expect(end.state == .completed, "\(end)")
        #expect(back["/in/f"] == pattern(12))
        await next.stop()
    }

    /// A queue whose engine was killed while it had this file, and what that left at the server.
    /// - Parameter cancels: the file is taken from that engine before, which does not come to record anything of it.
    private func killed(
        _ harness: EngineHarness, _ bytes: Int, cancels: Bool = false
    ) async throws -> (task: TaskID, left: String) {
        try harness.sandbox.write("f", pattern(bytes))
        let batch = try await harness.queue.writer.add(request(harness, ["f"])).batch
        let status = try System.stat(harness.sandbox.path("f"))
        let identity = SourceIdentity(
            size: status.size, modifiedNanoseconds: status.modifiedNanoseconds, inode: status.inode)
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(identity))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let task = try #require(try await harness.queue.writer.claim(lane.lane, limit: 1, now: now).first)
        let token = UploadToken.task(task.uuid).text
        let left = "far/\(TemporaryName.beside(RawPath("f"), token: token).displayed)"
        try harness.sandbox.write(left, pattern(bytes / 2))
        if cancels { _ = try await harness.queue.writer.cancel([.task(task.id)]) }
        await harness.stop()
        return (task.id, left)
    }

    @Test("a server that lets nobody in keeps no slot from what goes elsewhere, though its files were first in line")
    func refusedFirst() async throws {
        let harness = try await EngineHarness()
        let names = (0..<60).map { "f\($0)" }
        for name in names { try harness.sandbox.write(name, [1]) }
        var refused = try request(harness, names)
        refused.priority = .high
        let go = String(decoding: harness.sandbox.path("go"), as: UTF8.self)
        #expect(mkfifo(go, 0o600) == 0)
        // Open at both ends, so that nobody waits for the other one to be opened.
        let gate = try System.open(Array(go.utf8), flags: O_RDWR)
        let script = "read line <\(go); echo Host key verification failed. >&2; exit 255\n"
        try harness.sandbox.write("ssh", Array(script.utf8))
        let first = try await harness.add(refused)
        try await harness.batch(first) { !$0.scanning && $0.state == .running }
        try await until { await !harness.engine.live().tasks.isEmpty }
        let other = try await harness.add(harness.request(upload: ["f0", "f1"]))
        try await harness.batch(other) { !$0.scanning }
        try Array("go\n".utf8).withUnsafeBytes { try System.writeAll(gate.rawValue, $0) }
        try await harness.finished(other)
        await harness.stop()
    }

    @Test(
        "what a killed engine left of a small file is known and taken away, though nothing of it was recorded",
        arguments: [false, true])
    func cancelled(nextFailsToStart: Bool) async throws {
        let first = try await EngineHarness(started: false)
        let (task, left) = try await killed(first, 20_000)
        if nextFailsToStart { await (try EngineHarness(sandbox: first.sandbox, started: false)).stop() }
        let harness = try await EngineHarness(sandbox: first.sandbox, started: false)
        _ = try await harness.queue.writer.cancel([.task(task)])
        #expect(try await harness.queue.writer.remains(in: [.cancelled]).isEmpty)
        try await harness.engine.start()
        let remains = try #require(try await harness.queue.writer.remains(in: [.cancelled]).first)
        #expect(remains.task.id == task && remains.protocolName == "sftp")
        #expect(harness.sandbox.read(left) != nil)
        #expect(await harness.engine.remove(remains, for: .purge) == nil)
        #expect(harness.sandbox.read(left) == nil)
        #expect(try await harness.queue.writer.remains(in: [.cancelled]).isEmpty)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("what is left of a file that was cancelled right before the kill is known and taken away")
    func cancelledBefore() async throws {
        let first = try await EngineHarness(started: false)
        let (task, left) = try await killed(first, 20_000, cancels: true)
        let harness = try await EngineHarness(sandbox: first.sandbox)
        let remains = try #require(try await harness.queue.writer.remains(in: [.cancelled]).first)
        #expect(remains.task.id == task)
        #expect(await harness.engine.remove(remains, for: .purge) == nil)
        #expect(harness.sandbox.read(left) == nil)
        await harness.stop()
    }

    @Test("it stays known when the source is another one by then")
    func changedSince() async throws {
        let first = try await EngineHarness(started: false)
        let (task, left) = try await killed(first, 20_000)
        try first.sandbox.write("f", pattern(20_001, seed: 5))
        // It answers nothing, until its input ends.
        try first.sandbox.write("ssh", Array("exec cat >/dev/null\n".utf8))
        let harness = try await EngineHarness(sandbox: first.sandbox)
        try await until { await harness.engine.places.attempts > 0 }
        let change = try await harness.queue.writer.cancel([.task(task)])
        await harness.engine.stop(change.stopped)
        let remains = try #require(try await harness.queue.writer.remains(in: [.cancelled]).first)
        let point = remains.task.resumePoint.flatMap { ResumePoint(encoded: $0) }
        #expect(point?.isOutdated == true)
        #expect(point?.content(SFTPResumePoint.self)?.temporary.displayed.hasSuffix(left) == true)
        await harness.stop()
    }

    @Test("when it runs again after all it is sent whole, and nothing is left or known of it")
    func runsAgain() async throws {
        let first = try await EngineHarness(started: false)
        let (task, left) = try await killed(first, 20_000)
        let harness = try await EngineHarness(sandbox: first.sandbox)
        let batch = try #require(try await harness.queue.reader.task(task)?.batch)
        #expect(try await harness.finished(batch).state == .completed)
        #expect(harness.sandbox.read("far/f") == pattern(20_000) && harness.sandbox.read(left) == nil)
        let states: [TransferState] = [.queued, .waiting, .failed, .cancelled, .completed]
        #expect(try await harness.queue.writer.remains(in: states).isEmpty)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file at the target that never ends is read no further than ours would be, and is another one")
    func endless() async throws {
        let first = try await EngineHarness(started: false)
        let (task, left) = try await killed(first, 0)
        try System.unlink(first.sandbox.path(left))
        #expect(symlink("/dev/zero", String(decoding: first.sandbox.path("far/f"), as: UTF8.self)) == 0)
        let harness = try await EngineHarness(sandbox: first.sandbox)
        let batch = try #require(try await harness.queue.reader.task(task)?.batch)
        let end = try await harness.finished(batch)
        #expect(end.filesFailed == 1 && end.causes.map(\.code) == [.unknownOutcome])
        await harness.stop()
    }

    // MARK: A server that cannot rename

    @Test("a source that is written to while it goes under its final name is sent again over its own first bytes")
    func changedWhileSent() async throws {
        for policy in [ExistingFilePolicy.fail, .skip] {
            let harness = try await EngineHarness(started: false)
            var learnt = HostFacts()
            learnt.cannotRename = true
            let facts = HostFacts().learning(learnt, at: Timestamp(milliseconds: WallClock.milliseconds))
            try await harness.queue.writer.remember(host: "sftp://there:22", facts: facts.encoded)
            try await harness.engine.start()
            func write(_ bytes: [UInt8], second: Int64) throws {
                let file = try System.open(harness.sandbox.write("f", bytes), flags: O_WRONLY)
                try System.setModificationTime(file.rawValue, nanoseconds: second * 1_000_000_000 + 123_456_789)
            }
            try write(pattern(300_000), second: 1_700_000_000)
            var request = try request(harness, ["f"])
            request.options.ifExists = policy
            let go = String(decoding: harness.sandbox.path("go"), as: UTF8.self)
            #expect(mkfifo(go, 0o600) == 0)
            let gate = try System.open(Array(go.utf8), flags: O_RDWR)
            try harness.sandbox.write("ssh", Array("read line <\(go); exec /usr/lib/openssh/sftp-server\n".utf8))
            let batch = try await harness.add(request)
            try await until { await !harness.engine.live().tasks.isEmpty }
            // Opened already; its last bytes are not given away any more.
            let newer = pattern(300_000, seed: 5)
            try write(newer, second: 1_700_000_001)
            try Array("go\ngo\n".utf8).withUnsafeBytes { try System.writeAll(gate.rawValue, $0) }
            let task = try await harness.task(of: batch) { $0.state.isTerminal }
            #expect(task.state == .completed && !task.skipped && task.restarts == 1, "\(task)")
            #expect((harness.sandbox.read("far/f") == newer) as Bool)
            try await harness.expectSound()
            await harness.stop()
        }
    }

    // MARK: A server that is out of reach

    /// A batch of one small file by an `ssh` that is this script.
    private func request(_ harness: EngineHarness, ssh script: String) throws -> BatchRequest {
        var request = try request(harness, ["f"])
        try harness.sandbox.write("f", pattern(20_000))
        try harness.sandbox.write("ssh", Array(script.utf8))
        request.options.verify = nil
        return request
    }

    private let unfinished: [TransferState] = [.queued, .running, .waiting, .paused, .failed, .cancelled]

    @Test(
        "a server that was never reached holds nothing of an upload",
        arguments: [
            "echo 'ssh: connect to host there port 22: Connection refused' >&2; exit 255\n",
            "echo 'me@there: Permission denied (publickey).' >&2; exit 255\n",
            "exit 127\n",
        ])
    func neverReached(script: String) async throws {
        let harness = try await EngineHarness()
        let batch = try await harness.add(try request(harness, ssh: script))
        try await harness.task(of: batch) { $0.state == .waiting || $0.state == .failed }
        #expect(try await harness.queue.writer.remains(in: unfinished).isEmpty)
        _ = try await harness.queue.writer.cancel([.batch(batch)])
        #expect(try await harness.queue.writer.remains(in: unfinished).isEmpty)
        await harness.stop()
    }

    @Test("nor does one that is still being called when the upload is cancelled")
    func stillCalled() async throws {
        let harness = try await EngineHarness()
        // It answers nothing, until its input ends.
        let batch = try await harness.add(try request(harness, ssh: "exec cat >/dev/null\n"))
        try await until { await harness.engine.places.attempts > 0 }
        let change = try await harness.queue.writer.cancel([.batch(batch)])
        await harness.engine.stop(change.stopped)
        #expect(try await harness.queue.writer.remains(in: unfinished).isEmpty)
        await harness.stop()
    }

    @Test("one that broke off after it had been asked may hold something: that is known")
    func brokenOff() async throws {
        let harness = try await EngineHarness()
        // Greets as version 3 without extensions, takes what comes, and hangs up.
        let script =
            "printf '\\000\\000\\000\\005\\002\\000\\000\\000\\003'; dd bs=1 count=20 >/dev/null 2>&1; exit 1\n"
        let batch = try await harness.add(try request(harness, ssh: script))
        try await harness.task(of: batch) { $0.state == .waiting }
        // Its next attempt may have begun.
        let left = try await harness.queue.writer.remains(in: unfinished, claimed: true)
        #expect(left.map(\.protocolName) == ["sftp"])
        await harness.stop()
    }

    // MARK: The place

    @Test("a tiny file over a connection that all share gives its place away, where that is of use and harms nobody")
    func carriedAlong() async throws {
        let harness = try await EngineHarness(started: false)
        let claimed = try await aClaim(harness)
        let engine = harness.engine
        #expect(await engine.gives(claimed, size: SFTPUpload.tiny))
        #expect(await engine.gives(claimed, size: 0))
        #expect(await !engine.gives(claimed, size: SFTPUpload.tiny + 1))
        #expect(await !engine.gives(claimed, size: nil))
        #expect(await !engine.gives(claimed, size: 1, limits: EngineLimits(transfers: 1)), "one at a time means that")
        #expect(await !engine.gives(claimed, size: 1, limits: EngineLimits(transfersPerHost: 1)))
        #expect(await engine.gives(claimed, size: 1, limits: EngineLimits(transfers: 2, transfersPerHost: 2)))
        #expect(await !engine.gives(claimed, size: 1, isIll: true), "a host in trouble gets no more than its share")
        await harness.stop()
    }

    @Test("a place is given away once: what ends later gives none")
    func givenOnce() async throws {
        let harness = try await EngineHarness(started: false)
        let (places, states) = await harness.engine.placesAfterGiving(try await aClaim(harness))
        #expect(places.map(\.used) == [1, 0, 0, 0] && places.map(\.ofHost) == [1, nil, nil, nil])
        #expect(places.map(\.attempts) == [1, 1, 1, 0])
        #expect(states == [.running, .finishing], "no more are shown as running than there are places")
        await harness.stop()
    }

    @Test("hundreds of tiny files with two places all arrive, and both places are free afterwards")
    func many() async throws {
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 2))
        for index in 0..<200 { try harness.sandbox.write("d/\(index)", pattern(100, seed: index)) }
        let batch = try await harness.add(try request(harness, ["d"]))
        #expect(try await harness.finished(batch).filesCompleted == 200)
        for index in 0..<200 { #expect(harness.sandbox.read("far/d/\(index)") == pattern(100, seed: index)) }
        await harness.engine.waitUntilIdle()
        #expect(await harness.engine.places == .init(used: 0, ofHost: nil, attempts: 0))
        await harness.stop()
    }

    private func aClaim(_ harness: EngineHarness) async throws -> ClaimedTask {
        var request = try request(harness, [])
        request.work = .upload(
            [UploadSource(path: RawPath("/f"), placement: .named(RawPath("f")))], to: "sftp://there/d/")
        let batch = try await harness.queue.writer.add(request).batch
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(SourceIdentity(size: 1, modifiedNanoseconds: 1, inode: 1)))
        }
        try await harness.queue.writer.begin(found)
        let lane = try #require(try await harness.queue.writer.lanes().first)
        return try #require(
            try await harness.queue.writer.claim(lane.lane, limit: 1, now: Timestamp(milliseconds: 1)).first)
    }
}

extension TransferEngine {
    fileprivate struct Places: Equatable {
        var used: Int
        var ofHost: Int?
        var attempts: Int
    }

    fileprivate var places: Places {
        Places(used: hosts.slots.inUse, ofHost: hosts.slots.byHost[Self.there], attempts: attempts.count)
    }

    private static let there = "sftp://there:22"

    private func attempt(_ task: ClaimedTask) -> Attempt {
        let order = BatchOrder(
            batch: task.batch, session: .default, priority: .normal, options: TransferOptions(),
            secrets: TransferSecrets(), destination: "sftp://there/d/", destinationQuery: nil)
        let subject = UploadSubject(name: RawPath("f"), size: 1, token: "0")
        let plan = SFTPUploadPlan(host: "there", path: RawPath("/d/f"), subject: subject)
        return Attempt(
            .upload(UploadWork(subject, from: nil, at: Timestamp(milliseconds: 0))), of: task,
            context: BatchContext(order, userAgent: "test"),
            origin: Self.there, machine: SFTPUpload(plan), at: 0)
    }

    /// Whether an upload of this size gives its place away.
    fileprivate func gives(
        _ task: ClaimedTask, size: Int64?, limits: EngineLimits = EngineLimits(), isIll: Bool = false
    ) -> Bool {
        var task = task
        task.size = size
        limitBook.engine = limits
        hosts.standings[Self.there] = isIll ? HostStanding(limit: 8) : nil
        return isCarriedAlong(attempt(task))
    }

    /// With a place taken, given away, given away again, and the attempt over.
    fileprivate func placesAfterGiving(_ task: ClaimedTask) -> ([Places], states: [TransferState]) {
        let attempt = attempt(task)
        attempts[task.id] = attempt
        takeSlot(at: Self.there)
        attempt.stage.takeSlot()
        var found = [places]
        var states = live().tasks.map(\.state)
        freeSlot(of: attempt)
        found.append(places)
        states += live().tasks.map(\.state)
        freeSlot(of: attempt)
        found.append(places)
        close(attempt)
        return (found + [places], states)
    }
}
