import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import CurlTransport

extension Authorities {
    /// Reads a file whole.
    init(file: String) throws {
        let opened = try System.open(Array(file.utf8))
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try bytes.withUnsafeMutableBytes { try System.preadAll(opened.rawValue, $0, at: 0) }
        self.init(bytes: Array(bytes.prefix(count)))
    }
}

/// Broken lines and TLS, against real servers.
@Suite struct FTPFaultTests {
    /// A server on 127.0.0.1 and a proxy on 127.0.0.2 that passes its data connections on, too: port by port, so a range that is
    /// partly taken is tried again elsewhere.
    private func proxied(_ name: String, _ sandbox: Sandbox) throws -> (server: ServerScript, proxy: ServerScript) {
        for number in 1...5 {
            let server = try ServerScript(name, sandbox, folder: "\(name)\(number)")
            let proxy = try? ServerScript(
                "faultproxy", sandbox, folder: "proxy\(number)", "TARGET=127.0.0.1:\(server.port)", "LISTEN=127.0.0.2",
                "PORTS=\(server.port + 1)-\(server.port + 40)")
            guard let proxy else { continue }
            proxy.keeps = server
            return (server, proxy)
        }
        throw ServerScript.Failure(description: "no ports for a proxy")
    }

    private func place(_ proxy: ServerScript) -> FTPServer { FTPServer(host: "127.0.0.2", port: proxy.port) }

    @Test func `an upload that is cut goes on where the server says that it stands`() async throws {
        let (vsftpd, proxy) = try proxied("ftpd", Sandbox())
        // More than the sockets on the way can hold: what they hold counts as sent, and the server calls the part that it got a file. (That
        // lie is found by the size that is asked for afterwards, which is the protocol's part.)
        let content = pattern(48 << 20)
        try await withFTPClient { client async throws in
            let path = Array("file".utf8)
            try proxy.run("rules", proxy.folder, "cut up 3M conn=1 on=data")
            let whole = FTPRequest(place(proxy), .upload(RawPath(path), 0..<Int64(content.count), appends: false))
            let cut = try await client.run(whole, .bytes(content))
            #expect(cut.failure?.failureClass == .transient)
            let there = try await client.run(FTPRequest(place(proxy), .size(RawPath(path))))
            let stands = try #require(there.answer.size)
            #expect(stands > 0 && stands <= 3 << 20)
            let rest = Array(content.dropFirst(Int(stands)))
            let more = FTPRequest(place(proxy), .upload(RawPath(path), 0..<Int64(rest.count), appends: true))
            #expect(try await client.run(more, .bytes(rest)).story == "ok 226 APPE")
            #expect(vsftpd.stored("file") == content)
        }
    }

    @Test func `a download that is cut says so, and its sink has a prefix`() async throws {
        let (vsftpd, proxy) = try proxied("ftpd", Sandbox())
        let content = pattern(8 << 20)
        try vsftpd.store("file", content)
        try await withFTPClient { client async throws in
            try proxy.run("rules", proxy.folder, "rst down 3M conn=1 on=data")
            let sink = RecordingSink()
            let cut = try await client.receive(FTPRequest(place(proxy), .download(RawPath("file"), from: 0)), sink)
            #expect(cut.failure?.failureClass == .transient)
            #expect(cut.bytesDelivered == Int64(sink.bytes.count))
            #expect(sink.bytes == Array(content.prefix(sink.bytes.count)))
            let rest = FTPRequest(place(proxy), .download(RawPath("file"), from: Int64(sink.bytes.count)))
            #expect(try await client.receive(rest, sink).failure == nil)
            #expect(sink.bytes == content)
        }
    }

    @Test func `a line that stands still is given up`() async throws {
        let (_, proxy) = try proxied("ftpd", Sandbox())
        try await withFTPClient(threads: 1) { client async throws in
            try proxy.run("rules", proxy.folder, "stall up 1M conn=1 on=data")
            let content = [UInt8](repeating: 7, count: 64 << 20)
            var request = FTPRequest(place(proxy), .upload(RawPath([65]), 0..<Int64(content.count), appends: false))
            request.timeouts.stall = .milliseconds(400)
            let end = try await client.run(request, .bytes(content))
            #expect(end.failure?.cause == .stalled)
            #expect(end.bytesSent > 0)
            #expect(end.story == "failed 28 -")
            // The thread gave it up, too.
            let next = try await client.run(FTPRequest(place(proxy), .commands([Array("PWD".utf8)])))
            #expect(next.story == "ok 257 PWD")
        }
    }

    @Test func `the time for which the machine sleeps is no stall`() async throws {
        let release = try Milestone()
        let data = try ScriptedServer { connection in
            try connection.send("half of it")
            release.waitBlocking()
        }
        let control = try ScriptedServer.ftp(data: data) { $0 == "RETR" ? "150 it comes" : nil }
        let server = FTPServer(host: "127.0.0.1", port: Int(control.port))
        try await withFTPClient(manualClock: true) { client async throws in
            var request = FTPRequest(server, .download(RawPath("f"), from: 0))
            request.timeouts.stall = .seconds(60)
            request.timeouts.answer = .seconds(600)
            let number = try await client.start(request)
            await client.openGate(number, RecordingSink())
            await client.turn { $0.progress(number)?.received == 10 }
            // The watchdog looks every quarter of its time. Its first look sees the bytes.
            await client.advance(by: .seconds(15))
            await client.sleep(for: .seconds(36_000))
            #expect(await client.progress(number)?.received == 10)
            await client.advance(by: .seconds(45))
            #expect(await client.progress(number) != nil)
            await client.advance(by: .seconds(30))
            #expect(await client.end(of: number).failure?.cause == .stalled)
            release.reach()
        }
        control.stop()
        data.stop()
    }

    @Test(
        "a line that breaks while folders are made is that, and no refusal of what came before",
        arguments: ["257 made", "550 File exists", nil])
    func cutBesideFolders(reply: String?) async throws {
        let data = try ScriptedServer { _ in }
        let folders = Mutex(0)
        let control = try ScriptedServer.ftp(data: data) { command in
            if command == "STOR" { return "553 no such folder" }
            guard command == "MKD" else { return nil }
            let isFirst = folders.withLock { count in
                count += 1
                return count == 1
            }
            guard let reply, isFirst else { throw EndOfConnection() }
            return reply
        }
        try await withFTPClient { client async throws in
            let server = FTPServer(host: "127.0.0.1", port: Int(control.port))
            let request = FTPRequest(server, .upload(RawPath("new/folder/f"), 0..<10, appends: false))
            let end = try await client.run(request, .bytes(pattern(10)))
            #expect(end.failure?.failureClass == .transient && end.answer.reply == nil, "\(end)")
        }
        control.stop()
        data.stop()
    }

    @Test func `a reply that never comes is not waited for longer than the answer may take`() async throws {
        let (vsftpd, proxy) = try proxied("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            // What the server says after the login is lost, the 226 with it.
            let content = [UInt8](repeating: 7, count: 1000)
            #expect(try await client.run(FTPRequest(place(proxy), .commands([Array("PWD".utf8)]))).failure == nil)
            try proxy.run("rules", proxy.folder, "lose down 1 conn=1 on=data", "stall down 250 conn=1")
            var request = FTPRequest(place(proxy), .upload(RawPath([65]), 0..<1000, appends: false))
            request.timeouts.stall = .milliseconds(400)
            request.timeouts.answer = .milliseconds(400)
            let end = try await client.run(request, .bytes(content))
            #expect(end.failure == nil || end.failure?.failureClass == .transient)
            #expect(vsftpd.stored("A").map { $0.count <= 1000 } ?? true)
        }
    }

    @Test(
        "TLS protects commands and data, and its sessions are resumed",
        arguments: [("TLS=1", FTPSecurity.explicit), ("IMPLICIT=1", .implicit)])
    func tls(setting: String, security: FTPSecurity) async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox(), setting, "SSL_REUSE=1")
        try await withFTPClient { client async throws in
            var place = FTPServer(security, host: "127.0.0.1", port: vsftpd.port)
            let refused = try await client.run(FTPRequest(place, .size(RawPath([65]))))
            #expect(refused.failure?.failureClass == .permanent)
            #expect(refused.answer.reply == nil)
            place.connection.authorities = try Authorities(file: "\(vsftpd.folder)/tls/ca.crt")
            // The size that vsftpd loses the end of under TLS 1.3.
            for number in 0..<12 {
                let content = [UInt8](repeating: UInt8(number), count: 1_000_000 + number)
                let path = Array("folder/file\(number)".utf8)
                let request = FTPRequest(place, .upload(RawPath(path), 0..<Int64(content.count), appends: false))
                #expect(try await client.run(request, .bytes(content)).story == "ok 226 STOR")
                #expect(vsftpd.stored("folder/file\(number)") == content)
            }
            let sink = RecordingSink()
            let back = FTPRequest(place, .download(RawPath("folder/file3"), from: 1_000_000))
            #expect(try await client.receive(back, sink).failure == nil)
            #expect(sink.bytes == [3, 3, 3])
        }
    }

    @Test(
        "ProFTPD refuses a STOR before TLS is up on the data connection: libcurl takes it for PASV's answer, we do not",
        arguments: ["TLS=1", "SSL_REUSE=1"])
    func refusedBeforeTLS(setting: String) async throws {
        let proftpd = try ServerScript("ftpd-tls", Sandbox(), setting)
        try await withFTPClient { client async throws in
            var place = FTPServer(.explicit, host: "127.0.0.1", port: proftpd.port)
            place.connection.authorities = try Authorities(file: "\(proftpd.folder)/tls/ca.crt")
            place.connection.credentials = HTTPCredentials(user: "test", password: "test")
            for number in 0..<4 {
                let content = [UInt8](repeating: UInt8(number), count: 200_000)
                let path = Array("a/b\(number)/f".utf8)
                let request = FTPRequest(place, .upload(RawPath(path), 0..<200_000, appends: false))
                #expect(try await client.run(request, .bytes(content)).story == "ok 226 STOR")
                #expect(proftpd.stored("a/b\(number)/f") == content)
            }
            let folder = FTPRequest(place, .upload(RawPath("a/b0"), 0..<1, appends: false))
            #expect(try await client.run(folder, .bytes([1])).answer.reply?.code == 550)
            #expect(try await client.run(FTPRequest(place, .size(RawPath("a/b1/f")))).answer.size == 200_000)
        }
    }

    @Test func `a server without TLS is not spoken to in the clear when TLS was asked for`() async throws {
        let vsftpd = try ServerScript("ftpd", Sandbox())
        try await withFTPClient { client async throws in
            let place = FTPServer(.explicit, host: "127.0.0.1", port: vsftpd.port)
            let end = try await client.run(FTPRequest(place, .size(RawPath([65]))))
            #expect(end.failure?.failureClass == .permanent)
        }
        let log = String(decoding: vsftpd.read("vsftpd.log") ?? [], as: UTF8.self)
        #expect(!log.contains("\"USER "))
    }
}
