import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Order, priority, limits, and taking them back") struct OrderTests {
    private func names(_ queue: TransferQueue, _ batch: BatchID) async throws -> [String] {
        let claimed = try await queue.claimAll().filter { $0.batch == batch }
        try await queue.writer.release(unstarted: claimed.map(\.claim))
        return claimed.map(\.name.displayed)
    }

    private func task(_ number: Int64) -> NodeID { .task(TaskID(rawValue: number)) }

    @Test("tasks go to the top, to the bottom and before another, in the order in which they are named")
    func tasks() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 6)
        #expect(try await names(bench.queue, batch) == ["file0", "file1", "file2", "file3", "file4", "file5"])
        let top = try await bench.queue.writer.move([task(5), task(3)], to: .top)
        #expect(top.results.map(\.id) == [task(5), task(3)] && top.reordered == [batch])
        #expect(try await names(bench.queue, batch) == ["file4", "file2", "file0", "file1", "file3", "file5"])
        try await bench.move(task(1), to: .bottom)
        #expect(try await names(bench.queue, batch) == ["file4", "file2", "file1", "file3", "file5", "file0"])
        try await bench.move(task(6), task(1), to: .before(task(2)))
        #expect(try await names(bench.queue, batch) == ["file4", "file2", "file5", "file0", "file1", "file3"])
        #expect(try await bench.queue.writer.move([task(5)], to: .top).results.map(\.result) == [.already])
        try await bench.close()
    }

    @Test("one step earlier or later passes what stands next to it, and again and again before the same one")
    func steps() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 4)
        try await bench.move(task(3), to: .earlier)
        #expect(try await names(bench.queue, batch) == ["file0", "file2", "file1", "file3"])
        try await bench.move(task(1), to: .later)
        #expect(try await names(bench.queue, batch) == ["file2", "file0", "file1", "file3"])
        #expect(try await bench.queue.writer.move([task(3)], to: .earlier).results.map(\.result) == [.already])
        #expect(try await bench.queue.writer.move([task(4)], to: .later).results.map(\.result) == [.already])
        // There is room for 24 halvings between two neighbours; then all get new places.
        for _ in 0..<40 {
            try await bench.move(task(1), to: .before(task(4)))
            try await bench.move(task(2), to: .before(task(4)))
        }
        #expect(try await names(bench.queue, batch) == ["file2", "file0", "file1", "file3"])
        try await bench.close()
    }

    @Test("a folder goes as a whole, with what is still to be found in it")
    func folders() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.writer.add(.directory()).batch
        let top = try await bench.queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        chunk.files = [WalkedFile("a"), WalkedFile("b")]
        chunk.folders = [RawPath("deep")]
        let deep = try await bench.queue.writer.insert(walked: [chunk]).folders[0]
        var some = WalkedChunk(folder: deep.folder, isLast: false)
        some.files = [WalkedFile("x")]
        try await bench.queue.writer.insert(walked: [some])
        let folder = NodeID.folder(batch, path: RawPath("photos/deep"))
        #expect(try await bench.queue.writer.move([folder], to: .top).results.map(\.result) == [.done])
        #expect(
            try await bench.queue.writer.set([folder], NodeSettings(priority: .high)).results.map(\.result) == [.done])
        some.files = [WalkedFile("y")]
        some.isLast = true
        try await bench.queue.writer.insert(walked: [some])
        #expect(try await names(bench.queue, batch) == ["x", "y", "a", "b"])
        #expect(try await bench.queue.writer.lanes().map(\.priority) == [.high, .normal])
        try await bench.close()
    }

    @Test(
        "what of a folder is wanted now, or gets another priority, leaves what is below its own when that is taken back"
    )
    func priorities() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.writer.add(.directory()).batch
        let top = try await bench.queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: false)
        chunk.files = [WalkedFile("a")]
        chunk.folders = [RawPath("deep")]
        let deep = try #require(try await bench.queue.writer.insert(walked: [chunk]).folders.last)
        let (upper, lower) = (
            NodeID.folder(batch, path: RawPath("photos")), NodeID.folder(batch, path: RawPath("photos/deep"))
        )
        func found(_ name: String) async throws -> TransferPriority? {
            var more = WalkedChunk(folder: deep.folder, isLast: false)
            more.files = [WalkedFile(name)]
            try await bench.queue.writer.insert(walked: [more])
            let claimed = try await bench.queue.claimAll()
            try await bench.queue.writer.release(unstarted: claimed.map(\.claim))
            let lane = claimed.first { $0.name == RawPath(name) }?.lane
            return try await bench.queue.writer.lanes().first { $0.lane == lane }?.priority
        }
        try await bench.set(lower, to: NodeSettings(priority: .high))
        #expect(try await found("first") == .high)
        try await bench.runNow(upper)
        #expect(try await found("second") == .high)
        try await bench.set(upper, to: NodeSettings(priority: .low))
        #expect(try await found("third") == .low)
        try await bench.undoLast()
        #expect(try await found("fourth") == .high)
        try await bench.close()
    }

    @Test("a folder keeps the place of its own when the move of the one above it is taken back")
    func placesBelow() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.writer.add(.directory()).batch
        let top = try await bench.queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: false)
        chunk.files = [WalkedFile("a")]
        chunk.folders = [RawPath("deep")]
        let deep = try #require(try await bench.queue.writer.insert(walked: [chunk]).folders.last)
        var more = WalkedChunk(folder: deep.folder, isLast: false)
        more.files = [WalkedFile("x")]
        try await bench.queue.writer.insert(walked: [more])
        try await bench.move(.folder(batch, path: RawPath("photos/deep")), to: .top)
        try await bench.move(.folder(batch, path: RawPath("photos")), to: .bottom)
        try await bench.undoLast()
        // What is found later in it stands where its folder does.
        more.files = [WalkedFile("y")]
        try await bench.queue.writer.insert(walked: [more])
        #expect(try await names(bench.queue, batch) == ["x", "y", "a"])
        try await bench.close()
    }

    @Test("a group of a screen stands together, page by page")
    func groups() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 6)
        let first = try await bench.queue.writer.move([task(3), task(4)], to: .top, asOne: true)
        let second = try await bench.queue.writer.move(
            [task(6)], to: .top, asOne: true, with: first.moved, joining: first.operation)
        #expect(try await names(bench.queue, batch) == ["file2", "file3", "file5", "file0", "file1", "file4"])
        #expect(second.operation == first.operation)
        let back = try await bench.undoLast()
        #expect(back.undone == .move)
        #expect(try await names(bench.queue, batch) == ["file0", "file1", "file2", "file3", "file4", "file5"])
        try await bench.close()
    }

    @Test("batches change places among those of their priority")
    func batches() async throws {
        let bench = try ChangeBench()
        var batches: [BatchID] = []
        for name in ["a", "b", "c"] { batches.append(try await bench.queue.addTree(name, files: 1)) }
        func order() async throws -> [BatchID] { try await bench.queue.writer.lanes().map(\.batch) }
        _ = try await bench.queue.writer.move([.batch(batches[2])], to: .top)
        #expect(try await order() == [batches[2], batches[0], batches[1]])
        _ = try await bench.queue.writer.move([.batch(batches[0])], to: .later)
        #expect(try await order() == [batches[2], batches[1], batches[0]])
        _ = try await bench.queue.writer.set([.batch(batches[0])], NodeSettings(priority: .high))
        #expect(try await order() == [batches[0], batches[2], batches[1]])
        let refused = try await bench.queue.writer.move([.batch(batches[1])], to: .before(.batch(batches[0])))
        #expect(refused.results[0].message?.contains("--priority high") == true)
        let wrong = try await bench.queue.writer.move([task(1)], to: .before(task(2)))
        #expect(wrong.results[0].message == "t2 is not in b1: name a file or folder of b1, or move the batch")
        try await bench.undoLast()
        try await bench.undoLast()
        #expect(try await order() == [batches[2], batches[0], batches[1]])
        try await bench.close()
    }

    @Test("a priority of its own lets a file go first, and goes with an undo; a million of others stay where they are")
    func priority() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3)
        _ = try await queue.writer.set([task(3)], NodeSettings(priority: .interactive))
        #expect(try await names(queue, batch) == ["file2", "file0", "file1"])
        #expect(try await queue.reader.task(TaskID(rawValue: 3))?.priority == .interactive)
        #expect(try await queue.reader.task(TaskID(rawValue: 2))?.priority == .normal)
        try await queue.close()
        queue = try sandbox.open()
        let back = try await queue.writer.undo(.nodes([task(3)]), now: sandbox.clock.now)
        #expect(back.undone == .set && back.reordered == [batch])
        #expect(try await names(queue, batch) == ["file0", "file1", "file2"])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("limits are kept by what they are on, and an undo puts back what was so before")
    func limits() async throws {
        let bench = try ChangeBench()
        var options = TransferOptions()
        options.bytesPerSecond = 5000
        let batch = try await bench.queue.writer.add(.downloads(["http://h/a", "http://h/b"], options: options)).batch
        try await bench.set(.batch(batch), task(1), to: NodeSettings(limit: 700))
        try await bench.queue.writer.changeLimits(scoped: [.host("h"): 9])
        let all: [LimitScope: Int64] = [.batch(batch): 700, .task(TaskID(rawValue: 1)): 700, .host("h"): 9]
        #expect(try await bench.queue.writer.limits() == all)
        #expect(try await bench.queue.reader.batch(batch)?.limit == 700)
        #expect(try await bench.queue.reader.standing(of: task(1))?.limits.map(\.rate) == [9, 700, 700])
        #expect(try await bench.undoLast().undone == .limit)
        try await bench.undoLast()
        #expect(try await bench.queue.writer.limits() == [.batch(batch): 5000])
        // All of one request is one change.
        let both = try await bench.queue.writer.changeLimits(
            StoredLimits(up: "3M"), scoped: [.host("h"): 4, .host("i"): 5])
        #expect(try await bench.queue.writer.undoSteps(now: bench.now).first?.operation == both)
        try await bench.undoLast()
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits())
        #expect(try await bench.queue.writer.limits() == [.batch(batch): 5000])
        #expect(try await bench.queue.writer.changeLimits(StoredLimits(), scoped: [.host("h"): 0]) == nil)
        // What a request does not name stays as another one has set it.
        try await bench.queue.writer.changeLimits(StoredLimits(up: "1M"))
        try await bench.queue.writer.changeLimits(StoredLimits(down: "2M"))
        try await bench.queue.writer.changeLimits(scoped: [.host("j"): 6])
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits(up: "1M", down: "2M"))
        for _ in 0..<3 { try await bench.undoLast() }
        // Nor does taking it back undo what another one has set since.
        let first = try #require(try await bench.queue.writer.changeLimits(StoredLimits(up: "1M", transfers: 4)))
        try await bench.queue.writer.changeLimits(StoredLimits(down: "2M", transfersPerHost: 3))
        let left = StoredLimits(down: "2M", transfersPerHost: 3)
        try await bench.undo(first)
        #expect(try await bench.queue.writer.storedLimits() == left)
        try await bench.undoLast()
        try await bench.queue.writer.changeLimits(StoredLimits(up: "1M", transfers: 2))
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits(up: "1M", transfers: 2))
        try await bench.undoLast()
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits())
        try await bench.queue.writer.changeLimits(scoped: [.session(.default): 9])
        try await bench.cancel(.batch(batch))
        _ = try await bench.queue.writer.purge([.batch(batch)])
        bench.sandbox.clock.advance(by: .seconds(11))
        _ = try await bench.queue.writer.forgetPurged(now: bench.now)
        #expect(try await bench.queue.writer.limits() == [.session(.default): 9])
        try await bench.close()
    }

    @Test("a limit that another one has set again is not put back by who set it first")
    func limitsOfTwo() async throws {
        let bench = try ChangeBench()
        let ours = try #require(
            try await bench.queue.writer.changeLimits(StoredLimits(up: "3M"), scoped: [.host("k"): 6]))
        let theirs = try #require(
            try await bench.queue.writer.changeLimits(StoredLimits(up: "4M"), scoped: [.host("k"): 7]))
        try await bench.undo(ours)
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits(up: "4M"))
        #expect(try await bench.queue.writer.limits() == [.host("k"): 7])
        // They see again what they had seen.
        try await bench.undo(theirs)
        #expect(try await bench.queue.writer.storedLimits() == StoredLimits(up: "3M"))
        #expect(try await bench.queue.writer.limits() == [.host("k"): 6])
        try await bench.close()
    }

    @Test("what may not start yet starts when its time has come, or at once when it is asked for")
    func times() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2, held: true)
        let later = bench.later(100)
        try await bench.set(task(1), to: NodeSettings(notBefore: later))
        #expect(try await bench.queue.reader.task(TaskID(rawValue: 1))?.waitReasons == [.notBefore])
        #expect(try await bench.queue.writer.nextWake() == later)
        // Once, though its batch is held.
        try await bench.runNow(task(1))
        #expect(try await bench.queue.reader.tasks(batch: batch, limit: 2).map(\.state) == [.queued, .created])
        #expect(try await bench.queue.reader.standing(of: task(1))?.state == .queued)
        #expect(try await bench.queue.claimAll(now: bench.now).map(\.id) == [TaskID(rawValue: 1)])
        try await bench.set(.batch(batch), to: NodeSettings(notBefore: later))
        try await bench.runNow(.batch(batch))
        #expect(try await bench.queue.writer.lanes().allSatisfy { $0.isUrgent && !$0.isStopped && $0.notBefore == nil })
        try await bench.undoLast()
        #expect(try await bench.queue.reader.batch(batch)?.notBefore == later)
        #expect(try await bench.queue.writer.lanes().map(\.isStopped).contains(true))
        try await bench.close()
    }

    @Test("taking a cancel of several batches back in part leaves the others as they are")
    func cancelInPart() async throws {
        let bench = try ChangeBench()
        let one = try await bench.queue.addTree("one", files: 1)
        let other = try await bench.queue.writer.add(.downloads(["http://host/f"])).batch
        let claimed = try await bench.queue.claimAll()
        let publishing = try #require(claimed.first { $0.batch == other })
        #expect(try await bench.queue.writer.leaveToPublish(publishing.claim, as: RawPath("/dst/f")) == .granted)
        try await bench.cancel(.batch(one), .batch(other))
        // It did not get its name.
        bench.queue.writer.record(.failed(TransferError(.destinationExists, "taken")), for: publishing.claim)
        try await bench.queue.writer.commit()
        #expect(try await bench.queue.reader.batch(other)?.state == .cancelled)
        try await bench.undo(.batch(one))
        #expect(try await bench.queue.reader.batch(other)?.state == .cancelled)
        #expect(try await bench.queue.reader.check() == [])
        try await bench.undo(.batch(other))
        #expect(try await bench.queue.reader.batch(other)?.state.isTerminal == false)
        try await bench.close()
    }

    @Test(
        "two moves that are taken back, the older one first, leave all batches where they were, later ones and ended ones, too"
    )
    func otherBatches() async throws {
        let bench = try ChangeBench()
        var batches: [NodeID] = []
        for name in ["a", "b", "c"] { batches.append(.batch(try await bench.queue.addTree(name, files: 1))) }
        func positions() throws -> [Int64] {
            try bench.sandbox.database().rows("SELECT position FROM batches ORDER BY id") { $0.integer(0) }
        }
        let first = try await bench.move(batches[2], to: .top)
        // The second move knows nothing of a batch that is over, and the first nothing of one that comes after it.
        try await bench.queue.complete(try await bench.queue.claimAll().filter { .batch($0.batch) == batches[1] })
        batches.append(.batch(try await bench.queue.addTree("d", files: 1)))
        let second = try await bench.move(batches[3], to: .top)
        #expect(try positions() == [4, 3, 2, 1])
        try await bench.undo(first)
        try await bench.undo(second)
        #expect(try positions() == [1, 2, 3, 4])
        try await bench.close()
    }

    @Test("taking a cancel back leaves a file that was retried and cancelled again as it is")
    func cancelledAgain() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        func states() async throws -> [TransferState] {
            try await bench.queue.reader.tasks(batch: batch, limit: 2).map(\.state)
        }
        try await bench.cancel(.batch(batch))
        _ = try await bench.queue.writer.retry([.batch(batch)])
        try await bench.cancel(task(1))
        #expect(try await bench.undo(.batch(batch)).undone == .cancel)
        #expect(try await states() == [.cancelled, .queued])
        #expect(try await bench.undo(task(1)).undone == .cancel)
        #expect(try await states() == [.queued, .queued])
        try await bench.close()
    }

    @Test("a retry of a batch leaves the time that a person gave one of its files")
    func retryKeepsTimes() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        let later = bench.later(100)
        try await bench.set(task(1), to: NodeSettings(notBefore: later))
        let claimed = try await bench.queue.claimAll(now: bench.now)
        for task in claimed { bench.queue.writer.record(.failed(TransferError(.http, "no")), for: task.claim) }
        try await bench.queue.writer.commit()
        #expect(try await bench.queue.writer.retry([.batch(batch)]).results.map(\.result) == [.done])
        #expect(try await bench.queue.reader.tasks(batch: batch, limit: 2).map(\.state) == [.waiting, .queued])
        #expect(try await bench.queue.reader.task(TaskID(rawValue: 1))?.retryAt == later)
        try await bench.close()
    }

    @Test("taking back an older change leaves what a newer one has set; the newer one then brings what was before both")
    func olderSet() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 1)
        func set(_ settings: NodeSettings) async throws -> Int64 {
            try #require(try await bench.queue.writer.set([.batch(batch)], settings).operation)
        }
        func shown() async throws -> [Int64?] {
            let snapshot = try #require(try await bench.queue.reader.batch(batch))
            return [snapshot.limit, Int64(snapshot.priority.level)]
        }
        let before = try await shown()
        let first = try await set(NodeSettings(priority: .high, limit: 1000))
        let second = try await set(NodeSettings(limit: 2000))
        try await bench.undo(first)
        #expect(try await shown() == [2000, before[1]])
        try await bench.undo(second)
        #expect(try await shown() == before)
        try await bench.close()
    }

    /// Priorities of the tasks 1, 2 … of a batch.
    private func priorities(_ queue: TransferQueue, _ batch: BatchID) async throws -> [TransferPriority] {
        try await queue.reader.tasks(batch: batch, limit: 100).map(\.priority)
    }

    @Test("taking back an older priority leaves a newer one of the same file, which then brings what was before both")
    func olderPriority() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 3)
        func set(_ tasks: [NodeID], _ priority: TransferPriority) async throws -> Int64 {
            try #require(try await bench.queue.writer.set(tasks, NodeSettings(priority: priority)).operation)
        }
        func undo(_ choice: UndoneChange) async throws {
            let back = try await bench.queue.writer.undo(choice, now: bench.now)
            #expect(back.undone != nil && back.results.allSatisfy { $0.result == .done })
        }
        let first = try await set([task(1), task(2), task(3)], .high)
        let second = try await set([task(1)], .low)
        let third = try await set([task(1), task(3)], .background)
        #expect(try await priorities(bench.queue, batch) == [.background, .high, .background])
        try await undo(.operation(first))
        #expect(try await priorities(bench.queue, batch) == [.background, .normal, .background])
        // In part: what is taken back of a change is no part of it any more.
        try await undo(.nodes([task(1)]))
        #expect(try await priorities(bench.queue, batch) == [.low, .normal, .background])
        let last = try await set([task(1)], .interactive)
        try await undo(.operation(third))
        #expect(try await priorities(bench.queue, batch) == [.interactive, .normal, .normal])
        try await undo(.operation(second))
        #expect(try await priorities(bench.queue, batch) == [.interactive, .normal, .normal])
        try await undo(.operation(last))
        #expect(try await priorities(bench.queue, batch) == [.normal, .normal, .normal])
        try await bench.close()
    }

    @Test("taking back a move leaves the priority that a file was given since, and the other way round")
    func moveAndPriority() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 3)
        let move = try await bench.move(task(3), to: .top)
        let set = try await bench.set(task(3), to: NodeSettings(priority: .high))
        let moved = try await bench.move(task(3), task(2), to: .top)
        try await bench.undo(move)
        #expect(try await priorities(bench.queue, batch) == [.normal, .normal, .high])
        try await bench.undo(set)
        #expect(try await priorities(bench.queue, batch) == [.normal, .normal, .normal])
        #expect(try await names(bench.queue, batch) == ["file2", "file1", "file0"])
        try await bench.undo(moved)
        #expect(try await names(bench.queue, batch) == ["file0", "file1", "file2"])
        try await bench.close()
    }

    @Test("taking back what an older change gave folders leaves what a newer one gave one of them, or all of them")
    func olderFolders() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(folders: ["a": 1, "b": 1])
        func given() throws -> [String] {
            try bench.sandbox.database().rows(
                "SELECT name, priority FROM folders WHERE priority IS NOT NULL ORDER BY name"
            ) {
                "\(RawPath($0.bytes(0)).displayed) \($0.integer(1))"
            }
        }
        func set(_ path: String, _ priority: TransferPriority) async throws -> Int64 {
            let node = NodeID.folder(batch, path: RawPath(path))
            return try await bench.set(node, to: NodeSettings(priority: priority))
        }
        func undo(_ operation: Int64) async throws {
            #expect(try await bench.undo(operation).undone == .set)
        }
        let inner = try await set("photos/a", .high)
        let all = try await set("photos", .low)
        let other = try await set("photos/b", .background)
        let (low, bulk) = (TransferPriority.low.level, TransferPriority.background.level)
        #expect(try given() == ["b \(bulk)", "photos \(low)"])
        try await undo(inner)
        #expect(try given() == ["b \(bulk)", "photos \(low)"])
        #expect(try await priorities(bench.queue, batch) == [.low, .background])
        try await undo(all)
        #expect(try given() == ["b \(bulk)"])
        #expect(try await priorities(bench.queue, batch) == [.normal, .background])
        try await undo(other)
        #expect(try given() == [])
        #expect(try await priorities(bench.queue, batch) == [.normal, .normal])
        try await bench.close()
    }

    @Test("taking back an older move of a batch leaves the order of a newer one, which then brings that before both")
    func olderPositions() async throws {
        let bench = try ChangeBench()
        var batches: [BatchID] = []
        for name in ["a", "b", "c"] { batches.append(try await bench.queue.addTree(name, files: 1)) }
        func order() async throws -> [Int] {
            try await bench.queue.writer.lanes().compactMap { batches.firstIndex(of: $0.batch) }
        }
        let first = try #require(try await bench.queue.writer.move([.batch(batches[1])], to: .top).operation)
        let second = try #require(
            try await bench.queue.writer.move([.batch(batches[2])], to: .before(.batch(batches[0]))).operation)
        #expect(try await order() == [1, 2, 0])
        try await bench.undo(first)
        #expect(try await order() == [1, 2, 0])
        try await bench.undo(second)
        #expect(try await order() == [0, 1, 2])
        try await bench.close()
    }

    @Test("many nodes are changed at once with work that grows as their number, not as their batch")
    func manyChanged() async throws {
        func steps(of files: Int, _ change: (QueueWriter, [NodeID]) async throws -> NodeChange) async throws -> Int64 {
            let bench = try ChangeBench()
            _ = try await bench.queue.addTree(files: files)
            let before = await bench.queue.writer.virtualMachineSteps()
            let change = try await change(bench.queue.writer, (1...100).map { task($0) })
            #expect(change.results.count == 100 && change.results.allSatisfy { $0.result == .done })
            let steps = await bench.queue.writer.virtualMachineSteps() - before
            try await bench.close()
            return steps
        }
        let changes: [(QueueWriter, [NodeID]) async throws -> NodeChange] = [
            { try await $0.set($1, NodeSettings(priority: .high)) }, { try await $0.runNow($1) },
        ]
        for change in changes {
            let (few, many) = (try await steps(of: 200, change), try await steps(of: 2000, change))
            #expect(many < few * 3, "\(few) steps in a batch of 200, \(many) in one of 2,000")
        }
    }

    @Test("a batch that runs before all others is let go on once more when something of it waits since")
    func runNowAgain() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        try await bench.runNow(.batch(batch))
        #expect(try await bench.queue.writer.runNow([.batch(batch)]).results.map(\.result) == [.already])
        let error = TransferError(.timedOut, "no answer")
        for task in try await bench.queue.claimAll() {
            bench.queue.writer.record(
                .waiting(WaitReasons(.backoff), retryAt: bench.later(3000), error: error), for: task.claim)
        }
        try await bench.queue.writer.commit()
        #expect(try await bench.states() == [.waiting, .waiting])
        try await bench.runNow(.batch(batch))
        #expect(try await bench.states() == [.queued, .queued])
        try await bench.set(.batch(batch), to: NodeSettings(notBefore: bench.later(60)))
        try await bench.runNow(.batch(batch))
        #expect(try await bench.queue.reader.batch(batch)?.notBefore == nil)
        try await bench.undoLast()
        #expect(try await bench.queue.reader.batch(batch)?.notBefore == bench.later(60))
        try await bench.close()
    }

    @Test("many batches are forgotten with work that grows as their number does")
    func manyForgotten() async throws {
        func steps(_ count: Int) async throws -> Int64 {
            let bench = try ChangeBench()
            var batches: [NodeID] = []
            for number in 0..<count { batches.append(.batch(try await bench.queue.addTree("t\(number)", files: 1))) }
            for batch in batches { try await bench.cancel(batch) }
            _ = try await bench.queue.writer.purge(batches)
            bench.sandbox.clock.advance(by: .seconds(4000))
            let before = await bench.queue.writer.virtualMachineSteps()
            _ = try await bench.queue.writer.forgetPurged(now: bench.now)
            let steps = await bench.queue.writer.virtualMachineSteps() - before
            let events = try await bench.queue.reader.events(after: EventSequence(rawValue: 0), limit: 9)
            #expect(events.allSatisfy { $0.batch == nil })
            try await bench.close()
            return steps
        }
        let (few, many) = (try await steps(20), try await steps(160))
        #expect(many < 10 * few, "\(many) steps for 160 batches, \(few) for 20")
    }

    @Test("of many nodes the newest change is taken back first, with work that grows as their number does")
    func manyTakenBack() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 800)
        func steps(_ count: Int64) async throws -> Int64 {
            let nodes = (1...count).map { task($0) }
            for node in nodes {
                try await bench.set(node, to: NodeSettings(limit: 1000))
                try await bench.set(node, to: NodeSettings(priority: .high, limit: 2000))
            }
            let before = await bench.queue.writer.virtualMachineSteps()
            // The newer change of each stands when the older one goes.
            let back = try await bench.queue.writer.undo(.nodes(nodes.reversed()), now: bench.now)
            #expect(back.results.map(\.id) == nodes.reversed() && back.results.allSatisfy { $0.result == .done })
            let done = await bench.queue.writer.virtualMachineSteps() - before
            let all = try await bench.queue.reader.tasks(batch: batch, limit: 800)
            #expect(all.allSatisfy { $0.priority == .normal && $0.limit ?? 1000 == 1000 })
            bench.sandbox.clock.advance(by: .seconds(4000))
            return done
        }
        let few = try await steps(100)
        let many = try await steps(800)
        #expect(many < 10 * few, "\(many) steps for 800 nodes, \(few) for 100")
        try await bench.close()
    }

    @Test(
        "what ran in spite of its held batch stops when that is taken back, or when it gets another priority",
        arguments: [0, 1, 2])
    func runNowTakenBack(way: Int) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2, held: true)
        try await bench.runNow(task(1))
        #expect(try await bench.queue.claimAll(now: bench.now).map(\.id) == [TaskID(rawValue: 1)])
        let change =
            switch way {
            case 0: try await bench.undoLast()
            case 1: try await bench.queue.writer.set([task(1)], NodeSettings(priority: .high))
            default:
                try await bench.queue.writer.set(
                    [.folder(batch, path: RawPath("photos"))], NodeSettings(priority: .high))
            }
        #expect(change.stopped.map(\.task) == [TaskID(rawValue: 1)])
        #expect(try await bench.queue.reader.tasks(batch: batch, limit: 2).map(\.state) == [.created, .created])
        #expect(try await bench.queue.claimAll(now: bench.now).isEmpty)
        try await bench.close()
    }

    @Test("a purge is taken back whole; nothing of it is seen meanwhile")
    func purge() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2)
        try await bench.queue.complete(try await bench.queue.claimAll())
        let before = try await bench.queue.reader.batch(batch)
        let purged = try await bench.queue.writer.purgeFinished()
        #expect(try await bench.queue.reader.batch(batch) == nil)
        #expect(try await bench.queue.reader.task(TaskID(rawValue: 1)) == nil)
        #expect(try await bench.queue.reader.totals().batches == 0)
        #expect(try await bench.queue.writer.retry([.batch(batch)]).results[0].code == .noSuchObject)
        let back = try await bench.queue.writer.undo(.operation(try #require(purged.operation)), now: bench.now)
        #expect(back.undone == .purge && back.results.map(\.id) == [.batch(batch)])
        #expect(try await bench.queue.reader.batch(batch) == before)
        try await bench.close()
    }

    @Test("pause and resume are taken back, and what was held is held again")
    func pauses() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2, held: true)
        _ = try await bench.queue.writer.resume([.batch(batch)])
        _ = try await bench.queue.claimAll()
        let back = try await bench.undoLast()
        #expect(back.undone == .resume && back.stopped.count == 2)
        #expect(try await bench.queue.reader.batch(batch)?.state == .created)
        _ = try await bench.queue.writer.pause([task(2)])
        #expect(try await bench.undo(task(2)).undone == .pause)
        #expect(try await bench.queue.reader.batch(batch)?.state == .created)
        try await bench.close()
    }

    @Test("a pause whose end has come meanwhile does not come back", arguments: [false, true])
    func pauseThatHasEnded(isOfPause: Bool) async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 1)
        _ = try await bench.queue.writer.pause([task(1)], until: bench.later(3))
        // Taken back is either that it goes on, or that it goes on later.
        let change =
            isOfPause
            ? try await bench.queue.writer.pause([task(1)], until: bench.later(100))
            : try await bench.queue.writer.resume([task(1)])
        let operation = try #require(change.operation)
        bench.sandbox.clock.advance(by: .seconds(4))
        let back = try await bench.undo(operation)
        #expect(back.results.allSatisfy { $0.pausedAgain != true && $0.pausedUntil == nil })
        #expect(try await bench.states() == [.queued])
        try await bench.close()
    }
}
