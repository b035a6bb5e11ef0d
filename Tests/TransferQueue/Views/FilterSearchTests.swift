import Testing
import TransferModel

@testable import TransferQueue

@Suite("Filters over the queue") struct FilterSearchTests {
    private func found(_ queue: TransferQueue, _ text: String) async throws -> (matches: FilterMatches, tasks: [TaskID])
    {
        let filter = try TransferFilter(text)
        var matches = FilterMatches()
        var tasks: [TaskID] = []
        var after: TaskID? = TaskID(rawValue: 0)
        while let from = after {
            let slice = try await queue.reader.search(filter, after: from)
            matches.add(slice)
            tasks += slice.hits.values.flatMap(\.tasks)
            after = slice.next
        }
        return (matches, tasks.sorted())
    }

    @Test("behind the last file there is nothing, and the end is said")
    func behindTheLast() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("one", files: 3)
        for after in [3, 4, Int64.max - 1, Int64.max] {
            let slice = try await queue.reader.search(try TransferFilter("file"), after: TaskID(rawValue: after))
            #expect(slice.hits.isEmpty && slice.examined == 0 && slice.next == nil, "\(after)")
        }
        try await queue.close()
    }

    @Test("folders count, too, in what is kept of a search")
    func manyFolders() {
        var matches = FilterMatches()
        let batch = BatchID(rawValue: 1)
        for start in stride(from: Int64(2), to: 300_000, by: 10_000) {
            var slice = FilterSlice()
            for number in start..<(start + 10_000) {
                let folder = FolderID(rawValue: number)
                slice.hits[folder] = FilterSlice.Hits(
                    place: FilterPlace(
                        batch: batch, name: "", session: .default, chain: [folder, FolderID(rawValue: 1)],
                        folder: RawPath(""), destination: "", direction: .upload, priority: .normal,
                        createdAt: Timestamp(milliseconds: 0), isScanning: false),
                    tasks: [TaskID(rawValue: number)])
            }
            matches.add(slice)
        }
        #expect(matches.count == 300_000 && matches.batches == [batch])
        #expect(matches.folders.count <= 200_000)
    }

    @Test("finds what matches, with the folders that it lies in, and sections show that alone")
    func search() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let one = try await queue.addTree("one", files: 6, folders: ["b": 3, "a": 2, "empty": 0])
        let two = try await queue.addTree("two", files: 4)
        let tasks = try await queue.claimAll(limit: 3)
        for task in tasks {
            queue.writer.record(.failed(TransferError(.http, "no", .step("ask"), httpStatus: 404)), for: task.id)
        }
        try await queue.writer.commit()

        #expect(try await found(queue, "file1").tasks.count == 4)
        let errors = try await found(queue, "@err err:404")
        #expect(errors.tasks == tasks.map(\.id).sorted())
        #expect(errors.matches.batches == [one, two])

        let below = try await found(queue, "folder=one/a | folder=one/b file2").matches
        let root = try #require(try await queue.reader.section(SectionRequest(parent: nil, limit: 10), of: below))
        #expect(root.rows.map(\.id) == [.batch(one)])
        let batch = try #require(
            try await queue.reader.section(SectionRequest(parent: .batch(one), limit: 10), of: below))
        #expect(batch.rows.map(\.name) == ["one"])
        let folder = try #require(
            try await queue.reader.section(SectionRequest(parent: batch.rows[0].id, limit: 10), of: below))
        #expect(folder.rows.map(\.name) == ["a", "b"])
        #expect(folder.total == 2)
        let files = try #require(
            try await queue.reader.section(SectionRequest(parent: folder.rows[1].id, limit: 10), of: below))
        #expect(files.rows.map(\.name) == ["file2"])
        let many = try await found(queue, "batch:two").matches
        let top = try #require(try await queue.reader.section(SectionRequest(parent: .batch(two), limit: 10), of: many))
        let bounded = try #require(
            try await queue.reader.section(SectionRequest(parent: top.rows[0].id, limit: 3), of: many))
        #expect(bounded.rows.count == 3)
        #expect(bounded.total == 4)
        try await queue.close()
    }

    @Test("every filter finds what a slow look at each task finds")
    func reference() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree("one", files: 9, folders: ["b": 3, "a": 2])
        let held = try await queue.addTree("two", files: 5, held: true)
        let tasks = try await queue.claimAll(limit: 4)
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[0].id)
        queue.writer.record(
            .waiting(WaitReasons(.auth), retryAt: nil, error: TransferError(.http, "401")), for: tasks[1].id)
        try await queue.complete([tasks[2]])
        sandbox.clock.advance(by: .seconds(90))
        let all = try await queue.reader.tasks(limit: 1000)
        let slow: [(String, (TaskSnapshot) -> Bool)] = [
            ("@err", { $0.state == .failed }), ("@auth", { $0.waitReasons == [.auth] }),
            ("@done", { $0.state == .completed }),
            ("@held", { $0.batch == held }), ("!@held !@done", { $0.batch != held && $0.state != .completed }),
            ("folder:b", { $0.folder.contains("b") }), ("name=file1", { $0.name == "file1" }),
            ("age>1m", { _ in true }),
            ("done=100%", { $0.state == .completed }), ("tries>0", { $0.attempts > 0 }),
            (
                "@new | @err",
                { $0.state == .failed || $0.attempts == 0 && ($0.state == .queued || $0.state == .created) }
            ),
        ]
        for (text, holds) in slow {
            #expect(try await found(queue, text).tasks == all.filter(holds).map(\.id), "\(text)")
        }
        try await queue.close()
    }
}
