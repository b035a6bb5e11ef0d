import LinuxSystem
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("The last look at a folder, as the queue keeps it") struct LastLookTests {
    private let noon = Timestamp(milliseconds: 1_795_264_860_000)

    private func add(
        _ queue: TransferQueue, _ names: [String], to url: String = "dav://host/in/",
        _ change: (inout BatchRequest) -> Void = { _ in }
    ) async throws -> BatchID {
        let sources = names.map { UploadSource(path: RawPath("/src/\($0)"), placement: .named(RawPath($0))) }
        var request = BatchRequest(work: .upload(sources, to: url))
        change(&request)
        let batch = try await queue.writer.add(request).batch
        let unscanned = try await queue.writer.unscannedSources(of: batch)
        let identity = SourceIdentity(size: 100, modifiedNanoseconds: 7, inode: 9)
        try await queue.writer.begin(unscanned.map { FoundSource(source: $0.source, kind: .file(identity)) })
        try await queue.writer.finishScan(batch)
        return batch
    }

    private func due(_ queue: TransferQueue) async throws -> [DueLook] {
        try await queue.writer.dueLooks(besides: LooksNotNow(), limit: 100, now: noon)
    }

    @Test("a batch whose files are over is not over before its folder was looked at")
    func end() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        try await queue.complete([tasks[0]])
        #expect(try await due(queue) == [])
        try await queue.complete([tasks[1]])
        let look = try #require(try await due(queue).first)
        #expect(look.remote == RawPath("") && !look.isExact && look.origin.hasSuffix("://host:80"))
        var shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .running && shown.finishedAt == nil && shown.listed?.foldersLeft == 1)
        #expect(try await queue.reader.task(tasks[0].id)?.listed == nil)
        #expect(try await !queue.eventTypes().contains(.batchFinished))

        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 2, files: 2))])
        shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .completed && shown.finishedAt != nil)
        #expect(shown.listed?.found == 2 && shown.listed?.of == 2 && shown.listed?.foldersLeft == 0)
        #expect(shown.listed?.sentence == "at the server, 2 of 2")
        #expect(try await queue.reader.task(tasks[0].id)?.listed == true)
        #expect(try await queue.eventTypes().count { $0 == .batchFinished } == 1)
        #expect(try await due(queue) == [])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("folders at a server that cannot be asked now keep those at others from nothing")
    func shutServer() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let one = try await add(queue, ["a"], to: "dav://one/in/")
        let other = try await add(queue, ["b"], to: "dav://other/in/")
        try await queue.complete(try await queue.claimAll())
        let first = try await queue.writer.dueLooks(besides: LooksNotNow(), limit: 1, now: noon)
        #expect(first.map(\.batch) == [one])
        let next = try await queue.writer.dueLooks(
            besides: LooksNotNow(origins: Set(first.map(\.origin))), limit: 1, now: noon)
        #expect(next.map(\.batch) == [other])
        let rest = try await queue.writer.dueLooks(besides: LooksNotNow(batches: [other]), limit: 2, now: noon)
        #expect(rest.map(\.batch) == [one])
        #expect(
            try await queue.writer.dueLooks(besides: LooksNotNow(), limit: 2, now: noon).map(\.batch) == [one, other])
        try await queue.close()
    }

    @Test("a file that is completed in the commit in which another one fails is looked at, too")
    func completedBesideFailure() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[0].claim)
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[1].claim)
        try await queue.writer.commit()
        let look = try #require(try await due(queue).first)
        _ = try await queue.writer.retry([.task(tasks[1].id)])
        let again = try #require(try await queue.claimAll().first)
        let finished = try #require(try await queue.reader.task(tasks[0].id)?.finishedAt)
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: again.claim)
        let absent = AbsentFile(
            SentRun(tasks[0].id, run: 0, finishedAt: finished), error: TransferError(.notThere, "gone"))
        #expect(try await queue.writer.fail(absent: [absent], in: look) { _ in [] } == [tasks[0].id])
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 0, files: 1))])
        #expect(try await due(queue).count == 1)
        #expect(try await queue.reader.batch(batch)?.finishedAt == nil)
        try await queue.close()
    }

    @Test("a batch that was put away is in the list again when one of its files is found missing")
    func absentWhenCleared() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        try await queue.complete(tasks)
        let look = try #require(try await due(queue).first)
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 2, files: 2))])
        #expect(try await queue.writer.clear([.batch(batch)]).results.map(\.result) == [.done])
        func listed() async throws -> [RowID]? {
            try await queue.reader.section(SectionRequest(parent: nil, limit: 10))?.rows.map(\.id)
        }
        #expect(try await listed() == [])
        let finished = try #require(try await queue.reader.task(tasks[0].id)?.finishedAt)
        // The clock has jumped since the look read it, and the times of ends with it.
        let read = finished.advanced(by: .seconds(-3600))
        let file = AbsentFile(SentRun(tasks[0].id, run: 0, finishedAt: read), error: TransferError(.notThere, "gone"))
        #expect(try await queue.writer.fail(absent: [file]) { _ in [] } == [tasks[0].id])
        #expect(try await listed() == [.batch(batch)])
        #expect(try await queue.reader.totals().problems == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a batch that was put away can be asked for as one of the list")
    func askedForWhenCleared() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        try await queue.complete(tasks)
        let look = try #require(try await due(queue).first)
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 2, files: 2))])
        for id in [NodeID.batch(batch), .task(tasks[1].id)] {
            let listed = try await queue.writer.folderToVerify(id, after: nil)
            guard case .folder(let folder) = listed else {
                Issue.record("\(listed)")
                continue
            }
            #expect(folder.look.folder == look.folder && folder.destination == "dav://host/in/")
            _ = try await queue.writer.clear([.batch(batch)])
            #expect(try await queue.writer.folderToVerify(id, after: nil) == listed)
        }
        #expect(try await queue.reader.section(SectionRequest(parent: nil, limit: 10))?.rows == [])
        try await queue.close()
    }

    @Test(
        "what is not there fails once in a run of its own, before the end of the batch is told; a retry is looked at again"
    )
    func absent() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        try await queue.complete(tasks)
        #expect(
            try await queue.writer.clear([.batch(batch)]).results.map(\.result) == [.refused], "it is looked at yet")
        #expect(try await queue.writer.purge([.batch(batch)]).results.map(\.result) == [.refused])
        let look = try #require(try await due(queue).first)
        let finished = try #require(try await queue.reader.task(tasks[0].id)?.finishedAt)
        let error = TransferError(.notThere, "host does not list it", .retry("retry sends it again"))
        let file = AbsentFile(SentRun(tasks[0].id, run: 0, finishedAt: finished), error: error)
        #expect(try await queue.writer.fail(absent: [file], in: look) { _ in [] } == [tasks[0].id])
        // Told once more, it is no news.
        #expect(try await queue.writer.fail(absent: [file], in: look) { _ in [] } == [])
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 1, files: 2))])
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 1000)
        let ends: [TransferEventType] = [.taskCompleted, .taskFailed, .batchFinished]
        #expect(
            events.map(\.type).filter { ends.contains($0) } == [
                .taskCompleted, .taskCompleted, .taskFailed, .batchFinished,
            ])
        var shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .failed && shown.filesFailed == 1 && shown.causes.map(\.code) == [.notThere])
        #expect(shown.listed?.found == 1 && shown.listed?.of == 2)
        let task = try #require(try await queue.reader.task(tasks[0].id))
        #expect(task.listed == false && task.error == error && task.verified == .none && task.state == .failed)
        #expect(task.bytesAccepted == 0 && task.bytesRepeated == 100 && shown.bytesAccepted == 100)

        _ = try await queue.writer.retry([.batch(batch)])
        let again = try #require(try await queue.claimAll().first)
        // Nothing of before counts: not that something of ours may be there, either.
        #expect(again.id == tasks[0].id && again.begunBefore == nil && again.resumePoint == nil)
        // Every byte that comes is progress.
        #expect(again.accepted == 0 && again.furthest == 0)
        try await queue.complete([again])
        let second = try #require(try await due(queue).first)
        #expect(second.folder == look.folder && second.due > look.due)
        // A look that began before it was completed says nothing of it.
        #expect(try await queue.writer.fail(absent: [file], in: look) { _ in [] } == [])
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 1, files: 1))])
        #expect(try await due(queue) == [second])
        try await queue.writer.end(looks: [EndedLook(second, .looked(at: noon, listed: 2, files: 2))])
        shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .completed && shown.listed?.found == 2)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "nothing is looked at where nobody can, or was asked not to",
        arguments: [("http://host/in/", nil), ("dav://host/in/", VerificationWish.none), ("tus+http://host/in/", nil)]
            as [(String, VerificationWish?)])
    func never(_ url: String, _ verify: VerificationWish?) async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a"], to: url) { $0.options.verify = verify }
        try await queue.complete(try await queue.claimAll())
        #expect(try await due(queue) == [])
        let shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .completed && shown.listed == nil)
        try await queue.close()
    }

    @Test("a look that is due survives the end of the engine; a cancel of the whole batch ends it")
    func survives() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        try await queue.close()
        queue = try sandbox.open()
        #expect(try await due(queue).count == 1)
        // An engine that has nothing else to do does not leave before it.
        #expect(try await queue.reader.statistics().isLooking)
        let change = try await queue.writer.cancel([.batch(batch)])
        #expect(try await !queue.reader.statistics().isLooking)
        #expect(change.results.map(\.result) == [.done])
        #expect(try await due(queue) == [])
        let shown = try #require(try await queue.reader.batch(batch))
        #expect(shown.state == .completed && shown.finishedAt != nil && shown.filesCompleted == 1)
        #expect(try await queue.writer.cancel([.batch(batch)]).results.map(\.result) == [.refused])
        // Who takes the cancel back has it looked at after all.
        _ = try await queue.writer.undo(.operation(try #require(change.operation)), now: sandbox.clock.now)
        #expect(try await due(queue).count == 1)
        #expect(try await queue.reader.batch(batch)?.state == .running)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("a retry of a cancelled batch brings its looks back, as taking the cancel back does")
    func retried() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        try await queue.complete(try await queue.claimAll(limit: 1))
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await due(queue) == [])
        #expect(try await queue.writer.retry([.batch(batch)]).results.map(\.result) == [.done])
        let other = try #require(try await queue.reader.tasks(batch: batch, limit: 2).last).id
        _ = try await queue.writer.cancel([.task(other)])
        #expect(try await due(queue).count == 1)
        try await queue.close()
    }

    @Test("a look that a person asks for leaves what is over as it is, however often")
    func verified() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).first)
        let found = EndedLook.Outcome.looked(at: noon, listed: 1, files: 1)
        // One that comes before the one that is due does not answer that.
        for _ in 0..<3 {
            guard case .folder(let folder) = try await queue.writer.folderToVerify(.batch(batch), after: nil) else {
                Issue.record("nothing is there to be asked for")
                return
            }
            try await queue.writer.end(looks: [EndedLook(folder.look, found)])
            #expect(try await due(queue) == [look])
        }
        try await queue.writer.end(looks: [EndedLook(look, found)])
        let ended = try #require(try await queue.reader.batch(batch)?.finishedAt)
        for outcome in [found, found, .unlisted(TransferError(.unsupported, "no"))] {
            sandbox.clock.advance(by: .seconds(60))
            guard case .folder(let folder) = try await queue.writer.folderToVerify(.batch(batch), after: nil) else {
                continue
            }
            try await queue.writer.end(looks: [EndedLook(folder.look, outcome)])
            let shown = try #require(try await queue.reader.batch(batch))
            #expect(shown.state == .completed && shown.finishedAt == ended)
            #expect(try await due(queue) == [])
        }
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 1000)
        #expect(events.count { $0.type == .batchFinished } == 1)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("the folders of a batch, a folder and a file are found among those of others, in pages of any length")
    func foldersInPages() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let names = (0..<5).map { "d\($0)" }
        var batches: [BatchID] = []
        for batch in ["a", "b", "c"] {
            let request = BatchRequest(
                work: .upload(
                    [UploadSource(path: RawPath("/src/\(batch)"), placement: .named(RawPath(batch)))],
                    to: "dav://host/in/"))
            batches.append(try await queue.writer.add(request).batch)
        }
        for batch in batches {
            let source = try await queue.writer.unscannedSources(of: batch)[0].source
            try await queue.writer.begin([FoundSource(source: source, kind: .directory(nil))])
            var next = try await queue.writer.foldersToWalk(of: source, limit: 10)
            while !next.isEmpty {
                let chunks = next.map { place in
                    var chunk = WalkedChunk(folder: place.folder, isLast: true)
                    if place.relative.bytes.isEmpty { chunk.folders = names.map { RawPath($0) } }
                    chunk.files = [WalkedFile("f")]
                    return chunk
                }
                next = try await queue.writer.insert(walked: chunks).folders
            }
            try await queue.writer.finishScan(batch)
        }
        try await queue.complete(try await queue.claimAll())
        let file = try #require(try await queue.reader.tasks(batch: batches[1], limit: 9).last?.id)
        for (node, count) in [
            (NodeID.batch(batches[1]), 6), (.folder(batches[1], path: RawPath("b/d3")), 1), (.task(file), 1),
        ] {
            for page in [1, 2, 1000] {
                let found = try await queue.writer.foldersToVerify(node, page: page, calls: node.isTask ? 1 : 100)
                #expect(found.count == count && found.allSatisfy { $0.look.batch == batches[1] }, "\(node), \(page)")
            }
        }
        try await queue.close()
    }

    @Test("taking a cancel back does not ask again for a look that was over before")
    func lookedAlready() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a", "b"])
        let tasks = try await queue.claimAll()
        try await queue.complete([tasks[0]])
        func refuse(_ task: ClaimedTask) async throws {
            queue.writer.record(.failed(TransferError(.unsupported, "no")), for: task.claim)
            try await queue.writer.commit()
        }
        try await refuse(tasks[1])
        let look = try #require(try await due(queue).first)
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 1, files: 1))])
        _ = try await queue.writer.retry([.batch(batch)])
        let change = try await queue.writer.cancel([.batch(batch)])
        _ = try await queue.writer.undo(.operation(try #require(change.operation)), now: sandbox.clock.now)
        try await refuse(try #require(try await queue.claimAll().first))
        // What was taken away at the server since then is nobody's business.
        #expect(try await due(queue) == [])
        #expect(try await queue.reader.batch(batch)?.finishedAt != nil)
        try await queue.close()
    }

    @Test("a folder that cannot be listed ends its batch, and says why")
    func unlisted() async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a"], to: "sftp://host/in/name")
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).first)
        try await queue.writer.end(looks: [
            EndedLook(look, .unlisted(TransferError(.unsupported, "no lists", .step("look"))))
        ])
        let shown = try #require(try await queue.reader.batch(batch))
        #expect(
            shown.state == .completed && shown.listed?.of == 0
                && shown.listed?.sentence == "1 folder not listed: no lists: look")
        #expect(try await queue.reader.tasks(batch: batch, limit: 10).map(\.listed) == [nil])
        try await queue.close()
    }

    // MARK: Names

    /// - Returns: by name what was found of it, and the names of those whose place another file has.
    private func compare(
        _ names: [String], _ listed: [RemoteEntry]
    ) async throws -> (entries: [String: RemoteEntry?], taken: [String]) {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        _ = try await add(queue, names)
        try await queue.complete(try await queue.claimAll(limit: 10_000))
        let look = try #require(try await due(queue).first)
        let comparison = try await queue.reader.beginComparison(of: look.folder)
        // In two pages, as they come.
        try await queue.reader.add(Array(listed.prefix(listed.count / 2)), to: comparison)
        try await queue.reader.add(Array(listed.dropFirst(listed.count / 2)), to: comparison)
        var found: [String: RemoteEntry?] = [:]
        var taken: [String] = []
        var last: TaskID?
        repeat {
            let page = try await queue.reader.matched(
                comparison: comparison, exact: nil, after: last, limit: 3)
            for file in page.files { found[file.name.displayed] = .some(file.entry) }
            last = page.last
        } while last != nil
        repeat {
            let page = try await queue.reader.unmatched(comparison: comparison, exact: nil, after: last, limit: 3)
            for file in page.files { found[file.name.displayed] = .some(file.entry) }
            taken += page.files.filter(\.nameIsTaken).map(\.name.displayed)
            last = page.last
        } while last != nil
        try await queue.reader.endComparison(comparison)
        try await queue.close()
        return (found, taken)
    }

    private func file(_ name: String, _ size: Int64 = 100) -> RemoteEntry {
        RemoteEntry(RawPath(name), size: .bytes(size))
    }

    @Test("names are compared as bytes; an entry that comes twice counts once, and strangers not at all")
    func exact() async throws {
        let names = (0..<10).map { "f\($0)" }
        let listed = names.dropLast().map { file($0) } + [file("f0", 1), file("stranger")]
        let found = try await compare(names, listed).entries
        #expect(found.count == 10)
        #expect(found["f0"] == .some(file("f0")) && found["f9"] == .some(nil))
    }

    @Test(
        "a name that a later batch sent again is not held against the first one",
        arguments: [
            ("dav://host/in/", ["a"], true), ("dav://host/in", ["a"], true), ("dav://host/in/", ["b"], false),
            ("dav://host/", ["a"], false), ("dav://other/in/", ["a"], false), ("dav://host/in/a", [], true),
        ] as [(String, [String], Bool)])
    func rewritten(destination: String, names: [String], isRewritten: Bool) async throws {
        let sandbox = try Sandbox()
        defer { withExtendedLifetime(sandbox) {} }
        let queue = try sandbox.open()
        _ = try await add(queue, ["a"])
        let first = try await queue.claimAll()
        try await queue.complete(first)
        let look = try #require(try await due(queue).first)
        if names.isEmpty {
            let request = BatchRequest(
                work: .upload([UploadSource(path: RawPath("/src/x"), placement: .exactly)], to: destination))
            let batch = try await queue.writer.add(request).batch
            let source = try await queue.writer.unscannedSources(of: batch)[0].source
            let identity = SourceIdentity(size: 100, modifiedNanoseconds: 7, inode: 9)
            try await queue.writer.begin([FoundSource(source: source, kind: .file(identity))])
        } else {
            _ = try await add(queue, names, to: destination)
        }
        func found() async throws -> [LaterFile?] {
            let comparison = try await queue.reader.beginComparison(of: look.folder)
            try await queue.reader.add([file("a", 1)], to: comparison)
            try await queue.reader.noteLaterWriters(in: look, comparison: comparison)
            let page = try await queue.reader.matched(
                comparison: comparison, exact: nil, after: nil, limit: 3)
            try await queue.reader.endComparison(comparison)
            return page.files.map(\.later)
        }
        #expect(try await found() == [nil], "nothing of the other batch has begun")
        let second = try await queue.claimAll()
        let open = LaterFile(isOpen: true, completed: nil)
        #expect(try await found() == [isRewritten ? open : nil], "it is under way")
        for task in second {
            queue.writer.record(.failed(TransferError(.destinationExists, "a file is there already")), for: task.id)
        }
        try await queue.writer.commit()
        #expect(try await found() == [nil], "it was refused and wrote nothing")
        for task in second { _ = try await queue.writer.retry([.task(task.id)]) }
        let third = try await queue.claimAll()
        _ = try await queue.writer.cancel(third.map { .task($0.id) })
        #expect(try await found() == [isRewritten ? open : nil], "it was cancelled in its last request")
        sandbox.clock.advance(by: .seconds(61))
        #expect(try await found() == [nil], "nobody waits for it any more")
        for task in second { _ = try await queue.writer.retry([.task(task.id)]) }
        try await queue.complete(try await queue.claimAll())
        let completed = LaterFile(isOpen: false, completed: LaterFile.Version(size: 100))
        #expect(try await found() == [isRewritten ? completed : nil], "it is completed")
        // What its own look missed was there once: whoever sent the name earlier is not to send the older version over it.
        let absent = try await queue.reader.tasks(batch: second[0].batch, limit: 2).map { task in
            let run = try sandbox.database().integer("SELECT run FROM tasks WHERE id = ?", .integer(task.id.rawValue))
            return AbsentFile(
                SentRun(task.id, run: run ?? 0, finishedAt: try #require(task.finishedAt)),
                error: TransferError(.notThere, "gone"))
        }
        _ = try await queue.writer.fail(absent: absent) { _ in [] }
        #expect(try await found() == [isRewritten ? open : nil], "it was found missing")
        let refused = try await queue.writer.purge(absent.map { .task($0.sent.task) })
        if isRewritten { #expect(refused.results.map(\.result) == [.refused]) }
        for task in second { _ = try await queue.writer.retry([.task(task.id)]) }
        #expect(try await found() == [isRewritten ? open : nil], "it is to be sent once more")
        try await queue.close()
    }

    @Test(
        "a failed upload may have written its name when an attempt leaves that open, or is not known any more",
        arguments: [
            ([.http], false, false), ([.http], true, true), ([.sourceChanged], false, true),
            ([.integrity], false, true), ([.networkConnectionLost, .http], false, true),
            ([.cannotConnectToHost, .http], false, false),
            // The first was a 5xx, after which the server may have stored it all the same.
            ([.http, .http], false, true),
            (Array(repeating: .cannotConnectToHost, count: Int(AttemptStore.mostKept)) + [.http], false, true),
        ] as [([TransferErrorCode], Bool, Bool)])
    func failedWriter(causes: [TransferErrorCode], restarts: Bool, isOpen: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).first)
        _ = try await add(queue, ["a"])
        for (number, cause) in causes.enumerated() {
            let task = try #require(try await queue.claimAll().first)
            let error = TransferError(cause, "no")
            if restarts {
                queue.writer.record(.restarted(reason: "it changed", repeated: 0, identity: nil), for: task.id)
            }
            let isLast = number == causes.count - 1
            queue.writer.record(
                isLast ? .failed(error) : .waiting(WaitReasons(.backoff), retryAt: nil, error: error), for: task.id)
            try await queue.writer.commit()
            _ = try await queue.writer.clearWait([WaitReasons(.backoff)])
        }
        let later = try await queue.reader.later(than: RawPath("a"), finishedAt: sandbox.clock.now, in: look)
        #expect((later?.isOpen ?? false) == isOpen)
        try await queue.close()
    }

    @Test("what wrote a name is known until those are compared that had sent it before")
    func purgedWriter() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).first)
        let second = try await add(queue, ["a"])
        let again = try await queue.claimAll()
        try await queue.complete(again)
        let own = try #require(try await due(queue).last)
        try await queue.writer.end(looks: [EndedLook(own, .looked(at: noon, listed: 1, files: 1))])
        let refused = try await queue.writer.purge(again.map { .task($0.id) })
        #expect(
            refused.results.map(\.message) == [
                "what \(look.batch) sent is still to be compared with it: purge it when that is over"
            ])
        _ = try await queue.writer.purge([.batch(second)])
        sandbox.clock.advance(by: .seconds(3600))
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        let later = try await queue.reader.later(than: RawPath("a"), finishedAt: noon, in: look)
        #expect(later?.completed != nil)
        try await queue.writer.end(looks: [EndedLook(look, .looked(at: noon, listed: 1, files: 1))])
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try await queue.reader.later(than: RawPath("a"), finishedAt: noon, in: look) == nil)
        try await queue.close()
    }

    @Test("what other batches had written before the first file of the look was there is not noted, all else in pages")
    func notedInPages() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let names = (0..<7).map { "f\($0)" }
        _ = try await add(queue, names)
        try await queue.complete(try await queue.claimAll())
        sandbox.clock.advance(by: .seconds(5))
        _ = try await add(queue, names)
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).last)
        func noted() async throws -> Int64? {
            let comparison = try await queue.reader.beginComparison(of: look.folder)
            try await queue.reader.noteLaterWriters(in: look, comparison: comparison, rows: 3)
            let count = try await queue.reader.notedNames(comparison)
            try await queue.reader.endComparison(comparison)
            return count
        }
        #expect(try await noted() == 0)
        sandbox.clock.advance(by: .seconds(5))
        _ = try await add(queue, names)
        try await queue.complete(try await queue.claimAll())
        #expect(try await noted() == 7)
        try await queue.close()
    }

    @Test("a batch that was queued later counts as the later writer, though the clock was set back meanwhile")
    func notedAcrossClocks() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let look = try #require(try await due(queue).first)
        sandbox.clock.advance(by: .seconds(-7200))
        _ = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let comparison = try await queue.reader.beginComparison(of: look.folder)
        try await queue.reader.noteLaterWriters(in: look, comparison: comparison)
        let page = try await queue.reader.matched(comparison: comparison, exact: nil, after: nil, limit: 3)
        #expect(page.files.isEmpty)
        let unmatched = try await queue.reader.unmatched(comparison: comparison, exact: nil, after: nil, limit: 3)
        let later = LaterFile(isOpen: false, completed: LaterFile.Version(size: 100))
        #expect(unmatched.files.map(\.later) == [later])
        try await queue.close()
    }

    @Test(
        "what is completed after a comparison began is not compared, all else is, whatever the clock says",
        arguments: [1, 5000])
    func completedMeanwhile(rows: Int) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await add(queue, ["a", "b", "c"])
        let claimed = try await queue.claimAll()
        try await queue.complete(Array(claimed.dropLast()))
        guard case .folder(let found) = try await queue.writer.folderToVerify(.batch(claimed[0].batch), after: nil)
        else { throw CancellationError() }
        let look = found.look
        sandbox.clock.advance(by: .seconds(-7200))
        let comparison = try await queue.reader.beginComparison(of: look.folder, rows: rows)
        try await queue.complete(claimed.suffix(1))
        try await queue.reader.add(["a", "b", "c"].map { file($0) }, to: comparison)
        let page = try await queue.reader.matched(comparison: comparison, exact: nil, after: nil, limit: 10)
        #expect(page.files.map(\.name.displayed) == ["a", "b"])
        try await queue.close()
    }

    @Test(
        "a file that is sent again during a comparison is left out, and its first completion event has no details of the second"
    )
    func sentAgainMeanwhile() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(queue, ["a"])
        try await queue.complete(try await queue.claimAll())
        let task = try #require(try await queue.reader.tasks(batch: batch, limit: 1).first)
        guard case .folder(let found) = try await queue.writer.folderToVerify(.batch(batch), after: nil)
        else { throw CancellationError() }
        let comparison = try await queue.reader.beginComparison(of: found.look.folder)
        #expect(try await queue.reader.matched(comparison: comparison, exact: nil, after: nil, limit: 9).files.isEmpty)
        // Another look is done with it before.
        let finished = try #require(task.finishedAt)
        let absent = AbsentFile(SentRun(task.id, run: 0, finishedAt: finished), error: TransferError(.notThere, "gone"))
        #expect(try await queue.writer.fail(absent: [absent]) { _ in [] } == [task.id])
        _ = try await queue.writer.retry([.task(task.id)])
        sandbox.clock.advance(by: .seconds(5))
        try await queue.complete(try await queue.claimAll())
        #expect(
            try await queue.reader.unmatched(comparison: comparison, exact: nil, after: nil, limit: 9).files.isEmpty)
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 1000)
        #expect(events.filter { $0.type == .taskCompleted }.map(\.payload.bytes) == [nil, 100])
        try await queue.close()
    }

    @Test("a server that normalises names or folds their case has the files all the same, each once")
    func folded() async throws {
        let (found, taken) = try await compare(
            ["cafe\u{301}", "README", "readme", "Straße", "plain"],
            [file("caf\u{E9}"), file("readme"), file("STRASSE"), file("PLAIN")])
        #expect(found.filter { $0.value == nil }.keys.sorted() == ["README", "Straße"])
        // Of two names that the server takes for one only one file is there, and its name would answer for both.
        #expect(taken == ["README"])
        #expect(found["readme"] == .some(file("readme")))
        #expect(found["plain"] == .some(file("PLAIN")))
    }

    @Test("bytes that are no text are compared as they are")
    func bytes() {
        #expect(FolderComparisons.mayBe(RawPath([0xFF]), RawPath([0xFF])))
        #expect(!FolderComparisons.mayBe(RawPath([0xFF]), RawPath([0xFE])))
    }

    /// Sorting the marks takes the square of their number, of which a list may have a thousand names.
    @Test("marks without end at a letter are not all compared")
    func marks() {
        let (few, many) = (RawPath("a" + marks(31)), RawPath("a" + marks(500)))
        #expect(FolderComparisons.key(few) == FolderComparisons.key(many))
        #expect(FolderComparisons.mayBe(few, many) && !FolderComparisons.mayBe(few, RawPath("b" + marks(31))))
    }

    private func marks(_ count: Int) -> String { String(repeating: "\u{301}", count: count) }
}

extension QueueReader {
    /// How many names a comparison knows other writers of.
    fileprivate func notedNames(_ comparison: Int64) throws -> Int64? {
        try database.integer("SELECT count(*) FROM rewritten WHERE listing = ?", .integer(comparison))
    }
}
