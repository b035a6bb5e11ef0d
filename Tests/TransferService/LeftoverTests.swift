import ServiceWire
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

/// What uploads have left at servers, as clients see it.
@Suite struct LeftoverTests {
    /// An upload to S3 that failed and left `upload` there.
    private func failedUpload(_ harness: ServiceHarness, _ upload: String) async throws -> (BatchID, TaskID) {
        let source = UploadSource(path: RawPath("/src/f"), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "s3://b/p/"))
        request.secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let batch = try await harness.queue.writer.add(request).batch
        let found = try await harness.queue.writer.unscannedSources(of: batch).map {
            FoundSource(
                source: $0.source, kind: .file(SourceIdentity(size: 9, modifiedNanoseconds: 1, inode: 1)))
        }
        try await harness.queue.writer.begin(found)
        _ = try await harness.queue.writer.finishScan(batch)
        let point =
            #"{"address":{"bucket":"b","key":"p/f","place":{}},"uploadID":"\#(upload)","partSize":5,"size":9,"#
            + #""modifiedNanoseconds":0,"hasForeignTags":false}"#
        let quoted = point.replacing("\"", with: "\\\"")
        let line = Array(#"{"v":2,"kind":"s3","point":"\#(quoted)"}"#.utf8)
        let now = Timestamp(milliseconds: 1_000_000)
        for lane in try await harness.queue.writer.lanes() where lane.batch == batch {
            for task in try await harness.queue.writer.claim(lane.lane, limit: 1, now: now) {
                harness.queue.writer.record(.checkpoint(resumePoint: line, accepted: 5), for: task.claim)
                harness.queue.writer.record(.failed(TransferError(.http, "no")), for: task.claim)
            }
        }
        try await harness.queue.writer.commit()
        let task = try #require(try await harness.queue.reader.tasks(batch: batch, limit: 1).first)
        return (batch, task.id)
    }

    @Test func `a purge that is taken back leaves failed uploads where they stood`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (batch, task) = try await failedUpload(harness, "mine")
        for request in [NodesRequest(), NodesRequest(ids: [.batch(batch)])] {
            let purged = try await client.call(Methods.nodesPurge, request)
            #expect(purged.results.map(\.result) == [.done])
            #expect(await harness.engine.removed.isEmpty)
            #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.isEmpty)
            // As long as it lies there it is known.
            let left = try await client.call(Methods.leftoversList, LeftoversRequest()).leftovers
            #expect(left.map(\.task) == [task] && left.map(\.protocol) == ["s3"])
            let back = try await client.call(Methods.nodesUndo, UndoRequest(operation: purged.operation))
            #expect(back.undone == .purge)
        }
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.map(\.id) == [batch])
        let retried = try await client.call(Methods.nodesRetry, NodesRequest(ids: [.task(task)]))
        #expect(retried.results.map(\.result) == [.done])
        let lane = try #require(try await harness.queue.writer.lanes().first)
        let again = try await harness.queue.writer.claim(lane.lane, limit: 1, now: Timestamp(milliseconds: 2_000_000))
        #expect(again.first?.id == task && again.first?.resumePoint != nil)
        try await harness.end()
    }

    @Test func `what a forgotten batch has left at a server can be taken away by name`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (batch, task) = try await failedUpload(harness, "mine")
        _ = try await client.call(Methods.nodesPurge, NodesRequest(ids: [.batch(batch)]))
        let before = await harness.engine.changes
        let request = LeftoversAbortRequest(tasks: [task], forget: nil)
        #expect(try await client.call(Methods.leftoversAbort, request).results.map(\.result) == [.done])
        #expect(await harness.engine.removed == [task])
        #expect(await harness.engine.changes == before + 1)
        try await harness.end()
    }

    @Test func `a task of its own is forgotten only when what it left is gone, whoever named it`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (_, task) = try await failedUpload(harness, "mine")
        await harness.engine.failRemovals(TransferError(.cannotConnectToHost, "nobody answers"))
        let selected = NodesRequest(selector: NodeSelector(states: [.failed]))
        for request in [NodesRequest(ids: [.task(task)]), selected] {
            let refused = try await client.call(Methods.nodesPurge, request)
            #expect(refused.results.map(\.result) == [.refused])
            #expect(refused.results.first?.message?.contains("nobody answers") == true)
        }
        await harness.engine.failRemovals(nil)
        #expect(try await client.call(Methods.nodesPurge, selected).results.map(\.result) == [.done])
        #expect(await harness.engine.removed == [task])
        #expect(try await client.call(Methods.leftoversList, LeftoversRequest()).leftovers.isEmpty)
        try await harness.end()
    }

    @Test func `history that is old goes, but not while something of it lies at a server`() async throws {
        let harness = try await ServiceHarness()
        let (batch, task) = try await failedUpload(harness, "mine")
        let old = try await harness.add(1)
        try await harness.completeAll()
        let left = try await harness.queue.leftBehind()
        #expect(left.map(\.task.id) == [task])
        let later = Timestamp(milliseconds: 4_000_000_000_000)
        try await harness.queue.writer.forget(finishedBefore: later, except: Set(left.map(\.task.batch)))
        #expect(try await harness.queue.reader.batch(old) == nil)
        #expect(try await harness.queue.reader.batch(batch) != nil)
        try await harness.queue.writer.forget(finishedBefore: later)
        #expect(try await harness.queue.reader.batch(batch) == nil)
        try await harness.end()
    }

    @Test func `what nobody can take away can be forgotten`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (batch, task) = try await failedUpload(harness, "mine")
        await harness.engine.failRemovals(TransferError(.cannotConnectToHost, "nobody answers"))
        let request = LeftoversAbortRequest(tasks: [task], forget: true)
        #expect(try await client.call(Methods.leftoversAbort, request).results.map(\.result) == [.done])
        #expect(try await client.call(Methods.leftoversList, LeftoversRequest()).leftovers.isEmpty)
        let purged = try await client.call(Methods.nodesPurge, NodesRequest(ids: [.batch(batch)]))
        #expect(purged.results.map(\.result) == [.done])
        try await harness.end()
    }

    @Test func `what a download left here can be forgotten, too`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let task = try await cancelledDownload(harness)
        await harness.engine.failRemovals(TransferError(.destinationUnwritable, "its folder is away"))
        let purged = try await client.call(Methods.nodesPurge, NodesRequest(ids: [.task(task)]))
        #expect(purged.results.first?.message?.contains("martlet leftovers abort --forget \(task)") == true)
        let request = LeftoversAbortRequest(tasks: [task], forget: true)
        #expect(try await client.call(Methods.leftoversAbort, request).results.map(\.result) == [.done])
        let again = try await client.call(Methods.nodesPurge, NodesRequest(ids: [.task(task)]))
        #expect(again.results.map(\.result) == [.done])
        try await harness.end()
    }

    /// A download that was cancelled with its beginning here.
    private func cancelledDownload(_ harness: ServiceHarness) async throws -> TaskID {
        let source = DownloadSource(url: "http://h/f", directory: RawPath("/away"), fileName: RawPath("f"))
        let batch = try await harness.queue.writer.add(BatchRequest(work: .download([source]))).batch
        let point =
            #"{"name":"f","partName":"f.part","partInode":5,"offset":7,"version":{},"length":9}"#
        let quoted = point.replacing("\"", with: "\\\"")
        let line = Array(#"{"v":2,"kind":"get","point":"\#(quoted)"}"#.utf8)
        let now = Timestamp(milliseconds: 1_000_000)
        var found: TaskID?
        for lane in try await harness.queue.writer.lanes() where lane.batch == batch {
            for task in try await harness.queue.writer.claim(lane.lane, limit: 1, now: now) {
                harness.queue.writer.record(.checkpoint(resumePoint: line, accepted: 7), for: task.claim)
                harness.queue.writer.record(.requeued, for: task.claim)
                found = task.id
            }
        }
        try await harness.queue.writer.commit()
        _ = try await harness.queue.writer.cancel([.batch(batch)])
        return try #require(found)
    }

    @Test func `a bucket is asked with the keys that are kept for its destination`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let request = LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: nil, destination: "nas")
        await #expect(throws: WireError.self) { try await client.call(Methods.leftoversSearch, request) }
        var secrets = TransferSecrets()
        secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "kept")
        _ = try await client.call(Methods.destinationKeep, DestinationKeepRequest(name: "nas", secrets: secrets))
        _ = try await client.call(Methods.leftoversSearch, request)
        #expect(await harness.engine.searches.map(\.keys.secretAccessKey) == ["kept"])
        let nobodys = LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: nil)
        await #expect(throws: WireError.self) { try await client.call(Methods.leftoversSearch, nobodys) }
        try await harness.end()
    }

    @Test func `of what lies in a bucket ours is told from others', and only what is named is taken away`() async throws
    {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        let (_, task) = try await failedUpload(harness, "mine")
        let running = try await harness.add(1)
        let active = try #require(try await harness.queue.reader.tasks(batch: running, limit: 1).first?.id)
        func found(_ id: String, _ task: TaskID? = nil) -> FoundUpload {
            FoundUpload(destination: "s3://b/p/\(id)", key: RawPath("p/\(id)"), uploadID: id, begun: nil, task: task)
        }
        await harness.engine.place([found("mine"), found("busy", active), found("theirs"), found("other")])
        let keys = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let listed = try await client.call(
            Methods.leftoversSearch, LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: keys))
        #expect(listed.uploads.map(\.task) == [task, active, nil, nil])
        #expect(listed.uploads.allSatisfy { $0.result == nil })
        #expect(await harness.engine.aborted.isEmpty)
        #expect(await harness.engine.removed.isEmpty)
        let taken = try await client.call(
            Methods.leftoversSearch,
            LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: keys, abort: ["mine", "busy", "theirs"]))
        #expect(taken.uploads.map(\.result) == [.done, .refused, .done, nil])
        #expect(taken.uploads[1].message?.contains("cancel it first") == true)
        #expect(await harness.engine.aborted == ["theirs"])
        #expect(await harness.engine.removed == [task])
        try await harness.end()
    }

    @Test func `a search that ends where there may be more says so, and one whose client goes ends`() async throws {
        let harness = try await ServiceHarness()
        await harness.engine.findSome()
        let keys = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let request = LeftoverSearchRequest(url: "s3://b/p", s3: nil, keys: keys)
        let other = try await harness.client()
        #expect(try await other.call(Methods.leftoversSearch, request).more == true)
        await harness.engine.searchForever()
        var client: RawClient? = try await harness.client()
        _ = try await client?.post(Methods.leftoversSearch, request)
        while await harness.engine.searches.count < 2 { _ = try await other.call(Methods.totals, Nothing()) }
        #expect(await harness.engine.endedSearches == 0)
        client = nil
        while await harness.engine.endedSearches == 0 { _ = try await other.call(Methods.totals, Nothing()) }
        try await harness.end()
    }
}
