import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("Sizes and words that cannot be, met by the engine", .timeLimit(.minutes(2))) struct HostileNumberTests {
    @Test(
        "downloads whose length no file can have fail with a cause, and the next start finds a sound queue",
        .tells(
            " told a length that cannot be: check the address and the server",
            "the server says that the file has more than 8 PiB: its administrator can mend that, then retry"),
        arguments: [
            "200 OK\r\nContent-Length: 9223372036854775807", "200 OK\r\nContent-Length: 9007199254740993",
            "200 OK\r\nContent-Length: 99999999999999999999999",
            "206 Partial Content\r\nContent-Range: bytes 0-9007199254740992/9007199254740993",
        ])
    func lengths(head: String) async throws {
        let server = try ScriptedServer { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 \(head)\r\nETag: \"a\"\r\n\r\nbytes")
            _ = try connection.readHead()
        }
        let first = try await EngineHarness()
        var request = first.request(download: [])
        request.work = .download(
            ["a", "b"].map {
                DownloadSource(url: server.url("/" + $0), directory: RawPath(first.sandbox.path("out")), fileName: nil)
            })
        let batch = try await first.add(request)
        let end = try await first.finished(batch)
        #expect(end.filesFailed == 2)
        #expect(end.causes.map(\.code) == [.badServerResponse])
        #expect(try await first.tasks(batch).count == 2)
        try await first.expectSound()
        await first.stop()
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        _ = try await second.queue.writer.purge([.batch(batch)])
        try await second.expectSound()
        await second.stop()
        server.stop()
    }

    /// A folder in memory, whose files may have any size; most disks take 16 TiB.
    private static let roomy = "/dev/shm"

    @Test(
        "sparse files of more than 8 PiB fail by name, named alone or found in a folder, and the others arrive",
        .tells(
            "has more than 8 PiB, which nothing can take: leave it out"),
        .enabled(if: access(roomy, W_OK) == 0))
    func sparse() async throws {
        let harness = try await EngineHarness()
        let folder = "\(Self.roomy)/martlet-sparse-\(System.processID)"
        defer {
            for name in ["alone", "d/good", "d/one", "d/two"] { unlink("\(folder)/\(name)") }
            for name in ["d", ""] { rmdir("\(folder)/\(name)") }
        }
        try System.mkdirs(Array("\(folder)/d".utf8))
        for name in ["alone", "d/good", "d/one", "d/two"] {
            let file = try System.open(Array("\(folder)/\(name)".utf8), flags: O_RDWR | O_CREAT)
            try System.ftruncate(file.rawValue, to: name == "d/good" ? 3 : .max)
        }
        let sources = ["d", "alone"].map { name in
            UploadSource(path: RawPath("\(folder)/\(name)"), placement: .named(RawPath(name)))
        }
        let batch = try await harness.add(
            harness.request(upload: []) { [url = harness.store.url("/in/")] request in
                request.work = .upload(sources, to: url)
            })
        let end = try await harness.finished(batch)
        #expect(end.filesCompleted == 1 && end.filesFailed == 3)
        #expect(end.causes.map(\.code) == [.unsupported])
        #expect(try await harness.tasks(batch).compactMap(\.error).allSatisfy { $0.message.contains("8 PiB") })
        try await harness.expectSound()
        await harness.stop()
    }

    @Test(
        "work whose secrets are lost waits for a person and sends nothing; given again it goes on",
        arguments: [true, false])
    func lostSecrets(isEmptied: Bool) async throws {
        let first = try await EngineHarness()
        try first.sandbox.write("a", [1, 2, 3])
        let request = first.request(upload: ["a"]) { request in
            request.held = true
            request.secrets.headers = [HeaderField("Authorization", "Bearer XtokenX")]
        }
        let batch = try await first.add(request)
        await first.stop()
        let secrets = first.sandbox.path("state/secrets.sqlite")
        if isEmptied {
            let file = try System.open(secrets, flags: O_RDWR)
            try System.ftruncate(file.rawValue, to: 0)
        } else {
            try System.unlink(secrets)
        }
        let second = try await EngineHarness(sandbox: first.sandbox, store: first.store)
        _ = try await second.queue.writer.resume([.batch(batch)])
        await second.engine.queueChanged()
        let task = try await second.task(of: batch) { $0.state == .waiting }
        #expect(task.waitReasons == [.auth])
        #expect(task.error?.message.contains("martlet set \(batch)") == true)
        #expect(second.store.server.requests.isEmpty)
        var given = TransferSecrets()
        given.headers = [HeaderField("Authorization", "Bearer new")]
        _ = try await second.queue.writer.replaceSecrets(of: [.batch(batch)], by: given)
        await second.engine.settingsChanged()
        try await second.queue.writer.requeueWaitingForLogin([batch])
        await second.engine.queueChanged()
        #expect(try await second.finished(batch).filesCompleted == 1)
        #expect(second.store.server.requests.allSatisfy { $0.fields["authorization"] == "Bearer new" })
        await second.stop()
    }

    @Test(
        "a line end in a password that a command prints, or that an earlier version queued, reaches no server",
        .tells(
            "the password has a control character in it",
            "give it anew with 'martlet set b1'"))
    func controls() async throws {
        let control = "control character"
        let noText = "the password command prints a password that is not UTF-8: mend it and retry"
        for (command, reason) in [("printf 'a\\001b'", control), ("printf 'a\\377b'", noText), (nil, control)] {
            let harness = try await EngineHarness()
            try harness.sandbox.write("a", [1])
            let request = harness.request(upload: ["a"]) { request in
                request.secrets.user = "ana"
                request.secrets.passwordCommand = command
                if command == nil { request.secrets.password = "x\r\nDELE y" }
            }
            let batch = try await harness.add(request)
            let task = try await harness.task(of: batch) { $0.state == .waiting }
            #expect(task.waitReasons == [.auth])
            #expect(task.error?.message.contains(reason) == true)
            #expect(harness.store.server.requests.isEmpty)
            await harness.stop()
        }
    }

    @Test("a stop that finishes only what cannot go on later breaks off a download at once, and finishes a plain PUT")
    func stopping() async throws {
        let hold = try Milestone()
        let harness = try await EngineHarness { request, _ in
            request.method == "PUT" ? .holdBody(100_000, hold) : .holdAnswer(400_000, hold)
        }
        harness.store.put("/f", pattern(1_000_000))
        try harness.sandbox.write("a", pattern(300_000))
        let download = try await harness.add(harness.request(download: ["/f"]))
        let upload = try await harness.add(harness.request(upload: ["a"]))
        try await harness.task(of: download) { $0.bytesAccepted == 400_000 }
        try await harness.task(of: upload) { $0.state == .running }
        async let stopped = harness.engine.shutdown(.finishingUnresumable)
        // The server still holds both: only a cut can have ended the download.
        try await harness.task(of: download) { $0.state == .queued }
        #expect(try await harness.tasks(upload).first?.state == .running)
        hold.reach()
        #expect(await stopped)
        #expect(try await harness.tasks(upload).first?.state == .completed)
        #expect(try await harness.tasks(download).first?.bytesAccepted == 400_000)
        try await harness.expectSound()
        await harness.stop()
    }
}
