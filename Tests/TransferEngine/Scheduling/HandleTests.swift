import LinuxSystem
import struct Synchronization.Atomic
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

@testable import TransferEngine

/// What uploads leave at servers between attempts: what is known of it, and what it costs.
@Suite(.timeLimit(.minutes(2))) struct HandleTests {
    private func request(_ harness: EngineHarness, _ names: [String], to server: FakeTusServer) -> BatchRequest {
        let sources = names.map { name in
            UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name).lastComponent))
        }
        return BatchRequest(work: .upload(sources, to: server.url("/in/")))
    }

    @Test("bytes that were sent and are not there are told as sent twice, also when none of them is there")
    func lostBytes() async throws {
        let server = try FakeTusServer { request, earlier in
            request.method == "PATCH" && earlier == 0 ? .loseAfter(1_500_000) : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .completed && task.restarts == 1 && task.resumedFrom.isEmpty)
        #expect(task.bytesRepeated > 0 && server.contents == [pattern(2_000_000)])
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test(
        "a gateway that does not find its server for a moment has nothing begun again",
        .tells("does not find what it has of the file: Martlet asks for it again before it begins anew"),
        arguments: [true, false])
    func gateway(wasConfirmed: Bool) async throws {
        let cuts = wasConfirmed ? 1 : 0
        let (found, held) = (try Milestone(), try Milestone())
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .keepAfter(20_000_000)
            case ("PATCH", cuts): .answer("503 Service Unavailable")
            case ("HEAD", cuts): .gateway("404 Not Found")
            case ("HEAD", cuts + 1): .hold(found)
            case ("PATCH", cuts + 1): .hold(held)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(30_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        let told = TransferError.absent(at: "127.0.0.1")
        try await until { try await harness.events(.waiting).contains { $0.payload.error?.code == told.code } }
        let doubting = try #require(try await harness.tasks(batch).first)
        // The upload is there, and is not begun again.
        #expect(doubting.bytesAccepted >= (wasConfirmed ? 20_000_000 : 0) && doubting.restarts == 0)
        #expect(server.count("POST") == 1 && server.count("DELETE") == 0 && server.contents[0].count >= 20_000_000)
        func absence() async throws -> Absence? {
            let remains = try await harness.queue.writer.remains(in: [.waiting, .queued, .running], claimed: true)
            let point = remains.first?.task.resumePoint.flatMap { ResumePoint(encoded: $0) }
            return try #require(point).absence
        }
        #expect(try await absence() != nil)
        // Once it is found again, a later absence is another one.
        found.reach()
        try await until { server.count("PATCH") >= cuts + 2 }
        try await harness.queue.writer.commit()
        #expect(try await absence() == nil)
        held.reach()
        await harness.stop()
        server.server.stop()
    }

    @Test(
        "what is taken for gone is asked for again when there is nothing to begin anew with either",
        arguments: ["404 Not Found", "405 Method Not Allowed"])
    func outage(refusal: String) async throws {
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .keepAfter(1_000_000)
            case ("HEAD", 0): .gateway("404 Not Found")
            case ("POST", 1): .gateway(refusal)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        // Too little to be doubted, and more than lies on its way when the connection ends.
        try harness.sandbox.write("f", pattern(15_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .completed, "\(String(describing: task.error))")
        // It went on with the upload that was there, nothing else was made, and so it is told.
        let restarts = try await harness.events(.restarted)
        #expect(task.restarts == 0 && restarts.isEmpty)
        #expect(
            task.resumedFrom == [1_000_000] && server.count("POST") == 2,
            "\(server.server.requests.map { "\($0.method) \($0.target)" })")
        #expect(server.contents == [pattern(15_000_000)])
        let told = try await harness.events(.waiting).compactMap { $0.payload.error?.message }
        #expect(told.contains { $0.contains("does not find what it has of the file") }, "\(told)")
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test("an absence is doubted for a minute, where it would cost hours")
    func doubt() {
        /// The last of answers at these seconds.
        func row(_ seconds: [Int]) -> Absence? {
            seconds.reduce(nil) {
                Absence(after: $0, at: Timestamp(milliseconds: 1_000_000).advanced(by: .seconds($1)))
            }
        }
        func isDoubted(_ seconds: Int...) -> Bool { row(seconds)?.isDoubted(losing: 16 << 20) == true }
        #expect(row([0])?.isDoubted(losing: 1 << 20) == false)
        #expect(isDoubted(0) && isDoubted(0, 30, 59) && !isDoubted(0, 30, 60))
        // The clock was set back, and what passes from there counts.
        #expect(isDoubted(0, -5) && isDoubted(0, -500, -470, -441) && !isDoubted(0, -500, -470, -440))
        // It was paused in between, for a while or for a day.
        #expect(isDoubted(0, 80_000) && isDoubted(0, 80_000, 80_029) && !isDoubted(0, 80_000, 80_030))
        #expect(isDoubted(0, 30, 60, 86_460))
        // An outage ends, however long it is between two answers.
        #expect(row((0..<10).map { $0 * 300 })?.mayBeOutage == true)
        #expect(row((0..<11).map { $0 * 300 })?.mayBeOutage == false)
    }

    @Test("an absence that is doubted leaves what is known as it is: nothing of the file is sent again")
    func gatewayBeforeTheName() async throws {
        let harness = try await EngineHarness { request, earlier in
            switch (request.method, earlier) {
            case ("MOVE", 0): .answer("504 Gateway Timeout")
            case ("PROPFIND", 1), ("PROPFIND", 2): .answer("404 Not Found")
            default: .ordinary
            }
        }
        try harness.sandbox.write("f", pattern(17 << 20))
        var request = harness.request(upload: ["f"])
        if case .upload(let sources, let url) = request.work {
            request.work = .upload(sources, to: "dav" + url.dropFirst("http".count))
        }
        let batch = try await harness.add(request)
        #expect(try await harness.finished(batch).state == .completed)
        let told = try await harness.events(.waiting).compactMap { $0.payload.error?.message }
        #expect(told.contains { $0.contains("does not find what it has of the file") }, "\(told)")
        #expect(harness.store.server.requests.count { $0.method == "PUT" } == 1)
        #expect(harness.store.server.requests.count { $0.method == "MOVE" } == 2)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("what was sent before a cut is no progress any more while the next attempt asks what is there")
    func cutIsNoProgress() async throws {
        let held = try Milestone()
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .loseAfter(1_500_000)
            case ("HEAD", 0): .hold(held)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(30_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        try await until { server.count("HEAD") > 0 }
        let live = await harness.engine.live()
        #expect(live.tasks.map(\.bytesSent) == [0] && live.unconfirmed.isEmpty)
        held.reach()
        #expect(try await harness.finished(batch).state == .completed)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.bytesRepeated >= 1_500_000 && task.bytesSent == 30_000_000)
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test("what is paused in the middle and goes on stands where it stood until its server has said what it has")
    func pausedStands() async throws {
        let (body, looked, asked) = (try Milestone(), try Milestone(), try Milestone())
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .hold(body)
            case ("HEAD", 0): .hold(looked)
            case ("HEAD", 1): .hold(asked)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(30_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        try await until { await harness.engine.live().tasks.first?.bytesSent ?? 0 >= 1_000_000 }
        let task = try #require(try await harness.tasks(batch).first?.id)
        func stands() async -> Int64? {
            let live = await harness.engine.live()
            return live.unconfirmed.first { $0.task == task }?.shown
        }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        let stood = try #require(await stands())
        #expect(stood >= 1_000_000)
        try await until { server.count("HEAD") > 0 }
        // It goes on before the answer came: the next attempt asks for itself.
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        try await until { server.count("HEAD") >= 2 }
        #expect(await stands() == stood)
        for held in [looked, asked] { held.reach() }
        #expect(try await harness.finished(batch).state == .completed)
        #expect(await stands() == nil)
        body.reach()
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test("bytes of a version that was paused in the middle are none that the next version sends twice")
    func changedWhilePaused() async throws {
        let body = try Milestone()
        let server = try FakeTusServer { request, earlier in
            request.method == "PATCH" && earlier == 0 ? .hold(body) : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(30_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        try await until { await harness.engine.live().tasks.first?.bytesSent ?? 0 >= 1_000_000 }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        try harness.sandbox.write("f", pattern(2_000_000, seed: 5))
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).state == .completed)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.restarts == 1 && task.resumedFrom.isEmpty && task.bytesRepeated == 0, "\(task)")
        body.reach()
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test("a PUT or WebDAV upload that is paused in the middle shows nothing sent", arguments: [0, 1])
    func pausedBeginsAgain(isDav: Int) async throws {
        let held = try Milestone()
        let harness = try await EngineHarness { request, earlier in
            request.method == "PUT" && earlier == 0 ? .holdBody(1_000_000, held) : .ordinary
        }
        try harness.sandbox.write("f", pattern(30_000_000))
        var request = harness.request(upload: ["f"])
        if isDav == 1, case .upload(let sources, let url) = request.work {
            request.work = .upload(sources, to: "dav" + url.dropFirst("http".count))
        }
        let batch = try await harness.add(request)
        try await until { await harness.engine.live().tasks.first?.bytesSent ?? 0 >= 1_000_000 }
        let change = try await harness.queue.writer.pause([.batch(batch)])
        await harness.engine.stop(change.stopped)
        #expect(await harness.engine.live().unconfirmed.isEmpty)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.bytesSent == 0 && task.restarts == 1 && task.bytesRepeated >= 1_000_000)
        held.reach()
        _ = try await harness.queue.writer.resume([.batch(batch)])
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).state == .completed)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "what goes to a server that would like digests is hashed from its first byte on, though nobody knew the server before"
    )
    func hashedAsSent() async throws {
        let held = try Milestone()
        let server = try FakeTusServer { request, _ in
            switch request.method {
            case "OPTIONS": .announce("Want-Repr-Digest: sha-256=1")
            case "PATCH": .hold(held)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(3_000_000))
        _ = try await harness.add(request(harness, ["f"], to: server))
        try await until { await harness.engine.bytesHashed > 0 }
        held.reach()
        await harness.stop()
        server.server.stop()
    }

    @Test("nor is what was sent before a refusal while the file waits for its next try")
    func refusedIsNoProgress() async throws {
        let server = try FakeTusServer { request, _ in
            request.method == "PATCH" ? .answer("507 Insufficient Storage") : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        try await harness.task(of: batch) { $0.state == .waiting && $0.waitReasons == [.remoteDiskSpace] }
        let live = await harness.engine.live()
        #expect(live.tasks.isEmpty && live.unconfirmed.isEmpty)
        #expect(try await harness.tasks(batch).first?.bytesSent == 0)
        await harness.stop()
        server.server.stop()
    }

    @Test("what an earlier version of the source had sent is not told of the new one, whose attempt reaches nothing")
    func earlierVersionSent() async throws {
        let server = try FakeTusServer { request, earlier in
            ["PATCH", "POST"].contains(request.method) && earlier > 0 ? .answer("507 Insufficient Storage") : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        var request = request(harness, ["f"], to: server)
        request.options.chunkBytes = 500_000
        let batch = try await harness.add(request)
        try await harness.task(of: batch) { $0.state == .waiting && $0.bytesAccepted == 500_000 }
        try harness.sandbox.write("f", pattern(100_000))
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.tryAgain()
        try await harness.task(of: batch) { $0.state == .waiting && $0.bytesTotal == 100_000 }
        #expect(server.count("POST") == 2)
        #expect(try await harness.tasks(batch).first?.bytesSent == 0)
        await harness.stop()
        server.server.stop()
    }

    @Test("an unknown host is asked once what it can; the other tasks wait for that answer")
    func oneQuestion() async throws {
        let harness = try await EngineHarness { request, _ in
            request.method == "OPTIONS" ? .answer("405 Method Not Allowed") : .ordinary
        }
        for index in 0..<30 { try harness.sandbox.write("d/\(index)", [UInt8(index)]) }
        let batch = try await harness.add(harness.request(upload: ["d"]) { $0.options.uploadBy = nil })
        #expect(try await harness.finished(batch).filesCompleted == 30)
        #expect(harness.store.server.requests.count { $0.method == "OPTIONS" } == 1)
        await harness.stop()
    }

    @Test("numbers of a host that cannot be are learnt anew")
    func oddFacts() {
        let odd =
            #"{"largestBody":-5,"chunk":3,"partRate":0,"answerMilliseconds":-1,"clockSkewSeconds":9223372036854775807}"#
        #expect(HostFacts(encoded: Array(odd.utf8)) == HostFacts())
        let words = #"{"uploadBy":"gopher","interopVersion":-1,"offeredVersion":99,"tusExtensions":["a\u0001"]}"#
        var empty = HostFacts()
        empty.tusExtensions = []
        #expect(HostFacts(encoded: Array(words.utf8)) == empty)
        // A region that an older engine learnt from an answer is no region: nothing may be signed for it.
        for region in [#"a\u0001"#, "", String(repeating: "r", count: 65)] {
            #expect(HostFacts(encoded: Array(#"{"region":"\#(region)"}"#.utf8))?.region == nil)
        }
    }

    @Test("what is learnt passes the same check as what was stored")
    func oddLessons() {
        var odd = HostFacts()
        (odd.largestBody, odd.chunk, odd.partRate, odd.clockSkewSeconds) = (-5, 3, 0, .max)
        odd.tusExtensions = (0..<1000).map { "\($0)" } + [String(repeating: "x", count: 100_000)]
        let learnt = HostFacts().merged(with: odd)
        var expected = HostFacts()
        expected.tusExtensions = (0..<64).map { "\($0)" }
        #expect(learnt == expected && HostFacts(encoded: learnt.encoded) == learnt)
    }

    @Test("what a host said of its protocol holds for a day; then it is asked again, and the rest is still known")
    func oldAnswer() async throws {
        let harness = try await EngineHarness(started: false) { request, _ in
            request.method == "OPTIONS" ? .answer("405 Method Not Allowed") : .ordinary
        }
        let origin = harness.store.url("")
        for (hours, questions) in [(23, 0), (25, 1)] {
            var facts = HostFacts()
            facts.learn(
                uploadBy: "put", at: Timestamp(milliseconds: WallClock.milliseconds - Int64(hours) * 3_600_000))
            facts.largestBody = 1_000_000
            #expect(HostFacts(encoded: facts.encoded) == facts)
            try await harness.queue.writer.remember(host: origin, facts: facts.encoded)
            if hours == 23 { try await harness.engine.start() } else { await harness.engine.know(facts, of: origin) }
            try harness.sandbox.write("f\(hours)", [1])
            let task = try await harness.run(harness.request(upload: ["f\(hours)"]) { $0.options.uploadBy = nil })
            #expect(task.state == .completed)
            #expect(harness.store.server.requests.count { $0.method == "OPTIONS" } == questions)
        }
        await harness.stop()
    }

    @Test("when the one that asks gets no answer the next one asks")
    func questionWithoutAnswer() async throws {
        let harness = try await EngineHarness { request, earlier in
            request.method != "OPTIONS" ? .ordinary : .answer(earlier == 0 ? "502 Bad Gateway" : "404 Not Found")
        }
        for index in 0..<5 { try harness.sandbox.write("d/\(index)", [UInt8(index)]) }
        let batch = try await harness.add(harness.request(upload: ["d"]) { $0.options.uploadBy = nil })
        #expect(try await harness.finished(batch).filesCompleted == 5)
        #expect(harness.store.server.requests.count { $0.method == "OPTIONS" } == 2)
        await harness.stop()
    }

    @Test("an upload that begins anew is known by its old handle until the new one is durable")
    func oldHandle() async throws {
        let held = try Milestone()
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .loseAfter(1_000_000)
            case ("HEAD", 0): .answer("404 Not Found")
            case ("POST", 1): .hold(held)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        // More than sockets hold: not all of it left us before the cut.
        try harness.sandbox.write("f", pattern(30_000_000))
        let batch = try await harness.add(request(harness, ["f"], to: server))
        let task = try await harness.task(of: batch) { $0.restarts == 1 }
        let change = try await harness.queue.writer.cancel([.task(task.id)])
        await harness.engine.stop(change.stopped)
        let left = try await harness.queue.writer.remains(in: [.cancelled])
        let point = left.first?.task.resumePoint.flatMap {
            ResumePoint(encoded: $0, secret: left[0].task.resumeSecret)
        }
        #expect(point?.isOutdated == true)
        #expect(point?.content(TusResumePoint.self)?.parts.first?.url?.target == "/up/1")
        held.reach()
        await harness.stop()
        server.server.stop()
    }

    @Test("remains that cannot be read, or cannot be forgotten in the queue, are told")
    func unremovableRemains() async throws {
        let server = try FakeTusServer { request, _ in
            request.method == "PATCH" ? .answer("400 Bad Request") : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        _ = try await harness.run(request(harness, ["f"], to: server))
        let left = try #require(try await harness.queue.writer.remains(in: [.failed]).first)
        var unreadable = left
        // Of another protocol than that of the address.
        unreadable.task.resumePoint = ResumePoint(FTPResumePoint(temporary: RawPath("p"), generation: 1)).encoded
        let unread = await harness.engine.remove(unreadable, for: .cleanup)
        #expect(unread?.message == "what is recorded of the upload cannot be read here: look at the server")
        try harness.refuseCommits()
        let untaken = await harness.engine.remove(left, for: .purge)?.message ?? ""
        try harness.acceptCommits()
        #expect(untaken.hasPrefix("the queue did not take a change ("), "\(untaken)")
        #expect(untaken.hasSuffix("to start with what is there): retry"), "\(untaken)")
        await harness.stop()
        server.server.stop()
    }

    @Test("what is being sent is not removed, and that is said")
    func busyRemains() async throws {
        let held = try Milestone()
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .answer("400 Bad Request")
            case ("PATCH", 1): .hold(held)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .failed)
        let left = try await harness.queue.writer.remains(in: [.failed])
        _ = try await harness.queue.writer.retry([.task(task.id)])
        await harness.engine.queueChanged()
        try await harness.task(of: task.batch) { $0.state == .running }
        let refusal = await harness.engine.remove(try #require(left.first), for: .purge)
        #expect(
            refusal?.message
                == "the upload goes on, or its remains are being taken away already: look again later")
        held.reach()
        try await harness.task(of: task.batch) { $0.state == .completed }
        #expect(server.count("DELETE") == 0 && server.contents == [pattern(2_000_000)])
        await harness.stop()
        server.server.stop()
    }

    @Test("what a server was asked to remove is not gone on with; what nobody could ask for is")
    func removalTakenBack() async throws {
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .answer("400 Bad Request")
            case ("DELETE", _): .answer("500 Internal Server Error")
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .failed)
        func left() async throws -> (remains: Remains, isOutdated: Bool) {
            let remains = try #require(try await harness.queue.writer.remains(in: [.failed]).first)
            let point = remains.task.resumePoint.flatMap { ResumePoint(encoded: $0) }
            return (remains, try #require(point).isOutdated)
        }
        let before = try await left()
        #expect(!before.isOutdated)
        #expect(await harness.engine.remove(before.remains, for: .cleanup) != nil)
        // It may be gone a little later, whatever the server has said.
        #expect(try await left().isOutdated)
        server.server.stop()
        // Now nobody is there to be asked: what is known stays as it was.
        let encoded = try #require(before.remains.task.resumePoint)
        _ = try await harness.queue.writer.leaveToRemove(before.remains, resumePoint: encoded)
        #expect(await harness.engine.remove(try await left().remains, for: .cleanup) != nil)
        #expect(try await !left().isOutdated)
        await harness.stop()
    }

    @Test("with the parts is not forgotten what is known of the final name, unless the task goes, too")
    func knowledgeOfTheName() async throws {
        let server = try FakeTusServer { request, _ in
            request.method == "PATCH" ? .answer("400 Bad Request") : .ordinary
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        func left() async throws -> Remains {
            try #require(try await harness.queue.writer.remains(in: [.failed]).first)
        }
        let before = try await left()
        var point = try #require(
            before.task.resumePoint.flatMap { ResumePoint(encoded: $0, secret: before.task.resumeSecret) })
        point.targetIsOther = true
        point.ownVersion = StoredVersion(stored: true, etag: "\"a\"")
        #expect(try await harness.queue.writer.leaveToRemove(before, resumePoint: point.encoded))

        #expect(await harness.engine.remove(try await left(), for: .cleanup) == nil)
        #expect(server.count("DELETE") == 1)
        let known = try await left()
        let kept = try #require(known.task.resumePoint.flatMap { ResumePoint(encoded: $0) })
        #expect(kept.targetIsOther && kept.ownVersion == point.ownVersion)
        #expect(known.protocolName == nil && known.task.resumeSecret == nil)
        #expect(await harness.engine.remove(known, for: .cleanup) == nil)
        #expect(try await left().task.resumePoint == known.task.resumePoint)

        #expect(await harness.engine.remove(known, for: .purge) == nil)
        #expect(try await harness.queue.writer.remains(in: [.failed]).isEmpty)
        #expect(try await harness.queue.writer.purge([.task(task.id)]).results.map(\.result) == [.done])
        await harness.stop()
        server.server.stop()
    }

    @Test("a removal that is broken off on its way may have happened: nothing goes on from what it removes")
    func removalBrokenOff() async throws {
        let milestone = try Milestone()
        let server = try FakeTusServer { request, earlier in
            switch (request.method, earlier) {
            case ("PATCH", 0): .answer("400 Bad Request")
            case ("DELETE", _): .hold(milestone)
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .failed)
        let remains = try #require(try await harness.queue.writer.remains(in: [.failed]).first)
        let removal = Task { await harness.engine.remove(remains, for: .purge) }
        try await until { server.count("DELETE") > 0 }
        await harness.engine.endSideJobs()
        #expect(await removal.value != nil)
        let left = try #require(try await harness.queue.writer.remains(in: [.failed]).first)
        #expect(left.task.resumePoint.flatMap { ResumePoint(encoded: $0) }?.isOutdated == true)
        milestone.reach()
        await harness.stop()
    }

    @Test("what a purged batch has left goes when the purge can be taken back no more, and the batch with it")
    func purged() async throws {
        let isWell = Flag()
        let server = try FakeTusServer { request, _ in
            switch request.method {
            case "PATCH": .answer("400 Bad Request")
            case "DELETE" where !isWell.isUp: .answer("500 Internal Server Error")
            default: .ordinary
            }
        }
        let harness = try await EngineHarness()
        let writer = harness.queue.writer
        try harness.sandbox.write("f", pattern(2_000_000))
        let task = try await harness.run(request(harness, ["f"], to: server))
        #expect(task.state == .failed)
        await writer.setGraceTime(.seconds(3600))
        _ = try await writer.purge([.batch(task.batch)])
        try await harness.engine.sweep()
        #expect(server.count("DELETE") == 0)
        await writer.setGraceTime(.zero)
        // The purge is over with its millisecond.
        while server.count("DELETE") == 0 { try await harness.engine.sweep() }
        #expect(try await writer.order(of: task.batch) != nil, "it is still there, and known")
        isWell.raise()
        while try await writer.order(of: task.batch) != nil { try await harness.engine.sweep() }
        #expect(server.count("DELETE") >= 2)
        try await harness.expectSound()
        await harness.stop()
        server.server.stop()
    }

    @Test("what lies in a bucket is asked of its service, signed, and one upload of it is taken away")
    func bucket() async throws {
        let list = """
            <ListMultipartUploadsResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>
            <Upload><Key>p/a+b</Key><UploadId>u1</UploadId><Initiated>2026-11-21T12:00:00.000Z</Initiated></Upload>
            <Upload><Key>p/c</Key><UploadId>u2</UploadId></Upload></ListMultipartUploadsResult>
            """
        let server = try ScriptedServer { connection in
            while true {
                let request = try connection.readHead()
                if request.method == "GET" {
                    try connection.answer("200 OK", list)
                } else {
                    try connection.answer("204 No Content")
                }
            }
        }
        let harness = try await EngineHarness()
        let search = BucketSearch(
            url: "s3://b/p/", place: S3Place(endpoint: server.url("")),
            keys: S3Keys(accessKeyID: "AK", secretAccessKey: "SK"))
        let found = try await harness.engine.search(search).get().uploads
        #expect(found.map(\.uploadID) == ["u1", "u2"] && found.map(\.destination) == ["s3://b/p/a b", "s3://b/p/c"])
        #expect(found[0].begun != nil && found[1].begun == nil && found.allSatisfy { $0.task == nil })
        let asked = try #require(server.requests.first)
        #expect(
            asked.target.hasPrefix("/b/?") && asked.target.contains("prefix=p%2F") && asked.target.contains("uploads"))
        #expect(asked.fields["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AK/") == true)
        #expect(await harness.engine.abort(found[0], search) == nil)
        #expect(server.requests.last?.line.hasPrefix("DELETE /b/p/a%20b?uploadId=u1 ") == true)
        #expect(server.requests.count == 2)
        let nowhere = BucketSearch(url: "https://h/", place: nil, keys: search.keys)
        guard case .failure(let error) = await harness.engine.search(nowhere) else {
            Issue.record("it is taken for a bucket")
            return
        }
        #expect(error.message == "this is no bucket of S3: write s3://bucket/prefix")
        // An engine that stops answers; the harness's end takes the loop away on which it would.
        _ = await harness.engine.shutdown(.now)
        await #expect(throws: TransferError.self) { try await harness.engine.search(search).get() }
        await harness.stop()
        server.stop()
    }

    @Test("the zone of the server's address is remembered")
    func addressZone() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("a", pattern(1000))
        let batch = try await harness.add(harness.request(upload: ["a"]))
        try await harness.finished(batch)
        #expect(try await harness.tasks(batch).first?.state == .completed)
        let stored = try await harness.queue.writer.hosts()
        #expect(stored.values.compactMap { HostFacts(encoded: $0)?.zone } == [.machine])
        await harness.stop()
    }

    @Test("the test of a server ends with whoever asks for it")
    func endedTest() async throws {
        let (asked, tell) = AsyncStream.makeStream(of: Void.self)
        let server = try ScriptedServer { connection in
            _ = try connection.readHead()
            tell.yield()
            // No answer: it reads until the other side hangs up.
            _ = try connection.readHead()
        }
        let harness = try await EngineHarness()
        let asking = Task {
            await harness.engine.test(server.url("/in/"), TransferOptions(), TransferSecrets())
        }
        var first = asked.makeAsyncIterator()
        await first.next()
        asking.cancel()
        let report = await asking.value
        #expect(!report.ok && report.error?.code == .networkConnectionLost)
        await harness.stop()
        server.stop()
    }

    @Test("a second interruption still knows which version of the source is ours to replace")
    func ownVersion() throws {
        let own = StoredVersion(stored: true, etag: "\"a\"")
        #expect(ResumePoint(own).ownVersion == own)
        #expect(ResumePoint(StoredVersion(stored: false, etag: nil)).ownVersion == nil)
        var point = ResumePoint(TusResumePoint(parts: [.init(0..<5, url: HTTPAddress("http://h/u"))]))
        point.ownVersion = own
        let read = ResumePoint(encoded: point.encoded, secret: point.secret)
        #expect(read?.ownVersion == own && read?.content(TusResumePoint.self)?.parts.first?.url != nil)
    }
}

extension TransferEngine {
    /// As if it had been learnt so.
    fileprivate func know(_ facts: HostFacts, of origin: String) { hosts.facts[origin] = facts }
}

/// Told to a script in the middle.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isUp: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}

extension TransferEngine {
    fileprivate var bytesHashed: Int64 { attempts.values.reduce(0) { $0 + ($1.upload?.source?.hash?.count ?? 0) } }
}
