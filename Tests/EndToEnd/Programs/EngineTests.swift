import Glibc
import SQLiteConnection
import Testing
import TransferModel

/// One queue, one engine: second engines, stale sockets, long paths, damaged queues, hostile clients.
@Suite(.inLane) struct EngineTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private var queuePath: String { "\(sandbox.home)/state/queue.sqlite" }
    private var socketPath: String { "\(sandbox.home)/state/run/control.sock" }

    private func startEngine() throws -> ChildProgram {
        let engine = try sandbox.start("martletd", [])
        try waitUntil("the engine answers") {
            guard engine.status == nil else { throw HarnessError("martletd ended: \(engine.soFar)") }
            return try sandbox.enginePid() == engine.pid
        }
        return engine
    }

    @Test func `status, stop, list and events start no engine`() throws {
        for command in [["engine", "status"], ["list"], ["events"]] {
            let outcome = try sandbox.start("martlet", command + ["--json"]).wait()
            #expect(outcome.status == 0)
            #expect(try outcome.json == .object(["running": .bool(false)]), "\(command)")
        }
        #expect(try sandbox.succeed("engine", "stop").status == 0)
        #expect(sandbox.ownProcesses().isEmpty)
    }

    @Test func `a stopped engine stays stopped while others follow its events and its log, or wait`() throws {
        let engine = try startEngine()
        try write("x", to: "\(sandbox.root)/x")
        try sandbox.succeed("upload", "--hold", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        try waitUntil("the upload has hung up") { clients(of: engine.pid) == 0 }
        let followers = try [["events", "--after", "0", "--follow"], ["log", "--follow"], ["wait", "--patient"]].map {
            try sandbox.start("martlet", $0)
        }
        // What they follow has been said: they wait for more.
        try waitUntil("the events are told") { followers[0].soFar.output.contains("batch queued") }
        try waitUntil("the log is told") { followers[1].soFar.output.contains("queued") }
        // One that comes after the stop starts an engine, as it should.
        try waitUntil("all of them are connected") { clients(of: engine.pid) == followers.count }
        try sandbox.succeed("engine", "stop", "--now")
        #expect(try engine.wait().status == 0)
        #expect(try followers[2].wait().status == 69)
        for follower in followers.prefix(2) {
            follower.signal(SIGTERM)
            _ = try follower.wait()
        }
        let status = try sandbox.start("martlet", ["engine", "status", "--json"]).wait()
        #expect(try status.json == .object(["running": .bool(false)]))
    }

    @Test func `a command that gets no descriptors for its connection says so`() throws {
        // Fifteen it has, and its libraries are loaded with the sixteenth.
        let script =
            "for n in {3..14}; do eval \"exec $n</dev/null\"; done; ulimit -n 16; exec \(Sandbox.programs)/martlet list"
        let outcome = try sandbox.start("/bin/bash", ["-c", script]).wait()
        #expect(outcome.status == 1)
        let said = "martlet: no thread for the connection to the engine: Too many open files\n"
        #expect(outcome.errors.hasSuffix(said), "\(outcome)")
        #expect(sandbox.ownProcesses().isEmpty)
    }

    @Test(arguments: [4, 5, 6, 15])
    func `a shell that allows next to no open files is told so`(limit: Int) throws {
        let script = "ulimit -n \(limit); exec \(Sandbox.programs)/martlet list"
        let outcome = try sandbox.start("/bin/sh", ["-c", script]).wait()
        #expect(outcome.status == 69)
        let said = "martlet: no more than \(limit) files may be open here: raise the limit (ulimit -n 64)\n"
        #expect(outcome.errors == said, "\(outcome)")
    }

    @Test func `a second engine on the same queue leaves with 75 and says who holds it`() throws {
        let first = try startEngine()
        let second = try sandbox.start("martletd", []).wait()
        #expect(second.status == 75, "\(second)")
        #expect(second.errors.contains("\(first.pid)"), "\(second)")
        #expect(try sandbox.enginePid() == first.pid, "the first goes on")
        first.signal(SIGTERM)
        #expect(try first.wait().status == 0)
    }

    /// The soft and the hard limit of the size of a core dump, in the kernel's words.
    private func coreLimits(of pid: pid_t) throws -> [String] {
        let text = String(decoding: try readBytes(RawPath("/proc/\(pid)/limits")), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        return line.dropFirst("Max core file size".count).split(separator: " ").prefix(2).map(String.init)
    }

    // Who is not root keeps its processes dumpable in tests: it could not find them any more.
    @Test(.enabled(if: getuid() == 0, "not root"))
    func `neither the engine nor a command leaves a core dump`() throws {
        let engine = try startEngine()
        try write("x", to: "\(sandbox.root)/x")
        try sandbox.succeed("upload", "--hold", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        let front = try sandbox.start("martlet", ["wait", "--patient"])
        for pid in [engine.pid, front.pid] {
            try waitUntil("its limits are its own") { try coreLimits(of: pid) == ["0", "0"] }
        }
        #expect(front.status == nil && engine.status == nil)
    }

    @Test func `many fronts at once start one engine`() throws {
        let fronts = try (0..<6).map { _ in try sandbox.start("martlet", ["engine", "start"]) }
        for front in fronts { #expect(try front.wait().status == 0, "\(front.soFar)") }
        let engines = sandbox.ownProcesses()
        #expect(engines.count == 1)
        #expect(try sandbox.enginePid() == engines.first)
    }

    /// Clients whose connections an engine has taken.
    private func clients(of pid: pid_t) -> Int {
        let open = Set(
            names(in: RawPath("/proc/\(pid)/fd")).compactMap { linkTarget("/proc/\(pid)/fd/\($0.displayed)") })
        let table = (try? readBytes(RawPath("/proc/net/unix"))) ?? []
        return table.split(separator: 10).count { line in
            // Address, references, protocol, flags, type, state (3: connected), inode, name.
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard fields.count == 8, fields[5] == "03", fields[7].hasSuffix("/control.sock") else { return false }
            return open.contains("socket:[\(fields[6])]")
        }
    }

    private func status() throws -> JSON { try sandbox.succeed("engine", "status", "--json").json }

    @Test func `a stop that finishes what runs is seen, explained, and taken back by new work`() throws {
        let nginx = try Nginx(sandbox)
        try sandbox.succeed("engine", "start")
        try sandbox.succeed("limit", "--transfers", "1")
        // Slow enough for all that follows; the limit is lifted at the end.
        try sandbox.succeed("limit", "50K")
        for name in ["a", "b"] {
            try write(SeededBytes.bytes(8 << 20, seed: 3), to: RawPath("\(sandbox.root)/batch/\(name)"))
        }
        let first = try sandbox.send("\(sandbox.root)/batch", nginx.url)
        let engine = try sandbox.enginePid()
        for way in [["engine", "start"], ["upload", "\(sandbox.root)/batch/a", nginx.url + "second/"]] {
            try waitUntil("a file runs") { try status()["tasksActive"] == .integer(1) }
            let stop = try sandbox.start("martlet", ["engine", "stop"])
            try waitUntil("the engine is about to stop") { try status()["stopping"] == .bool(true) }
            let why = try sandbox.succeed("why", "t2").output
            #expect(why.contains("told to stop") && why.contains("martlet engine start"), "\(why)")
            let waits = try sandbox.succeed("show", "t2", "--json").json
            #expect(waits["state"].text == "waiting" && waits["waitReasons"] == .array([.text("draining")]))
            try sandbox.succeed(way)
            let stopped = try stop.wait()
            #expect(stopped.status == 1 && stopped.errors.contains("the engine goes on"), "\(stopped)")
            #expect(try status()["stopping"] == .bool(false))
        }
        try sandbox.succeed("limit", "off")
        try sandbox.succeed("wait")
        #expect(try sandbox.batch(first)["filesCompleted"] == .integer(2))
        #expect(try sandbox.enginePid() == engine, "the same engine all the time")
        #expect(try sandbox.martlet("engine", "stop").status == 0)
    }

    @Test func `a stale socket is replaced`() throws {
        try sandbox.succeed("engine", "start")
        try sandbox.killEngine()
        #expect(fileExists(socketPath), "a killed engine leaves its socket")
        try sandbox.succeed("engine", "start")
        #expect(try sandbox.enginePid() != nil)
    }

    @Test func `a very long MARTLET_HOME works`() throws {
        let part = String(repeating: "long-", count: 40)
        let deep = try Sandbox(home: "\(part)/\(part)/\(part)/home")
        let nginx = try Nginx(deep)
        let tree = try FileTree.make(at: "\(deep.root)/batch", count: 10, seed: 2)
        let batch = try deep.upload(tree.path, nginx.url + "up/")
        try BatchProof(sandbox: deep, nginx: nginx, tree: tree, batch: batch, folder: "up/batch").verify()
        try deep.succeed("engine", "stop", "--now")
        try waitUntil("the engine has left") { deep.ownProcesses().isEmpty }
    }

    @Test func `a corrupt queue is refused with 65, named, and left as it is`() throws {
        let garbage = SeededBytes.bytes(50_000, seed: 40)
        try write(garbage, to: RawPath(queuePath))
        let engine = try sandbox.start("martletd", []).wait()
        #expect(engine.status == 65, "\(engine)")
        #expect(engine.errors.contains("queue.sqlite"), "\(engine)")
        #expect(try readBytes(RawPath(queuePath)) == garbage)
        try write("x", to: "\(sandbox.root)/x")
        let front = try sandbox.martlet("upload", "--json", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        #expect(front.status == 69, "\(front)")
        #expect(try front.json["error"]["code"].text == "queueCorrupt", "\(front)")
        let check = try sandbox.start("martletd", ["--check"]).wait()
        #expect(check.status == 65, "\(check)")
        #expect(try readBytes(RawPath(queuePath)) == garbage)
    }

    @Test func `a queue from a newer Martlet is refused with 65, named, and left as it is`() throws {
        try sandbox.succeed("engine", "start")
        try sandbox.succeed("engine", "stop", "--now")
        try waitUntil("the engine has left") { sandbox.ownProcesses().isEmpty }
        try addUnknownMigration()
        let engine = try sandbox.start("martletd", []).wait()
        #expect(engine.status == 65, "\(engine)")
        #expect(engine.errors.contains("newer"), "\(engine)")
        let front = try sandbox.martlet("engine", "start", "--json")
        #expect(front.status == 69, "\(front)")
        #expect(try front.json["error"]["code"].text == "queueNewer", "\(front)")
    }

    @Test
    func `ten megabytes of garbage on the control socket cost their sender the connection and nobody else anything`()
        throws
    {
        let engine = try startEngine()
        let nginx = try Nginx(sandbox)
        let tree = try FileTree.make(at: "\(sandbox.root)/batch", count: 30, seed: 6)
        let batch = try sandbox.upload(tree.path, nginx.url + "up/")
        for garbage in [
            SeededBytes.bytes(10_000_000, seed: 41).map { $0 == 10 ? 11 : $0 }, SeededBytes.bytes(10_000_000, seed: 42),
        ] {
            #expect(try sendAndAwaitClose(garbage), "the engine closes the connection")
        }
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch").verify()
        #expect(try sandbox.enginePid() == engine.pid)
        engine.signal(SIGTERM)
        #expect(try engine.wait().status == 0)
    }

    /// Sends all it can; true once the other side has closed.
    private func sendAndAwaitClose(_ bytes: [UInt8]) throws -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socketPath.utf8)) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw HarnessError("cannot connect to \(socketPath)") }
        var offset = 0
        while offset < bytes.count {
            let sent = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + offset, min(65536, bytes.count - offset), Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { return true }
            offset += sent
        }
        var answer = [UInt8](repeating: 0, count: 65536)
        var received = 0
        repeat { received = recv(descriptor, &answer, answer.count, 0) } while received > 0
        return true
    }

    /// What a later version does to a queue: one more migration by a name that this one does not know.
    private func addUnknownMigration() throws {
        let database = try SQLiteConnection(path: Array(queuePath.utf8), access: .readWrite)
        try database.execute(
            script: "INSERT INTO migrations SELECT max(number) + 1, '9999 of a later time', 0 FROM migrations")
    }
}
