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
                try await queue.writer.begin([FoundSource(source: walk.source, kind: .directory(nil))])
            }
            #expect(try await queue.reader.check() == [])
            try await queue.close()
        }

        /// The same, with what stands in the store of secrets: handles that replace each other, logins, queries, and their end.
        static func secretScenario(_ directory: String) async throws {
            let queue = try TransferQueue.open(directory: RawPath(directory), version: "killed")
            _ = try await queue.addTree(files: 1)
            let task = try await queue.claimAll()[0]
            for number in UInt8(1)...3 {
                if number == 3 {
                    queue.writer.record(.restarted(reason: "gone", repeated: 0, identity: nil), for: task.id)
                }
                queue.writer.record(
                    .checkpoint(resumePoint: [number], accepted: 0, secret: "Xhandle\(number)X"), for: task.id)
                try await queue.writer.commit()
            }
            var request = BatchRequest.downloads(["https://host/a?XqueryX"])
            request.secrets.headers = [HeaderField("Authorization", "XtokenX")]
            let batch = try await queue.writer.add(request).batch
            _ = try await queue.writer.cancel([.batch(batch)])
            _ = try await queue.writer.purge([.batch(batch)])
            _ = try await queue.writer.forgetPurged(now: .now.advanced(by: .seconds(60)))
            queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: task.id)
            try await queue.close()
        }

        @Test(
            "killed between the queue and its secrets, each row finds what it refers to, and a start removes the rest",
            arguments: ["queue.commit", "queue.committed", "secrets.commit", "secrets.committed"], 1...8)
        func killedBetween(point: String, number: Int) async throws {
            let sandbox = try Sandbox()
            let (directory, fault) = (sandbox.directory.displayed, "\(point):\(number)")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [directory = directory as String, fault = fault as String] in
                setenv("MARTLET_FAULT", fault, 1)
                try await FaultTests.secretScenario(directory)
            }
            let queue = try sandbox.open()
            var expected: Set<String> = []
            for task in try await queue.claimAll() {
                if let handle = task.resumePoint?.first { expected.insert("Xhandle\(handle)X") }
                #expect(task.resumeSecret == task.resumePoint.map { "Xhandle\($0[0])X" })
                #expect(!task.lacksQuery)
            }
            // A purge can be taken back for a while: until then its secrets stay with it.
            if try await queue.writer.order(of: BatchID(rawValue: 2)) != nil {
                expected.formUnion(["XtokenX", "XqueryX"])
            }
            for batch in try await queue.reader.batches() {
                #expect(try await queue.writer.order(of: batch.id)?.lacks == [])
            }
            let kept = sandbox.contents("secrets.sqlite")
            for secret in ["Xhandle1X", "Xhandle2X", "Xhandle3X", "XtokenX", "XqueryX"] {
                #expect((kept.firstRange(of: Array(secret.utf8)) != nil) == expected.contains(secret), "\(secret)")
            }
            try await queue.close()
        }

        @Test("without such a wish, or with one that makes no sense, nobody is killed")
        func noFault() {
            for text in [nil, "", "queue.commit", "queue.commit:x", "queue.commit:99", "engine.claimed:1"] {
                var faults = CommitFaults(of: "queue", text)
                faults.beforeCommit()
                faults.afterCommit()
            }
        }
    }
#endif
