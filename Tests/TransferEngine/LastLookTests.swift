import Synchronization
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

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

    private func verdict(_ entry: RemoteEntry?, _ change: (inout ComparedFile) -> Void = { _ in }) -> AbsentFile? {
        var file = ComparedFile(
            task: TaskID(rawValue: 1), name: RawPath("a"), size: 5, modifiedNanoseconds: 1_000_000_000_999,
            isSkipped: false,
            finishedAt: Timestamp(milliseconds: 10_000_000), digest: nil, etag: nil, entry: entry)
        change(&file)
        return LastLookVerdict.absence(of: file, at: "host", tagsProve: true)
    }

    @Test("what counts as there, and what of it may be replaced")
    func verdicts() {
        func entry(_ size: RemoteEntry.Size, modified: Int64? = nil) -> RemoteEntry {
            RemoteEntry(RawPath("a"), size: size, modified: modified.map { Timestamp(milliseconds: $0) })
        }
        #expect(verdict(entry(.bytes(5))) == nil)
        #expect(verdict(entry(.unknown)) == nil)
        #expect(verdict(nil)?.resumePoint == nil && verdict(nil) != nil)
        #expect(verdict(entry(.impossible)) != nil)
        // With the time that we gave it, it is ours: replaced whatever the rule.
        let ours = verdict(entry(.bytes(3), modified: 1_000_000))
        #expect(ours?.resumePoint.flatMap { ResumePoint(encoded: $0) }?.ownVersion?.stored == true)
        // The second alone is no proof where the source was written the moment before.
        let fresh = verdict(entry(.bytes(3), modified: 1_000_000)) {
            $0.finishedAt = Timestamp(milliseconds: 1_002_000)
        }
        #expect(fresh != nil && fresh?.resumePoint == nil)
        let other = verdict(entry(.bytes(3), modified: 2_000_000))
        #expect(other != nil && other?.resumePoint == nil)
        #expect(verdict(RemoteEntry(RawPath("a"), size: .unknown, isFolder: true)) != nil)
        // Another one's file was there and was to stay.
        #expect(verdict(entry(.bytes(3))) { $0.isSkipped = true } == nil)
        #expect(verdict(nil) { $0.isSkipped = true } != nil)
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

    @Test(
        "the place whose files are compared",
        arguments: [
            ("sftp://h/a/b/", "", false, "/a/b/"), ("sftp://h/a/b", "", true, "/a"), ("sftp://h/x", "", true, "/"),
            ("sftp://h/~/x", "", true, ""), ("ftp://h/a/", "c/d", false, "a/c/d"), ("ftp://h/x", "", true, ""),
            ("dav://h/a/", "c d", false, "/a/c%20d/"), ("dav://h/a/x", "", true, "/a/"),
            ("s3://b/p", "c", false, "p/c/f"),
            ("s3://b/", "", false, "f"), ("s3://b/p/x", "", true, "p/f"),
        ] as [(String, String, Bool, String)])
    func places(_ url: String, _ remote: String, _ isExact: Bool, _ expected: String) throws {
        let place = try #require(RemotePlace(url)?.folder(RawPath(remote), isExact: isExact))
        let listing = try #require(place.listing(beginning: RawPath("f"), facts: HostFacts()))
        let found =
            switch listing {
            case .dav(let address, _): address.target
            case .s3(let address, _): address.key.displayed
            case .ftp(_, let path), .sftp(_, let path): path.displayed
            }
        #expect(found == expected)
    }
}
