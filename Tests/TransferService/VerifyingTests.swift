import FoundationEssentials
import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

@Suite("A client asks whether all of it is there") struct VerifyingTests {
    private func add(_ harness: ServiceHarness, to url: String, completes: Bool = true) async throws -> BatchID {
        let source = UploadSource(path: RawPath("/src/f"), placement: .named(RawPath("f")))
        let batch = try await harness.queue.writer.add(BatchRequest(work: .upload([source], to: url))).batch
        let identity = SourceIdentity(size: 9, modifiedNanoseconds: 1, inode: 1)
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(source: $0.source, kind: .file(identity))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        for lane in try await harness.queue.writer.lanes() where lane.batch == batch && completes {
            for task in try await harness.queue.writer.claim(
                lane.lane, limit: 1, now: Timestamp(milliseconds: 1_000_000))
            {
                harness.queue.writer.record(.completed(Completion(size: 9, verified: .size)), for: task.claim)
            }
        }
        try await harness.queue.writer.commit()
        return batch
    }

    @Test("folder by folder, until there is none")
    func folders() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/")
        let client = try await harness.client()
        // What nobody has compared is not counted, though the queue has it as completed.
        let none = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(none.folder?.files == 0 && none.folder?.found == 0)
        await harness.engine.lists(1)
        let first = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(first.folder?.files == 1 && first.folder?.found == 1 && first.folder?.destination == "dav://h/in/")
        let next = try #require(first.next)
        let last = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch), after: next))
        #expect(first.total == nil && last.folder == nil && last.next == nil && last.total == 1)
        await harness.engine.cannotList(TransferError(.unsupported, "no lists", .step("look")))
        let unlisted = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(unlisted.folder?.unlisted == "no lists: look" && unlisted.folder?.found == 0)
        try await harness.end()
    }

    @Test("a batch that was put away from the list is compared, and read back, as before")
    func cleared() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/")
        try await looked(harness)
        let client = try await harness.client()
        let put = try await client.call(Methods.nodesClear, NodesRequest(ids: [.batch(batch)]))
        #expect(put.results.map(\.result) == [.done])
        await harness.engine.lists(1)
        let answer = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(answer.folder?.files == 1 && answer.folder?.found == 1)
        let run = UUID()
        var progress: ReadBackProgress
        repeat {
            let request = ReadBackRequest(id: .batch(batch), run: run, seen: nil)
            progress = try await client.call(Methods.nodesReadBack, request).progress
            await Task.yield()
        } while !progress.isOver
        #expect(progress.files == 1 && progress.same == 1)
        try await harness.end()
    }

    /// Has the last look at every folder ended, so that batches are over.
    private func looked(_ harness: ServiceHarness) async throws {
        let now = Timestamp(milliseconds: 1_000_000)
        let due = try await harness.queue.writer.dueLooks(besides: LooksNotNow(), limit: 100, now: now)
        try await harness.queue.writer.end(
            looks: due.map { EndedLook($0, .looked(at: now, listed: 1, files: 1)) })
    }

    @Test("files are read back in a run of their own, told of while it goes on; each finding comes once")
    func readBack() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/")
        let task = try #require(try await harness.queue.reader.tasks(batch: batch, limit: 1).first).id
        await harness.engine.outcome(of: task, .other(TransferError(.notThere, "other bytes", .step("look"))))
        let client = try await harness.client()
        func ask(_ run: UUID, seen: Int?, _ id: NodeID? = nil) async throws -> ReadBackProgress {
            while true {
                let request = ReadBackRequest(id: id ?? .batch(batch), run: run, seen: seen)
                let progress = try await client.call(Methods.nodesReadBack, request).progress
                if progress.isOver { return progress }
                await Task.yield()
            }
        }
        let run = UUID()
        let first = try await ask(run, seen: nil)
        #expect(first.files == 1 && first.same == 0 && first.findings.map(\.path) == ["f"])
        #expect(try await ask(run, seen: 1).findings == [])
        #expect(try await ask(run, seen: -7).findings.count == 1)
        #expect(try await ask(run, seen: .max).findings == [])
        await harness.engine.outcome(of: task, .same)
        // Runs that are over do not count as running ones.
        for _ in 0..<9 { #expect(try await ask(UUID(), seen: nil, .task(task)).same == 1) }
        let other = await #expect(throws: WireError.self) { try await ask(run, seen: 0, .task(task)) }
        #expect(other?.message == "this run reads b1 back: begin another one")
        try await harness.end()
    }

    @Test("runs that were told to their end make room for others, so that a client in a loop keeps a few of them")
    func manyRuns() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/", completes: false)
        let client = try await harness.client()
        for _ in 0..<200 {
            let run = UUID()
            while true {
                let request = ReadBackRequest(id: .batch(batch), run: run, seen: nil)
                if try await client.call(Methods.nodesReadBack, request).progress.isOver { break }
                await Task.yield()
            }
        }
        #expect(await harness.service.keptReadBacks <= TransferService.mostKeptReadBacks)
        try await harness.end()
    }

    @Test("a run that the engine does not know is not begun anew by a client that has an answer of it")
    func forgottenRun() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/")
        let client = try await harness.client()
        let request = ReadBackRequest(id: .batch(batch), run: UUID(), seen: 0)
        let error = try await #require(throws: WireError.self) {
            try await client.call(Methods.nodesReadBack, request)
        }
        #expect(error.requestError.code == .refused)
        #expect(error.message == "the engine has begun anew since, or nobody asked it for 30 s")
        try await harness.end()
    }

    @Test("more runs than there may be are refused, and those that nobody asks for any more keep their places")
    func tooManyRuns() async throws {
        let harness = try await ServiceHarness()
        let batch = try await add(harness, to: "dav://h/in/")
        let client = try await harness.client()
        let isHeld = Mutex(true)
        await harness.engine.beforeReading { try await until { !isHeld.withLock({ $0 }) } }
        func begin() async throws -> String {
            try await client.refusal("nodes.readBack", #"{"id":"\#(batch)","run":"\#(UUID())"}"#)
        }
        for round in 1...8 {
            isHeld.withLock { $0 = true }
            for _ in 0..<8 { #expect(try await begin() == "") }
            if round == 1 {
                #expect(
                    try await begin() == "8 other read-backs are running: start this one when one of them has ended")
            }
            isHeld.withLock { $0 = false }
            try await until { await harness.service.areReadBacksOver }
        }
        #expect(try await begin() == "64 other read-backs are waiting to be asked for: try again later")
        try await harness.end()
    }

    @Test("a run that meets the end of its batch, or a queue that cannot be read, says so")
    func brokenRun() async throws {
        let harness = try await ServiceHarness()
        let (gone, unread) = (try await add(harness, to: "dav://g/in/"), try await add(harness, to: "dav://h/in/"))
        let client = try await harness.client()
        func end(of batch: BatchID) async throws -> String {
            let parameters = #"{"id":"\#(batch)","run":"\#(UUID())"}"#
            while true {
                let said = try await client.refusal("nodes.readBack", parameters)
                if !said.isEmpty { return said }
                await Task.yield()
            }
        }
        let queue = harness.queue
        await harness.engine.beforeReading { throw QueueError.closed }
        #expect(
            try await end(of: unread) == "the queue cannot be read (the queue is closed): see 'martlet log'")
        await harness.engine.beforeReading {
            _ = try await queue.writer.cancel([.batch(gone)])
            try await queue.writer.forget(finishedBefore: Timestamp(milliseconds: .max))
        }
        #expect(try await end(of: gone) == "b1 was removed while it was read back")
        try await harness.end()
    }

    @Test("what is unknown, was received, is not sent yet, or lies where nobody lists is refused with a reason")
    func refused() async throws {
        let harness = try await ServiceHarness()
        let put = try await add(harness, to: "http://h/in/")
        let unsent = try await add(harness, to: "dav://h/in/", completes: false)
        let client = try await harness.client()
        func code(_ id: NodeID) async -> RequestErrorCode? {
            do {
                _ = try await client.call(Methods.nodesVerify, VerifyRequest(id: id))
                return nil
            } catch let error as WireError {
                return error.requestError.code
            } catch {
                return .internal
            }
        }
        #expect(await code(.batch(BatchID(rawValue: 99))) == .noSuchObject)
        #expect(await code(.batch(put)) == .refused)
        let task = try #require(try await harness.queue.reader.tasks(batch: unsent, limit: 1).first)
        #expect(await code(.task(task.id)) == .refused)
        #expect(await code(.batch(unsent)) == nil)
        try await harness.end()
    }
}

extension TransferService {
    fileprivate var keptReadBacks: Int { readBacks.count }
    fileprivate var areReadBacksOver: Bool { readBacks.values.allSatisfy(\.progress.isOver) }
}
