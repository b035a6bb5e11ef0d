import Digests
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

extension TransferEngine {
    /// Keeps the threads busy that do such work for the disk of a folder.
    func occupy(_ kind: DiskWorkers.Kind, of folder: [UInt8], until milestone: Milestone) throws {
        let worker = disks.worker(kind, device: try System.stat(folder).device)
        for _ in 0..<(kind == .sync ? 2 : 1) { worker.submit { milestone.waitBlocking(milliseconds: -1) } }
    }

    fileprivate var isSyncing: Bool { attempts.values.contains { $0.download?.target.isSyncing ?? false } }
    fileprivate var hasAttempts: Bool { !attempts.isEmpty }
}

/// A download's last steps, and what comes between them.
@Suite(.timeLimit(.minutes(2))) struct PublishingTests {
    private static let size = 300_000
    private static var digest: String { DigestAlgorithm.sha256.digest(of: pattern(size)).hex }

    /// A download that stands before its digest, and a person's old file in its place.
    private func standing(_ harness: EngineHarness, _ hold: Milestone) async throws -> BatchID {
        harness.store.put("/f", pattern(Self.size))
        try harness.sandbox.write("out/f", [9])
        try await harness.engine.occupy(.digest, of: harness.sandbox.path("out"), until: hold)
        let batch = try await harness.add(
            harness.request(download: ["/f"], as: "f") { request in
                request.options.ifExists = .replace
                request.options.sha256 = Self.digest
            })
        try await harness.task(of: batch) { $0.state == .finishing && $0.bytesAccepted == Int64(Self.size) }
        return batch
    }

    @Test("a cancel that was answered while the digest is worked out holds: the person's file stays")
    func cancelled() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        let batch = try await standing(harness, hold)
        let change = try await harness.queue.writer.cancel([.batch(batch)])
        #expect(change.results.map(\.result) == [.done])
        await harness.engine.stop(change.stopped)
        hold.reach()
        await harness.engine.waitUntilIdle()
        #expect(harness.sandbox.read("out/f") == [9])
        #expect(try await harness.tasks(batch).first?.state == .cancelled)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("so does one of which the engine has not heard yet")
    func cancelledInTheQueueAlone() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        let batch = try await standing(harness, hold)
        let change = try await harness.queue.writer.cancel([.batch(batch)])
        hold.reach()
        // The digest is there, and the queue gives no leave.
        try await harness.engine.occupied(.digest, of: harness.sandbox.path("out"))
        #expect(harness.sandbox.read("out/f") == [9])
        await harness.engine.stop(change.stopped)
        await harness.engine.waitUntilIdle()
        #expect(harness.sandbox.read("out/f") == [9])
        await harness.stop()
    }

    @Test(
        "pause and resume while the digest is worked out: one attempt publishes, nothing is fetched again, the other changes nothing"
    )
    func pausedAndResumed() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness()
        let batch = try await standing(harness, hold)
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        #expect(try await harness.tasks(batch).first?.state == .paused)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.task(of: batch) { $0.state == .finishing }
        hold.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.verified == .digest && task.bytesRepeated == 0)
        #expect(harness.sandbox.read("out/f") == pattern(Self.size) && harness.sandbox.names("out") == ["f"])
        #expect(harness.store.count("GET", "/f") == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "folders that were made for a file are on the disk before it is completed; later ones cost no more than their own"
    )
    func madeFolders() async throws {
        let disk = RecordingDisk()
        let harness = try await EngineHarness(disk: disk)
        for name in ["/f", "/g"] { harness.store.put(name, pattern(1000)) }
        func synced(by download: String) async throws -> [String] {
            disk.synced.withLock { $0 = [] }
            let batch = try await harness.add(harness.request(download: [download], into: "new/a/b"))
            try await harness.finished(batch)
            #expect(try await harness.tasks(batch).first?.state == .completed)
            return disk.synced.withLock { $0.map { RawPath($0).displayed } }
        }
        let made = ["new/a/b", "new/a", "new"].map { RawPath(harness.sandbox.path($0)).displayed }
        let first = try await synced(by: "/f")
        #expect(Array(first.prefix(3)) == made && first.contains("/"))
        #expect(try await synced(by: "/g") == [made[0]])
        await harness.stop()
    }

    @Test(
        "a name that another file had for a moment is asked for again, and nothing is fetched twice",
        .tells("another file had the name f a moment ago: Martlet asks for the name again"))
    func nameForAMoment() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", pattern(1000))
        let folder = ForcedFailures.Target.path(containing: RawPath(harness.sandbox.path("out/f")).displayed)
        ForcedFailures.fail(.renameat2, on: folder, with: .fileExists)
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.finished(batch)
        ForcedFailures.clear(folder)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.bytesRepeated == 0, "\(String(describing: task.error))")
        #expect(harness.sandbox.read("out/f") == pattern(1000) && harness.sandbox.names("out") == ["f"])
        #expect(try await harness.events(.waiting).contains { $0.payload.error?.code == .destinationExists })
        await harness.stop()
    }

    @Test("a disk that did not take a part fails the attempt, and the next goes on at the last checkpoint")
    func lostPages() async throws {
        let (harness, batch, hold) = try await begun()
        let part = try #require(descriptor(of: harness.sandbox.path(harness.part(of: "f"))))
        // Whichever comes first: that of the next checkpoint or that of the end.
        for call in [SystemCall.fdatasync, .fsync] {
            ForcedFailures.fail(call, on: .descriptor(part), with: .inputOutput)
        }
        hold.reach()
        try await harness.finished(batch)
        ForcedFailures.clear(.descriptor(part))
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.resumedFrom.contains(400_000) && task.bytesRepeated > 0)
        #expect(try await harness.events(.waiting).contains { $0.payload.error?.code == .destinationUnwritable })
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        await harness.stop()
    }

    @Test("what a look after the last byte leaves for later is on the disk before it is recorded")
    func lostBeforeLook() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness(checkpointBytes: 1 << 30) { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(2_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        let part = try #require(descriptor(of: harness.sandbox.path(harness.part(of: "f"))))
        ForcedFailures.fail(.fdatasync, on: .descriptor(part), with: .inputOutput)
        harness.store.remove("/f")
        hold.reach()
        try await harness.finished(batch)
        ForcedFailures.clear(.descriptor(part))
        // The pages behind the last checkpoint are lost, and the next attempt asks for them.
        let ranges = harness.store.server.requests.filter { $0.method == "GET" }.map { $0.fields["range"] }
        #expect(ranges == [nil, "bytes=0-0", "bytes=400000-"])
        #expect(try await harness.tasks(batch).first?.state == .failed)
        await harness.stop()
    }

    @Test("a download that got its name before a kill is completed, though its credentials cannot be had any more")
    func publishedBeforeKill() async throws {
        let harness = try await EngineHarness(started: false)
        try harness.sandbox.write("out/f", pattern(1000))
        let batch = try await harness.add(
            harness.request(download: ["/f"]) { request in
                request.secrets.user = "me"
                request.secrets.passwordCommand = "false"
            })
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let task = try #require(try await harness.queue.writer.claim(lane.lane, limit: 1, now: .inSeconds(0)).first)
        var point = GetResumePoint(version: RemoteVersion(total: 1000), offset: 1000, name: RawPath("f"))
        (point.partName, point.publishing) = (RawPath("f.mark.part"), true)
        point.partInode = try System.stat(harness.sandbox.path("out/f")).inode
        harness.queue.writer.record(
            .checkpoint(resumePoint: ResumePoint(point).encoded, accepted: 1000), for: task.claim)
        try await harness.queue.writer.release(unstarted: [task.claim])
        try await harness.engine.start()
        try await harness.task(of: batch) { $0.state == .completed || !$0.waitReasons.isEmpty }
        #expect(try await harness.tasks(batch).first?.state == .completed)
        #expect(harness.store.server.requests.isEmpty)
        await harness.stop()
    }

    /// When a download is cancelled with its batch that the engine is killed in while it gives that download its final name.
    enum Cancel: CaseIterable { case never, beforeKill, beforeStart }

    /// A download of 1,000,000 bytes, of which 400,000 are on the disk. Its first answer goes on at the milestone.
    private func begun() async throws -> (EngineHarness, BatchID, Milestone) {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        return (harness, batch, hold)
    }

    /// Leaves a download of a paused batch as a kill does that comes while it gets its final name.
    private func killWhilePublishing(named: Bool, _ cancel: Cancel) async throws -> (EngineHarness, BatchID) {
        let first = try await EngineHarness(started: false)
        try first.sandbox.write(named ? "out/f" : "out/f.mark.part", pattern(1000))
        let batch = try await first.add(first.request(download: ["/f"]))
        let writer = first.queue.writer
        let lane = try #require(try await writer.lanes().first)
        let task = try #require(try await writer.claim(lane.lane, limit: 1, now: .inSeconds(0)).first)
        var point = GetResumePoint(version: RemoteVersion(total: 1000), offset: 1000, name: RawPath("f"))
        (point.partName, point.publishing) = (RawPath("f.mark.part"), true)
        point.partInode = try System.stat(first.sandbox.path(named ? "out/f" : "out/f.mark.part")).inode
        writer.record(.checkpoint(resumePoint: ResumePoint(point).encoded, accepted: 1000), for: task.claim)
        let final = RawPath(first.sandbox.path("out/f"))
        #expect(try await writer.leaveToPublish(task.claim, as: final) == .granted)
        _ = try await writer.pause([.batch(batch)])
        if cancel == .beforeKill { _ = try await writer.cancel([.batch(batch)]) }
        await first.stop()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store, started: false)
        if cancel == .beforeStart { _ = try await second.queue.writer.cancel([.batch(batch)]) }
        return (second, batch)
    }

    @Test(
        "a kill in the middle of giving a final name is settled by a look at the disk, though the batch is paused or cancelled",
        arguments: [true, false], Cancel.allCases)
    func settledAtStart(named: Bool, cancel: Cancel) async throws {
        let (harness, batch) = try await killWhilePublishing(named: named, cancel)
        let task = try #require(try await harness.tasks(batch).first)
        let refused = try await harness.queue.writer.cancel([.task(task.id)])
        #expect(refused.results.map(\.result) == [.refused])
        try await harness.engine.start()
        await harness.engine.waitUntilIdle()
        try await harness.queue.writer.commit()
        let expected: TransferState = named ? .completed : cancel == .never ? .paused : .cancelled
        #expect(try await harness.tasks(batch).first?.state == expected)
        #expect(harness.sandbox.names("out") == [named ? "f" : "f.mark.part"])
        #expect(harness.store.server.requests.isEmpty)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a folder that is away at the start says nothing: the download is completed when it is there again")
    func settledLater() async throws {
        let (harness, batch) = try await killWhilePublishing(named: true, .never)
        let (out, away) = (harness.sandbox.path("out"), harness.sandbox.path("away"))
        try System.rename(out, to: away)
        try await harness.engine.start()
        await harness.engine.waitUntilIdle()
        try await harness.queue.writer.commit()
        #expect(try await harness.tasks(batch).first?.state == .paused)
        try System.rename(away, to: out)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        #expect(harness.store.server.requests.isEmpty && harness.sandbox.names("out") == ["f"])
        await harness.stop()
    }

    @Test("a pause in the moment in which the disk loses pages does not count them as there")
    func lostWhilePaused() async throws {
        let (hold, disk) = (try Milestone(), try Milestone())
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        try harness.sandbox.write("out/x", [])
        try await harness.engine.occupy(.sync, of: harness.sandbox.path("out"), until: disk)
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await until { await harness.engine.isSyncing }
        let part = try #require(descriptor(of: harness.sandbox.path(harness.part(of: "f"))))
        ForcedFailures.fail(.fdatasync, on: .descriptor(part), with: .inputOutput, times: 1)
        let change = try await harness.queue.writer.pause([.batch(batch)])
        async let stopped: Void = harness.engine.stop(change.stopped)
        try await until { await !harness.engine.hasAttempts }
        disk.reach()
        await stopped
        ForcedFailures.clear(.descriptor(part))
        #expect(try await harness.tasks(batch).first?.bytesAccepted == 0)
        hold.reach()
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        await harness.stop()
    }

    @Test("a folder that another one takes the place of under way: the download waits and is published in its own")
    func otherFolder() async throws {
        let (harness, batch, hold) = try await begun()
        let (out, away) = (harness.sandbox.path("out"), harness.sandbox.path("away"))
        try System.rename(out, to: away)
        try System.mkdirs(out)
        hold.reach()
        try await harness.task(of: batch) { $0.error?.code == .destinationUnwritable }
        #expect(harness.sandbox.names("out").isEmpty)
        try System.rmdir(out)
        try System.rename(away, to: out)
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.bytesRepeated == 0 && harness.store.count("GET", "/f") == 1)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000) && harness.sandbox.names("out") == ["f"])
        await harness.stop()
    }

    @Test("a file that somebody puts in the temporary one's place stays, and the download is fetched anew")
    func replacedPart() async throws {
        let (harness, batch, hold) = try await begun()
        let part = try harness.part(of: "f")
        try harness.sandbox.write("other", [7])
        try System.rename(harness.sandbox.path("other"), to: harness.sandbox.path(part))
        hold.reach()
        try await harness.task(of: batch) {
            $0.error?.message.hasPrefix("somebody else has removed or replaced the temporary file") == true
        }
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000) && harness.sandbox.read(part) == [7])
        await harness.stop()
    }

    @Test("a temporary file that somebody cuts under way is fetched anew, and no hole is published")
    func cutPart() async throws {
        let (harness, batch, hold) = try await begun()
        let file = try System.open(harness.sandbox.path(harness.part(of: "f")), flags: O_RDWR)
        try System.ftruncate(file.rawValue, to: 1000)
        hold.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000) && harness.sandbox.names("out") == ["f"])
        await harness.stop()
    }

    @Test("what was put together and differs from its digest is fetched once more as a whole, and only then given up")
    func differingPart() async throws {
        let cut = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            guard request.method == "GET" else { return .ordinary }
            if request.target == "/f", earlier == 0 { return .cutAnswer(100_000) }
            if request.target == "/f", earlier == 1 { cut.waitBlocking() }
            return .ordinary
        }
        harness.store.put("/f", pattern(Self.size))
        let batch = try await harness.add(harness.request(download: ["/f"]) { $0.options.sha256 = Self.digest })
        try await harness.task(of: batch) { $0.bytesAccepted == 100_000 }
        let file = try System.open(harness.sandbox.path(harness.part(of: "f")), flags: O_RDWR)
        try withUnsafeBytes(of: UInt8(0xEE)) { try System.pwriteAll(file.rawValue, $0, at: 50_000) }
        cut.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.verified == .digest && task.restarts == 1)
        #expect(task.history?.compactMap(\.message).contains("the digest differs") == true)
        #expect(harness.sandbox.read("out/f") == pattern(Self.size))
        #expect(harness.store.count("GET", "/f") == 3)
        await harness.stop()
    }

    @Test("a file that is written at the server while it is sent is no mixture here")
    func rewritten() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(3_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        harness.store.put("/f", pattern(3_000_000, seed: 7))
        hold.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1)
        #expect(harness.sandbox.read("out/f") == pattern(3_000_000, seed: 7))
        await harness.stop()
    }

    @Test("bytes that had come and were not on the disk for sure are told as received twice", arguments: [400_000, 0])
    func tail(checkpoint: Int) async throws {
        let hold = try Milestone()
        let first = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(checkpoint, hold) : .ordinary
        }
        first.store.put("/f", pattern(1_000_000))
        let batch = try await first.add(first.request(download: ["/f"]))
        if checkpoint > 0 {
            try await first.task(of: batch) { $0.bytesAccepted == Int64(checkpoint) }
        } else {
            while first.sandbox.names("out").isEmpty { try await first.queue.writer.commit() }
        }
        await first.stop()
        hold.reach()
        // What a kill leaves behind the last checkpoint.
        let file = try System.open(first.sandbox.path(first.part(of: "f")), flags: O_RDWR)
        let more = Array(pattern(1_000_000)[checkpoint..<(checkpoint + 5000)])
        try more.withUnsafeBytes { try System.pwriteAll(file.rawValue, $0, at: Int64(checkpoint)) }
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        try await second.finished(batch)
        let task = try #require(try await second.tasks(batch).first)
        #expect(task.state == .completed && task.bytesRepeated == 5000)
        #expect(task.restarts == (checkpoint == 0 ? 1 : 0))
        #expect(second.sandbox.read("out/f") == pattern(1_000_000))
        await second.stop()
    }

    @Test("a name of 255 bytes, and two that begin alike", arguments: [250, 255])
    func longName(length: Int) async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", pattern(1000))
        harness.store.put("/g", pattern(2000))
        let stem = String(repeating: "n", count: length - 1)
        for (path, name) in [("/f", stem + "1"), ("/g", stem + "2")] {
            let task = try await harness.run(harness.request(download: [path], as: name))
            #expect(task.state == .completed)
        }
        #expect(harness.sandbox.read("out/" + stem + "1") == pattern(1000))
        #expect(harness.sandbox.read("out/" + stem + "2") == pattern(2000))
        let tooLong = try await harness.run(harness.request(download: ["/f"], as: stem + "1234567890"))
        #expect(tooLong.state == .failed && tooLong.error?.message.contains("too long") == true)
        await harness.stop()
    }

    @Test("where names are short a file whose temporary name would be too long has a shorter one")
    func shortNames() async throws {
        let harness = try await EngineHarness(disk: RecordingDisk(longestName: 143))
        harness.store.put("/f", pattern(1000))
        let fits = String(repeating: "n", count: 143)
        let task = try await harness.run(harness.request(download: ["/f"], as: fits))
        #expect(task.state == .completed && harness.sandbox.read("out/" + fits) == pattern(1000))
        #expect(harness.sandbox.names("out") == [fits])
        let tooLong = try await harness.run(harness.request(download: ["/f"], as: fits + "n"))
        #expect(tooLong.state == .failed && tooLong.error?.message.contains("too long") == true)
        await harness.stop()
    }

    @Test("the name in a folder that may be written and not read gets onto the disk with all of its file system")
    func hiddenNames() async throws {
        let disk = RecordingDisk(hidesNames: true)
        let harness = try await EngineHarness(disk: disk)
        harness.store.put("/f", pattern(1000))
        let task = try await harness.run(harness.request(download: ["/f"]))
        #expect(task.state == .completed)
        #expect(disk.synced.withLock { $0 } == [harness.sandbox.path("out/f")])
        await harness.stop()
    }

    @Test(
        "the same where nothing may be replaced: the other one is no file that was there before",
        arguments: [ExistingFilePolicy.skip, .fail], [true, false])
    func ignoredCaseKept(rule: ExistingFilePolicy, together: Bool) async throws {
        let harness = try await EngineHarness(disk: RecordingDisk(ignoresCase: true))
        for (name, count) in [("README", 1000), ("readme", 2000)] { harness.store.put("/" + name, pattern(count)) }
        let request = harness.request(download: ["/README", "/readme"]) { $0.options.ifExists = rule }
        let batch = try await harness.finish(request, together: together)
        let tasks = try await harness.tasks(batch)
        #expect(Set(tasks.map(\.state)) == [.completed, .failed])
        #expect(tasks.first { $0.state == .failed }?.cause == .duplicateName)
        let names = harness.sandbox.names("out").filter { !$0.hasSuffix(".part") }
        let completed = try #require(tasks.first { $0.state == .completed })
        #expect(names.count == 1 && harness.sandbox.read("out/\(names[0])")?.count == Int(completed.bytesAccepted))
        await harness.stop()
    }

    @Test(
        "a folder that ignores case: of README and readme of one batch one is completed, whatever may be replaced",
        arguments: [nil, "ReadMe"])
    func ignoredCase(there: String?) async throws {
        let harness = try await EngineHarness(disk: RecordingDisk(ignoresCase: true))
        let files = ["README": pattern(1000), "readme": pattern(2000)]
        for (name, bytes) in files { harness.store.put("/" + name, bytes) }
        if let there { try harness.sandbox.write("out/" + there, [9]) }
        let batch = try await harness.add(
            harness.request(download: files.keys.map { "/" + $0 }) { $0.options.ifExists = .replace })
        try await harness.finished(batch)
        let tasks = try await harness.tasks(batch)
        let completed = try #require(tasks.first { $0.state == .completed })
        let failed = try #require(tasks.first { $0.state == .failed })
        #expect(
            failed.error?.message.hasPrefix("another file of this batch has the name") == true
                && failed.error?.code == .duplicateName)
        let names = harness.sandbox.names("out").filter { !$0.hasSuffix(".part") }
        #expect(names.count == 1 && (there == nil || names.first == there))
        let bytes = names.first.flatMap { harness.sandbox.read("out/" + $0) }
        #expect(bytes?.count == Int(completed.bytesAccepted) && files.values.contains { $0 == bytes })
        // Another batch may replace it.
        harness.store.put("/readme", pattern(3000))
        let later = try await harness.run(harness.request(download: ["/readme"]) { $0.options.ifExists = .replace })
        #expect(later.state == .completed)
        #expect(names.first.flatMap { harness.sandbox.read("out/" + $0) }?.count == 3000)
        await harness.stop()
    }

    @Test("without a free descriptor a download waits and goes on by itself")
    func noDescriptors() async throws {
        let harness = try await EngineHarness()
        let name = "many-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        harness.store.put("/" + name, pattern(1000))
        ForcedFailures.fail(.open, on: .path(containing: name + "."), with: .tooManyOpenFiles, times: 2)
        let task = try await harness.run(harness.request(download: ["/" + name]))
        #expect(task.state == .completed && harness.sandbox.read("out/" + name) == pattern(1000))
        await harness.stop()
    }

    @Test("a name that was taken for a moment: the digest that the server offered is still compared when it is free")
    func nameTaken() async throws {
        let digest = Base64Text.of(DigestAlgorithm.sha256.digest(of: pattern(Self.size)).bytes)
        let harness = try await EngineHarness()
        harness.store.put("/f", pattern(Self.size))
        harness.store.offerDigest("sha-256=:\(digest):")
        let hold = try Milestone()
        try System.mkdirs(harness.sandbox.path("out"))
        try await harness.engine.occupy(.digest, of: harness.sandbox.path("out"), until: hold)
        let batch = try await harness.add(harness.request(download: ["/f"]) { $0.options.verify = .digest })
        try await harness.task(of: batch) { $0.state == .finishing && $0.bytesAccepted == Int64(Self.size) }
        try harness.sandbox.write("out/f", [9])
        hold.reach()
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.cause == .destinationExists)
        try System.unlink(harness.sandbox.path("out/f"))
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.verified == .digest && harness.store.count("GET", "/f") == 1)
        #expect(harness.sandbox.read("out/f") == pattern(Self.size))
        await harness.stop()
    }
}

/// The number under which this process has a file open.
func descriptor(of path: [UInt8]) -> Int32? {
    guard let wanted = try? System.stat(path) else { return nil }
    return (3..<65_536).first { number in
        (try? System.fstat(number)).map { $0.inode == wanted.inode && $0.device == wanted.device } ?? false
    }
}

extension TransferEngine {
    /// Returns when such work that was given so far is done, and what follows it on the loop.
    fileprivate func occupied(_ kind: DiskWorkers.Kind, of folder: [UInt8]) async throws {
        await disks.worker(kind, device: try System.stat(folder).device).run {}
        try await queue.writer.commit()
    }
}

private enum Base64Text {
    static func of(_ bytes: [UInt8]) -> String {
        let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let some = bytes[start..<min(start + 3, bytes.count)]
            let word = some.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - some.count))
            for place in 0..<4 { text.append(place <= some.count ? signs[word >> (18 - 6 * place) & 63] : "=") }
        }
        return text
    }
}
