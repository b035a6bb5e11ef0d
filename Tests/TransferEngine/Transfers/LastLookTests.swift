import LinuxSystem
import SQLiteConnection
import TestSupport
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferQueue

@Suite("The last look", .timeLimit(.minutes(2))) struct LastLookTests {
    private func upload(
        _ harness: EngineHarness, _ names: [String], _ change: (inout BatchRequest) -> Void = { _ in }
    ) -> BatchRequest {
        let sources = names.map { name in
            UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name)))
        }
        let url = "dav" + harness.store.url("/in/").dropFirst("http".count)
        var request = BatchRequest(work: .upload(sources, to: url))
        change(&request)
        return request
    }

    @Test("what was sent is looked at once, and is listed")
    func whole() async throws {
        let harness = try await EngineHarness()
        for name in ["a", "b", "c"] { try harness.sandbox.write(name, Array((name + name).utf8)) }
        let batch = try await harness.add(upload(harness, ["a", "b", "c"]))
        let shown = try await harness.finished(batch)
        #expect(shown.state == .completed && shown.listed?.found == 3 && shown.listed?.of == 3)
        #expect(try await harness.tasks(batch).map(\.listed) == [true, true, true])
        let looks = harness.store.server.requests.filter { $0.method == "PROPFIND" && $0.fields["depth"] == "1" }
        #expect(looks.map(\.target) == ["/in/"])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that is read back goes on behind a cut; other bytes fail it, also when they come under way")
    func readBack() async throws {
        let store = Mutex<FakeStore?>(nil)
        let harness = try await EngineHarness { request, earlier in
            if request.method == "GET", earlier == 3 { store.withLock { $0 }?.put("/in/a", pattern(900_000, seed: 5)) }
            return request.method == "GET" && earlier.isMultiple(of: 2) ? .cutAnswer(400_000) : .ordinary
        }
        store.withLock { $0 = harness.store }
        try harness.sandbox.write("a", pattern(900_000))
        let batch = try await harness.add(upload(harness, ["a"]))
        try await harness.finished(batch)
        guard case .folder(let folder) = try await harness.queue.writer.folderToVerify(.batch(batch), after: nil) else {
            Issue.record("nothing is there to be read")
            return
        }
        func read() async throws -> (outcome: ReadBackOutcome, bytes: Int64) {
            let meter = ReadBackMeter()
            let file = try #require(
                try await harness.queue.reader.filesToReadBack(
                    in: folder.look.folder, only: nil, after: nil, limit: 10
                ).first)
            return (try await harness.engine.readBack(file, in: folder.look, meter), meter.bytes)
        }
        let first = try await read()
        #expect(first.outcome == .same && first.bytes == 900_000)
        #expect(try await harness.tasks(batch).first?.verified == .digest)
        func ranges() -> [String?] {
            harness.store.server.requests.filter { $0.method == "GET" }.map { $0.fields["range"] }
        }
        #expect(ranges() == [nil, "bytes=400000-"])
        // Another version comes after the cut: nothing of the first one counts.
        let second = try await read()
        guard case .other(let error) = second.outcome else {
            Issue.record("\(second)")
            return
        }
        #expect(error.code == .notThere && second.bytes == 900_000)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .failed && task.error == error && task.verified == Verification.none)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("reading back ends where the file must end, and with a server that gives another version each time")
    func withoutEnd() async throws {
        let store = Mutex<FakeStore?>(nil)
        let changes = Mutex(false)
        let harness = try await EngineHarness { request, earlier in
            guard request.method == "GET", changes.withLock({ $0 }) else { return .ordinary }
            store.withLock { $0 }?.put("/in/b", pattern(900_000, seed: earlier))
            return .cutAnswer(1000 * (earlier + 1))
        }
        store.withLock { $0 = harness.store }
        for name in ["a", "b"] { try harness.sandbox.write(name, pattern(900_000)) }
        let batch = try await harness.add(upload(harness, ["a", "b"]))
        try await harness.finished(batch)
        harness.store.put("/in/a", pattern(5_000_000))
        changes.withLock { $0 = true }
        guard case .folder(let folder) = try await harness.queue.writer.folderToVerify(.batch(batch), after: nil) else {
            Issue.record("nothing is there to be read")
            return
        }
        let files = try await harness.queue.reader.filesToReadBack(
            in: folder.look.folder, only: nil, after: nil, limit: 10)
        let meters = [ReadBackMeter(), ReadBackMeter()]
        changes.withLock { $0 = false }
        guard case .other(let error) = try await harness.engine.readBack(files[0], in: folder.look, meters[0]) else {
            Issue.record("more bytes than were sent are the same")
            return
        }
        #expect(error.message.contains("more bytes than the 900000 that were sent") && meters[0].bytes <= 900_000)
        // Of a file that stood there nothing was sent: it is read all the same, and told so.
        var stood = files[0]
        stood.isSkipped = true
        guard case .other(let told) = try await harness.engine.readBack(stood, in: folder.look, ReadBackMeter()) else {
            Issue.record("more bytes than the file has are the same")
            return
        }
        #expect(told.message.contains("more bytes than the 900000 of the file here, which was not sent"))
        changes.withLock { $0 = true }
        guard case .unread = try await harness.engine.readBack(files[1], in: folder.look, meters[1]) else {
            Issue.record("no version came whole")
            return
        }
        #expect(harness.store.count("GET", "/in/b") < 20)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a file that goes or is cut before the look fails notThere, and a retry sends it again")
    func missing() async throws {
        let store = Mutex<FakeStore?>(nil)
        let harness = try await EngineHarness { request, earlier in
            // Behind our back, once.
            if request.method == "PROPFIND", request.fields["depth"] == "1", earlier == 0 {
                store.withLock { $0 }?.remove("/in/a")
                store.withLock { $0 }?.put("/in/b", [1])
            }
            return .ordinary
        }
        store.withLock { $0 = harness.store }
        for name in ["a", "b", "c"] { try harness.sandbox.write(name, Array("12345".utf8)) }
        let batch = try await harness.add(upload(harness, ["a", "b", "c"]))
        var shown = try await harness.finished(batch)
        #expect(shown.state == .failed && shown.filesFailed == 2 && shown.filesCompleted == 1)
        #expect(shown.listed?.found == 1 && shown.listed?.of == 3)
        let tasks = try await harness.tasks(batch)
        #expect(tasks.map(\.listed) == [false, false, true])
        #expect(tasks.map(\.error?.code) == [.notThere, .notThere, nil])
        #expect(tasks[0].error?.message.contains("does not list it") == true)
        #expect(tasks[1].error?.message.contains("1 bytes instead of 5") == true)
        #expect(try await harness.events(.taskFailed).count == 2)
        #expect(try await harness.events(.batchFinished).count == 1)

        // What is gone is sent again; another one's file is not replaced without being asked.
        _ = try await harness.queue.writer.retry([.batch(batch)])
        shown = try await harness.batch(batch) { $0.finishedAt != nil && $0.filesFailed == 1 }
        #expect(harness.store["/in/a"] == Array("12345".utf8) && harness.store["/in/b"] == [1])
        #expect(try await harness.tasks(batch).map(\.error?.code) == [nil, .destinationExists, nil])
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "what a list leaves out is asked for by its name before it is told missing; a name in another case is no proof")
    func hidden() async throws {
        let store = Mutex<FakeStore?>(nil)
        let harness = try await EngineHarness { request, earlier in
            if request.method == "PROPFIND", request.fields["depth"] == "1", earlier == 0 {
                // Somebody else's file of nearly the same name stays.
                store.withLock { $0 }?.remove("/in/README")
                store.withLock { $0 }?.put("/in/readme", Array("12345".utf8))
            }
            return .ordinary
        }
        store.withLock { $0 = harness.store }
        harness.store.hide("/in/.env")
        for name in [".env", "README", "c"] { try harness.sandbox.write(name, Array("12345".utf8)) }
        let batch = try await harness.add(upload(harness, [".env", "README", "c"]))
        let shown = try await harness.finished(batch)
        #expect(shown.listed?.found == 2 && shown.listed?.of == 3)
        #expect(try await harness.tasks(batch).map(\.error?.code) == [nil, .notThere, nil])
        let asked = harness.store.server.requests.filter { $0.method == "PROPFIND" && $0.fields["depth"] == "0" }
        #expect(Set(asked.map(\.target)).isSuperset(of: ["/in/.env", "/in/README"]))
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "a list that was right about twenty names in a row is believed, but not of dot files and names in another case")
    func trust() {
        func file(_ name: String, listed: Bool = false) -> ComparedFile {
            ComparedFile(
                SentRun(TaskID(rawValue: 1), run: 0, finishedAt: Timestamp(milliseconds: 0)), name: RawPath(name),
                size: 5, modifiedNanoseconds: 0, isSpared: false, digest: nil, etag: nil,
                entry: listed ? RemoteEntry(RawPath(name.lowercased()), size: .unknown) : nil)
        }
        var trust = ListTrust()
        for _ in 0..<20 {
            #expect(trust.asks(for: file("a")))
            trust.add(wasRight: true)
        }
        #expect(!trust.asks(for: file("a")))
        #expect(trust.asks(for: file(".a")) && trust.asks(for: file("A", listed: true)))
        var another = file(".a")
        another.nameIsTaken = true
        #expect(!trust.asks(for: another))
        trust.add(wasRight: false)
        #expect(trust.asks(for: file("a")))
    }

    @Test("files that stand in line do not keep a batch that is done from its end")
    func besideFiles() async throws {
        let held = try Milestone()
        let harness = try await EngineHarness(limits: EngineLimits(transfers: 1, transfersPerHost: 1), started: false) {
            request, _ in
            request.target.hasPrefix("/long/") ? .holdBody(0, held) : .ordinary
        }
        for name in ["a", "b", "c"] { try harness.sandbox.write(name, Array("12345".utf8)) }
        let first = try await harness.queue.writer.add(upload(harness, ["a"])).batch
        let second = try await harness.queue.writer.add(harness.request(upload: ["b", "c"], to: "/long/")).batch
        try await harness.engine.start()
        let shown = try await harness.finished(first)
        #expect(shown.state == .completed && shown.listed?.found == 1)
        #expect(try #require(try await harness.queue.reader.batch(second)).filesCompleted == 0)
        held.reach()
        try await harness.finished(second)
        await harness.stop()
    }

    @Test("a server that does not list does not keep its batch from its end, and nothing is claimed of it")
    func cannot() async throws {
        let harness = try await EngineHarness { request, _ in
            request.method == "PROPFIND" ? .answer("405 Method Not Allowed") : .ordinary
        }
        try harness.sandbox.write("a", Array("12345".utf8))
        let batch = try await harness.add(upload(harness, ["a"]))
        let shown = try await harness.finished(batch)
        #expect(shown.state == .completed && shown.listed?.foldersUnlisted == 1)
        #expect(shown.listed?.message?.contains("does not list folders") == true)
        #expect(try await harness.tasks(batch).map(\.listed) == [nil])
        await harness.stop()
    }

    @Test("a look at what no address lists says where to look instead")
    func nowhere() async throws {
        let harness = try await EngineHarness()
        let look = DueLook(
            folder: FolderID(rawValue: 1), batch: BatchID(rawValue: 99), origin: "http://h:80", remote: RawPath(""),
            isExact: false, due: 0)
        let error = try await harness.engine.verify(look, only: nil).error
        #expect(
            error?.message
                == "nothing lists folders by this address: look there whether all of it has arrived")
        await harness.stop()
    }

    @Test("a list for which the disk has no room is told, fails nothing, and is made again when there is room")
    func fullDisk() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("a", [1])
        let batch = try await harness.add(upload(harness, ["a"]))
        try await harness.finished(batch)
        guard case .folder(let folder) = try await harness.queue.writer.folderToVerify(.batch(batch), after: nil) else {
            Issue.record("nothing is there to be asked for")
            return
        }
        for number in 0..<500 { harness.store.put("/in/another file \(number)", [1]) }
        try await harness.queue.reader.fillDisk()
        let error = try await harness.engine.verify(folder.look, only: nil).error
        #expect(error?.message == "the names at the server could not be kept here: see whether the disk is full")
        #expect(try await harness.tasks(batch).map(\.state) == [.completed])
        for number in 0..<500 { harness.store.remove("/in/another file \(number)") }
        let second = try await harness.engine.verify(folder.look, only: nil)
        #expect(second.error == nil && second.listed == 1)
        await harness.stop()
    }

    @Test("a look that meets a server in trouble is made again by itself")
    func again() async throws {
        let harness = try await EngineHarness { request, earlier in
            request.method == "PROPFIND" && request.fields["depth"] == "1" && earlier < 2
                ? .answer("503 Service Unavailable") : .ordinary
        }
        try harness.sandbox.write("a", Array("12345".utf8))
        let batch = try await harness.add(upload(harness, ["a"]))
        let shown = try await harness.finished(batch)
        #expect(shown.state == .completed && shown.listed?.found == 1)
        await harness.stop()
    }

    @Test("a look that the engine's end broke off is made by the next engine")
    func takenUp() async throws {
        let first = try await EngineHarness { request, _ in
            request.method == "PROPFIND" && request.fields["depth"] == "1"
                ? .answer("503 Service Unavailable") : .ordinary
        }
        try first.sandbox.write("a", Array("12345".utf8))
        let batch = try await first.add(upload(first, ["a"]))
        try await first.batch(batch) { $0.listed?.foldersLeft == 1 }
        await first.stop()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store, started: false)
        let before = try #require(try await second.queue.reader.batch(batch))
        #expect(before.state == .running && before.filesCompleted == 1 && before.listed?.foldersLeft == 1)
        _ = try await second.queue.writer.cancel([.batch(batch)])
        await second.stop()
    }

    @Test("--verify none asks for nothing")
    func none() async throws {
        let harness = try await EngineHarness()
        try harness.sandbox.write("a", Array("12345".utf8))
        let batch = try await harness.add(upload(harness, ["a"]) { $0.options.verify = VerificationWish.none })
        let shown = try await harness.finished(batch)
        #expect(shown.state == .completed && shown.listed == nil)
        #expect(!harness.store.server.requests.contains { $0.method == "PROPFIND" && $0.fields["depth"] == "1" })
        await harness.stop()
    }

    // MARK: What a list says of one file

    private func isOpen(_ entry: RemoteEntry?, _ change: (inout ComparedFile) -> Void) -> Bool {
        var isOpen = false
        _ = verdict(entry, isOpen: &isOpen, change)
        return isOpen
    }

    private func verdict(_ entry: RemoteEntry?, _ change: (inout ComparedFile) -> Void = { _ in }) -> AbsentFile? {
        var isOpen = false
        let absent = verdict(entry, isOpen: &isOpen, change)
        #expect(!isOpen)
        return absent
    }

    private func verdict(
        _ entry: RemoteEntry?, isOpen: inout Bool, _ change: (inout ComparedFile) -> Void
    ) -> AbsentFile? {
        var file = ComparedFile(
            SentRun(TaskID(rawValue: 1), run: 0, finishedAt: Timestamp(milliseconds: 10_000_000)), name: RawPath("a"),
            size: 5, modifiedNanoseconds: 1_000_000_000_999, isSpared: false, digest: nil, etag: nil, entry: entry)
        change(&file)
        switch LastLookVerdict(file, at: "host", tagsProve: true) {
        case .isThere: return nil
        case .isAbsent(let absent):
            Telling.note(absent.error.message)
            return absent
        case .isOpen:
            isOpen = true
            return nil
        }
    }

    @Test(
        "what counts as there, and what of it may be replaced",
        .tells(
            "host does not list it, though all of it was sent: retry sends it again",
            "host does not list it, though a file of its name stood there: retry sends it",
            "at host lies a folder of its name: "
                + "look at it, and set --if-exists replace for its batch to put yours in its place",
            "at host lies another file of its name, with a size that no file has",
            "with as many bytes with another digest (sha-256)",
            "with another version (its ETag is aaaa", "with 3 bytes instead of 5, changed 1970-01-01T00:16:40.000Z"))
    func verdicts() {
        func entry(_ size: RemoteEntry.Size, modified: Int64? = nil) -> RemoteEntry {
            RemoteEntry(RawPath("a"), size: size, modified: modified.map { Timestamp(milliseconds: $0) })
        }
        #expect(verdict(entry(.bytes(5))) == nil)
        #expect(verdict(entry(.unknown)) == nil)
        #expect(verdict(nil)?.isOther == false)
        #expect(verdict(nil) { $0.isSkipped = true }?.isOther == false)
        #expect(verdict(entry(.impossible)) != nil)
        // Whose ever it is: a retry knows that it is not the source, and does not replace it without being asked.
        #expect(verdict(entry(.bytes(3), modified: 1_000_000))?.isOther == true)
        let temporary = ResumePoint(FTPResumePoint(temporary: RawPath("a.part"), generation: 1))
        for stored in [nil, temporary] {
            let other = ResumePoint(encoded: LastLookVerdict.otherLies(stored?.encoded))
            #expect(other?.isOutdated == true && other?.targetIsOther == true && other?.ownVersion == nil)
            // What the server has not removed of earlier versions stays known.
            #expect(other?.left == (stored.map { [$0] } ?? []))
        }
        #expect(verdict(RemoteEntry(RawPath("a"), size: .unknown, isFolder: true)) != nil)
        // Another one's file was there and was to stay.
        #expect(verdict(entry(.bytes(3))) { $0.isSpared = true } == nil)
        #expect(verdict(nil) { $0.isSpared = true } != nil)
        // A later batch of ours wrote it again, and that is what lies there; or it is not.
        func later(_ size: Int64?, isOpen: Bool = false) -> (inout ComparedFile) -> Void {
            { $0.later = LaterFile(isOpen: isOpen, completed: size.map { LaterFile.Version(size: $0) }) }
        }
        #expect(verdict(entry(.bytes(3)), later(3)) == nil)
        #expect(verdict(entry(.bytes(2)), later(3)) != nil)
        #expect(verdict(nil, later(3)) != nil)
        // While it writes nobody can say, unless what was sent lies there.
        #expect(isOpen(entry(.bytes(0)), later(nil, isOpen: true)) && isOpen(nil, later(3, isOpen: true)))
        #expect(verdict(entry(.bytes(5)), later(nil, isOpen: true)) == nil)
        // A digest that both ends know, and a bucket's tag.
        var damaged = entry(.bytes(5))
        damaged.digests = [TransferDigest(algorithm: "sha-256", value: "00")]
        #expect(verdict(damaged) { $0.digest = TransferDigest(algorithm: "sha-256", value: "01") } != nil)
        #expect(verdict(damaged) { $0.digest = TransferDigest(algorithm: "sha-256", value: "00") } == nil)
        #expect(verdict(damaged) { $0.digest = TransferDigest(algorithm: "md5", value: "01") } == nil)
        var tagged = entry(.bytes(5))
        tagged.etag = String(repeating: "a", count: 32)
        #expect(verdict(tagged) { $0.etag = "\"\(String(repeating: "b", count: 32))\"" } != nil)
        #expect(verdict(tagged) { $0.etag = "\"\(String(repeating: "a", count: 32))\"" } == nil)
        #expect(verdict(tagged) { $0.etag = "\"b-2\"" } == nil)
        #expect(verdict(tagged) == nil)
    }
}

extension QueueReader {
    /// The files of tables that are this connection's alone grow no more, as on a disk that is full.
    fileprivate func fillDisk() throws {
        _ = try database.integer("PRAGMA temp.max_page_count = 1")
    }
}
