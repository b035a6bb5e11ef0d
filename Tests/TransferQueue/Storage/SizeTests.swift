import FoundationEssentials
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Sizes that no file can have") struct SizeTests {
    @Test("a server that tells them ends nothing: tasks fail, are cancelled and purged, and all sums agree")
    func told() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(.downloads((0..<300).map { "https://host/\($0)" })).batch
        let tasks = try await queue.claimAll()
        for (place, task) in tasks.enumerated() {
            queue.writer.record(.running, for: task.id)
            queue.writer.record(.sizeKnown(place == 0 ? .max : FileSize.largest), for: task.id)
            queue.writer.record(.checkpoint(resumePoint: [1], accepted: place == 1 ? .max : 7), for: task.id)
        }
        try await queue.writer.commit()
        #expect(try await queue.reader.batch(batch)?.bytesTotal == ByteSum.largest)
        #expect(try await queue.reader.totals().bytes.total == ByteSum.largest)
        queue.writer.record(.failed(TransferError(.badServerResponse, "no")), for: tasks[0].id)
        _ = try await queue.writer.cancel([.batch(batch)])
        _ = try await queue.writer.purge([.batch(batch)])
        #expect(try await queue.reader.check() == [])
        sandbox.clock.advance(by: .seconds(11))
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test("numbers that were damaged end nothing, and folders that lie in each other are told as damage")
    func damaged() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 3, folders: ["raw": 2])
        let task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.id)
        try await queue.writer.commit()
        await queue.abandon()
        try sandbox.database(.readWrite).execute(
            script: """
                UPDATE tasks SET accepted = -9223372036854775807 - 1 WHERE id = \(task.id.rawValue);
                UPDATE batches SET created_at = -9223372036854775807 - 1;
                """)
        queue = try sandbox.open()
        #expect(try await queue.reader.batches().first?.createdAt.description == "0000-01-01T00:00:00.000Z")
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: "UPDATE folders SET parent = id WHERE parent IS NOT NULL")
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        #expect("\(error)".contains("is damaged"), "\(error)")
    }

    @Test(
        "folders of an earlier version that lie in each other are told before a migration walks up from them",
        arguments: [
            "bytes of what is paused", "bytes that were at the other end already", "sizes that no file can have",
            "pages of changes, in the order in which they were done",
        ])
    func circle(migration: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 3, folders: ["raw": 2])
        for task in try await queue.claimAll() {
            queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: task.claim)
        }
        try await queue.writer.commit()
        try await queue.close()
        try sandbox.rewrite(
            before: migration,
            """
            INSERT OR REPLACE INTO own_counts SELECT id, 5, 1, 7, 0, 0 FROM folders;
            INSERT OR REPLACE INTO own_counts SELECT id, 6, 1, 7, 0, 0 FROM folders;
            UPDATE tasks SET size = -1;
            UPDATE folders SET parent = id WHERE parent IS NOT NULL;
            """)
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        #expect("\(error)".contains("is damaged"), "\(error)")
    }

    @Test("a queue that has such rows, and sums that overflowed, opens again and agrees; its tasks can be cancelled")
    func stored() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.addTree(files: 3, folders: ["raw": 2])
        let other = try await queue.addTree("other", files: 1)
        let task = try await queue.claimAll()[0]
        queue.writer.record(.running, for: task.id)
        try await queue.writer.commit()
        await queue.abandon()
        do {
            let stored = try sandbox.database(.readWrite)
            // As the version before this migration left them.
            try stored.execute(
                script: """
                    DELETE FROM migrations WHERE number >= 13;
                    DROP TABLE last_looks;
                    DROP TABLE remote_versions;
                    DROP INDEX details_final_path;
                    ALTER TABLE tasks DROP COLUMN claims;
                    ALTER TABLE tasks DROP COLUMN clock;
                    DROP TABLE linked_folders;
                    DROP TABLE interrupted;
                    DROP INDEX undo_tasks_of_task;
                    DROP INDEX undo_of_operation;
                    DROP INDEX undo_of_page;
                    DROP INDEX tasks_unlisted;
                    DROP INDEX tasks_resting;
                    DROP INDEX pause_ends_batch;
                    DROP TABLE walked_folders;
                    DROP INDEX tasks_sharing;
                    ALTER TABLE batches DROP COLUMN shares_names;
                    ALTER TABLE undo DROP COLUMN page;
                    ALTER TABLE undo_tasks RENAME COLUMN page TO operation;
                    ALTER TABLE batches DROP COLUMN kept_secrets;
                    ALTER TABLE batches DROP COLUMN let_go_at;
                    ALTER TABLE task_details DROP COLUMN handle;
                    ALTER TABLE task_details DROP COLUMN first_tried_at;
                    ALTER TABLE task_details DROP COLUMN furthest;
                    ALTER TABLE task_details RENAME COLUMN patience_since TO progressed_at;
                    UPDATE tasks SET size = 9223372036854775807 WHERE id IN (1, 2);
                    UPDATE own_counts SET bytes_total = 9223372036854775807 + 9223372036854775807 WHERE folder = 1;
                    UPDATE folders SET bytes_total = 9223372036854775807 + 5, bytes_left = 9223372036854775807 + 5
                    WHERE id = 1;
                    """)
        }
        queue = try sandbox.open()
        #expect(try await queue.reader.check() == [])
        #expect(try await queue.reader.batch(other)?.bytesTotal == 100)
        let sum = try await queue.reader.batch(batch)?.bytesTotal
        #expect(sum == 2 * FileSize.largest + 300)
        let again = try await queue.claimAll()
        #expect(again.count == 6)
        #expect(again.compactMap(\.size).max() == FileSize.beyond)
        queue.writer.record(.failed(TransferError(.unsupported, "no")), for: again[0].id)
        _ = try await queue.writer.cancel([.batch(batch)])
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }
}

@Suite("A file's size as somebody tells it") struct FileSizeTests {
    @Test(
        "digits are read however many; what no file can have is beyond",
        arguments: [
            ("0", 0), ("9007199254740992", 9_007_199_254_740_992), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", FileSize.beyond), ("99999999999999999999999", FileSize.beyond), ("", nil),
            ("-1", nil), ("+1", nil), ("1 ", nil), ("0x10", nil), ("\u{0661}", nil),
        ] as [(String, Int64?)])
    func read(text: String, size: Int64?) {
        #expect(FileSize.read(text) == size)
    }

    @Test("a sum stays within its bounds")
    func sums() {
        var sum = ByteSum.largest - 1
        ByteSum.add(.max, to: &sum)
        #expect(sum == ByteSum.largest)
        ByteSum.add(.min, to: &sum)
        #expect(sum == -ByteSum.largest)
        ByteSum.add(3, to: &sum)
        #expect(sum == 3 - ByteSum.largest)
    }
}
