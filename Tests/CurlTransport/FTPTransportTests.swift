import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import CurlTransport

private func server(_ script: ServerScript) -> FTPServer { FTPServer(host: "127.0.0.1", port: script.port) }

private func upload(_ script: ServerScript, _ path: String, _ length: Int, appends: Bool = false) -> FTPRequest {
    FTPRequest(server(script), .upload(RawPath(path), 0..<Int64(length), appends: appends))
}

/// - Parameter earlier: nanoseconds by which its time was another when it was opened.
private func opened(_ path: [UInt8], earlier: Int64 = 0) throws -> UnchangedFile {
    let descriptor = try System.open(path)
    let status = try System.fstat(descriptor.rawValue)
    return UnchangedFile(
        descriptor, size: status.size, modifiedNanoseconds: status.modifiedNanoseconds - earlier)
}

private func download(_ script: ServerScript, _ path: String, from: Int64 = 0) -> FTPRequest {
    FTPRequest(server(script), .download(RawPath(path), from: from))
}

private func size(_ script: ServerScript, _ path: String) -> FTPRequest {
    FTPRequest(server(script), .size(RawPath(path)))
}

private func commands(_ script: ServerScript, _ lines: String...) -> FTPRequest {
    FTPRequest(server(script), .commands(lines.map { Array($0.utf8) }))
}

@Suite struct FTPTransportTests {
    @Test func `a file goes up, is asked after, continued, renamed and comes down again, over one login`() async throws
    {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        let content = pattern(700_000)
        try await withFTPClient { client async throws in
            let half = try await client.run(upload(vsftpd, "part", 300_000), .bytes(Array(content.prefix(300_000))))
            #expect(half.story == "ok 226 STOR")
            #expect(half.bytesSent == 300_000)
            let there = try await client.run(size(vsftpd, "part"))
            #expect(there.story == "ok 213 SIZE")
            #expect(there.answer.size == 300_000)
            #expect(there.answer.modified != nil)
            let rest = Array(content.dropFirst(300_000))
            #expect(
                try await client.run(upload(vsftpd, "part", 400_000, appends: true), .bytes(rest)).story
                    == "ok 226 APPE")
            #expect(try await client.run(commands(vsftpd, "RNFR part", "RNTO whole")).story == "ok 250 RNTO")
            #expect(vsftpd.stored("whole") == content)
            let sink = RecordingSink()
            let end = try await client.receive(download(vsftpd, "whole", from: 100_000), sink)
            #expect(end.story == "ok 226 RETR")
            #expect(end.answer.size == 700_000)
            #expect(end.answer.modified != nil)
            #expect(end.bytesDelivered == 600_000)
            #expect(sink.bytes == Array(content.dropFirst(100_000)))
            let unbounded = RecordingSink()
            let request = FTPRequest(server(vsftpd), .download(RawPath("whole"), from: 100_000, isBounded: false))
            #expect(try await client.receive(request, unbounded).story == "ok 226 RETR")
            #expect(unbounded.bytes == sink.bytes)
        }
        let log = String(decoding: vsftpd.read("vsftpd.log") ?? [], as: UTF8.self)
        #expect(log.split(separator: "\n").filter { $0.contains("\"USER ") }.count == 1)
    }

    @Test func `a session that went into a folder is not used again, and no command takes one there`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            #expect(try await client.run(upload(vsftpd, "box/f", 3), .bytes([1, 2, 3])).story == "ok 226 STOR")
            let enter = FTPRequest(server(vsftpd), .enter(RawPath("box")))
            #expect(try await client.run(enter).story == "ok 250 CWD")
            #expect(try await client.run(size(vsftpd, "box/f")).answer.size == 3)
            for command in ["CWD box", "*cwd box", "CDUP"] {
                await #expect(throws: CurlError.self) { try await client.run(commands(vsftpd, command)) }
            }
        }
        let log = String(decoding: vsftpd.read("vsftpd.log") ?? [], as: UTF8.self)
        #expect(log.split(separator: "\n").filter { $0.contains("\"USER ") }.count == 2)
    }

    @Test func `300 MB arrive identical both ways`() async throws {
        let sandbox = try Sandbox()
        let vsftpd = try ServerScript("ftpd", sandbox)
        let count = 300 << 20
        let block = try System.randomBytes(1 << 20)
        var content: [UInt8] = []
        content.reserveCapacity(count)
        for number in 0..<300 {
            content += block
            content[number << 20] = UInt8(truncatingIfNeeded: number)
        }
        let file = try opened(sandbox.write("source", content))
        try await withFTPClient { client async throws in
            let up = try await client.run(upload(vsftpd, "big", count), .file(file, from: 0))
            #expect(up.story == "ok 226 STOR")
            #expect(vsftpd.stored("big") == content)
            let sink = RecordingSink()
            #expect(try await client.receive(download(vsftpd, "big"), sink).story == "ok 226 RETR")
            #expect(sink.bytes == content)
            // Few large pieces, not libcurl's of 16 KiB.
            #expect(sink.writes < count / (128 * 1024))
        }
    }

    @Test func `an empty file is a file`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            #expect(try await client.run(upload(vsftpd, "nothing", 0), .bytes([])).story == "ok 226 STOR")
            #expect(vsftpd.stored("nothing") == [])
            let sink = RecordingSink()
            #expect(try await client.receive(download(vsftpd, "nothing"), sink).failure == nil)
            #expect(sink.bytes == [])
        }
    }

    @Test func `folders that are missing are made`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            let content = pattern(1000)
            #expect(try await client.run(upload(vsftpd, "a/b/c/file", 1000), .bytes(content)).story == "ok 226 STOR")
            #expect(vsftpd.stored("a/b/c/file") == content)
            // The next one finds them, on a connection that still starts from the same place.
            #expect(try await client.run(upload(vsftpd, "a/b/c/more", 1000), .bytes(content)).story == "ok 226 STOR")
            #expect(vsftpd.stored("a/b/c/more") == content)
        }
    }

    @Test func `what is not there is an answer, and what is refused names the command`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            let missing = try await client.run(size(vsftpd, "missing"))
            #expect(missing.story == "ok 550 SIZE")
            #expect(missing.answer.size == nil)
            #expect(try await client.run(commands(vsftpd, "RNFR missing", "RNTO x")).story == "failed 21 550 RNFR")
            #expect(try await client.run(commands(vsftpd, "*DELE missing", "PWD")).story == "ok 257 PWD")
            #expect(
                try await client.receive(download(vsftpd, "missing"), RecordingSink()).story == "failed 78 550 SIZE")
        }
    }

    @Test(
        "names arrive as the bytes they are",
        arguments: [
            "with space", "100%", "a%2Fb", "file;type=a", "q?x=1#y", "-rf", "ümläut", "dot.", "[1]", "plus+and&",
        ])
    func names(name: String) async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            let content: [UInt8] = [13, 10, 0, 255]
            #expect(try await client.run(upload(vsftpd, name, 4), .bytes(content)).failure == nil)
            #expect(vsftpd.stored(name) == content)
            #expect(try await client.run(size(vsftpd, name)).answer.size == 4)
        }
    }

    @Test func `names need not be UTF-8, and a leading slash means the root`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            let name = Array("folder/".utf8) + [0xE9, 0x80]
            let path = Array("\(vsftpd.folder)/data/".utf8) + name
            let request = FTPRequest(server(vsftpd), .upload(RawPath(path), 0..<2, appends: false))
            #expect(try await client.run(request, .bytes([1, 2])).failure == nil)
            // vsftpd shows an anonymous root the whole machine, and starts in the folder that it serves.
            let there = try await client.run(FTPRequest(server(vsftpd), .size(RawPath(name))))
            #expect(there.story == "ok 213 SIZE")
            #expect(there.answer.size == 2)
        }
    }

    @Test func `what no command can carry is refused before it is said`() async throws {
        try await withFTPClient { client async throws in
            let nowhere = FTPServer(host: "127.0.0.1", port: 1)
            for work in [
                FTPOperation.size(RawPath([])), .size(RawPath("folder/")), .size(RawPath("a\r\nDELE b")),
                .commands([Array("NOOP\nDELE b".utf8)]), .commands([[]]), .download(RawPath([1]), from: 0),
            ] {
                await #expect(throws: CurlError.self) { try await client.start(FTPRequest(nowhere, work)) }
            }
            let host = FTPRequest(FTPServer(host: "a@b", port: 1), .size(RawPath([65])))
            await #expect(throws: CurlError.self) { try await client.start(host) }
        }
    }

    @Test func `an abandoned upload is silent, and the transport goes on at once`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient(threads: 1) { client async throws in
            let bucket = await client.makeBucket(1 << 20)
            let content = pattern(64 << 20)
            let number = try await client.start(upload(vsftpd, "cut", content.count), .bytes(content), up: [bucket])
            await client.turn { ($0.progress(number)?.arrived ?? 0) > 0 }
            await client.abandon(number)
            // The only thread is free for it.
            #expect(try await client.run(upload(vsftpd, "next", 3), .bytes([1, 2, 3])).failure == nil)
            #expect(vsftpd.stored("next") == [1, 2, 3])
            #expect(await !client.hasEnded(number))
            let cut = try #require(vsftpd.stored("cut"))
            #expect(cut.count < content.count)
            #expect(cut == Array(content.prefix(cut.count)))
        }
    }

    @Test func `an abandoned download leaves its sink with a prefix`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        let content = pattern(32 << 20)
        try vsftpd.store("big", content)
        try await withFTPClient(threads: 1) { client async throws in
            let bucket = await client.makeBucket(4 << 20)
            let sink = RecordingSink()
            let number = try await client.start(download(vsftpd, "big"), down: [bucket])
            await client.openGate(number, sink)
            await client.turn { _ in !sink.bytes.isEmpty }
            await client.abandon(number)
            let taken = sink.bytes
            #expect(taken == Array(content.prefix(taken.count)))
            #expect(try await client.run(size(vsftpd, "big")).answer.size == Int64(content.count))
            #expect(sink.bytes == taken)
        }
    }

    @Test func `nothing passes a closed gate, and the thread does not run ahead`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        let content = pattern(8 << 20)
        try vsftpd.store("big", content)
        try vsftpd.store("small", [1, 2, 3])
        try await withFTPClient { client async throws in
            let number = try await client.start(download(vsftpd, "big"))
            await client.turn { $0.waitsForRoom(number) }
            let ahead = try #require(await client.progress(number)).received
            #expect(ahead <= Int64(FTPJob.mostPending))
            let sink = RecordingSink()
            await client.openGate(number, sink)
            #expect(await client.end(of: number).failure == nil)
            #expect(sink.bytes == content)

            let small = try await client.start(download(vsftpd, "small"))
            await client.turn { $0.progress(small)?.received == 3 }
            #expect(await !client.hasEnded(small))
            let late = RecordingSink()
            await client.openGate(small, late)
            #expect(await client.end(of: small).bytesDelivered == 3)
            #expect(late.bytes == [1, 2, 3])
        }
    }

    @Test func `a full sink has the thread wait, and one with room again gets the rest`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        let content = pattern(8 << 20)
        try vsftpd.store("big", content)
        try await withFTPClient { client async throws in
            let number = try await client.start(download(vsftpd, "big"))
            let sink = RecordingSink(isFullFrom: 1 << 20)
            await client.openGate(number, sink)
            await client.turn { $0.waitsForRoom(number) && sink.isWaitedFor }
            #expect(sink.bytes.count < 3 << 20)
            await client.empty(sink)
            #expect(await client.end(of: number).failure == nil)
            #expect(sink.bytes == content)
        }
    }

    @Test func `a limit of nothing stops a transfer, and lifting it lets it go on`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        let content = pattern(3 << 20)
        try await withFTPClient { client async throws in
            let bucket = await client.makeBucket(0)
            let number = try await client.start(upload(vsftpd, "up", content.count), .bytes(content), up: [bucket])
            await client.turn { $0.isThrottled(number) }
            #expect(await client.progress(number)?.arrived == 0)
            await client.setRate(8 << 20, of: bucket)
            #expect(await client.end(of: number).failure == nil)
            await client.setRate(0, of: bucket)
            let back = try await client.start(download(vsftpd, "up"), down: [bucket])
            let sink = RecordingSink()
            await client.openGate(back, sink)
            await client.turn { $0.isThrottled(back) }
            await client.setRate(nil, of: bucket)
            #expect(await client.end(of: back).failure == nil)
            #expect(sink.bytes == content)
        }
    }

    @Test func `local faults are told as what they are`() async throws {
        let sandbox = try Sandbox()
        let vsftpd = try ServerScript("ftpd", sandbox)
        let file = try opened(sandbox.write("short", pattern(1000)))
        try vsftpd.store("big", pattern(2 << 20))
        try await withFTPClient { client async throws in
            let short = try await client.run(upload(vsftpd, "x", 2000), .file(file, from: 0))
            #expect(short.failure?.cause == .sourceEnded(at: 1000))
            #expect(short.failure?.failureClass == .local)
            let sink = RecordingSink(failsAfter: 1 << 20)
            let full = try await client.receive(download(vsftpd, "big"), sink)
            #expect(full.failure?.cause == .sinkFailed(.noSpace))
            #expect(full.bytesDelivered == Int64(sink.bytes.count))
        }
    }

    @Test func `a file that changes while it is sent never arrives whole`() async throws {
        let sandbox = try Sandbox()
        let vsftpd = try ServerScript("ftpd", sandbox)
        let size = 4 << 20
        // Somebody has written into it since, and its length stayed.
        let file = try opened(sandbox.write("source", pattern(size)), earlier: 1)
        try await withFTPClient { client async throws in
            let end = try await client.run(upload(vsftpd, "x", size), .file(file, from: 0))
            guard case .sourceEnded(let offset)? = end.failure?.cause else { return #expect(Bool(false), "\(end)") }
            #expect(offset < size && vsftpd.stored("x")?.count ?? 0 < size)
        }
    }

    @Test func `a server that gives up in the middle is heard, though it cuts the data first`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox(), "LIMIT=2048")
        try await withFTPClient { client async throws in
            let content = pattern(32 << 20)
            let full = try await client.run(upload(vsftpd, "big", content.count), .bytes(content))
            #expect(full.failure != nil)
            #expect(full.answer.reply?.code == 451)
            #expect(vsftpd.stored("big")?.count == 2 << 20)
        }
    }

    @Test func `a connection that the server closed meanwhile is replaced, and nothing is told of it`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            #expect(try await client.run(upload(vsftpd, "a", 1), .bytes([1])).failure == nil)
            try vsftpd.crash()
            try vsftpd.restart()
            #expect(try await client.run(commands(vsftpd, "PWD")).story == "ok 257 PWD")
            try vsftpd.crash()
            try vsftpd.restart()
            #expect(try await client.run(upload(vsftpd, "b", 1), .bytes([2])).failure == nil)
            try vsftpd.crash()
            let gone = try await client.run(size(vsftpd, "a"))
            #expect(gone.failure?.code == .cannotConnect)
            #expect(gone.answer.reply == nil)
        }
    }

    /// A client at a server that answers from a list.
    /// - Parameters:
    ///   - sends: what goes over each data connection.
    ///   - answers: by the verb of the command; others are unknown.
    private func withScript(
        sends: String = "", _ answers: [String: String], _ test: (FTPClient, FTPServer) async throws -> Void
    ) async throws {
        let data = try ScriptedServer { try $0.send(sends) }
        let control = try ScriptedServer.ftp(data: data) { answers[$0] }
        let server = FTPServer(host: "127.0.0.1", port: Int(control.port))
        try await withFTPClient { client async throws in try await test(client, server) }
        control.stop()
        data.stop()
    }

    @Test func `a server that leaves in the middle of a file is not asked for it again unseen`() async throws {
        try await withScript(sends: "half of it", ["RETR": "150 it comes\r\n421 shutting down"]) {
            client, server async throws in
            _ = try await client.run(FTPRequest(server, .size(RawPath("f"))))
            let sink = RecordingSink()
            let end = try await client.receive(FTPRequest(server, .download(RawPath("f"), from: 0)), sink)
            #expect(end.answer.reply?.code == 421)
            #expect(String(decoding: sink.bytes, as: UTF8.self) == "half of it")
        }
    }

    @Test(arguments: [
        ("(0 bytes)", 0), ("for (5 bytes) (7 bytes).", 7), ("(9999999999999999999 bytes)", nil), ("it", nil),
    ])
    func `a download without bounds ends where the server ends it, whatever length that tells`(
        words: String, announced: Int64?
    ) async throws {
        let answers = ["SIZE": "213 0", "RETR": "150 opening f \(words)\r\n226 done"]
        try await withScript(sends: "hello", answers) { client, server async throws in
            let sink = RecordingSink()
            let end = try await client.receive(
                FTPRequest(server, .download(RawPath("f"), from: 0, isBounded: false)), sink)
            #expect(end.story == "ok 226 RETR")
            #expect(end.answer.size == announced ?? (words == "it" ? nil : FileSize.beyond))
            #expect(String(decoding: sink.bytes, as: UTF8.self) == "hello")
        }
    }

    @Test(arguments: [200, 502])
    func `a download without bounds that cannot begin behind an offset takes nothing`(code: Int) async throws {
        let answers = ["REST": "\(code) as you like", "RETR": "150 it comes\r\n226 done"]
        try await withScript(sends: "hello", answers) { client, server async throws in
            let sink = RecordingSink()
            let end = try await client.receive(
                FTPRequest(server, .download(RawPath("f"), from: 2, isBounded: false)), sink)
            #expect(end.failure != nil && end.answer.command == "REST" && end.answer.reply?.code == code)
            #expect(sink.bytes.isEmpty)
        }
    }

    @Test(arguments: [200, 501, 502, 550])
    func `a server that knows no REST tells the size of a file all the same`(code: Int) async throws {
        try await withScript(["SIZE": "213 7", "REST": "\(code) no"]) { client, server async throws in
            let end = try await client.run(FTPRequest(server, .size(RawPath("f"))))
            #expect(end.story == "ok 213 SIZE" && end.answer.size == 7)
        }
    }

    @Test func `more patience than libcurl can count is as much as it can`() async throws {
        try await withScript(["SIZE": "213 7"]) { client, server async throws in
            var request = FTPRequest(server, .size(RawPath("f")))
            request.timeouts.stall = .seconds(365 * 86_400)
            #expect(try await client.run(request).story == "ok 213 SIZE")
        }
    }

    @Test func `a wrong password is a login that was refused`() async throws {
        let python = try ServerScript("ftpd-py", Sandbox())
        try await withFTPClient { client async throws in
            var place = server(python)
            place.connection.credentials = HTTPCredentials(user: "test", password: "wrong")
            let end = try await client.run(FTPRequest(place, .size(RawPath([65]))))
            #expect(end.answer.isLoginRefused)
            #expect(end.answer.reply?.code == 530)
            place.connection.credentials = HTTPCredentials(user: "test", password: "test")
            let content = pattern(100_000)
            let path = Array("new/folder/f".utf8)
            let request = FTPRequest(place, .upload(RawPath(path), 0..<100_000, appends: false))
            #expect(try await client.run(request, .bytes(content)).failure == nil)
            #expect(python.stored("new/folder/f") == content)
            let dated = FTPRequest(place, .commands([Array("MFMT 20200102030405 ".utf8) + path]))
            #expect(try await client.run(dated).answer.reply?.code == 213)
            #expect(
                try await client.run(FTPRequest(place, .size(RawPath(path)))).answer.modified
                    == Timestamp(milliseconds: 1_577_934_245_000))
        }
    }
}
