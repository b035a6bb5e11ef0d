import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("Cut and half-dead uploads")
struct TakeOverTests {
    private let sandbox: ReceiverSandbox
    private let tus: TusClient

    init() throws {
        sandbox = try ReceiverSandbox()
        tus = TusClient(sandbox: sandbox)
    }

    /// A PATCH whose body has begun and does not end.
    private func begin(_ url: String, at offset: Int, of length: Int, _ bytes: [UInt8]) throws -> RawClient {
        let client = try sandbox.client()
        let fields = [("Upload-Offset", "\(offset)"), ("Expect", "100-continue")]
        try client.send(TusClient.request("PATCH", url, fields, length: length - offset))
        let interim = try client.announcement()
        #expect(interim.status == 100, "\(interim)")
        try client.send(bytes)
        return client
    }

    @Test(
        "a record whose bytes somebody took away does not say that the file arrived, and one of a file that did says so"
    )
    func clearedAway() throws {
        let body = pattern(100_000)
        let (half, whole) = (try tus.create("half", body.count), try tus.create("whole", body.count))
        #expect(try tus.patch(half, at: 0, Array(body[..<60_000])).status == 204)
        #expect(try tus.patch(whole, at: 0, body).status == 204)
        sandbox.stop()
        for path in try paths(below: sandbox.path(UploadID.folderName)) where path.suffix(5).elementsEqual(".data".utf8)
        {
            try System.unlink(path)
        }
        // Another file has its place since.
        try write([1], to: sandbox.path("whole"))
        let folder = sandbox.folder
        let next = TusClient(sandbox: try ReceiverSandbox { $0.folder = folder })
        #expect(try next.offset(half) == nil)
        #expect(try next.offset(whole) == body.count)
        // A kill came between the name and the word of it.
        next.sandbox.stop()
        try rewriteRecords { $0.replacing("published\n", with: "") }
        try write(body, to: sandbox.path("whole"))
        let last = TusClient(sandbox: try ReceiverSandbox { $0.folder = folder })
        #expect(try last.offset(whole) == body.count)
        // An earlier version wrote no such word, and whoever waits for the file has taken it away since.
        last.sandbox.stop()
        try rewriteRecords { $0.replacing("tells publication\n", with: "") }
        try System.unlink(sandbox.path("whole"))
        let old = TusClient(sandbox: try ReceiverSandbox { $0.folder = folder })
        #expect(try old.offset(whole) == body.count)
    }

    private func rewriteRecords(_ change: (String) -> String) throws {
        for path in try paths(below: sandbox.path(UploadID.folderName))
        where path.suffix(5).elementsEqual(".info".utf8) {
            let text = String(decoding: try contents(path), as: UTF8.self)
            try System.unlink(path)
            try write(Array(change(text).utf8), to: path)
        }
    }

    @Test("cut twenty times it keeps every byte that came, and is identical in the end")
    func cuts() throws {
        let body = pattern(21 * 50_001)
        let url = try tus.create("f", body.count)
        for round in 0..<20 {
            let start = try #require(try tus.offset(url))
            #expect(start == round * 50_001)
            try begin(url, at: start, of: body.count, Array(body[start..<(start + 50_001)])).close()
            _ = try sandbox.line(beginning: "interrupted")
        }
        #expect(try tus.patch(url, at: 20 * 50_001, Array(body[(20 * 50_001)...])).status == 204)
        #expect(try contents(sandbox.path("f")) == body)
        #expect(try sandbox.line(beginning: "received").contains("resumed 20 times, at last at 1000020"))
    }

    @Test("who asks for the offset ends a connection that writes, and nothing of that one gets in afterwards")
    func headTakesOver() throws {
        let url = try tus.create("f", 100)
        let old = try begin(url, at: 0, of: 100, pattern(10))
        // What was sent may still be under way when the question comes; what counts is what the answer says.
        let offset = try #require(try tus.offset(url))
        old.awaitEnd()
        try? old.send(pattern(50, seed: 3))
        #expect(try tus.offset(url) == offset)
        #expect(try tus.patch(url, at: offset, Array(pattern(100)[offset...])).status == 204)
        #expect(try contents(sandbox.path("f")) == pattern(100))
    }

    @Test("a PATCH takes the upload over from a dead one, at the exact offset only")
    func patchTakesOver() throws {
        let body = pattern(100_000)
        let url = try tus.create("f", body.count)
        let old = try begin(url, at: 0, of: body.count, Array(body[..<50_000]))
        #expect(try tus.patch(url, at: 99_999, [1]).status == 409)
        old.awaitEnd()
        let offset = try #require(try tus.offset(url))
        let second = try begin(url, at: offset, of: body.count, [])
        #expect(try tus.patch(url, at: offset, Array(body[offset...])).status == 204)
        second.awaitEnd()
        #expect(try contents(sandbox.path("f")) == body)
    }

    @Test("many at once that all write the same upload leave the right bytes")
    func race() throws {
        let body = pattern(2 << 20)
        let url = try tus.create("f", body.count)
        var rounds = 0
        while try tus.offset(url) != body.count, rounds < 50 {
            rounds += 1
            let offset = try #require(try tus.offset(url))
            let clients = try (0..<4).map { _ in
                let client = try sandbox.client()
                try client.send(
                    TusClient.request("PATCH", url, [("Upload-Offset", "\(offset)")], length: body.count - offset))
                return client
            }
            for client in clients { try? client.send(Array(body[offset..<min(body.count, offset + 300_000)])) }
        }
        #expect(try contents(sandbox.path("f")) == body)
    }

    @Test("an upload is free for the next request though a program that is being started has it open as well")
    func copied() throws {
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        let root = try System.open(sandbox.folder)
        let store = try UploadStore(
            in: root, DiskRoom(of: root, keepFree: 0), ReceiverConfiguration.Limits(), publisher,
            try ReceiverJournal(output: -1))
        defer { store.stop() }
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 10
        let upload = try store.create(record)
        // Until it runs its own program, a child process has a copy of every descriptor.
        let copy = dup(try #require(upload.data).rawValue)
        defer { close(copy) }
        store.release(upload)
        let again = try #require(try store.acquire(upload.id))
        #expect(again.facts.offset == 0)
        store.release(again)
    }

    @Test("DELETE ends the writing, too")
    func deleteTakesOver() throws {
        let url = try tus.create("f", 100)
        let old = try begin(url, at: 0, of: 100, pattern(10))
        #expect(try tus.send("DELETE", url).status == 204)
        old.awaitEnd()
        #expect(try tus.offset(url) == nil)
        #expect(try sandbox.files().isEmpty)
    }

    @Test("a beginning whose client never learnt the URL is dropped when it is cut")
    func lostBeginning() throws {
        let client = try sandbox.client()
        let fields = [TusClient.named("f"), ("Upload-Length", "100"), ("Expect", "100-continue")]
        try client.send(TusClient.request("POST", "/", fields, length: 100))
        #expect(try client.interim() == 100)
        try client.send(pattern(50))
        client.close()
        #expect(try sandbox.line(beginning: "not received").hasPrefix("not received f"))
        #expect(try sandbox.files().isEmpty)
    }

    @Test("old uploads are removed, complete ones forgotten, young ones kept")
    func expiry() throws {
        let old = try tus.create("old", 10)
        _ = try tus.create("complete", 0)
        let root = try System.open(sandbox.folder)
        let journal = try ReceiverJournal(output: -1)
        let publisher = try Publisher(folder: try ServedFolder(path: sandbox.folder))
        defer { publisher.stop() }
        var limits = ReceiverConfiguration.Limits()
        limits.unfinishedLifetime = 100
        limits.completeLifetime = 20
        // Removing is a job of the store's: it is done when the store has stopped.
        func sweep(after seconds: Int64) throws {
            let store = try UploadStore(in: root, DiskRoom(of: root, keepFree: 0), limits, publisher, journal)
            store.sweep(now: WallClock.seconds + seconds)
            store.stop()
        }
        func records() throws -> Int { try sandbox.files().count { $0.hasSuffix(".info") } }
        try sweep(after: 0)
        #expect(try records() == 2)
        try sweep(after: 50)
        #expect(try records() == 1)
        #expect(try tus.offset(old) == 0)
        // An upload that a receiver is serving is locked against others.
        let busy = try begin(old, at: 0, of: 10, [1])
        try sweep(after: 200)
        busy.close()
        _ = try sandbox.line(beginning: "interrupted")
        #expect(try tus.offset(old) == 1)
        sandbox.stop()
        try sweep(after: 50)
        #expect(try sandbox.files().count == 3)
        try sweep(after: 200)
        #expect(try sandbox.files() == ["complete"])
    }
}

@Suite("Uploads and the program")
struct UploadProgramTests {
    private let folder: [UInt8]

    init() throws { folder = try makeFolder() }

    @Test("killed at any moment and started again it offers what it has, and the file is identical")
    func killed() throws {
        defer { removeTree(folder) }
        let body = pattern(6 << 20)
        var program = try RunningProgram([folder])
        var fields: KeyValuePairs = ["Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1"]
        let first = try RawClient(port: program.port)
        try first.send(RawClient.head("PUT", "/f", fields, length: body.count))
        let url = try #require(try first.announcement().fields["location"])
        try first.send(Array(body[..<1_000_000]))
        try awaitData(beyond: 0)
        #expect(try program.end(by: SIGKILL) == .signalled(SIGKILL))
        var offset = 0
        for _ in 0..<4 {
            program = try RunningProgram([folder])
            let reply = try RawClient(port: program.port).exchange("HEAD", url)
            #expect(reply.fields["upload-complete"] == "?0")
            let told = try #require(reply.fields["upload-offset"].flatMap { Int($0) })
            #expect(told > offset)
            offset = told
            let client = try RawClient(port: program.port)
            fields = [
                "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1", "Upload-Offset": "\(offset)",
                "Content-Type": "application/partial-upload", "Expect": "100-continue",
            ]
            try client.send(RawClient.head("PATCH", url, fields, length: body.count - offset))
            #expect(try client.interim() == 100)
            try client.send(Array(body[offset..<min(body.count, offset + 1_200_000)]))
            try awaitData(beyond: offset)
            #expect(try program.end(by: SIGKILL) == .signalled(SIGKILL))
            // However much of it was read, it is what was sent.
            #expect(try body.starts(with: contents(data)))
        }
        program = try RunningProgram([folder])
        offset = try #require(
            try RawClient(port: program.port).exchange("HEAD", url).fields["upload-offset"].flatMap { Int($0) })
        fields = [
            "Upload-Draft-Interop-Version": "8", "Upload-Complete": "?1", "Upload-Offset": "\(offset)",
            "Content-Type": "application/partial-upload",
        ]
        let reply = try RawClient(port: program.port).exchange("PATCH", url, fields, body: Array(body[offset...]))
        #expect(reply.status == 201)
        #expect(try contents(folder + Array("/f".utf8)) == body)
        #expect(try program.lines.next().contains(", resumed "))
    }

    @Test("a tus upload that was whole when the receiver was killed is published when it is asked for")
    func wholeButUnpublished() throws {
        defer { removeTree(folder) }
        let root = try System.open(folder)
        var record = UploadRecord(path: TargetPath(components: [Array("f".utf8)]), completesByLength: true)
        record.length = 3
        let id = try UploadID()
        do {
            let (data, _) = try UploadFolder(in: root, DiskRoom(of: root, keepFree: 0)).create(id, record)
            try [1, 2, 3].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
                try System.writeAll(data.rawValue, UnsafeRawBufferPointer(rebasing: bytes[..<3]))
            }
        }
        let program = try RunningProgram([folder])
        let reply = try RawClient(port: program.port).exchange("HEAD", id.target, ["Tus-Resumable": "1.0.0"])
        #expect(reply.fields["upload-offset"] == "3")
        #expect(try contents(folder + Array("/f".utf8)).count == 3)
    }

    @Test("over TLS nothing is written beside the library: careful creation works, a PUT is a PUT")
    func tls() throws {
        defer { removeTree(folder) }
        let keys = try makeFolder()
        defer { removeTree(keys) }
        let (certificate, key) = (keys + Array("/cert.pem".utf8), keys + Array("/key.pem".utf8))
        let request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
        let names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", text(certificate), "-keyout", text(key)]
        _ = try output("/usr/bin/openssl", request + names)
        let source = keys + Array("/source".utf8)
        let body = pattern(300_000)
        try write(body, to: source)
        let program = try RunningProgram(
            [folder] + ["--tls-cert", text(certificate), "--tls-key", text(key)].map { Array($0.utf8) })
        let version = ["-H", "Upload-Draft-Interop-Version: 8"]
        let curl = ["-s", "-i", "-H", "Expect:", "--cacert", text(certificate)] + version
        let complete = ["-H", "Upload-Complete: ?1"]
        let put = try output("/usr/bin/curl", curl + complete + ["-T", text(source), program.url + "f"])
        #expect(put.hasPrefix("HTTP/1.1 201"))
        #expect(try contents(folder + Array("/f".utf8)) == body)
        #expect(try output("/usr/bin/curl", curl + ["-X", "OPTIONS", program.url + "g"]).contains("Upload-Limit: "))
        let creation = try output(
            "/usr/bin/curl", curl + ["-X", "POST", "-H", "Upload-Complete: ?0", program.url + "g"])
        let line = try #require(creation.split(separator: "\r\n").first { $0.hasPrefix("Location: /") })
        let append =
            complete + ["-X", "PATCH", "-H", "Upload-Offset: 0", "-H", "Content-Type: application/partial-upload"]
        let target = program.url + line.dropFirst("Location: /".count)
        let last = try output("/usr/bin/curl", curl + append + ["--data-binary", "@" + text(source), target])
        #expect(last.hasPrefix("HTTP/1.1 201"))
        #expect(try contents(folder + Array("/g".utf8)) == body)
    }

    /// The bytes of the only upload.
    private var data: [UInt8] {
        get throws {
            try #require(try paths(below: folder).first { $0.suffix(5).elementsEqual(".data".utf8) })
        }
    }

    /// Waits until the receiver has stored more than `size` bytes; half a minute, which only a hang reaches.
    private func awaitData(beyond size: Int) throws {
        let deadline = MonotonicInstant.now.advanced(by: .seconds(30))
        while try System.stat(data).size <= size {
            if MonotonicInstant.now > deadline { throw Errno.timedOut }
            sched_yield()
        }
    }

    private func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

    private func output(_ program: String, _ arguments: [String]) throws -> String {
        let pipe = try System.pipe()
        var child = ChildProgram(program, arguments, environment: ["PATH=/usr/bin:/bin"])
        let null = try System.open(Array("/dev/null".utf8), flags: O_RDWR)
        child.standardError = null.rawValue
        child.standardOutput = pipe.write.rawValue
        let process = try ChildProcess(child)
        pipe.write.close()
        var bytes: [UInt8] = []
        while true {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = try System.read(pipe.read.rawValue, UnsafeMutableRawBufferPointer(buffer))
            }
            if chunk.isEmpty { break }
            bytes += chunk
        }
        _ = try process.wait()
        return String(decoding: bytes, as: UTF8.self)
    }
}
