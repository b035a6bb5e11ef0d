import FoundationEssentials
import Glibc
import LinuxSystem
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Files of a queue that are lost, damaged or not ours") struct LostFileTests {
    private func secretUpload() -> BatchRequest {
        var request = BatchRequest.directory()
        request.work = .upload(
            [UploadSource(path: RawPath("/src/a"), placement: .named(RawPath("a")))], to: "http://host/in/?key=XqueryX")
        request.secrets.headers = [HeaderField("Authorization", "XtokenX")]
        return request
    }

    @Test("a damaged store of secrets is named as itself, and nobody is told to move the queue")
    func damagedSecrets() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.writer.add(secretUpload())
        try await queue.close()
        let garbage = [UInt8](repeating: 7, count: 9000)
        try sandbox.write("secrets.sqlite", garbage)
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        guard case .secrets(.corrupt) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(error)".hasPrefix(sandbox.path("secrets.sqlite").displayed + " is damaged"))
        #expect(!"\(error)".contains("queue.sqlite"))
        #expect(sandbox.contents("secrets.sqlite") == garbage)
        // The cure that it names.
        try System.unlink(sandbox.path("secrets.sqlite").bytes)
        let again = try sandbox.open()
        #expect(try await again.reader.batches().count == 1)
        try await again.close()
    }

    @Test("damage that is met under way is named as itself, too", arguments: [true, false])
    func damagedUnderWay(isNew: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        if !isNew { _ = try await queue.writer.add(secretUpload()) }
        try sandbox.write("secrets.sqlite", [UInt8](repeating: 7, count: 9000))
        let error = try await #require(throws: QueueError.self) { try await queue.writer.add(secretUpload()) }
        guard case .secrets(let failure) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(failure)".contains("secrets.sqlite"))
        _ = try await queue.addTree(files: 1)
        await queue.abandon()
    }

    @Test("a store of secrets that is taken away, or cannot be used, is named with what mends it")
    func unusableSecrets() async throws {
        let sandbox = try Sandbox()
        let file = sandbox.path("secrets.sqlite").displayed
        let queue = try sandbox.open()
        func refusal() async throws -> String {
            "\(try await #require(throws: QueueError.self) { try await queue.writer.add(secretUpload()) })"
        }
        #if DEBUG
            ForcedFailures.fail(.open, on: .path(containing: file), with: .inputOutput)
            let said = try await refusal()
            #expect(
                said
                    == "the secrets are out of reach: cannot open \(file): Input/output error: check the disk and its permissions"
            )
        #endif
        try System.mkdirs(sandbox.path("secrets.sqlite").bytes, mode: 0o700)
        #expect(try await refusal() == "\(file) is no plain file: remove it")
        try System.rmdir(sandbox.path("secrets.sqlite").bytes)
        try System.mkdirs(sandbox.path("secrets.sqlite-journal").bytes, mode: 0o700)
        #expect(
            try await refusal()
                == "\(file) cannot be used: unable to open database file (SQLite 14): check the disk and its permissions"
        )
        try System.rmdir(sandbox.path("secrets.sqlite-journal").bytes)
        _ = try await queue.writer.add(secretUpload())
        try System.unlink(sandbox.path("secrets.sqlite").bytes)
        let waits = "then work that needs a password or token waits until 'martlet set' gives it again"
        #expect(
            try await refusal()
                == "\(file) was deleted or replaced while the engine runs: put it back, or run 'martlet engine stop'; \(waits)"
        )
        await queue.abandon()
    }

    @Test(
        "deleted or emptied secrets are missed: the queue says what it lacks until it is given again",
        arguments: [true, false])
    func lostSecrets(isEmptied: Bool) async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let upload = try await queue.writer.add(secretUpload()).batch
        var request = BatchRequest.downloads(["https://host/a?XoneX", "https://host/b"])
        request.secrets.user = "ana"
        let download = try await queue.writer.add(request).batch
        let plain = try await queue.addTree("plain", files: 1)
        try await queue.close()
        if isEmptied {
            try sandbox.write("secrets.sqlite", [])
        } else {
            try System.unlink(sandbox.path("secrets.sqlite").bytes)
        }
        queue = try sandbox.open()
        #expect(try await queue.writer.order(of: upload)?.lacks == [.header("authorization"), .query])
        #expect(try await queue.writer.order(of: download)?.lacks == [.login])
        #expect(try await queue.writer.order(of: plain)?.lacks == [])
        let tasks = try await queue.claimAll()
        #expect(tasks.filter { $0.batch == download }.map(\.lacksQuery) == [true, false])
        var given = TransferSecrets()
        given.headers = [HeaderField("Authorization", "new")]
        _ = try await queue.writer.replaceSecrets(of: [.batch(upload), .batch(download)], by: given)
        #expect(try await queue.writer.order(of: upload)?.lacks == [.query])
        // A header is no login: what it had besides is missed on.
        #expect(try await queue.writer.order(of: download)?.lacks == [.login])
        given.user = "ana"
        _ = try await queue.writer.replaceSecrets(of: [.batch(download)], by: given)
        #expect(try await queue.writer.order(of: download)?.lacks == [])
        await queue.abandon()
        queue = try sandbox.open()
        #expect(try await queue.writer.order(of: download)?.lacks == [])
        #expect(try await queue.writer.order(of: download)?.secrets == given)
        try await queue.close()
    }

    @Test("what an earlier version queued is looked up once, and missed afterwards")
    func earlierVersion() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.writer.add(secretUpload()).batch
        try await queue.close()
        try sandbox.database(.readWrite).execute(script: "UPDATE batches SET kept_secrets = NULL")
        try await sandbox.open().close()
        try System.unlink(sandbox.path("secrets.sqlite").bytes)
        queue = try sandbox.open()
        #expect(try await queue.writer.order(of: batch)?.lacks == [.header("authorization"), .query])
        try await queue.close()
    }

    @Test("secrets of a queue that was moved away wait for it; what the new queue leaves is its own to remove")
    func movedAway() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        let batch = try await queue.writer.add(secretUpload()).batch
        // Nothing of this one is secret but the place that its server gives the upload.
        _ = try await queue.addTree("plain", files: 1)
        let task = try #require(try await queue.claimAll().first { $0.batch != batch })
        queue.writer.record(.checkpoint(resumePoint: [7], accepted: 1, secret: "XurlX"), for: task.id)
        try await queue.close()
        try System.rename(sandbox.path("queue.sqlite").bytes, to: sandbox.path("kept.sqlite").bytes)
        try await sandbox.open().close()
        try await sandbox.open().close()
        try System.rename(sandbox.path("kept.sqlite").bytes, to: sandbox.path("queue.sqlite").bytes)
        queue = try sandbox.open()
        #expect(try await queue.writer.order(of: batch)?.lacks == [])
        #expect(try await queue.writer.order(of: batch)?.secrets.headers.first?.value == "XtokenX")
        #expect(try await queue.claimAll().first { $0.id == task.id }?.resumeSecret == "XurlX")
        try await queue.close()
    }

    @Test(
        "an empty queue where one has been is refused, and says what it may be restored from",
        arguments: ["secrets.sqlite", "log/martletd.log"])
    func emptied(sign: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        if sign == "secrets.sqlite" {
            _ = try await queue.writer.add(secretUpload())
        } else {
            _ = try await queue.addTree(files: 1)
            try System.mkdirs(sandbox.path("log").bytes, mode: 0o700)
            try sandbox.write(sign, Array("a line\n".utf8))
        }
        try await queue.close()
        // Each sign is enough by itself.
        if sign != "secrets.sqlite" { try? System.unlink(sandbox.path("secrets.sqlite").bytes) }
        try sandbox.write("queue.sqlite", [])
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        guard case .emptied(_, let told) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(told == sandbox.path(sign).displayed)
        #expect("\(error)".contains("restore it"))
        // Who moves it away wants an empty one.
        try System.unlink(sandbox.path("queue.sqlite").bytes)
        try await sandbox.open().close()
    }

    @Test("a queue that is gone while its log is there is refused: SQLite would throw the log away")
    func logAlone() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 3)
        let log = sandbox.contents("queue.sqlite-wal")
        await queue.abandon()
        try System.unlink(sandbox.path("queue.sqlite").bytes)
        try sandbox.write("queue.sqlite-wal", log)
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        guard case .emptied = error else {
            Issue.record("\(error)")
            return
        }
        #expect(sandbox.contents("queue.sqlite-wal") == log)
    }

    @Test("an engine that was killed before the first row of its queue can start")
    func killedAtFirst() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("queue.lock", Array("4711 1.0\n".utf8))
        try sandbox.write("queue.sqlite", [])
        try await sandbox.open().close()
    }

    @Test(
        "a queue that is deleted or replaced under way takes nothing more and says so",
        arguments: ["queue.sqlite", "queue.sqlite-wal", "queue.lock"])
    func deleted(name: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try System.rename(sandbox.path(name).bytes, to: sandbox.path("away").bytes)
        let error = try await #require(throws: QueueError.self) {
            try await queue.writer.add(.downloads(["https://host/a"]))
        }
        guard case .gone(sandbox.path(name).displayed) = error else {
            Issue.record("\(error)")
            return
        }
        let what = "\(sandbox.path(name).displayed) was deleted or replaced while the engine runs"
        let told =
            name == "queue.lock"
            ? ", so a second engine could start, and nothing is queued any more: run 'martlet engine stop --now', and use Martlet again"
            : ", and nothing is queued any more: put it back, or run 'martlet engine stop --now' to start with what is there"
        #expect("\(error)" == what + told)
        try sandbox.write(name, [])
        await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads(["https://host/a"])) }
        try System.rename(sandbox.path("away").bytes, to: sandbox.path(name).bytes)
        _ = try await queue.writer.add(.downloads(["https://host/a"]))
        #expect(try await queue.reader.check() == [])
        try await queue.close()
    }

    @Test(
        "a link where a file of ours belongs is refused, and what it leads to stays as it was",
        arguments: ["queue.lock", "queue.sqlite", "secrets.sqlite", "queue.sqlite-wal"])
    func planted(name: String) async throws {
        let sandbox = try Sandbox()
        let precious = Array("a photo".utf8)
        try sandbox.write("precious", precious)
        symlink(sandbox.path("precious").displayed, sandbox.path(name).displayed)
        let error = try #require(throws: QueueOpenError.self) { try sandbox.open() }
        #expect("\(error)".contains("is a link"))
        #expect(sandbox.contents("precious") == precious)
    }
}
