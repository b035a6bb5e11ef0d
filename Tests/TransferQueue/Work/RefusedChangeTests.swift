import Testing
import TransferModel

@testable import TransferQueue

@Suite("What cannot be done to a node is refused in words that name the cause and, where there is one, the cure")
struct RefusedChangeTests {
    /// What is said of the nodes that a change refuses; "-" for one that it does not refuse.
    private func said(_ change: NodeChange) -> [String] {
        change.results.map { $0.result == .refused ? $0.message ?? "" : "-" }
    }

    private func folder(_ batch: BatchID, _ path: String) -> NodeID { .folder(batch, path: RawPath(path)) }

    @Test("what is over")
    func over() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await bench.queue.addTree(folders: ["a": 1])
        try await bench.queue.complete(try await bench.queue.claimAll())
        let nodes = [bench.task(1), folder(batch, "photos/a"), .batch(batch)]
        let places = ["t1", "b1:photos/a", "b1"]
        #expect(said(try await writer.cancel(nodes)) == places.map { "\($0) is over: nothing is left to cancel" })
        #expect(said(try await writer.pause(nodes)) == places.map { "\($0) is over: nothing is left to pause" })
        #expect(
            said(try await writer.move(nodes, to: .top))
                == places.map { "\($0) is over: its place does not matter any more" })
        #expect(
            said(try await writer.set(nodes, NodeSettings(priority: .high))) == [
                "t1 is over: nothing of it can change", "b1:photos/a is over: nothing of it can change",
                "b1 is over: only --name, --if-exists, --ca and --pin can be changed, for what is tried again",
            ])
        #expect(
            said(try await writer.retry(nodes)) == [
                "t1 is completed: queue the file again to send it again",
                "nothing of b1:photos/a failed or was cancelled", "nothing of b1 failed or was cancelled",
            ])
        #expect(
            said(try await writer.undo(.nodes([bench.task(1), bench.task(9)]), now: bench.now)) == [
                "nothing that was done to t1 can be taken back any more: 'martlet retry t1' starts a cancelled one anew",
                "there is no t9",
            ])
        let cancelled = try await bench.queue.addTree("more", files: 2)
        try await bench.cancel(bench.task(2))
        #expect(said(try await writer.runNow([bench.task(2)])) == ["t2 is over: 'martlet retry t2' starts it anew"])
        #expect(
            said(try await writer.move([.batch(cancelled)], to: .before(.batch(batch)))) == [
                "b1 is over: nothing can be put before it"
            ])
        #expect(
            said(try await writer.move([bench.task(3)], to: .before(bench.task(2)))) == [
                "t2 is over: nothing can be put before it"
            ])
        try await bench.close()
    }

    @Test("a place that there is not")
    func places() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await bench.queue.addTree(files: 1)
        #expect(
            said(try await writer.move([.batch(batch)], to: .before(bench.task(1)))) == [
                "b1 is a batch and t1 is not: put it before a batch"
            ])
        #expect(
            said(try await writer.move([.batch(batch)], to: .before(.batch(BatchID(rawValue: 9))))) == [
                "there is no b9 to put it before: see 'martlet list'"
            ])
        #expect(
            said(try await writer.move([bench.task(1)], to: .before(bench.task(9)))) == [
                "there is no t9 to put it before: see 'martlet list b1'"
            ])
        try await bench.close()
    }

    @Test("what a pause above it holds")
    func paused() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 1)
        try await bench.pause(.batch(batch))
        let held = ["its batch b1 is paused: 'martlet resume b1'"]
        #expect(said(try await bench.queue.writer.resume([bench.task(1)])) == held)
        #expect(said(try await bench.queue.writer.runNow([bench.task(1)])) == held)
        try await bench.close()
    }

    @Test("what a hold of its batch keeps back; a file that was asked for now runs all the same")
    func held() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await bench.queue.addTree(files: 2, folders: ["a": 1], held: true)
        let nodes = [bench.task(1), folder(batch, "photos/a")]
        let held = "its batch b1 is held: 'martlet resume b1'"
        #expect(said(try await writer.resume(nodes)) == [held, held])
        #expect(try await writer.runNow([bench.task(2)]).results.map(\.result) == [.done])
        #expect(try await bench.queue.claimAll().map(\.id) == [TaskID(rawValue: 2)])
        #expect(try await writer.resume([bench.task(2)]).results.map(\.result) == [.already])
        #expect(try await writer.resume([.batch(batch)]).results.map(\.result) == [.done])
        #expect(try await writer.resume(nodes).results.map(\.result) == [.already, .already])
        try await bench.close()
    }

    @Test("settings that only a batch has")
    func settings() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await bench.queue.addTree(folders: ["a": 1])
        func refused(_ node: NodeID, _ settings: NodeSettings) async throws -> [String] {
            said(try await writer.set([node], settings))
        }
        let task = bench.task(1)
        #expect(
            try await refused(task, NodeSettings(name: BatchName(rawValue: "x"))) == [
                "only a batch has a name of its own: give its ID"
            ])
        #expect(
            try await refused(task, NodeSettings(caFile: RawPath("/ca.pem"))) == [
                "--ca is its batch's: 'martlet set b1 --ca /ca.pem'"
            ])
        #expect(
            try await refused(task, NodeSettings(pin: "sha256//x")) == [
                "--pin is its batch's: 'martlet set b1 --pin sha256//x'"
            ])
        #expect(
            try await refused(folder(batch, "photos/a"), NodeSettings(notBefore: bench.later(9))) == [
                "a folder has no time of its own: set that of its batch, or of single files"
            ])
        var password = TransferSecrets()
        password.password = "new"
        #expect(
            said(try await writer.replaceSecrets(of: [task], by: password)) == [
                "its login is its batch's: give the same options to 'martlet set b1'"
            ])
        try await bench.close()
    }

    @Test("forgetting what is not over, is a part, or has left something")
    func purging() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await bench.queue.addTree(folders: ["a": 2])
        let nodes = [bench.task(1), folder(batch, "photos/a"), .batch(batch)]
        #expect(
            said(try await writer.purge(nodes)) == [
                "t1 is not over: cancel it first", "a folder is forgotten with its batch: 'martlet purge b1'",
                "b1 is not over: cancel it first",
            ])
        #expect(
            said(try await writer.clear(nodes)) == [
                "only a whole batch can be put away", "only a whole batch can be put away",
                "b1 is not over: cancel it first",
            ])
        let claimed = try await bench.queue.claimAll()
        bench.queue.writer.record(.running, for: claimed[0].id)
        bench.queue.writer.record(.checkpoint(resumePoint: [7], accepted: 30), for: claimed[0].id)
        try await writer.commit()
        _ = try await writer.cancel([bench.task(1)])
        #expect(said(try await writer.purge([bench.task(1)])) == ["what t1 left is still there: purge it again later"])
        writer.record(.failed(TransferError(.http, "404", httpStatus: 404)), for: claimed[1].id)
        try await writer.commit()
        #expect(
            said(try await writer.clear([.batch(batch)])) == [
                "1 of its files failed: 'martlet retry b1' tries them again, or leave them out"
            ])
        try await bench.close()
    }

    @Test("a batch whose server is still to list what arrived")
    func unlisted() async throws {
        let bench = try ChangeBench()
        let batch = try await sent(to: "dav://host/in/", bench)
        let unlisted = "the server of b1 has not listed yet what arrived: look again later, or cancel it"
        #expect(said(try await bench.queue.writer.purge([.batch(batch)])) == [unlisted])
        #expect(said(try await bench.queue.writer.clear([.batch(batch)])) == [unlisted])
        try await bench.close()
    }

    @Test("a file that is a moment from its final name")
    func publishing() async throws {
        let bench = try ChangeBench()
        _ = try await bench.queue.addTree(files: 1)
        let task = try #require(try await bench.queue.claimAll().first)
        #expect(try await bench.queue.writer.leaveToPublish(task.claim, as: RawPath("/dst/f")) == .granted)
        let late = ["t1 is getting its final name at this moment: look again"]
        #expect(said(try await bench.queue.writer.pause([bench.task(1)])) == late)
        #expect(said(try await bench.queue.writer.cancel([bench.task(1)])) == late)
        try await bench.close()
    }

    @Test("a directory whose source was stopped before it was listed whole")
    func unlistable() async throws {
        let bench = try ChangeBench()
        let writer = bench.queue.writer
        let batch = try await writer.add(.directory()).batch
        let source = try #require(try await writer.unscannedSources(of: batch).first?.source)
        try await writer.begin([FoundSource(source: source, kind: .directory(nil))])
        let top = try #require(try await writer.foldersToWalk(of: source, limit: 1).first)
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        (chunk.files, chunk.folders) = ([WalkedFile("x")], ["closed", "open"].map { RawPath($0) })
        let next = try await writer.insert(walked: [chunk]).folders
        var closed = WalkedChunk(folder: next[0].folder, isLast: false)
        closed.unreadable = TransferError(.sourceUnreadable, "permission denied")
        _ = try await writer.insert(walked: [closed])
        let failure = try #require(
            try await bench.queue.reader.tasks(batch: batch, limit: 9).first { $0.name == "closed" })
        _ = try await writer.cancel([.batch(batch)])
        #expect(
            said(try await writer.retry([.task(failure.id)])) == [
                "this directory cannot be listed again here: queue it again"
            ])
        try await bench.close()
    }

    @Test("a folder that no server can be asked about")
    func unverifiable() async throws {
        let bench = try ChangeBench()
        func refusal(_ node: NodeID) async throws -> String? {
            guard case .refused(let advice) = try await bench.queue.writer.folderToVerify(node, after: nil) else {
                return nil
            }
            return advice.text
        }
        let batch = try await sent(to: "http://host/in/", bench)
        #expect(
            try await refusal(.batch(batch)) == "host does not list folders: look there whether all of it has arrived")
        let more = try await bench.queue.writer.add(.downloads(["http://host/f"])).batch
        #expect(try await refusal(bench.task(2)) == "t2 is not completed: 'martlet why t2' says what it waits for")
        #expect(try await refusal(.batch(more)) == "b2 was received: its files are on this machine")
        try await bench.close()
    }

    /// One file that was sent.
    private func sent(to url: String, _ bench: ChangeBench) async throws -> BatchID {
        let writer = bench.queue.writer
        let source = UploadSource(path: RawPath("/src/a"), placement: .named(RawPath("a")))
        let batch = try await writer.add(BatchRequest(work: .upload([source], to: url))).batch
        let unscanned = try await writer.unscannedSources(of: batch)
        let identity = SourceIdentity(size: 100, modifiedNanoseconds: 7, inode: 9)
        try await writer.begin(unscanned.map { FoundSource(source: $0.source, kind: .file(identity)) })
        try await writer.finishScan(batch)
        try await bench.queue.complete(try await bench.queue.claimAll())
        return batch
    }
}
