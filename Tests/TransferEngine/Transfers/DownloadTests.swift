import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferQueue

@Suite(.timeLimit(.minutes(2))) struct DownloadTests {
    @Test("a file comes down under its name, whole, and nothing else is left beside it")
    func simple() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f.bin", pattern(300_000))
        harness.store.put("/empty", [])
        let batch = try await harness.add(harness.request(download: ["/f.bin", "/empty"]))
        #expect(try await harness.finished(batch).filesCompleted == 2)
        #expect(harness.sandbox.names("out") == ["empty", "f.bin"])
        #expect(harness.sandbox.read("out/f.bin") == pattern(300_000))
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.verified == .size && task.bytesTotal == 300_000 && task.bytesAccepted == 300_000)
        #expect(task.finalPath == String(decoding: harness.sandbox.path("out/f.bin"), as: UTF8.self))
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a cut goes on where it stood, with one range request and the strong tag")
    func resume() async throws {
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .cutAnswer(400_000) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        let task = try await harness.run(harness.request(download: ["/f"]))
        #expect(task.state == .completed && task.resumedFrom == [400_000] && task.restarts == 0)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        // On a machine with much to do a HEAD may follow, since the answer took its time.
        let gets = harness.store.server.requests.filter { $0.method == "GET" }
        #expect(gets.map { $0.fields["range"] } == [nil, "bytes=400000-"])
        #expect(gets.last?.fields["if-range"] == "\"v1\"")
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that changed at the server begins again; two versions are never mixed")
    func changedAtServer() async throws {
        let cut = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            if request.method != "GET" { return .ordinary }
            if earlier == 0 { return .cutAnswer(400_000) }
            if earlier == 1 { cut.waitBlocking() }
            return .ordinary
        }
        try await replaceMeanwhile(harness, cut)
        try await harness.expectSound()
        await harness.stop()
    }

    /// Downloads a file that is replaced at the server once 400,000 bytes of it are here; the new one arrives, after one restart.
    private func replaceMeanwhile(_ harness: EngineHarness, _ cut: Milestone) async throws {
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        harness.store.put("/f", pattern(900_000, seed: 5))
        cut.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1 && task.bytesRepeated == 400_000)
        #expect(harness.sandbox.read("out/f") == pattern(900_000, seed: 5))
    }

    @Test("what begins anew and then fails takes the same temporary file again, and leaves no other")
    func beginsAnewAndFails() async throws {
        let cut = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            switch earlier {
            case 0: return .cutAnswer(400_000)
            case 1:
                cut.waitBlocking()
                return .answer("416 Range Not Satisfiable")
            case 2: return .answer("500 Internal Server Error")
            default: return .ordinary
            }
        }
        try await replaceMeanwhile(harness, cut)
        #expect(harness.sandbox.names("out") == ["f"])
        #expect(harness.store.server.requests.count { $0.method == "GET" } == 4)
        await harness.stop()
    }

    @Test("an engine that was stopped in the middle goes on with the next one")
    func stopAndStart() async throws {
        let hold = try Milestone()
        let first = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        first.store.put("/f", pattern(1_000_000))
        let batch = try await first.add(first.request(download: ["/f"]))
        try await first.task(of: batch) { $0.bytesAccepted == 400_000 }
        await first.stop()
        #expect(first.downloads() == ["f.part"])
        hold.reach()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        try await second.finished(batch)
        let task = try #require(try await second.tasks(batch).first)
        #expect(task.state == .completed && task.resumedFrom == [400_000])
        #expect(second.sandbox.read("out/f") == pattern(1_000_000))
        #expect(second.sandbox.names("out") == ["f"])
        try await second.expectSound()
        await second.stop()
    }

    @Test(
        "what a cancelled download left here goes when nobody can take that back, whatever it did before and whichever engine runs then",
        arguments: [false, true])
    func partOfCancelled(purged: Bool) async throws {
        let hold = try Milestone()
        let first = try await EngineHarness { request, _ in
            request.method == "GET" ? .holdAnswer(400_000, hold) : .ordinary
        }
        // The first engine is to leave it to the second.
        await first.queue.writer.setGraceTime(.seconds(3600))
        first.store.put("/f", pattern(1_000_000))
        first.store.put("/g", pattern(1_000_000))
        let batch = try await first.add(first.request(download: ["/f", "/g"]))
        try await first.batch(batch) { $0.bytesAccepted == 800_000 }
        for change in [
            try await first.queue.writer.pause([.batch(batch)]), try await first.queue.writer.cancel([.batch(batch)]),
        ] { await first.engine.stop(change.stopped) }
        if purged { _ = try await first.queue.writer.purge([.batch(batch)]) }
        await first.stop()
        hold.reach()
        #expect(first.downloads() == ["f.part", "g.part"])
        // What somebody else has put in its place is not ours.
        try first.sandbox.write("another", [7])
        try System.renameat(
            AT_FDCWD, first.sandbox.path("another"), to: AT_FDCWD,
            first.sandbox.path(first.part(of: "g")))
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        await second.queue.writer.setGraceTime(.zero)
        while second.downloads().contains("f.part") { try await second.engine.sweep() }
        #expect(second.downloads() == ["g.part"])
        #expect(try second.sandbox.read(second.part(of: "g")) == [7])
        await second.stop()
    }

    @Test("what a single download left here goes before the queue forgets the task")
    func partOfPurged() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, _ in
            request.method == "GET" ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.batch(batch) { $0.bytesAccepted == 400_000 }
        let task = try #require(try await harness.tasks(batch).first?.id)
        await harness.engine.stop(try await harness.queue.writer.cancel([.task(task)]).stopped)
        #expect(harness.downloads() == ["f.part"])
        // Nothing is taken away for a purge that is going to be refused.
        _ = try await harness.queue.writer.purge([.batch(batch)])
        let refused = try await harness.engine.clearRemains(of: [.task(task)], in: harness.queue)
        #expect(refused.kept == [:] && harness.downloads() == ["f.part"])
        _ = try await harness.queue.writer.undo(.last, now: Timestamp(milliseconds: WallClock.milliseconds))
        let cleared = try await harness.engine.clearRemains(of: [.task(task)], in: harness.queue)
        #expect(cleared.kept == [:] && cleared.bare == [:])
        #expect(harness.sandbox.names("out") == [])
        #expect(try await harness.queue.writer.purge([.task(task)]).results.map(\.result) == [.done])
        hold.reach()
        await harness.stop()
    }

    @Test("what a cancelled download left in a folder that is away stays known until it is back")
    func partOutOfReach() async throws {
        let hold = try Milestone()
        let first = try await EngineHarness { request, _ in
            request.method == "GET" ? .holdAnswer(400_000, hold) : .ordinary
        }
        await first.queue.writer.setGraceTime(.zero)
        first.store.put("/f", pattern(1_000_000))
        let batch = try await first.add(first.request(download: ["/f"]))
        try await first.batch(batch) { $0.bytesAccepted == 400_000 }
        let paused = try await first.queue.writer.pause([.batch(batch)])
        await first.engine.stop(paused.stopped)
        let out = first.sandbox.path("out")
        let away = first.sandbox.path("away")
        func move(_ from: [UInt8], _ to: [UInt8]) throws {
            try System.renameat(AT_FDCWD, from, to: AT_FDCWD, to)
        }
        try move(out, away)
        let cancelled = try await first.queue.writer.cancel([.batch(batch)])
        await first.engine.stop(cancelled.stopped)
        hold.reach()
        func left() async throws -> Remains {
            try #require(try await first.queue.writer.remains(of: .download, in: [.cancelled]).first)
        }
        // The whole folder is away, then something else is in its place: neither says that the file is gone.
        let lacking = await first.engine.remove(try left(), for: .purge)
        #expect(lacking?.code == .destinationUnwritable)
        #expect(
            lacking?.message.hasSuffix("/out is not there now, and the beginning of the file was in it: bring it back")
                == true, "\(String(describing: lacking))")
        try first.sandbox.write("out", [7])
        let stuck = await first.engine.remove(try left(), for: .purge)
        #expect(
            stuck?.message.hasPrefix("its temporary file cannot be removed (") == true,
            "\(String(describing: stuck))")
        try System.unlink(out)
        try move(away, out)
        #expect(first.downloads() == ["f.part"])
        #expect(await first.engine.remove(try left(), for: .purge) == nil)
        #expect(first.sandbox.names("out").isEmpty)
        #expect(try await first.queue.writer.remains(of: .download, in: [.cancelled]).isEmpty)
        await first.stop()
    }

    #if DEBUG
        @Test("what a cancelled download left stays known until the disk knows that it is gone")
        func removalNotSynced() async throws {
            let hold = try Milestone()
            let harness = try await EngineHarness { request, _ in
                request.method == "GET" ? .holdAnswer(400_000, hold) : .ordinary
            }
            await harness.queue.writer.setGraceTime(.zero)
            harness.store.put("/f", pattern(1_000_000))
            let batch = try await harness.add(harness.request(download: ["/f"]))
            try await harness.batch(batch) { $0.bytesAccepted == 400_000 }
            let paused = try await harness.queue.writer.pause([.batch(batch)])
            await harness.engine.stop(paused.stopped)
            let out = String(decoding: harness.sandbox.path("out"), as: UTF8.self)
            // Where names are synced the folder itself is opened.
            ForcedFailures.fail(.open, on: .path(containing: out), with: .inputOutput)
            let cancelled = try await harness.queue.writer.cancel([.batch(batch)])
            await harness.engine.stop(cancelled.stopped)
            hold.reach()
            let left = try #require(try await harness.queue.writer.remains(of: .download, in: [.cancelled]).first)
            #expect(await harness.engine.remove(left, for: .purge) != nil)
            #expect(harness.sandbox.names("out").isEmpty)
            let known = try #require(try await harness.queue.writer.remains(of: .download, in: [.cancelled]).first)
            #expect(await harness.engine.remove(known, for: .purge) == nil)
            #expect(try await harness.queue.writer.remains(of: .download, in: [.cancelled]).isEmpty)
            await harness.stop()
        }
    #endif

    @Test("a download's beginning that somebody else has removed is forgotten")
    func partRemoved() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, _ in
            request.method == "GET" ? .holdAnswer(400_000, hold) : .ordinary
        }
        await harness.queue.writer.setGraceTime(.zero)
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.batch(batch) { $0.bytesAccepted == 400_000 }
        let paused = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(paused.stopped)
        try System.unlink(harness.sandbox.path(harness.part(of: "f")))
        _ = try await harness.queue.writer.cancel([.batch(batch)])
        hold.reach()
        let left = try #require(try await harness.queue.writer.remains(of: .download, in: [.cancelled]).first)
        #expect(await harness.engine.remove(left, for: .purge) == nil)
        #expect(try await harness.queue.writer.remains(of: .download, in: [.cancelled]).isEmpty)
        await harness.stop()
    }

    @Test("pause keeps what came, resume goes on there")
    func pause() async throws {
        let (harness, batch) = try await pausedHalfWay()
        #expect(await harness.engine.live().tasks.isEmpty)
        #expect(try await harness.tasks(batch).first?.state == .paused)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.resumedFrom == [400_000])
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a disk that does not answer keeps no pause from being answered, and what came counts once it does")
    func pauseOnHungDisk() async throws {
        let (hold, disk) = (try Milestone(), try Milestone())
        // Nothing is put on the disk before the pause.
        let harness = try await EngineHarness(checkpointBytes: 1 << 40) { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        try System.mkdirs(harness.sandbox.path("out"))
        try await harness.engine.occupy(.sync, of: harness.sandbox.path("out"), until: disk)
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await until { await harness.engine.live().tasks.first?.bytesSent == 400_000 }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        #expect(try await harness.task(of: batch) { $0.state == .paused }.bytesAccepted == 0)
        // A kill before the disk answers finds it among those of which not all is recorded.
        #expect(try await harness.queue.writer.hasInterrupted())
        disk.reach()
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        try await until { try await !harness.queue.writer.hasInterrupted() }
        hold.reach()
        await harness.stop()
    }

    /// A download of 1,000,000 bytes that is paused after 400,000 of them.
    private func pausedHalfWay() async throws -> (EngineHarness, BatchID) {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        hold.reach()
        return (harness, batch)
    }

    @Test(
        "a folder that is away, or another one in its place, says nothing: it goes on where it stood once it is back",
        .tells(
            "/out is not there, with the beginning of the file in it: mount its disk or bring it back, or cancel the download and queue it again",
            "/out is another folder than the one with the beginning of the file: mount its disk or bring it back, or"
        ))
    func folderAway() async throws {
        let (harness, batch) = try await pausedHalfWay()
        let (out, away) = (harness.sandbox.path("out"), harness.sandbox.path("away"))
        try System.rename(out, to: away)
        for step in ["is not there", "is another folder"] {
            _ = try await harness.queue.writer.resume([.batch(batch)])
            await harness.engine.queueChanged()
            // It may be on its way to another look at the disk.
            let task = try await harness.task(of: batch) {
                $0.state == .waiting && $0.error?.message.contains(step) == true
            }
            #expect(task.bytesAccepted == 400_000)
            _ = try await harness.queue.writer.pause([.batch(batch)])
            if step == "is not there" { try System.mkdirs(out) }
        }
        #expect(harness.sandbox.names("out").isEmpty)
        try System.rmdir(out)
        try System.rename(away, to: out)
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.resumedFrom == [400_000] && task.restarts == 0)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        await harness.stop()
    }

    #if DEBUG
        @Test("a beginning that the disk cannot read now is gone on with when it can")
        func unreadablePart() async throws {
            let (harness, batch) = try await pausedHalfWay()
            let part = String(decoding: harness.sandbox.path(try harness.part(of: "f")), as: UTF8.self)
            ForcedFailures.fail(.open, on: .path(containing: part), with: .inputOutput)
            _ = try await harness.queue.writer.resume([.batch(batch)])
            await harness.engine.queueChanged()
            // Sooner or later it goes on by itself; what it waited for is in the events.
            var waits: [String] = []
            while waits.isEmpty { waits = try await harness.events(.waiting).compactMap(\.payload.error?.message) }
            #expect(
                waits[0].contains("/out cannot be read (Input/output error), with the beginning of the file in it: "))
            await harness.engine.tryAgain()
            try await harness.finished(batch)
            #expect(try await harness.tasks(batch).first?.resumedFrom == [400_000])
            await harness.stop()
        }
    #endif

    @Test("what somebody else has written into counts for nothing, whatever is put there afterwards")
    func foreignWriter() async throws {
        let (hold, second) = (try Milestone(), try Milestone())
        let harness = try await EngineHarness { request, earlier in
            switch (request.method, earlier) {
            case ("GET", 0): return .holdAnswer(400_000, hold)
            case ("GET", 1):
                second.waitBlocking()
                return .ordinary
            default: return .ordinary
            }
        }
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]))
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        try harness.sandbox.append(harness.part(of: "f"), [9])
        hold.reach()
        try await harness.task(of: batch) { $0.error != nil }
        try harness.sandbox.write(harness.part(of: "f"), [UInt8](repeating: 9, count: 500_000))
        second.reach()
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        #expect(harness.sandbox.read("out/f") == pattern(1_000_000))
        await harness.stop()
    }

    @Test(
        "a name that is taken is not overwritten, unless that is wanted",
        .tells(
            "/out/folder is there and is a directory: move that away and retry, or queue it again under another name"))
    func ifExists() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", [1, 2, 3])
        try harness.sandbox.write("out/f", [9])
        var task = try await harness.run(harness.request(download: ["/f"]))
        #expect(task.cause == .destinationExists && harness.sandbox.read("out/f") == [9])
        #expect(harness.sandbox.names("out") == ["f"])
        task = try await harness.run(harness.request(download: ["/f"], as: "f"))
        #expect(task.cause == .destinationExists)
        task = try await harness.run(harness.request(download: ["/f"]) { $0.options.ifExists = .skip })
        #expect(task.state == .completed && task.skipped)
        // What is no file stands for none.
        try System.mkdirs(harness.sandbox.path("out/folder"))
        task = try await harness.run(harness.request(download: ["/f"], as: "folder") { $0.options.ifExists = .skip })
        #expect(task.cause == .destinationUnwritable)
        task = try await harness.run(harness.request(download: ["/f"]) { $0.options.ifExists = .replace })
        #expect(task.state == .completed && harness.sandbox.read("out/f") == [1, 2, 3])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a name that is taken while it stands still is left alone, and the temporary file is not left behind")
    func skippedLater() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "GET" && earlier == 0 ? .holdAnswer(400_000, hold) : .ordinary
        }
        harness.store.put("/f", pattern(1_000_000))
        let batch = try await harness.add(harness.request(download: ["/f"]) { $0.options.ifExists = .skip })
        try await harness.task(of: batch) { $0.bytesAccepted == 400_000 }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        hold.reach()
        try harness.sandbox.write("out/f", [9])
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.skipped)
        #expect(harness.sandbox.names("out") == ["f"])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("an engine that is stopped gives back a file that it is still looking at: nothing of it was lost")
    func stoppedWhileLooking() async throws {
        // One after the other: each holds a thread up, and there may be two.
        for call in [RecordingDisk.Hold.Call.entryName, .remove] {
            let hold = try RecordingDisk.Hold(call)
            let running = try Milestone()
            let harness = try await EngineHarness(disk: RecordingDisk(hold: hold)) { _, earlier in
                if earlier == 0 { running.waitBlocking() }
                return .ordinary
            }
            harness.store.put("/f", [1, 2, 3])
            try harness.sandbox.write("out/f", [9])
            let batch = try await harness.add(harness.request(download: ["/f"]) { $0.options.ifExists = .skip })
            try await harness.task(of: batch) { $0.state == .running }
            if call == .remove {
                // As a kill leaves one, which goes before the file counts as there.
                let uuid = try #require(try await harness.tasks(batch).first).uuid
                try harness.sandbox.write("out/f.\(UploadToken.task(uuid).text.prefix(8)).part", [])
            }
            running.reach()
            await Task.detached { hold.asked.waitBlocking() }.value
            await harness.stop()
            hold.answered.reach()
            let next = try await EngineHarness(sandbox: harness.sandbox, store: harness.store)
            try await next.finished(batch)
            let task = try #require(try await next.tasks(batch).first)
            #expect(task.skipped && task.restarts == 0, "\(call)")
            await next.stop()
        }
    }

    @Test("an empty temporary file that a kill left unrecorded goes with a name that is taken meanwhile")
    func skippedUnrecorded() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", [1, 2, 3])
        let batch = try await harness.add(
            harness.request(download: ["/f"]) { request in
                request.held = true
                request.options.ifExists = .skip
            })
        let uuid = try #require(try await harness.tasks(batch).first).uuid
        try harness.sandbox.write("out/f.\(UploadToken.task(uuid).text.prefix(8)).part", [])
        try harness.sandbox.write("out/f", [9])
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.skipped == true)
        #expect(harness.sandbox.names("out") == ["f"])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("the same file by its digest counts as completed, another digest is an error and leaves nothing")
    func digests() async throws {
        let right = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
        let harness = try await EngineHarness()
        harness.store.put("/f", [1, 2, 3])
        var task = try await harness.run(
            harness.request(download: ["/f"], as: "f") { $0.options.sha256 = right.uppercased() })
        #expect(task.state == .completed && task.verified == .digest && task.digest?.value == right)
        task = try await harness.run(harness.request(download: ["/f"], as: "f") { $0.options.sha256 = right })
        #expect(task.state == .completed && task.verified == .digest)
        #expect(harness.store.count("GET", "/f") == 1)
        task = try await harness.run(
            harness.request(download: ["/f"], as: "g") { $0.options.sha256 = String(repeating: "0", count: 64) })
        #expect(task.cause == .integrity)
        #expect(
            task.error?.message.hasSuffix(
                "/g has another SHA-256 than was given: "
                    + "check the address and --sha256, and queue it again if one is wrong") == true)
        // Nobody gave one: the server's own word is wrong, and its advice can be followed.
        harness.store.offerDigest("sha-256=:\(String(repeating: "A", count: 43))=:")
        task = try await harness.run(harness.request(download: ["/f"], as: "h"))
        let advice = "look at the file there, or queue it again with --verify size, which compares no digest"
        #expect(task.error?.message.hasSuffix("/h has another SHA-256 than its server told: \(advice)") == true)
        task = try await harness.run(harness.request(download: ["/f"], as: "h") { $0.options.verify = .size })
        #expect(task.state == .completed && task.verified == .size)
        _ = try System.unlink(harness.sandbox.path("out/h"))
        #expect(harness.sandbox.names("out") == ["f"])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "an answer that says no reaches no file",
        arguments: [("404 Not Found", TransferErrorCode.http), ("403 Forbidden", .permissionDenied)])
    func refusals(status: String, code: TransferErrorCode) async throws {
        let harness = try await EngineHarness { _, _ in .answer(status) }
        let task = try await harness.run(harness.request(download: ["/f"]))
        #expect(task.state == .failed && task.cause == code)
        #expect(harness.sandbox.names("out").isEmpty)
        await harness.stop()
    }

    @Test(
        "of two files of a batch with one name the second replaces nothing, whatever the rule says",
        .tells(
            "another file of this batch has the name "), arguments: ExistingFilePolicy.built, [true, false])
    func oneName(rule: ExistingFilePolicy, together: Bool) async throws {
        let harness = try await EngineHarness()
        harness.store.put("/a/f", [1])
        harness.store.put("/b/f", [2])
        let request = harness.request(download: ["/a/f", "/b/f"]) { $0.options.ifExists = rule }
        let batch = try await harness.finish(request, together: together)
        let tasks = try await harness.tasks(batch)
        #expect(Set(tasks.map(\.state)) == [.completed, .failed])
        #expect(tasks.first { $0.state == .failed }?.cause == .duplicateName)
        let first = try #require(tasks.firstIndex { $0.state == .completed })
        #expect(harness.sandbox.read("out/f") == [UInt8(first + 1)])
        await harness.stop()
    }

    @Test("of two files of a batch with one name that is there already one is skipped, and the other is told")
    func oneNameThere() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("out/f", [9])
        for name in ["/a/f", "/b/f"] { harness.store.put(name, [1]) }
        let batch = try await harness.add(
            harness.request(download: ["/a/f", "/b/f"]) { $0.options.ifExists = .skip })
        try await harness.finished(batch)
        let tasks = try await harness.tasks(batch)
        #expect(Set(tasks.map(\.state)) == [.completed, .failed])
        #expect(tasks.first { $0.state == .completed }?.skipped == true)
        #expect(tasks.first { $0.state == .failed }?.cause == .duplicateName)
        #expect(harness.sandbox.read("out/f") == [9])
        await harness.stop()
    }

    @Test("folders and files that are made have the modes of the batch's umask, whatever the engine's is")
    func umask() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", [1])
        _ = try await harness.run(harness.request(download: ["/f"], into: "new/deep") { $0.options.umask = 0o007 })
        #expect(try System.stat(harness.sandbox.path("new")).mode & 0o777 == 0o770)
        #expect(try System.stat(harness.sandbox.path("new/deep")).mode & 0o777 == 0o770)
        #expect(try System.stat(harness.sandbox.path("new/deep/f")).mode & 0o777 == 0o660)
        await harness.stop()
    }

    @Test("a directory that cannot be written fails with what to do")
    func unwritable() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/f", [1])
        try harness.sandbox.write("out", [1])
        let task = try await harness.run(harness.request(download: ["/f"]))
        #expect(task.cause == .destinationUnwritable && task.error?.message.contains(": ") == true)
        await harness.stop()
    }

    @Test("a full disk waits for room and goes on by itself")
    func fullDisk() async throws {
        let harness = try await EngineHarness()
        let name = "full-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        harness.store.put("/" + name, pattern(300_000))
        // The temporary file's making is the first thing that needs room.
        ForcedFailures.fail(.open, on: .path(containing: name + "."), with: .noSpace, times: 1)
        let batch = try await harness.add(harness.request(download: ["/" + name]))
        // It waits for some seconds only, which a busy machine may sleep through; what it waited for is in the events.
        try await harness.finished(batch)
        let waits = try await harness.events(.waiting).map(\.payload)
        #expect(waits.map(\.waitReasons) == [[.diskSpace]] && waits.first?.error?.code == .diskFull)
        #expect(harness.sandbox.read("out/" + name) == pattern(300_000))
        await harness.stop()
    }

    @Test("an answer without end stops where the disk's reserve begins")
    func endlessAnswer() async throws {
        // 100 MB, of which 1 MB stays free.
        let disk = LinuxDisk { descriptor throws(Errno) in
            DiskSpace(free: 6_000_000 - UInt64(try System.fstat(descriptor).size), total: 100_000_000)
        }
        let harness = try await EngineHarness(disk: disk)
        let server = try ScriptedServer { connection in
            try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while true { try connection.send("10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n") }
        }
        let source = DownloadSource(
            url: server.url("/f"), directory: RawPath(harness.sandbox.path("out")), fileName: nil)
        let batch = try await harness.add(BatchRequest(work: .download([source])))
        let task = try await harness.task(of: batch) { $0.state == .waiting }
        #expect(task.waitReasons == [.diskSpace] && task.error?.message.contains("64 MiB") == true)
        // On a busy machine the next try may have begun already, from nothing.
        #expect(task.bytesAccepted > 4_500_000 && task.bytesAccepted <= 5_000_000)
        #expect(try System.stat(harness.sandbox.path(harness.part(of: "f"))).size <= 5_000_000)
        await harness.stop()
        server.stop()
    }
}

extension QueueWriter {
    fileprivate func hasInterrupted() throws -> Bool { try look { try store.remains.hasInterrupted() } }
}
