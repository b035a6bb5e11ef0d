import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Numbers that were damaged in the file") struct DamagedNumberTests {
    static let numbers: [Int64] = [.max, .min, -1]

    /// Changes of the file; `?` is the number.
    static let damages = [
        "UPDATE tasks SET size = ?, accepted = ?",
        "UPDATE tasks SET run = ?, claims = ?",
        "UPDATE tasks SET begun_at = ?, mtime = ?, inode = ?",
        "UPDATE tasks SET rank = ?",
        """
        UPDATE task_details SET attempts = ?, failures = ?, restarts = ?, repeated = ?, at_risk = ?, unconfirmed = ?,
        handle = ?, furthest = ?
        """,
        "UPDATE task_details SET wait_since = ?, retry_at = ?, patience_since = ?, first_tried_at = ?, said = ?",
        "UPDATE attempts SET number = ?, accepted = ?",
        "UPDATE batches SET left_links = ?, left_special = ?, left_empty = ?",
        """
        UPDATE folders SET queued = ?, waiting = ?, running = ?, finishing = ?, stopped = ?, completed = ?, failed = ?,
        cancelled = ?
        """,
        """
        UPDATE folders SET bytes_total = ?, bytes_accepted = ?, bytes_verified = ?, bytes_left = ?, bytes_stopped = ?,
        bytes_found = ?
        """,
        "UPDATE own_counts SET files = ?, bytes_total = ?, bytes_accepted = ?, bytes_verified = ?",
        "UPDATE lanes SET ready = ?",
        "UPDATE reasons SET files = ?",
        "INSERT INTO last_looks (folder, batch, due, listed, files) SELECT id, batch, -1, ?, ? FROM folders",
        "INSERT OR REPLACE INTO meta VALUES ('today', '{\"day\":1,\"up\":?,\"down\":?}')",
    ]

    @Test(
        "what is read of them stays within bounds, and what is done after that ends nothing",
        arguments: DamagedNumberTests.numbers, DamagedNumberTests.damages)
    func read(number: Int64, damage: String) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 4, folders: ["raw": 2])
        let tasks = try await queue.claimAll(limit: 3)
        let error = TransferError(.http, "no")
        queue.writer.record(.running, for: tasks[0].id)
        queue.writer.record(.checkpoint(resumePoint: [1], accepted: 7), for: tasks[0].id)
        queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: error), for: tasks[1].id)
        queue.writer.record(.failed(error), for: tasks[2].id)
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: damage.replacing("?", with: "\(number)"))

        queue = try sandbox.open()
        _ = try await queue.reader.check()
        let counts = 0...9 * FileSize.largest
        for shown in try await queue.reader.batches() {
            let files = [shown.filesTotal, shown.filesActive + shown.filesWaiting, shown.filesFailed]
            #expect(files.allSatisfy { counts.contains($0) }, "\(shown)")
            #expect((0...100).contains(shown.share.percent))
            let reasons = shown.causes.map(\.count) + shown.waits.map(\.count)
            #expect(reasons.allSatisfy { counts.contains($0) }, "\(shown)")
            let out = shown.leftOut
            #expect((0...3 * FileSize.largest).contains(out.links + out.special + out.emptyFolders))
        }
        let totals = try await queue.reader.totals()
        #expect(counts.contains(totals.counts.total))
        let left = try await queue.reader.bytesLeft()
        #expect(left.values.allSatisfy { abs($0) <= ByteSum.largest })
        _ = try await queue.reader.bytesLeftInAll()
        _ = try await queue.reader.statistics()
        for task in try await queue.reader.tasks(batch: batch, limit: 100) {
            #expect(task.attempts >= 0 && task.restarts >= 0 && task.bytesRepeated >= 0, "\(task)")
            #expect(task.bytesAccepted >= 0 && task.bytesTotal ?? 0 >= 0, "\(task)")
        }
        for parent in [nil, .batch(batch)] as [RowID?] {
            _ = try await queue.reader.section(SectionRequest(parent: parent, limit: 50))
        }
        _ = try await queue.reader.standing(of: .batch(batch))
        _ = try await queue.writer.storedDay()
        for upload in try await queue.writer.unconfirmed() { #expect(upload.sent >= 0) }
        for lane in try await queue.writer.lanes() { #expect(lane.ready >= 0) }
        let claimed = try await queue.claimAll(limit: 2)
        for task in claimed {
            #expect(task.accepted >= 0 && task.attempts >= 0 && task.failures >= 0 && task.restarts >= 0, "\(task.id)")
            #expect(task.claim.generation >= 0)
            queue.writer.record(.running, for: task.claim)
            queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: error), for: task.claim)
        }
        // What is damaged may be refused by SQLite; it is told, and ends nothing.
        _ = try? await queue.writer.commit()
        for place in [MovePlace.top, .bottom, .earlier, .later] {
            _ = try? await queue.writer.move([.task(tasks[0].id)], to: place)
        }
        _ = try? await queue.writer.cancel([.batch(batch)])
        _ = try? await queue.writer.retry([.batch(batch)])
        _ = try? await queue.reader.check()
        _ = try? await queue.close()
    }

    /// SQLite ends a statement that reads such a text, whatever else it is for.
    @Test(
        "a stored text that is damaged is as if it were not there",
        arguments: [
            "UPDATE task_details SET error = '{'", "UPDATE batches SET options = '{'",
            "UPDATE hosts SET facts = CAST('{' AS BLOB)", "UPDATE undo SET before = '{\"folderRanks\":[[1,2]'",
        ])
    func texts(damage: String) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 4)
        let other = try await bench.queue.addTree("other", files: 1)
        try await bench.queue.writer.remember(host: "http://host", facts: Array(#"{"uploadBy":"put"}"#.utf8))
        let tasks = try await bench.queue.claimAll(limit: 2)
        let error = TransferError(.http, "no")
        bench.queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: nil, error: error), for: tasks[0].claim)
        bench.queue.writer.record(.failed(error), for: tasks[1].claim)
        let moved = try await bench.move(bench.task(4), to: .top)
        try await bench.queue.writer.commit()
        try bench.sandbox.database(.readWrite).execute(script: damage)

        _ = try await bench.queue.reader.check()
        _ = try await bench.queue.reader.batches()
        #expect(try await bench.queue.reader.tasks(batch: batch, limit: 9).count == 4)
        let filter = try TransferFilter("error:no")
        _ = try await bench.queue.reader.search(filter, after: TaskID(rawValue: 0))
        for turn in 0..<80 {
            try await bench.move(bench.task(turn % 2 == 0 ? 3 : 4), to: .before(bench.task(turn % 2 == 0 ? 4 : 3)))
        }
        try await bench.pause(.batch(batch))
        _ = try await bench.queue.writer.resume([.batch(batch)])
        _ = try await bench.queue.writer.retry([.batch(batch)])
        _ = try? await bench.undo(moved)
        try await bench.cancel(.batch(batch))
        #expect(try await bench.queue.reader.batch(other)?.filesTotal == 1)
        try await bench.close()
    }

    @Test("a claim is told apart from the one before, whatever the file says", arguments: DamagedNumberTests.numbers)
    func claims(number: Int64) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: "UPDATE tasks SET claims = \(number)")
        queue = try sandbox.open()
        let first = try #require(try await queue.claimAll().first)
        try await queue.writer.release(unstarted: [first.claim])
        let second = try #require(try await queue.claimAll().first)
        #expect(first.claim != second.claim)
        queue.writer.record(.running, for: second.claim)
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: second.claim)
        try await queue.writer.commit()
        #expect(try await queue.reader.batches().first?.filesCompleted == 1)
        try await queue.close()
    }

    @Test(
        "numbers that can be counted up no more are told as damage", arguments: DamagedNumberTests.numbers,
        ["next_task", "next_folder", "next_event", "next_operation"])
    func numbering(number: Int64, name: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: "INSERT OR REPLACE INTO meta VALUES ('\(name)', \(number))")
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        #expect("\(error)".contains("is damaged"), "\(error)")
    }

    @Test(
        "a batch is refused that would get no number or no place", arguments: DamagedNumberTests.numbers,
        ["UPDATE batches SET position = ?", "UPDATE sqlite_sequence SET seq = ? WHERE name = 'batches'"])
    func batches(number: Int64, damage: String) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: damage.replacing("?", with: "\(number)"))
        queue = try sandbox.open()
        let error = await #expect(throws: QueueError.self) { try await queue.writer.add(.directory("more")) }
        #expect(error.map { "\($0)".contains("\(number)") } == true)
        #expect(try await queue.reader.batches().count == 1)
        try await queue.close()
    }
}
