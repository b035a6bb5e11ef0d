import ServiceWire
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
        let first = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(first.folder?.files == 1 && first.folder?.found == 1 && first.folder?.destination == "dav://h/in/")
        let next = try #require(first.next)
        let last = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch), after: next))
        #expect(last.folder == nil && last.next == nil)
        await harness.engine.cannotList(TransferError(.unsupported, "no lists: look"))
        let unlisted = try await client.call(Methods.nodesVerify, VerifyRequest(id: .batch(batch)))
        #expect(unlisted.folder?.unlisted == "no lists: look" && unlisted.folder?.found == 0)
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
