import Glibc
import Testing
import TransferModel

/// One protocol's server with the proxy before it, in a sandbox of its own.
final class WireBench {
    let wire: WireProtocol
    let sandbox: Sandbox
    let proxy: FaultProxy
    let far: FarEnd
    /// What `martlet upload` is told besides where to.
    let options: [String]
    /// Where uploads go, by way of the proxy; a directory.
    let destination: String

    /// - Parameter token: what `martlet receive` asks for.
    init(_ wire: WireProtocol, token: String? = nil) throws {
        self.wire = wire
        let sandbox = try Sandbox()
        self.sandbox = sandbox
        let far = try FarEnd(wire, sandbox, token: token)
        self.far = far
        switch far {
        case .ftp(let server, _): proxy = try FaultProxy(sandbox, beforeFTP: server)
        default: proxy = try FaultProxy(sandbox, target: far.address)
        }
        let address = proxy.address
        switch far {
        case .tus:
            options = wire == .tusInChunks ? ["--chunk", "\(WireProtocol.chunk)"] : []
            destination = "tus+http://\(address)/files/"
        case .receiver:
            options = []
            destination = "\(wire == .tusToReceiver ? "tus" : "ietf")+http://\(address)/"
        case .s3:
            options = ["--chunk", "\(WireProtocol.part)"]
            destination = "s3://test/up/"
            sandbox.environment = S3Server.environment(address)
        case .sftp(let server):
            options = ["--ssh-command", server.command(through: proxy)]
            destination = "sftp://\(address)\(server.data)/up/"
        case .ftp(let server, _):
            options = server.options
            destination = "\(wire.rawValue)://\(address)/up/"
        case .dav:
            options = []
            destination = "dav://\(address)/up/"
        case .nextcloud:
            options = ["--chunk", "\(WireProtocol.part)"]
            destination = "dav://\(address)/remote.php/dav/files/test/up/"
        case .draft:
            options = []
            destination = "ietf+http://\(address)/up/"
        case .nginx:
            options = ["--protocol", "put"]
            destination = "http://\(address)/up/"
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

    /// What arrived, below a folder that was sent or altogether, and nothing beside it.
    func arrived(
        below name: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [RawPath: String] {
        try far.arrived(below: name, sourceLocation: sourceLocation)
    }

    /// Kills the engine, and lets arrive what must.
    func killEngine(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try sandbox.killEngine(sourceLocation: sourceLocation)
        try letArrive(sourceLocation: sourceLocation)
    }

    /// Where the server cannot end the connection before, what a killed engine had handed to the system arrives first: how much it is
    /// depends on the machine, not on Martlet.
    func letArrive(sourceLocation: SourceLocation = #_sourceLocation) throws {
        if !wire.takesOver { try proxy.awaitClosed(sourceLocation: sourceLocation) }
    }

    /// Waits until this many bytes of the batch are sent, by the engine's word.
    func awaitSent(_ bytes: Int64, of batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try awaitCount("bytesSent", bytes, of: batch, sourceLocation)
    }

    /// Waits until the server has something that it will remember: whole parts, or of a stream this many bytes.
    func awaitStored(_ bytes: Int64, of batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try awaitCount(wire.hasParts ? "bytesAccepted" : "bytesSent", bytes, of: batch, sourceLocation)
    }

    private func awaitCount(_ key: String, _ bytes: Int64, of batch: String, _ sourceLocation: SourceLocation) throws {
        try waitUntil("\(key) of \(batch) is \(bytes)", sourceLocation: sourceLocation) {
            let shown = try sandbox.batch(batch, sourceLocation: sourceLocation)
            guard shown["finishedAt"] == .null else { throw HarnessError("\(batch) ended early: \(shown)") }
            return (shown[key].integer ?? 0) >= bytes
        }
    }

    /// Pushes a batch of one on whenever it waits for another try, until the condition holds.
    func push(
        _ batch: String, sourceLocation: SourceLocation = #_sourceLocation, until condition: (JSON) throws -> Bool
    ) throws {
        var task = JSON.null
        try waitUntil("\(batch) goes on: \(task)", sourceLocation: sourceLocation) {
            task = try sandbox.task(batch)
            if try condition(task) { return true }
            // What is to be seen is where it goes on, not how long it waits before.
            if task["state"].text == "waiting" { try sandbox.martlet("retry", batch) }
            return false
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
