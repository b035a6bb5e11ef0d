import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Pages, sections and events") struct ReaderTests {
    @Test("a folder shows its subfolders, then what moves, failed or waits, then groups of the rest")
    func section() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 30, folders: ["b": 1, "a": 1])
        let tasks = try await queue.claimAll(limit: 12)
        for task in tasks[..<2] { queue.writer.record(.running, for: task.id) }
        queue.writer.record(.finishing, for: tasks[0].id)
        for task in tasks[2..<8] { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        try await queue.complete(Array(tasks[8...]))
        let top = try #require(try await queue.reader.section(SectionRequest(parent: .batch(batch), limit: 10)))
        #expect(top.rows.map(\.name) == ["photos"])
        #expect(top.total == 1)
        let folder = top.rows[0].id
        let section = try #require(try await queue.reader.section(SectionRequest(parent: folder, limit: 50)))
        let shown = section.rows.map { row in
            if case .group(_, _, let fate) = row.id { "\(row.counts.total) \(fate)" } else { row.name }
        }
        #expect(
            shown == ["a", "b", "file1", "file0", "file2", "file3", "file4", "3 failed", "18 queued", "4 completed"])
        #expect(section.total == 10)
        #expect(section.rows[7].bytes.total == 300)
        #expect(section.rows[9].bytes.verified == 400)
        #expect(section.rows[2].path == "/src/photos/file1 -> http://host/in/photos/file1")
        #expect(section.rows[2].source == RawPath("/src/photos/file1"))
        #expect(section.rows[0].source == RawPath("/src/photos/a") && top.rows[0].source == RawPath("/src/photos"))

        let group = try #require(try await queue.reader.section(SectionRequest(parent: section.rows[7].id, limit: 2)))
        #expect(group.rows.map(\.name) == ["file5", "file6"])
        #expect(group.total == 3)
        #expect(group.rows.allSatisfy { $0.error?.code == .http })
        #expect(try await queue.reader.row(section.rows[7].id)?.counts.failed == 3)
        #expect(try await queue.reader.nodes(in: section.rows[7].id).count == 3)
        #expect(try await queue.reader.nodes(in: folder) == [.folder(batch, path: RawPath("photos"))])
        #expect(try await queue.reader.row(of: .folder(batch, path: RawPath("photos"))) == folder)
        try await queue.close()
    }

    @Test("failed files are folded by what they failed for")
    func causes() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 12)
        let tasks = try await queue.claimAll(limit: 12)
        for (index, task) in tasks.enumerated() {
            let error =
                index % 3 == 0
                ? TransferError(.http, "no")
                : index < 4 ? TransferError(.timedOut, "late") : TransferError(.integrity, "bad")
            queue.writer.record(.failed(error), for: task.id)
        }
        try await queue.writer.commit()
        let folder = try #require(
            try await queue.reader.section(SectionRequest(parent: .batch(batch), limit: 10))?.rows.first?.id)
        let section = try #require(try await queue.reader.section(SectionRequest(parent: folder, limit: 50)))
        let shown = section.rows.map { row in
            if case .group(_, _, let fate) = row.id { "\(row.counts.total) \(fate)" } else { row.name }
        }
        #expect(
            shown == [
                "file4", "file5", "4 failed.integrity", "file0", "file3", "2 failed.http", "file1", "file2",
            ])
        #expect(section.rows.map { $0.error?.message } == ["bad", "bad", "bad", "no", "no", "no", "late", "late"])
        #expect(section.rows.reduce(0) { $0 + $1.bytes.total } == 1200)
        let group = section.rows[2].id
        let page = try #require(try await queue.reader.section(SectionRequest(parent: group, limit: 3)))
        #expect(page.rows.map(\.name) == ["file7", "file8", "file10"])
        #expect(page.total == 4)
        #expect(try await queue.reader.row(group)?.counts.failed == 4)
        let nodes = try await queue.reader.nodes(in: group)
        #expect(nodes == [7, 8, 10, 11].map { .task(tasks[$0].id) })
        let rest = try await queue.reader.nodes(in: group, after: tasks[8].id, limit: 10)
        #expect(rest == [10, 11].map { .task(tasks[$0].id) })
        // Of what is mended the group knows nothing any more.
        _ = try await queue.writer.retry(nodes)
        #expect(try await queue.reader.row(group) == nil)
        try await queue.close()
    }

    @Test("a section stays within its limit and says how much there is")
    func bounded() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let folders = Dictionary(uniqueKeysWithValues: (0..<40).map { ("f\($0)", 0) })
        let batch = try await queue.addTree(files: 40, folders: folders)
        let folder = try await queue.reader.row(of: .folder(batch, path: RawPath("photos")))
        let section = try await queue.reader.section(SectionRequest(parent: folder, limit: 10))
        #expect(section?.rows.count == 10)
        #expect(section?.total == 41)
        #expect(section?.rows.last?.counts.queued == 40)
        let later = sandbox.clock.now.advanced(by: .seconds(60))
        _ = try await queue.writer.set([.batch(batch)], NodeSettings(notBefore: later))
        let group = try #require(section?.rows.last?.id)
        #expect(try await queue.reader.row(group)?.waitReasons == [.notBefore])
        try await queue.close()
    }

    @Test("of the paused folders below, those are told that hold paused files, the outermost of them")
    func pausedFolders() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["empty": 1, "full": 2, "other": 1])
        func folder(_ name: String) -> NodeID { .folder(batch, path: RawPath("photos/\(name)")) }
        let names = ["empty", "full"].map(folder)
        _ = try await queue.writer.pause(names)
        let first = try #require(
            try await queue.reader.tasks(batch: batch, limit: 10).first { $0.folder.hasSuffix("empty") })
        _ = try await queue.writer.cancel([.task(first.id)])
        #expect(try await queue.reader.standing(of: .batch(batch))?.pausedBelow == [folder("full")])
        #expect(try await queue.reader.standing(of: folder("full"))?.pausedBelow == [])
        _ = try await queue.writer.pause([.folder(batch, path: RawPath("photos"))])
        let top = NodeID.folder(batch, path: RawPath("photos"))
        #expect(try await queue.reader.standing(of: .batch(batch))?.pausedBelow == [top])
        try await queue.close()
    }

    @Test("rows of a paused batch say that they are paused, and by whom")
    func pausedRows() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1)
        let folder = try #require(try await queue.reader.row(of: .folder(batch, path: RawPath("photos"))))
        _ = try await queue.writer.pause([.batch(batch)])
        let row = try await queue.reader.row(folder)
        #expect(row?.state == .paused)
        #expect(row?.paused == false)
        #expect(row?.effectivelyPaused == true)
        let task = try await queue.reader.section(SectionRequest(parent: folder, limit: 5))?.rows[0]
        #expect(task?.state == .paused)
        #expect(task?.effectivelyPaused == true)
        let standing = try await queue.reader.standing(of: .folder(batch, path: RawPath("photos")))
        #expect(standing?.pausedBy == [.batch(batch)] && standing?.pausedBelow == [])
        #expect(standing?.state == .paused)
        try await queue.close()
    }

    @Test("a folder tells the waits and failures below it, and none of another folder's")
    func reasonsOfAFolder() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(folders: ["failed": 1, "other": 1, "waiting": 1, "well": 1])
        let due = sandbox.clock.now.advanced(by: .seconds(60))
        func error(_ words: String) -> TransferError { TransferError(.http, words) }
        for task in try await queue.claimAll() {
            guard case .upload(_, let remote, _) = task.work else { continue }
            switch remote.displayed {
            case let path where path.contains("failed/"):
                queue.writer.record(.failed(error("failed")), for: task.id)
            case let path where path.contains("other/"):
                let before = due.advanced(by: .seconds(-30))
                queue.writer.record(
                    .waiting(WaitReasons(.backoff), retryAt: before, error: error("other")), for: task.id)
            case let path where path.contains("waiting/"):
                queue.writer.record(.waiting(WaitReasons(.auth), retryAt: due, error: error("own")), for: task.id)
            default: break
            }
        }
        try await queue.writer.commit()
        func standing(_ path: String) async throws -> NodeStanding? {
            try await queue.reader.standing(of: .folder(batch, path: RawPath("photos\(path)")))
        }
        func reasons(_ path: String) async throws -> [WaitReason]? {
            let row = try #require(try await queue.reader.row(of: .folder(batch, path: RawPath("photos\(path)"))))
            return try await queue.reader.row(row)?.waitReasons
        }
        let waiting = try await standing("/waiting")
        #expect(waiting?.waitReasons == [.auth] && waiting?.error == error("own") && waiting?.retryAt == due)
        #expect(try await reasons("/waiting") == [.auth])
        let failed = try await standing("/failed")
        #expect(failed?.waitReasons == [] && failed?.error == error("failed") && failed?.retryAt == nil)
        let well = try await standing("/well")
        #expect(well?.waitReasons == [] && well?.error == nil && well?.retryAt == nil)
        #expect(try await reasons("/well") == [])
        // A folder above has them from the first below it that waits.
        #expect(try await standing("")?.error == error("other"))
        try await queue.close()
    }

    @Test("tasks come page by page, filtered as they are shown, nothing twice and nothing left out")
    func pages() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let one = try await queue.addTree("one", files: 25)
        let two = try await queue.addTree("two", files: 25, session: SessionName(rawValue: "second")!)
        let tasks = try await queue.claimAll(limit: 10)
        for task in tasks { queue.writer.record(.failed(TransferError(.http, "no")), for: task.id) }
        _ = try await queue.writer.pause([.batch(two)])

        func all(_ batch: BatchID?, _ session: String?, _ states: [TransferState]) async throws -> [TaskID] {
            var ids: [TaskID] = []
            while true {
                let page = try await queue.reader.tasks(
                    batch: batch, session: session.flatMap { SessionName(rawValue: $0) }, states: states,
                    after: ids.last, limit: 7)
                ids += page.map(\.id)
                if page.isEmpty { return ids }
            }
        }
        #expect(try await all(nil, nil, []).count == 50)
        #expect(try await all(one, nil, [.failed]).count == 10)
        #expect(try await all(nil, nil, [.failed]).count == 20)
        #expect(try await all(two, nil, [.paused]).count == 15)
        #expect(try await all(nil, nil, [.paused]).count == 15)
        #expect(try await all(two, nil, [.queued]).isEmpty)
        #expect(try await all(nil, "second", []).count == 25)
        #expect(try await all(one, "second", []).isEmpty)
        #expect(try await all(one, nil, [.queued, .failed]) == (1...25).map { TaskID(rawValue: $0) })

        let selector = NodeSelector(batch: nil, session: SessionName(rawValue: "second"), states: [.failed])
        let nodes = try await queue.reader.nodes(matching: selector, limit: 4)
        #expect(nodes == tasks[10..<14].map { .task($0.id) })
        #expect(try await queue.reader.nodes(matching: selector, after: nodes.last, limit: 100).count == 6)
        #expect(try await queue.reader.nodes(matching: NodeSelector(), limit: 10) == [.batch(one), .batch(two)])
        try await queue.close()
    }

    @Test("a row says when its file was begun, how often it was tried and by what it was compared")
    func triesInRows() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.downloads(["http://host/a"])).batch
        let task = try #require(try await queue.reader.tasks(batch: batch, limit: 1).first)
        func row() async throws -> NodeRow { try #require(try await queue.reader.row(.task(batch, task.id))) }
        var now = try await row()
        #expect(now.startedAt == nil && now.attempts == nil && now.comparedBy == nil)

        _ = try await queue.claimAll()
        queue.writer.record(.running, for: task.id)
        try await queue.writer.commit()
        now = try await row()
        #expect(now.startedAt != nil && now.attempts == 1 && now.comparedBy == nil)

        let digest = TransferDigest(algorithm: "sha-256", value: "00ff")
        queue.writer.record(.completed(Completion(size: 10, verified: .digest, digest: digest)), for: task.id)
        try await queue.writer.commit()
        now = try await row()
        let whole = try #require(try await queue.reader.task(task.id))
        #expect(now.comparedBy == "sha-256" && now.attempts == whole.attempts && now.startedAt == whole.startedAt)
        try await queue.close()
    }

    /// What was at the other end before anything was sent.
    @Test(
        "what was there already is done, in the file, its folder, its batch and the total, though nothing of it was sent"
    )
    func foundThere() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree(files: 1, folders: ["a": 10], size: 100)
        let tasks = try await queue.claimAll()
        for task in tasks {
            // One fails in the folder, one is sent, nine were there.
            switch task.id {
            case tasks[1].id: queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
            case tasks[0].id: queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: task.id)
            default:
                let there = Completion(size: 100, verified: .digest, skipped: true)
                queue.writer.record(.completed(there), for: task.id)
            }
        }
        try await queue.writer.commit()
        let stored = try #require(try await queue.reader.batch(batch))
        #expect((stored.bytesTotal, stored.bytesSent, stored.bytesFound) == (1100, 100, 900))
        #expect(stored.share.percent == 90)
        let totals = try await queue.reader.totals()
        #expect((totals.bytes.done, totals.share(scanning: false).percent) == (1000, 90))
        let section = try #require(
            try await queue.reader.section(SectionRequest(parent: .batch(batch), limit: 100)))
        let folder = try #require(section.rows.first { $0.counts.total == 11 || $0.counts.total == 10 })
        #expect(folder.bytes.total - folder.bytes.done == 100)
        let skipped = try #require(try await queue.reader.task(tasks[5].id))
        #expect(skipped.bytesSent == 0 && skipped.bytesAccepted == 0 && skipped.share?.percent == 100)
        #expect(try await queue.reader.row(.task(batch, tasks[5].id))?.share.percent == 100)
        #expect(try await queue.reader.check().isEmpty)
        // Sent again, it counts from the beginning.
        _ = try await queue.writer.retry([.task(tasks[1].id)])
        #expect(try await queue.reader.check().isEmpty)
        try await queue.close()
    }

    @Test("events carry what happened, in order; a consumer's place never moves back or beyond the end")
    func events() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.writer.add(.downloads(["http://host/a"]))
        let task = try await queue.claimAll()[0]
        let digest = TransferDigest(algorithm: "sha-256", value: "00ff")
        queue.writer.record(.resumedAtOffset(3, repeated: 1), for: task.id)
        queue.writer.record(.response(TransferResponse(status: 206, headers: [], body: nil)), for: task.id)
        queue.writer.record(
            .completed(Completion(size: 10, verified: .digest, digest: digest, finalPath: RawPath("/dst/a"))),
            for: task.id)
        try await queue.writer.commit()
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100)
        #expect(events.map(\.seq.rawValue) == Array(1...Int64(events.count)))
        let resumed = try #require(events.first { $0.type == .resumedAtOffset })
        #expect(resumed.payload.offset == 3)
        #expect(resumed.session == .default)
        let completed = try #require(events.first { $0.type == .taskCompleted })
        #expect(completed.payload.bytes == 10)
        #expect(completed.payload.verified == .digest)
        #expect(completed.payload.digest == digest)
        #expect(completed.payload.finalPath == "/dst/a")
        #expect(events.last?.type == .sessionIdle)
        #expect(events.last?.session == .default)

        let last = try await queue.reader.lastEvent()
        #expect(try await queue.reader.cursor(of: "mail") == EventSequence(rawValue: 0))
        try await queue.writer.acknowledge(consumer: "mail", through: EventSequence(rawValue: 3))
        try await queue.writer.acknowledge(consumer: "mail", through: EventSequence(rawValue: 2))
        #expect(try await queue.reader.cursor(of: "mail") == EventSequence(rawValue: 3))
        try await queue.writer.acknowledge(consumer: "mail", through: EventSequence(rawValue: 9999))
        #expect(try await queue.reader.cursor(of: "mail") == last)
        // Ten thousand are remembered, the newest.
        sandbox.clock.advance(by: .milliseconds(1))
        try await queue.writer.acknowledge(of: 10_000)
        #expect(try await queue.reader.cursor(of: "mail").rawValue == 0)
        #expect(try await queue.reader.cursor(of: "1").rawValue == 1)

        let snapshot = try #require(try await queue.reader.task(task.id, history: true, response: true))
        #expect(snapshot.response?.status == 206)
        #expect(snapshot.resumedFrom == [3])
        #expect(snapshot.bytesRepeated == 1)
        #expect(snapshot.history?.map(\.what) == ["queued", "resumed", "response", "completed"])
        try await queue.close()
    }

    @Test("totals cover what is not finished, and everything when all is")
    func totals() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("done", files: 2)
        try await queue.complete(try await queue.claimAll())
        #expect(try await queue.reader.totals().counts.completed == 2)
        let batch = try await queue.addTree("open", files: 3)
        let tasks = try await queue.claimAll()
        let task = tasks[0]
        queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
        try await queue.writer.commit()
        let totals = try await queue.reader.totals()
        #expect(totals.batches == 2)
        #expect(totals.counts.total == 3)
        #expect(totals.bytes.total == 300)
        #expect(totals.problems == 1)
        #expect(totals.problemCauses == 1 && totals.needsPerson == 0 && totals.needsSpace == 0)
        #expect(try await queue.reader.bytesLeft() == [batch: 200])
        // What is paused is not on its way.
        _ = try await queue.writer.pause([.task(tasks[1].id)])
        #expect(try await queue.reader.bytesLeft() == [batch: 100])
        #expect(try await queue.reader.check() == [])
        #expect(try await queue.reader.statistics().batches == 2)
        try await queue.close()
    }

    @Test("what waits for a person or for space is a problem beside what failed, what waits for the next try is none")
    func problems() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("open", files: 7)
        let tasks = try await queue.claimAll()
        queue.writer.record(.failed(TransferError(.unknownOutcome, "no")), for: tasks[0].id)
        let reasons: [WaitReason] = [.auth, .auth, .hostKey, .remoteDiskSpace, .diskSpace, .backoff]
        for (task, reason) in zip(tasks.dropFirst(), reasons) {
            queue.writer.record(.waiting(WaitReasons(reason), retryAt: nil, error: nil), for: task.id)
        }
        try await queue.writer.commit()
        let totals = try await queue.reader.totals()
        #expect(totals.problems == 6 && totals.needsPerson == 3 && totals.needsSpace == 2)
        #expect(totals.problemCauses == 5)
        try await queue.close()
    }

    @Test("what waits because of a server's key says which server that is and what to do, also when it is counted anew")
    func hostKey() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree("open", files: 3)
        let tasks = try await queue.claimAll()
        let finding = Finding("the key of nas is not known", .thenRetry("run ssh nas once"))
        queue.writer.record(
            .waiting(WaitReasons(.hostKey), retryAt: nil, error: TransferError(.pinMismatch, finding)), for: tasks[0].id
        )
        try await queue.writer.commit()
        #expect(try await queue.reader.batch(batch)?.waits.map(\.known) == [finding])
        // The engine tells of those that stand in line for the same key: it is one cause.
        let wait = WaitCount(reason: .hostKey, count: 2, finding: finding)
        let totals = try await queue.reader.totals(with: [wait])
        #expect(totals.needsPerson == 3 && totals.problemCauses == 1)
        _ = try await queue.writer.cancel([.task(tasks[1].id)])
        #expect(try await queue.reader.batch(batch)?.waits.map(\.known) == [finding])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("failures by HTTP are told apart by their status, and each cause says when the last one was")
    func statuses() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree("open", files: 6)
        let tasks = try await queue.claimAll()
        for (task, status) in zip(tasks, [404, 413, 404, 404, nil]) {
            sandbox.clock.advance(by: .seconds(1))
            queue.writer.record(.failed(TransferError(.http, "no", httpStatus: status)), for: task.id)
            try await queue.writer.commit()
        }
        let causes = try await queue.reader.batch(batch)?.causes
        #expect(causes?.map(\.httpStatus) == [404, nil, 413] && causes?.map(\.count) == [3, 1, 1])
        #expect(causes?.first?.lastAt == sandbox.clock.now.advanced(by: .seconds(-1)))
        #expect(try await queue.reader.totals().problemCauses == 3)
        #expect(try await queue.reader.check() == [])
        _ = try await queue.writer.retry([.task(tasks[0].id), .task(tasks[1].id)])
        #expect(try await queue.reader.batch(batch)?.causes.map(\.count) == [2, 1])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("each cause says what the server said to one of its files, also when the causes are counted anew")
    func serverWords() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree("open", files: 4)
        let tasks = try await queue.claimAll()
        var refused = TransferError(.http, "no", .step("look"), httpStatus: 403)
        (refused.said, refused.detail) = ("quota", "PUT /a -> 403, try 1")
        var full = TransferError(.http, "full", .step("make room"), httpStatus: 507)
        full.said = "disk full"
        queue.writer.record(.failed(refused), for: tasks[0].id)
        queue.writer.record(.failed(TransferError(.sourceMissing, "/a", .step("gone"))), for: tasks[1].id)
        let waits: TaskFact = .waiting(WaitReasons(.remoteDiskSpace), retryAt: nil, error: full)
        queue.writer.record(waits, for: tasks[2].id)
        try await queue.writer.commit()
        func check(waits: [String]) async throws {
            let found = try #require(try await queue.reader.batch(batch))
            let causes = Dictionary(uniqueKeysWithValues: found.causes.map { ($0.code, $0) })
            #expect(causes[.http]?.said == "quota" && causes[.http]?.detail == "PUT /a -> 403, try 1")
            #expect(causes[.http]?.message == "no: look" && causes[.sourceMissing]?.message == "/a: gone")
            #expect(causes[.sourceMissing]?.said == nil && causes[.sourceMissing]?.detail == nil)
            #expect(causes[.http]?.finding == refused.finding, "the values are kept beside the message")
            #expect(found.waits.map(\.said) == waits && found.waits.allSatisfy { $0.message.isEmpty })
            #expect(try await queue.reader.check() == [])
        }
        try await check(waits: ["disk full"])
        // What moves many tasks at once counts the reasons anew.
        _ = try await queue.writer.cancel([.batch(batch)])
        try await check(waits: [])
        try await queue.close()
    }

    @Test("a server that nobody knows is a problem while it is waited for, and none when it was found")
    func unknownHost() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.addTree("open", files: 3)
        let tasks = try await queue.claimAll()
        let error = TransferError(.cannotFindHost, "nsa.local cannot be found", .step("check the spelling of its name"))
        for (task, reason) in zip(tasks, [WaitReasons(.backoff), WaitReasons(.auth), WaitReasons(.backoff)]) {
            let why = task.id == tasks[2].id ? TransferError(.timedOut, "slow", .step("wait")) : error
            queue.writer.record(.waiting(reason, retryAt: sandbox.clock.now, error: why), for: task.id)
        }
        try await queue.writer.commit()
        let waits = try await queue.reader.batch(batch)?.waits
        #expect(
            waits == [
                WaitCount(reason: .auth, count: 1, finding: error.finding, lastAt: sandbox.clock.now),
                WaitCount(
                    reason: .backoff, code: .cannotFindHost, count: 1, finding: error.finding,
                    lastAt: sandbox.clock.now),
            ])
        let totals = try await queue.reader.totals()
        #expect(totals.problems == 2 && totals.needsPerson == 2 && totals.problemCauses == 2)
        let rest = try await queue.reader.totals(besidesUnknownNamesOf: [batch])
        #expect(rest.problems == 1 && rest.needsPerson == 1 && rest.problemCauses == 1, "the one that is not let in")
        #expect(try await queue.reader.check() == [])
        try await queue.writer.wakeDue(now: sandbox.clock.now)
        #expect(try await queue.reader.totals().problems == 0)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("each name that nobody knows is a problem of its own, whether files wait for it or were given up")
    func unknownHosts() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        func add(_ host: String, failed: Bool) async throws {
            _ = try await queue.addTree(host, files: 1)
            let error = TransferError(
                .cannotFindHost, "\(host) cannot be found", .step("check the spelling of its name"))
            for task in try await queue.claimAll() {
                queue.writer.record(
                    failed
                        ? .failed(error) : .waiting(WaitReasons(.backoff), retryAt: sandbox.clock.now, error: error),
                    for: task.id)
            }
            try await queue.writer.commit()
        }
        for host in ["nsa.local", "nas.lcoal", "nsa.local"] { try await add(host, failed: false) }
        #expect(try await queue.reader.totals().problemCauses == 2)
        for host in ["one", "two", "two"] { try await add(host, failed: true) }
        let totals = try await queue.reader.totals()
        #expect(totals.problems == 6 && totals.problemCauses == 4)
        try await queue.close()
    }

    @Test("why: what is ahead, what it waits for, and since when")
    func standing() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let first = try await queue.addTree("first", files: 4)
        let second = try await queue.addTree("second", files: 1)
        #expect(try await queue.reader.standing(of: .batch(second))?.ahead == 4)
        let task = try await queue.claimAll(limit: 1)[0]
        let due = sandbox.clock.now.advanced(by: .seconds(9))
        let error = TransferError(.timedOut, "no answer")
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: due, error: error), for: task.id)
        try await queue.writer.commit()
        for node in [NodeID.task(task.id), .batch(first)] {
            let standing = try await queue.reader.standing(of: node)
            #expect(standing?.waitReasons == [.backoff])
            #expect(standing?.retryAt == due)
            #expect(standing?.since == sandbox.clock.now)
            #expect(standing?.error == error)
            #expect(standing?.origin == "http://host:80")
        }
        #expect(try await queue.reader.standing(of: .task(TaskID(rawValue: 99))) == nil)
        // Of two reasons the first is told, with the words of one that waits for it.
        let refused = try await queue.claimAll(limit: 1)[0]
        let no = TransferError(.permissionDenied, "who is it?")
        queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: no), for: refused.id)
        try await queue.writer.commit()
        let both = try await queue.reader.standing(of: .batch(first))
        #expect(both?.waitReasons.first == .auth && both?.error == no && both?.retryAt == nil)
        try await queue.close()
    }
}

@Suite("Checking a queue") struct CheckTests {
    @Test("a task of a damaged queue that is in no batch is not shown, and the missing batch is named")
    func stray() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try sandbox.database(.readWrite).execute(script: "DELETE FROM batches")
        let error = await #expect(throws: QueueError.noSuchBatch) { try await queue.reader.task(TaskID(rawValue: 1)) }
        #expect("\(try #require(error))" == "there is no such batch")
        await queue.abandon()
    }

    @Test(
        "every kind of disagreement is found",
        arguments: [
            "UPDATE tasks SET state = 8, finished_at = 1 WHERE id = 3",
            "UPDATE folders SET completed = completed + 1 WHERE id = 1",
            "UPDATE own_counts SET bytes_total = bytes_total + 1",
            "DELETE FROM own_counts WHERE state = 1",
            "DELETE FROM events WHERE type = 3",
            "INSERT INTO events (seq, at, type, batch, task) SELECT 999, at, type, batch, task FROM events WHERE type = 3",
            "UPDATE tasks SET folder = 77 WHERE id = 3",
            "UPDATE tasks SET lane = 77 WHERE id = 3",
            "UPDATE folders SET parent = NULL WHERE id = 2",
            "UPDATE folders SET parent = 3 WHERE id = 2",
            "UPDATE lanes SET ready = ready + 1",
            "UPDATE batches SET finished_at = 1",
            "UPDATE tasks SET claimed = 1 WHERE id = 3",
            "DELETE FROM task_details",
            "INSERT INTO task_details (task) VALUES (77)",
            "INSERT INTO attempts VALUES (77, 1, 1, 1, 0, 'x', NULL, NULL)",
            "DELETE FROM reasons",
            "UPDATE meta SET value = 2 WHERE name = 'next_task'",
            "DELETE FROM batches",
        ])
    func found(_ damage: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 3, folders: ["a": 1])
        let tasks = try await queue.claimAll(limit: 2)
        try await queue.complete([tasks[0]])
        let error = TransferError(.http, "no")
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: error), for: tasks[1].id)
        try await queue.close()
        #expect(try await TransferQueue.openForReading(directory: sandbox.directory).check() == [])
        try sandbox.database(.readWrite).execute(script: damage)
        #expect(try await TransferQueue.openForReading(directory: sandbox.directory).check() != [])
    }
}

extension QueueWriter {
    /// As many consumers, `1` and so on, have read the first event.
    fileprivate func acknowledge(of count: Int) throws(QueueError) {
        try change {
            for number in 1...count { try store.queue.acknowledge("\(number)", through: EventSequence(rawValue: 1)) }
        }
    }
}
