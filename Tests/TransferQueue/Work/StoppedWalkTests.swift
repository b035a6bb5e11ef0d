import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

/// Batches are cancelled while their directories are listed.
@Suite("Walks that a cancel stops") struct StoppedWalkTests {
    private static let lib = RawPath("photos/lib")
    private static let node = RawPath("photos/node")

    /// Queues `/src/photos`, which is listed itself: the file `a` is known, the folders `lib` and `node` are still to be listed.
    private func begin(_ queue: TransferQueue) async throws -> BatchID {
        let batch = try await queue.writer.add(.directory()).batch
        let top = try await queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        chunk.files = [WalkedFile("a")]
        chunk.folders = [RawPath("lib"), RawPath("node")]
        try await queue.writer.insert(walked: [chunk])
        return batch
    }

    /// The folders that a walker would list now.
    private func open(_ queue: TransferQueue, _ batch: BatchID) async throws -> [FolderToWalk] {
        var open: [FolderToWalk] = []
        for walk in try await queue.writer.unscannedSources(of: batch) {
            open += try await queue.writer.foldersToWalk(of: walk.source, limit: 9)
        }
        return open
    }

    private func openNames(_ queue: TransferQueue, _ batch: BatchID) async throws -> [String] {
        try await open(queue, batch).map(\.relative.displayed)
    }

    /// Lists what is open, with one file in each folder, to the end.
    private func walkOn(_ queue: TransferQueue, _ batch: BatchID) async throws {
        for place in try await open(queue, batch) {
            var chunk = WalkedChunk(folder: place.folder, isLast: true)
            chunk.files = [WalkedFile("x")]
            try await queue.writer.insert(walked: [chunk])
        }
        #expect(try await queue.writer.finishScan(batch))
    }

    // MARK: Undo

    @Test("an undo takes up what its cancel stopped, and a folder that was cancelled before stays cancelled")
    func undoOfOne() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let folder = NodeID.folder(batch, path: Self.node)
        _ = try await queue.writer.cancel([folder])
        #expect(try await openNames(queue, batch) == ["lib"])
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await openNames(queue, batch) == [])
        let undone = try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now)
        #expect(undone.results.map(\.result) == [.done] && undone.walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib"])
        #expect(try await queue.reader.batch(batch)?.scanning == true)
        #expect(try await queue.reader.check() == [])
        let both = try await queue.writer.undo(.nodes([folder]), now: sandbox.clock.now)
        #expect(both.walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib", "node"])
        try await walkOn(queue, batch)
        #expect(try await queue.reader.batch(batch)?.filesTotal == 3)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("of a folder and its batch that one request cancels, each is taken back by itself")
    func undoOfOneOperation() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let change = try await queue.writer.cancel([.folder(batch, path: Self.node), .batch(batch)])
        #expect(change.results.map(\.result) == [.done, .done])
        _ = try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now)
        #expect(try await openNames(queue, batch) == ["lib"])
        let operation = try #require(change.operation)
        _ = try await queue.writer.undo(.operation(operation), now: sandbox.clock.now)
        #expect(try await openNames(queue, batch) == ["lib", "node"])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("the undo of a folder's cancel walks it in a batch that stays cancelled, and the batch's undo walks the rest")
    func undoOfTheEarlier() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let folder = NodeID.folder(batch, path: Self.node)
        _ = try await queue.writer.cancel([folder])
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await queue.writer.undo(.nodes([folder]), now: sandbox.clock.now).walked == [batch])
        #expect(try await openNames(queue, batch) == ["node"])
        #expect(try await queue.reader.check() == [])
        try await walkOn(queue, batch)
        #expect(try await queue.reader.batch(batch)?.scanning == false)
        #expect(try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now).walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib"])
        try await walkOn(queue, batch)
        #expect(try await queue.reader.batch(batch)?.filesTotal == 3)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "the undo of one file's cancel lists nothing: neither a cancelled folder nor a cancelled batch",
        arguments: [false, true])
    func undoOfATask(isWhole: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let task = NodeID.task(try await queue.reader.tasks(batch: batch, limit: 1)[0].id)
        _ = try await queue.writer.cancel([task])
        _ = try await queue.writer.cancel([isWhole ? .batch(batch) : .folder(batch, path: RawPath("photos"))])
        try await queue.writer.finishScan(batch)
        let undone = try await queue.writer.undo(.nodes([task]), now: sandbox.clock.now)
        #expect(undone.results.map(\.result) == [.done] && undone.walked == [])
        #expect(try await openNames(queue, batch) == [])
        #expect(try await queue.reader.batch(batch)?.scanning == false)
        #expect(try await queue.claimAll().count == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("what a version without marks cancelled is taken back below the node that was cancelled")
    func undoOfAnOlderVersion() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await begin(queue)
        _ = try await queue.writer.cancel([.batch(batch)])
        try await queue.close()
        try sandbox.database(.readWrite).execute(
            script: """
                UPDATE folders SET walk = -((-walk) & 4294967295) WHERE walk < 0;
                UPDATE sources SET progress = 3 + ((progress - 3) & 1) WHERE progress > 2;
                UPDATE undo SET before = '{}';
                """)
        queue = try sandbox.open()
        #expect(try await openNames(queue, batch) == [])
        #expect(try await queue.writer.undo(.nodes([.batch(batch)]), now: sandbox.clock.now).walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib", "node"])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a queue with folders or sources to be listed that nobody would list is told as damaged")
    func damaged() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await begin(queue)
        let other = try await queue.writer.add(.directory("other")).batch
        try await queue.close()
        try sandbox.database(.readWrite).execute(
            script: """
                UPDATE sources SET progress = 2 WHERE progress = 1;
                UPDATE batches SET scanning = 0 WHERE id = \(other.rawValue);
                """)
        let findings = try await TransferQueue.openForReading(directory: sandbox.directory).check()
        #expect(findings.contains("batch \(other) is walked to its end and still has sources to be looked through"))
        #expect(findings.filter { $0.hasSuffix("its source is not being walked") }.count == 2, "\(findings)")
    }

    // MARK: Retry

    @Test("a retry of a cancelled batch or folder lists the rest of it", arguments: [false, true])
    func retried(isWhole: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let node: NodeID = isWhole ? .batch(batch) : .folder(batch, path: RawPath("photos"))
        _ = try await queue.writer.cancel([node])
        try await queue.writer.finishScan(batch)
        #expect(try await queue.reader.batch(batch)?.state == .cancelled)
        let retry = try await queue.writer.retry([node])
        #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
        #expect(try await queue.reader.batch(batch)?.scanning == true)
        #expect(try await openNames(queue, batch) == ["lib", "node"])
        #expect(try await queue.reader.check() == [])
        try await walkOn(queue, batch)
        try await queue.complete(try await queue.claimAll())
        let snapshot = try #require(try await queue.reader.batch(batch))
        #expect(snapshot.state == .completed && snapshot.filesTotal == 3)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a retry lists the rest of a batch of which every known file was completed when it was cancelled")
    func retriedWithoutFiles() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        try await queue.complete(try await queue.claimAll())
        _ = try await queue.writer.cancel([.batch(batch)])
        // All that is known of it is completed, and that is not all of it.
        #expect(try await queue.reader.batch(batch)?.state == .cancelled)
        let retry = try await queue.writer.retry([.batch(batch)])
        #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib", "node"])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a retry looks through sources that nobody had looked at when their batch was cancelled")
    func retriedBeforeItBegan() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.directory()).batch
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await queue.writer.unscannedSources(of: batch).isEmpty)
        let retry = try await queue.writer.retry([.batch(batch)])
        #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
        #expect(try await queue.writer.unscannedSources(of: batch).map(\.isBegun) == [false])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a retry of one folder of a cancelled batch lists that folder alone, a later one of the batch the rest")
    func retriedInPart() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        _ = try await queue.writer.cancel([.batch(batch)])
        let retry = try await queue.writer.retry([.folder(batch, path: Self.lib)])
        #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib"])
        #expect(try await queue.reader.check() == [])
        try await walkOn(queue, batch)
        // Not while files of the folder are to go: the same key pressed twice must not do more than once.
        #expect(try await queue.writer.retry([.batch(batch)]).walked.isEmpty)
        try await queue.complete(try await queue.claimAll())
        #expect(try await queue.writer.retry([.batch(batch)]).walked == [batch])
        #expect(try await openNames(queue, batch) == ["node"])
        try await walkOn(queue, batch)
        #expect(try await queue.claimAll().count == 2)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "beside files that failed, a retry lists the rest of a cancelled batch at once, and not a folder cancelled before"
    )
    func retriedBesideFailed() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let lib = try #require(try await open(queue, batch).first { $0.relative.displayed == "lib" })
        // Files of `lib` are known, and more of them are to come.
        var chunk = WalkedChunk(folder: lib.folder, isLast: false)
        chunk.files = [WalkedFile("x")]
        try await queue.writer.insert(walked: [chunk])
        let failed = try #require(try await queue.claimAll().first { $0.name == RawPath("a") })
        queue.writer.record(.failed(TransferError(.http, "no")), for: failed.id)
        try await queue.writer.commit()
        _ = try await queue.writer.cancel([.folder(batch, path: Self.node)])
        _ = try await queue.writer.cancel([.batch(batch)])
        let retry = try await queue.writer.retry([.batch(batch)])
        #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
        #expect(try await openNames(queue, batch) == ["lib"])
        let snapshot = try #require(try await queue.reader.batch(batch))
        #expect(snapshot.scanning && snapshot.filesFailed == 0 && snapshot.filesCancelled == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("beside files that failed, a retry of a listed folder lists what its cancel, or that of the batch, left out")
    func retriedListedFolder() async throws {
        for node in [NodeID?.some(.folder(BatchID(rawValue: 1), path: Self.lib)), nil] {
            let sandbox = try Sandbox()
            let queue = try sandbox.open()
            let batch = try await begin(queue)
            let lib = try #require(try await open(queue, batch).first { $0.relative.displayed == "lib" })
            // `lib` is listed, and a folder in it is not yet.
            var chunk = WalkedChunk(folder: lib.folder, isLast: true)
            (chunk.files, chunk.folders) = ([WalkedFile("x")], [RawPath("sub")])
            try await queue.writer.insert(walked: [chunk])
            let failed = try #require(try await queue.claimAll().first { $0.name == RawPath("x") })
            queue.writer.record(.failed(TransferError(.http, "no")), for: failed.id)
            try await queue.writer.commit()
            _ = try await queue.writer.cancel([node ?? .batch(batch)])
            let retry = try await queue.writer.retry([.folder(batch, path: Self.lib)])
            #expect(retry.results.map(\.result) == [.done] && retry.walked == [batch])
            #expect(try await openNames(queue, batch).contains("lib/sub"))
            #expect(try await queue.reader.check() == [])
            try await queue.close()
        }
    }

    @Test("the undo of a cancel from before a retry leaves alone what was cancelled after the retry")
    func cancelledAgain() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await begin(queue)
        let first = try #require(try await queue.writer.cancel([.batch(batch)]).operation)
        _ = try await queue.writer.retry([.batch(batch)])
        _ = try await queue.writer.cancel([.folder(batch, path: Self.node)])
        let undone = try await queue.writer.undo(.operation(first), now: sandbox.clock.now)
        #expect(undone.walked == [])
        #expect(try await openNames(queue, batch) == ["lib"])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}
