import Testing
import TransferModel

/// One protocol's server with the proxy before it, in a sandbox of its own.
final class WireBench {
    let wire: WireProtocol
    let sandbox: Sandbox
    let proxy: FaultProxy
    private let far: FarEnd
    /// What `martlet upload` is told besides where to.
    let options: [String]
    /// Where uploads go, by way of the proxy; a directory.
    let destination: String

    private enum FarEnd {
        case tus(TusServer)
        case s3(S3Server)
        /// Files lie below a folder by their names.
        case server(Server, RawPath)
        case receiver(Receiver)
    }

    init(_ wire: WireProtocol) throws {
        self.wire = wire
        let sandbox = try Sandbox()
        self.sandbox = sandbox
        switch wire {
        case .tus:
            let server = try TusServer(sandbox)
            proxy = try FaultProxy(sandbox, before: server)
            far = .tus(server)
            options = []
            destination = "tus+http://\(proxy.address)/files/"
        case .tusToReceiver, .ietf:
            let receiver = try Receiver(sandbox)
            proxy = try FaultProxy(sandbox, target: receiver.address)
            far = .receiver(receiver)
            options = []
            destination = "\(wire == .ietf ? "ietf" : "tus")+http://\(proxy.address)/"
        case .s3:
            let server = try S3Server(sandbox)
            proxy = try FaultProxy(sandbox, before: server)
            far = .s3(server)
            options = ["--chunk", "8M"]
            destination = "s3://test/up/"
            sandbox.environment = S3Server.environment(proxy.address)
        case .sftp:
            let server = try SSHServer(sandbox)
            proxy = try FaultProxy(sandbox, before: server)
            far = .server(server, server.data.appending(RawPath("up")))
            options = ["--ssh-command", server.command(through: proxy)]
            destination = "sftp://\(proxy.address)\(server.data)/up/"
        case .ftp, .ftpes:
            let server = try FTPServer(sandbox, wire == .ftp ? .vsftpd : .proFTPD)
            proxy = try FaultProxy(sandbox, beforeFTP: server)
            far = .server(server, server.data.appending(RawPath("up")))
            options = server.options
            destination = "\(wire.rawValue)://\(proxy.address)/up/"
        case .dav:
            let server = try DavServer(sandbox)
            proxy = try FaultProxy(sandbox, before: server)
            far = .server(server, server.data.appending(RawPath("up")))
            options = []
            destination = "dav://\(proxy.address)/up/"
        case .put:
            let server = try Nginx(sandbox)
            proxy = try FaultProxy(sandbox, before: server)
            far = .server(server, server.data.appending(RawPath("up")))
            options = ["--protocol", "put"]
            destination = "http://\(proxy.address)/up/"
        }
    }

    /// Queues an upload by the protocol, and gives the batch's ID.
    func send(_ source: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try sandbox.queue("upload", options + [source, destination], sourceLocation)
    }

    /// A source file whose content belongs to its seed.
    func makeFile(_ name: String, _ count: Int, seed: UInt64 = 1) throws -> RawPath {
        let path = RawPath("\(sandbox.root)/source/\(name)")
        try write(SeededBytes.stamped(count, seed: seed), to: path)
        return path
    }

    /// Every whole file that is at the server, by its path below the destination. Parts and temporary names are there, too, where the server's
    /// folder shows them: nothing of the kind may be left.
    func arrived(sourceLocation: SourceLocation = #_sourceLocation) throws -> [RawPath: String] {
        switch far {
        case .server(_, let folder): return try digests(below: folder)
        case .receiver(let receiver): return try digests(below: receiver.data)
        case .s3(let server): return try server.objects("up/")
        case .tus(let server):
            return try server.uploads().reduce(into: [:]) { found, upload in
                guard let other = found.updateValue(upload.digest, forKey: upload.path) else { return }
                // The server gives names of its own, so nobody can ask what became of a creation whose answer was lost. A small file goes along
                // with its creation, and may then be there twice; a large one never.
                #expect(
                    other == upload.digest && upload.size <= 1 << 20, "\(upload.path) is there twice",
                    sourceLocation: sourceLocation)
            }
        }
    }

    /// What arrived of a tree or folder that was sent.
    func arrived(below name: String) throws -> [RawPath: String] {
        let prefix = Array("\(name)/".utf8)
        return try arrived().reduce(into: [:]) { found, entry in
            guard entry.key.bytes.starts(with: prefix) else { return }
            found[RawPath(Array(entry.key.bytes.dropFirst(prefix.count)))] = entry.value
        }
    }

    func crashServer() throws {
        switch far {
        case .tus(let server): try server.crash()
        case .s3(let server): try server.crash()
        case .server(let server, _): try server.crash()
        case .receiver(let receiver): try receiver.crash()
        }
    }

    func restartServer() throws {
        switch far {
        case .tus(let server): try server.restart()
        case .s3(let server): try server.restart()
        case .server(let server, _): try server.restart()
        case .receiver(let receiver): try receiver.restart()
        }
    }

    /// Kills the engine. What it had handed to the system is still on its way then.
    func killEngine(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try sandbox.killEngine(sourceLocation: sourceLocation)
        // Asked for an upload that is still being written, tuspyserver stands still for all its clients, for 30 seconds.
        if wire == .tus { try proxy.awaitClosed(sourceLocation: sourceLocation) }
    }

    /// Waits until this many bytes of the batch are sent, by the engine's word.
    func awaitSent(_ bytes: Int64, of batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try waitUntil("\(bytes) bytes of \(batch) are sent", sourceLocation: sourceLocation) {
            let shown = try sandbox.batch(batch, sourceLocation: sourceLocation)
            guard shown["finishedAt"] == .null else { throw HarnessError("\(batch) ended early: \(shown)") }
            return (shown["bytesSent"].integer ?? 0) >= bytes
        }
    }

    /// Bytes that went to the server in all, counted at the proxy. Ends the engine, which would keep connections open.
    func bytesSentByWire(sourceLocation: SourceLocation = #_sourceLocation) throws -> Int64 {
        if try sandbox.enginePid() != nil { try sandbox.killEngine() }
        return try proxy.finalLog(sourceLocation: sourceLocation).reduce(0) { $0 + ($1["up"].integer ?? 0) }
    }

    /// Waits for the batch's only task, which must complete with the file at the server, once.
    @discardableResult
    func expectArrived(
        _ batch: String, _ source: RawPath, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSON {
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)", sourceLocation: sourceLocation)
        let task = try sandbox.task(batch, sourceLocation: sourceLocation)
        #expect(task["state"].text == "completed", "\(task)", sourceLocation: sourceLocation)
        let there = try arrived(sourceLocation: sourceLocation)
        #expect(
            there[source.lastComponent] == (try digest(of: source)), "it is another file there: \(there)",
            sourceLocation: sourceLocation)
        return task
    }
}
