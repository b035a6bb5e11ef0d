#if DEBUG
    import FoundationEssentials
    import Glibc
    import LinuxSystem
    import Testing
    import TransferModel

    @testable import TransferQueue

    @Suite("Killed at a commit") struct FaultTests {
        /// What a process does until it is killed at one of its commits.
        static func scenario(_ directory: String) async throws {
            let queue = try TransferQueue.open(directory: RawPath(directory), version: "killed")
            _ = try await queue.addTree(files: 3, folders: ["a": 2])
            let tasks = try await queue.claimAll(limit: 4)
            try await queue.complete([tasks[0]])
            queue.writer.record(.running, for: tasks[1].id)
            queue.writer.record(.checkpoint(resumePoint: [1], accepted: 10), for: tasks[1].id)
            try await queue.writer.commit()
            queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[2].id)
            _ = try await queue.writer.cancel([.task(tasks[3].id)])
            _ = try await queue.writer.undo(.last, now: .now)
            try await queue.close()
        }

        @Test(
            "killed right before or after any commit, the queue opens again and agrees with itself",
            arguments: ["queue.commit", "queue.committed"], 1...11)
        func killedAtCommit(point: String, number: Int) async throws {
            let sandbox = try Sandbox()
            let (directory, fault) = (sandbox.directory.displayed, "\(point):\(number)")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [directory = directory as String, fault = fault as String] in
                setenv("MARTLET_FAULT", fault, 1)
                try await FaultTests.scenario(directory)
            }
            let queue = try sandbox.open()
            #expect(try await queue.reader.check() == [])
            let batches = try await queue.reader.batches()
            // The second commit is the batch's.
            #expect(batches.count == (number > 2 || (number == 2 && point == "queue.committed") ? 1 : 0))
            for walk in try await queue.writer.unscannedSources() where !walk.isBegun {
                try await queue.writer.begin([FoundSource(source: walk.source, kind: .directory)])
            }
            #expect(try await queue.reader.check() == [])
            try await queue.close()
        }

        @Test("without such a wish, or with one that makes no sense, nobody is killed")
        func noFault() {
            for text in [nil, "", "queue.commit", "queue.commit:x", "queue.commit:99", "engine.claimed:1"] {
                var faults = CommitFaults(text)
                faults.beforeCommit()
                faults.afterCommit()
            }
        }
    }
#endif
