import Digests
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

@testable import TransferEngine

@Suite(.timeLimit(.minutes(2))) struct UploadTests {
    @Test("what a server says no to is told to be no UTF-8 when it is not, and stays as it was when it is")
    func refusedName() async throws {
        let harness = try await EngineHarness { request, _ in
            request.method == "PUT" ? .answer("400 Bad Request") : .ordinary
        }
        let name = RawPath(Array("caf".utf8) + [0xE9])
        try harness.sandbox.write("f", [1])
        func refused(_ name: RawPath) async throws -> TransferError? {
            var request = harness.request(upload: ["f"])
            request.work = .upload(
                [UploadSource(path: RawPath(harness.sandbox.path("f")), placement: .named(name))],
                to: harness.store.url("/in/"))
            let task = try await harness.run(request)
            #expect(task.state == .failed && task.error?.code == .http && task.error?.httpStatus == 400)
            return task.error
        }
        let error = try #require(try await refused(name))
        #expect(
            error.happening.hasSuffix("answered 400 Bad Request; the name caf\\xe9 is not UTF-8, which it may not take")
        )
        #expect(error.finding.advice == "rename the file (convmv does it for whole trees), then queue it again")
        #expect(try await refused(RawPath("café"))?.message.contains("UTF-8") == false)
        await harness.stop()
    }

    @Test("a tree goes up as it lies, with every kind of name, and every task has one end")
    func tree() async throws {
        let harness = try await EngineHarness()
        var expected: [String: [UInt8]] = [:]
        for (index, name) in ["a", "sub/b c", "sub/deep/日本", "sub/deep/%41?#", "empty"].enumerated() {
            expected[name] = pattern(index * 40_000, seed: index)
            try harness.sandbox.write("tree/" + name, pattern(index * 40_000, seed: index))
        }
        try harness.sandbox.write(Array("tree/raw".utf8) + [0xff, 0x80], [1])
        let batch = try await harness.add(harness.request(upload: ["tree"]))
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesCompleted == 6 && snapshot.filesTotal == 6)
        #expect(
            harness.store.paths == [
                "/in/tree/a", "/in/tree/sub/b%20c", "/in/tree/sub/deep/%E6%97%A5%E6%9C%AC",
                "/in/tree/sub/deep/%2541%3F%23", "/in/tree/empty", "/in/tree/raw%FF%80",
            ])
        #expect(harness.store["/in/tree/sub/b%20c"] == expected["sub/b c"])
        #expect(harness.store["/in/tree/sub/deep/%2541%3F%23"] == expected["sub/deep/%41?#"])
        #expect(try await harness.events(.taskCompleted).count == 6)
        #expect(try await harness.events(.batchFinished).count == 1)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a foreign file is not replaced, unless that is wanted, and skip is done without it")
    func ifExists() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/in/f", [9, 9, 9])
        try harness.sandbox.write("f", [1, 2, 3])
        var task = try await harness.run(harness.request(upload: ["f"]))
        #expect(task.state == .failed && task.cause == .destinationExists)
        task = try await harness.run(harness.request(upload: ["f"]) { $0.options.ifExists = .skip })
        #expect(task.state == .completed && task.skipped && task.bytesAccepted == 0)
        #expect(harness.store["/in/f"] == [9, 9, 9])
        task = try await harness.run(harness.request(upload: ["f"]) { $0.options.ifExists = .replace })
        #expect(task.state == .completed && harness.store["/in/f"] == [1, 2, 3])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a reset half way waits, says why, and sends again; what was repeated is told")
    func resetHalfWay() async throws {
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0 ? .resetAfter(1_000_000) : .ordinary
        }
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(harness.request(upload: ["f"]))
        #expect(task.state == .completed && task.restarts == 1 && task.bytesRepeated > 0)
        #expect(harness.store["/in/f"] == pattern(2_000_000))
        let waits = try await harness.events(.waiting)
        #expect(waits.first?.payload.error?.code == .networkConnectionLost)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a lost answer is asked after, and the file is not sent twice")
    func lostAnswer() async throws {
        let harness = try await EngineHarness { request, _ in request.method == "PUT" ? .loseAnswer : .ordinary }
        try harness.sandbox.write("f", pattern(300_000))
        let task = try await harness.run(harness.request(upload: ["f"]))
        // The server tells no digest: what is there is read back.
        #expect(task.state == .completed && task.verified == .digest)
        #expect(harness.store.count("PUT", "/in/f") == 1 && harness.store.count("GET", "/in/f") == 1)
        await harness.stop()
    }

    @Test("what all went out is sent twice only when it goes out again, also by a PUT", arguments: [true, false])
    func wentOut(arrives: Bool) async throws {
        let soon = ["Retry-After: 0"]
        let harness = try await EngineHarness { request, earlier in
            switch (request.method, earlier) {
            case ("PUT", 0): arrives ? .loseAnswer : .answer("503 Service Unavailable", fields: soon)
            // The attempt ends before it has seen what is there.
            case ("HEAD", 0) where arrives: .answer("503 Service Unavailable", fields: soon)
            default: .ordinary
            }
        }
        try harness.sandbox.write("f", pattern(300_000))
        let task = try await harness.run(harness.request(upload: ["f"]))
        #expect(task.state == .completed && harness.store["/in/f"] == pattern(300_000))
        #expect(harness.store.count("PUT", "/in/f") == (arrives ? 1 : 2))
        #expect(task.bytesRepeated == (arrives ? 0 : 300_000) && task.restarts == (arrives ? 0 : 1), "\(task)")
        #expect(try await harness.events(.restarted).count == (arrives ? 0 : 1))
        #expect(task.resumedFrom.isEmpty)
        try await harness.expectSound()
        await harness.stop()
    }

    /// What a server tells of the bytes that it has got, whether they are those of the file or not.
    private static func telling(_ bytes: [UInt8]) -> String {
        "Repr-Digest: sha-256=:\(DigestAlgorithm.sha256.digest(of: bytes).base64):"
    }

    @Test("where the server tells a digest it is compared without being asked for, also while a file is sent")
    func toldDigest() async throws {
        let contents = [pattern(300_000), pattern(2_000_000, seed: 1), pattern(4, seed: 2)]
        let harness = try await EngineHarness { request, _ in
            guard request.method == "PUT", request.fields["want-repr-digest"] != nil else { return .ordinary }
            let index = Int(request.target.dropFirst("/in/".count)) ?? 0
            // Of the last two others are told than were sent.
            let bytes = index < 3 ? contents[index] : pattern(7)
            return .answer("201 Created", fields: [Self.telling(bytes)])
        }
        for (index, bytes) in (contents + contents.dropFirst()).enumerated() {
            try harness.sandbox.write("\(index)", bytes)
            let task = try await harness.run(harness.request(upload: ["\(index)"]))
            if index < 3 {
                #expect(task.state == .completed && task.verified == .digest, "\(index)")
                #expect(task.digest?.value == DigestAlgorithm.sha256.digest(of: bytes).hex, "\(index)")
            } else {
                #expect(task.state == .failed && task.error?.code == .integrity, "\(index)")
            }
        }
        let task = try await harness.run(harness.request(upload: ["0"]) { $0.options.verify = .size })
        #expect(task.verified == .size)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a source that was written to while it was sent is sent again, not called damaged")
    func changedUnderDigest() async throws {
        let sandbox = try Sandbox("engine")
        let (first, second) = (pattern(300_000), pattern(300_000, seed: 5))
        let harness = try await EngineHarness(sandbox: sandbox) { request, earlier in
            guard request.method == "PUT" else { return .ordinary }
            if earlier == 0 { _ = try? sandbox.write("f", second) }
            return .answer("201 Created", fields: [Self.telling(earlier == 0 ? first : second)])
        }
        try sandbox.write("f", first)
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1 && task.verified == .digest, "\(task)")
        await harness.stop()
    }

    @Test(
        "a source that is rewritten while S3's answer is lost is sent again, though what is found there has our marks",
        arguments: [nil, Int64(5 << 20)])
    func changedBehindLostAnswer(chunk: Int64?) async throws {
        let sandbox = try Sandbox("engine")
        let size = chunk.map { Int($0) + 1_000_000 } ?? 300_000
        let (first, second) = (pattern(size), pattern(size, seed: 5))
        // The answer to the one PUT, or to Complete.
        let bucket = try FakeS3Server { earlier in
            guard earlier == 0 else { return false }
            _ = try? sandbox.write("f", second)
            return true
        }
        let harness = try await EngineHarness(sandbox: sandbox, knowsStore: false)
        try sandbox.write("f", first)
        let source = UploadSource(path: RawPath(sandbox.path("f")), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "s3://bucket/in/"))
        request.options.s3 = S3Place(endpoint: bucket.server.url(""), region: "us-east-1")
        request.options.chunkBytes = chunk
        request.secrets.s3 = S3Keys(accessKeyID: "key", secretAccessKey: "secret")
        let task = try await harness.run(request)
        #expect(task.state == .completed && task.restarts == 1 && task.verified == .digest, "\(task)")
        #expect(bucket.storedCount == 2 && bucket["/bucket/in/f"] == second)
        // After the lost answer, and before the second version was sent.
        #expect(bucket.shownCount >= 2)
        #expect(try await harness.events(.taskCompleted).count == 1)
        try await harness.expectSound()
        await harness.stop()
        bucket.server.stop()
    }

    @Test("503 with Retry-After holds the host, then it goes on")
    func retryAfter() async throws {
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0
                ? .answerEarly("503 Service Unavailable", fields: ["Retry-After: 1"]) : .ordinary
        }
        for name in ["a", "b", "c"] { try harness.sandbox.write("d/" + name, pattern(10)) }
        let batch = try await harness.add(harness.request(upload: ["d"]))
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesCompleted == 3)
        let waits = try await harness.events(.waiting)
        #expect(!waits.isEmpty && waits.allSatisfy { $0.payload.waitReasons == [.hostBackoff] })
        await harness.stop()
    }

    @Test("pages by which a server refuses files are kept up to a bound; the status of each is")
    func refusalRoom() {
        // Of pages a thousand, of answers to what was taken 256 MiB: to make as many takes a test half a minute.
        #expect(AnswerRoom.usualForRefusals == 1024 * (64 << 10) && AnswerRoom.usualForReceipts == 256 << 20)
        var room = AnswerRoom(refusals: 20 * (64 << 10), receipts: 8 << 20)
        let page = Array(repeating: UInt8(ascii: "x"), count: 64 << 10)
        let kept = (0..<30).map { _ in room.keep(refusal: HTTPAnswer(status: 404), body: page) }
        #expect(kept.count { $0.body != nil } == 20 && kept.allSatisfy { $0.status == 404 })
        let receipt = TransferResponse(status: 201, headers: [], body: String(repeating: "x", count: 1 << 20))
        let told = (0..<10).map { _ in room.keep(receipt: receipt) }
        #expect(told.count { $0.body != nil } == 8 && told.allSatisfy { $0.status == 201 })
    }

    @Test(
        "an answer that says no ends the task with what to do, or waits for a person",
        arguments: [
            ("404 Not Found", TransferState.failed, TransferErrorCode.http),
            ("413 Content Too Large", .failed, .http), ("403 Forbidden", .failed, .permissionDenied),
            ("401 Unauthorized", .waiting, .http), ("507 Insufficient Storage", .waiting, .http),
        ])
    func refusals(status: String, state: TransferState, code: TransferErrorCode) async throws {
        let harness = try await EngineHarness { _, _ in .answerEarly(status) }
        try harness.sandbox.write("f", pattern(100_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        let task = try await harness.task(of: batch) { $0.state == state }
        #expect(task.error?.code == code && task.error?.message.contains(": ") == true)
        if state == .failed { #expect(task.response?.status == Int(status.prefix(3))) }
        if state == .waiting { #expect(task.waitReasons == [status.hasPrefix("401") ? .auth : .remoteDiskSpace]) }
        await harness.stop()
    }

    @Test("a server that is not known is asked for each name before the file is sent")
    func mayIgnoreConditions() async throws {
        let harness = try await EngineHarness(knowsStore: false)
        let names = (0..<12).map { "f\($0)" }
        for name in names { try harness.sandbox.write(name, pattern(1000)) }
        try await harness.finished(try await harness.add(harness.request(upload: names)))
        for method in ["HEAD", "PUT"] {
            #expect(harness.store.server.requests.count { $0.method == method } == names.count)
        }
        await harness.stop()
    }

    @Test("a question is no attempt: what has the name when the file is sent at last is somebody else's")
    func questionAlone() async throws {
        let store = SharedValue<FakeStore?>(nil)
        let harness = try await EngineHarness(started: false, knowsStore: false) { request, earlier in
            guard request.method == "HEAD", earlier == 0 else { return .ordinary }
            store.withLock { $0 }?.put("/in/f", [7])
            return .answerEarly("503 Service Unavailable")
        }
        store.withLock { $0 = harness.store }
        try await harness.engine.start()
        try harness.sandbox.write("f", pattern(1000))
        let task = try await harness.run(harness.request(upload: ["f"]))
        #expect(task.cause == .destinationExists, "\(task)")
        #expect(harness.store["/in/f"] == [7] && harness.store.server.requests.allSatisfy { $0.method != "PUT" })
        await harness.stop()
    }

    @Test(
        "what the server said beside its no goes with the error, in the task, its batch and the event",
        arguments: [("403 Forbidden", TransferState.failed), ("507 Insufficient Storage", .waiting)])
    func serverWords(status: String, state: TransferState) async throws {
        let harness = try await EngineHarness { _, _ in .answerEarly(status, "quota for \u{1b}[2Juser\nexceeded\n") }
        try harness.sandbox.write("f x", pattern(100_000))
        let batch = try await harness.add(harness.request(upload: ["f x"]))
        let task = try await harness.task(of: batch) { $0.state == state }
        let said = "quota for \\x1b[2Juser exceeded"
        let detail = "PUT /in/f%20x -> \(status.prefix(3)), try 1"
        #expect(task.error?.said == said && task.error?.detail == detail)
        let found = try #require(try await harness.queue.reader.batch(batch))
        #expect(found.causes.map(\.said) == (state == .failed ? [said] : []))
        #expect(found.waits.map(\.detail) == (state == .waiting ? [detail] : []))
        let events = try await harness.events(state == .failed ? .taskFailed : .waiting)
        #expect(events.map(\.payload.error?.said) == [said])
        await harness.stop()
    }

    @Test(
        "what a server repeats of a login or a query is not kept",
        arguments: [("400 Bad Request", TransferState.failed), ("401 Unauthorized", .waiting)])
    func repeatedSecrets(status: String, state: TransferState) async throws {
        let harness = try await EngineHarness { _, _ in
            .answerEarly(status, "XpasswordX <q>sig=XsignatureX</q> Basic bWU6WHBhc3N3b3JkWA==")
        }
        try harness.sandbox.write("f", pattern(1000))
        var request = harness.request(upload: ["f"])
        (request.secrets.user, request.secrets.password) = ("me", "XpasswordX")
        if case .upload(let sources, let to) = request.work {
            request.work = .upload(sources, to: to + "?sig=XsignatureX")
        }
        let batch = try await harness.add(request)
        let task = try await harness.task(of: batch) { $0.state == state && $0.error != nil }
        let said = "... <q>...</q> Basic ..."
        #expect(task.response?.body == said && task.error?.said == said)
        await harness.stop()
    }

    @Test("a POST that failed is sent again when a person retries it, and not before")
    func retriedPost() async throws {
        let harness = try await EngineHarness { _, _ in .answerEarly("400 Bad Request") }
        try harness.sandbox.write("f", [1, 2, 3])
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.uploadBy = .post })
        let first = try await harness.task(of: batch) { $0.state == .failed }
        #expect(harness.store.count("POST", "/in/f") == 1)
        _ = try await harness.queue.writer.retry([.task(first.id)])
        await harness.engine.queueChanged()
        let second = try await harness.task(of: batch) { $0.state == .failed && $0.attempts == 2 }
        #expect(second.error?.code == .http && harness.store.count("POST", "/in/f") == 2)
        await harness.stop()
    }

    @Test("a POST that was cancelled before its answer came is not sent again unasked, however long ago that was")
    func cancelledPost() async throws {
        let held = try Milestone()
        let ahead = SharedValue<Int64>(0)
        let harness = try await EngineHarness(clockAhead: ahead) { _, _ in .holdBody(3, held) }
        try harness.sandbox.write("f", [1, 2, 3])
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.uploadBy = .post })
        try await until { harness.store.count("POST", "/in/f") > 0 }
        await harness.engine.stop(try await harness.queue.writer.cancel([.batch(batch)]).stopped)
        ahead.withLock { $0 = 3_600_000 }
        try await harness.engine.sweep()
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.queueChanged()
        let task = try await harness.task(of: batch) { $0.state == .failed }
        #expect(task.error?.code == .unknownOutcome, "\(String(describing: task.error))")
        #expect(harness.store.count("POST", "/in/f") == 1)
        held.reach()
        await harness.stop()
    }

    @Test("a POST that is broken off before its request has gone out is sent when it goes on")
    func unaskedPost() async throws {
        let held = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1)) { request, _ in
            request.target == "/in/a" ? .holdBody(1, held) : .ordinary
        }
        for name in ["a", "b"] { try harness.sandbox.write(name, [1, 2, 3]) }
        let batch = try await harness.add(harness.request(upload: ["a", "b"]) { $0.options.uploadBy = .post })
        try await until { harness.store.count("POST", "/in/a") > 0 }
        try await until { await harness.engine.filesAtHand > 0 }
        // The second file is claimed; that it is about to be sent cannot be made durable.
        try harness.refuseCommits()
        held.reach()
        var claim = await harness.engine.claimWithIntent
        try await until {
            claim = await harness.engine.claimWithIntent
            return claim != nil
        }
        await harness.engine.stop([try #require(claim)])
        #expect(harness.store.count("POST", "/in/b") == 0)
        try harness.acceptCommits()
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesCompleted == 2, "\(snapshot.causes)")
        #expect(harness.store.count("POST", "/in/b") == 1)
        await harness.stop()
    }

    @Test("a point of an earlier version of the source says so after a kill")
    func outdatedPoint() throws {
        var point = ResumePoint(StoredVersion(stored: true, etag: nil))
        #expect(ResumePoint(encoded: point.encoded)?.isOutdated == false)
        point.isOutdated = true
        #expect(ResumePoint(encoded: point.encoded)?.isOutdated == true)
    }

    @Test("a source that is missing or unreadable fails by its code, and the rest goes on")
    func badSources() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("good", [1])
        let batch = try await harness.add(harness.request(upload: ["good", "gone"]))
        let snapshot = try await harness.finished(batch)
        #expect(snapshot.filesCompleted == 1 && snapshot.filesFailed == 1)
        #expect(snapshot.causes.map(\.code) == [.sourceMissing])
        await harness.stop()
    }

    @Test("a file that grows while it is sent is sent again, and what arrives is one version")
    func growing() async throws {
        let sent = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0 ? .holdBody(1_000_000, sent) : .ordinary
        }
        try harness.sandbox.write("f", pattern(2_000_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.task(of: batch) { $0.state == .running }
        try harness.sandbox.append("f", [1, 2, 3])
        sent.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1 && task.bytesTotal == 2_000_003)
        #expect(harness.store["/in/f"] == pattern(2_000_000) + [1, 2, 3])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that shrinks while it is sent is never reported completed as it was")
    func shrinking() async throws {
        let sent = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0 ? .holdBody(100_000, sent) : .ordinary
        }
        let file = try harness.sandbox.write("f", pattern(50_000) + [UInt8](repeating: 7, count: 16_000_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.task(of: batch) { $0.state == .running }
        let opened = try System.open(file, flags: 1)
        try System.ftruncate(opened.rawValue, to: 50_000)
        sent.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1)
        #expect(harness.store["/in/f"] == pattern(50_000))
        await harness.stop()
    }

    @Test(
        "what a server has kept of a file that shrank while it was sent is never skipped as somebody else's",
        arguments: [(30_000, TransferErrorCode?.none), (150_000, .unknownOutcome)])
    func shrinkingTorso(kept: Int, cause: TransferErrorCode?) async throws {
        let store = SharedValue<FakeStore?>(nil)
        let file = SharedValue<[UInt8]>([])
        let whole = pattern(50_000) + [UInt8](repeating: 7, count: 16_000_000)
        let harness = try await EngineHarness(started: false, knowsStore: false) { request, earlier in
            if request.method == "PUT", earlier == 0,
                let opened = try? System.open(file.withLock { $0 }, flags: 1)
            {
                try? System.ftruncate(opened.rawValue, to: 50_000)
            }
            if request.method == "HEAD", earlier == 1 {
                store.withLock { $0 }?.put("/in/f", Array(whole[..<kept]), modified: "Tue, 24 Nov 2099 10:00:00 GMT")
            }
            return .ordinary
        }
        store.withLock { $0 = harness.store }
        try await harness.engine.start()
        let path = try harness.sandbox.write("f", whole)
        file.withLock { $0 = path }
        let batch = try await harness.add(harness.request(upload: ["f"]) { $0.options.ifExists = .skip })
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.cause == cause && !task.skipped, "\(task)")
        #expect(harness.store["/in/f"] == (cause == nil ? pattern(50_000) : Array(whole[..<kept])))
        await harness.stop()
    }

    @Test("two files of ours for one name of a server that heeds no condition: the second finds the first")
    func oneName() async throws {
        let held = try Milestone()
        let harness = try await EngineHarness(knowsStore: false) { request, earlier in
            guard request.method == "PUT" else { return .ordinary }
            return earlier == 0 ? .holdBody(1, held) : .afterBody {}
        }
        for name in ["a/f", "b/f"] { try harness.sandbox.write(name, pattern(1000, seed: name == "a/f" ? 1 : 2)) }
        let first = try await harness.add(harness.request(upload: ["a/f"]))
        try await harness.task(of: first) { $0.state == .running }
        let second = try await harness.add(harness.request(upload: ["b/f"]))
        try await harness.task(of: second) { $0.state == .running }
        held.reach()
        try await harness.finished(first)
        try await harness.finished(second)
        #expect(try await harness.tasks(first).first?.state == .completed)
        #expect(try await harness.tasks(second).first?.cause == .destinationExists)
        #expect(harness.store["/in/f"] == pattern(1000, seed: 1))
        await harness.stop()
    }

    @Test("with --if-changed fail a source that changed after it was queued fails")
    func changedBefore() async throws {
        let harness = try await EngineHarness(started: false)
        try harness.sandbox.write("f", pattern(10))
        let batch = try await harness.queue.writer.add(
            harness.request(upload: ["f"]) { request in
                request.options.ifChanged = .fail
                request.held = true
            }
        ).batch
        try await harness.engine.start()
        try await harness.batch(batch) { $0.filesTotal == 1 && !$0.scanning }
        try harness.sandbox.write("f", pattern(20))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.cause == .sourceChanged && harness.store.paths.isEmpty)
        await harness.stop()
    }

    @Test("given headers and credentials go to the server they were meant for, and not to another")
    func secrets() async throws {
        let other = try FakeStore()
        let harness = try await EngineHarness { request, _ in
            request.target.hasSuffix("moved")
                ? .answerEarly("307 Temporary Redirect", fields: ["Location: \(other.url("/there"))"]) : .ordinary
        }
        try harness.sandbox.write("stays", [1])
        try harness.sandbox.write("moved", [2])
        let batch = try await harness.add(
            harness.request(upload: ["stays", "moved"]) { request in
                request.secrets.user = "me"
                request.secrets.password = "pw"
                request.secrets.headers = [HeaderField("X-Key", "k")]
            })
        #expect(try await harness.finished(batch).filesCompleted == 2)
        let kept = harness.store.server.requests.filter { $0.target == "/in/stays" }
        #expect(kept.allSatisfy { $0.fields["authorization"] == "Basic bWU6cHc=" && $0.fields["x-key"] == "k" })
        #expect(other["/there"] == [2])
        #expect(other.server.requests.allSatisfy { $0.fields["authorization"] == nil && $0.fields["x-key"] == nil })
        other.stop()
        await harness.stop()
    }

    @Test("a server that wants no Basic is shown the password in its own way, and refusal of both waits for a person")
    func otherScheme() async throws {
        let harness = try await EngineHarness { request, _ in
            if request.fields["authorization"]?.hasPrefix("Digest username=\"me\"") == true { return .ordinary }
            let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5"
            return .answer("401 Unauthorized", fields: request.target == "/in/never" ? [] : [challenge])
        }
        try harness.sandbox.write("f", [1])
        try harness.sandbox.write("never", [1])
        let withPassword: (inout BatchRequest) -> Void = { request in
            request.secrets.user = "me"
            request.secrets.password = "pw"
        }
        let task = try await harness.run(harness.request(upload: ["f"], withPassword))
        #expect(task.state == .completed && harness.store["/in/f"] == [1])
        let batch = try await harness.add(harness.request(upload: ["never"], withPassword))
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.stop()
    }

    @Test("a netrc file tells the password of the user who is named, and with nobody named who logs in")
    func netrc() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let text = "machine 127.0.0.1 login me password pw\nmachine 127.0.0.1 login bob password bobs\n"
        try harness.sandbox.write("netrc", Array(text.utf8))
        for (user, shown) in [(nil, "Basic bWU6cHc="), ("bob", "Basic Ym9iOmJvYnM="), ("eve", "Basic ZXZlOg==")] {
            let task = try await harness.run(
                harness.request(upload: ["f"], to: "/\(user ?? "nobody")/") { request in
                    request.secrets.user = user
                    request.secrets.netrcFile = RawPath(harness.sandbox.path("netrc"))
                })
            #expect(task.state == .completed)
            let asked = harness.store.server.requests.filter { $0.target == "/\(user ?? "nobody")/f" }
            #expect(asked.map { $0.fields["authorization"] } == [shown])
        }
        await harness.stop()
    }

    @Test(
        "an upload goes to no host that its netrc file does not name: it waits, says so, and goes on when that is mended"
    )
    func netrcWithoutEntry() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let file = harness.sandbox.path("netrc")
        try harness.sandbox.write("netrc", Array("machine elsewhere login me password pw\n".utf8))
        let batch = try await harness.add(
            harness.request(upload: ["f"]) { $0.secrets.netrcFile = RawPath(file) })
        let waiting = try await harness.task(of: batch) { $0.state == .waiting }
        #expect(waiting.waitReasons == [.auth])
        #expect(
            waiting.error?.finding.happening == "\(RawPath(file).displayed) has no login for 127.0.0.1"
                && waiting.error?.finding.advice.contains("machine 127.0.0.1 login USER password PASSWORD") == true)
        #expect(harness.store.server.requests.isEmpty)
        try harness.sandbox.write("netrc", Array("machine 127.0.0.1 login me password pw\n".utf8))
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.queueChanged()
        await harness.engine.tryAgain()
        let task = try await harness.task(of: batch) { $0.state.isTerminal }
        #expect(task.state == .completed)
        #expect(harness.store.server.requests.first?.fields["authorization"] == "Basic bWU6cHc=")
        await harness.stop()
    }

    @Test("a password command is asked for the password")
    func passwordCommand() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let task = try await harness.run(
            harness.request(upload: ["f"]) { request in
                request.secrets.user = "me"
                request.secrets.passwordCommand = "printf 'pw\\nmore'"
            })
        #expect(task.state == .completed)
        #expect(harness.store.server.requests.first?.fields["authorization"] == "Basic bWU6cHc=")
        await harness.stop()
    }

    @Test("a password command that fails waits for a person and says so")
    func brokenPasswordCommand() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", [1])
        let batch = try await harness.add(
            harness.request(upload: ["f"]) { request in
                request.secrets.user = "me"
                request.secrets.passwordCommand = "exit 3"
            })
        let task = try await harness.task(of: batch) { $0.state == .waiting }
        #expect(
            task.waitReasons == [.auth] && task.error?.message == "the password command failed: mend it and retry")
        await harness.stop()
    }

    @Test("a host that refuses connections is felt for, and its return sets all going")
    func refusedConnections() async throws {
        let harness = try await EngineHarness()
        for index in 0..<20 { try harness.sandbox.write("d/\(index)", [UInt8(index)]) }
        let closed = try ClosedPort()
        var request = harness.request(upload: ["d"])
        if case .upload(let sources, _) = request.work {
            request.work = .upload(sources, to: "http://127.0.0.1:\(closed.port)/in/")
        }
        let batch = try await harness.add(request)
        try await harness.batch(batch) { $0.waitReasons == [.hostBackoff] }
        let waits = try await harness.events(.waiting)
        #expect(waits.allSatisfy { $0.payload.error?.code == .cannotConnectToHost })
        // Not in the moments in which one file tries.
        try await until { await harness.engine.live().held[batch]?.error?.code == .cannotConnectToHost }
        await harness.stop()
    }
}

extension TransferEngine {
    /// The claim of an attempt that waits until its intent is durable.
    fileprivate var claimWithIntent: TaskClaim? {
        attempts.values.first { $0.run.isSuspended && $0.run.hasActions }?.task.claim
    }
}
