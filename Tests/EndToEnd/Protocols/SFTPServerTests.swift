import Glibc
import Testing
import TransferModel
import TestSupport

/// SFTP to servers that are not OpenSSH's, played by a script in the place of `ssh`, and the ways in that a person's `ssh` has.
@Suite(.inLane) struct SFTPServerTests {
    let sandbox: Sandbox
    let source: RawPath
    private let size: Int64 = 60_000_000
    /// How much is on its way at most, unanswered.
    private let window: Int64 = 8 << 20

    init() throws {
        sandbox = try Sandbox()
        source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 61), to: source)
    }

    private var there: RawPath { RawPath("\(sandbox.root)/other/data/up") }

    /// What each ended session carried.
    private func sessions() throws -> [JSON] {
        let path = "\(sandbox.root)/other/sessions"
        guard fileExists(path) else { return [] }
        return try readText(path).split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    /// Sends the file to a server of that kind, with kills on its way; gives its task, and the bytes of payload that came there.
    private func sendAndKill(_ quirks: String, kills: [Int64]) throws -> (task: JSON, came: Int64) {
        makeFolder(RawPath("\(sandbox.root)/other/data"))
        let command = "\(Checkout.root)/Tests/Servers/sftp-other \(sandbox.root)/other \(quirks)"
        let batch = try sandbox.send(
            "--ssh-command", command + " rate=20000000", source.displayed, "sftp://other.test/up/")
        for (index, moment) in kills.enumerated() {
            try waitUntil("\(moment) bytes are sent") {
                let shown = try sandbox.batch(batch)
                guard shown["finishedAt"] == .null else { throw HarnessError("\(batch) ended early: \(shown)") }
                return (shown["bytesSent"].integer ?? 0) >= moment
            }
            try sandbox.killEngine()
            // What was in the pipes is written yet: how much that is depends on the machine.
            try waitUntil("the session is over") {
                try sessions().count > index
            }
        }
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digests(below: there) == [RawPath("film.mov"): digest(of: source)], "and nothing beside it")
        let task = try sandbox.task(batch)
        // Its session ends with the engine.
        let count = try sessions().count
        try sandbox.killEngine()
        try waitUntil("the last session is over") { try sessions().count > count }
        return (task, try sessions().reduce(0) { $0 + ($1["payload"].integer ?? 0) })
    }

    @Test(arguments: ["", "extensions"])
    func `a server that nobody knows gets at most the window twice for each kill`(quirks: String) throws {
        let kills: [Int64] = [12_000_000, 25_000_000, 40_000_000]
        let (task, came) = try sendAndKill(quirks, kills: kills)
        #expect(task["restarts"].integer == 0 && !task["resumedFrom"].array.isEmpty, "\(task)")
        #expect(came <= size + Int64(kills.count) * window, "\(came) bytes came")
        #expect(try sessions().reduce(0) { $0 + ($1["renamed"].integer ?? 0) } == 1)
    }

    @Test func `a server that empties what is opened is noticed, and gets the file whole`() throws {
        let (task, _) = try sendAndKill("truncates", kills: [20_000_000])
        #expect(task["restarts"].integer == 1, "\(task)")
    }

    @Test func `a server without rename gets the file under its own name, whole`() throws {
        let (task, came) = try sendAndKill("norename", kills: [])
        #expect(task["restarts"].integer == 1, "once, when it was found out: \(task)")
        #expect(came <= 2 * size, "\(came) bytes came")
        // It is remembered: the next file goes there at once.
        try write(SeededBytes.stamped(5_000_000, seed: 62), to: RawPath("\(sandbox.root)/next.mov"))
        let command = "\(Checkout.root)/Tests/Servers/sftp-other \(sandbox.root)/other norename rate=20000000"
        let batch = try sandbox.send("--ssh-command", command, "\(sandbox.root)/next.mov", "sftp://other.test/up/")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try sandbox.task(batch)["restarts"].integer == 0)
        #expect(try digest(of: there.appending(RawPath("next.mov"))) == digest(of: RawPath("\(sandbox.root)/next.mov")))
    }

    // MARK: Ways in

    @Test func `a key that only an agent has lets in, also an engine that was killed and started anew`() throws {
        let server = try SSHServer(sandbox)
        let socket = "\(sandbox.root)/agent"
        let agent = try sandbox.start("/usr/bin/ssh-agent", ["-D", "-a", socket])
        defer { agent.signal(SIGTERM) }
        try waitUntil("the agent listens") { fileExists(socket) }
        sandbox.environment = ["SSH_AUTH_SOCK=\(socket)"]
        let added = try sandbox.start("/usr/bin/ssh-add", ["-q", "\(server.folder)/keys/id"]).wait()
        #expect(added.status == 0, "\(added)")
        // Nobody has the key any more but the agent.
        remove("\(server.folder)/keys/id")
        let proxy = try FaultProxy(sandbox, before: server, rules: "rate up 20M")
        let batch = try sandbox.send(
            "--ssh-command", server.command(through: proxy) + " -o IdentitiesOnly=no", source.displayed,
            "sftp://\(proxy.address)\(server.data)/up/")
        try waitUntil("some of it is sent") { try (sandbox.task(batch)["bytesSent"].integer ?? 0) > 1 << 20 }
        try sandbox.killEngine()
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digests(below: server.data.appending(RawPath("up"))) == [RawPath("film.mov"): digest(of: source)])
    }

    @Test func `a key that is refused is shown once, and after the cure every file goes on by itself`() throws {
        let server = try SSHServer(sandbox)
        let counter = "\(sandbox.root)/counted"
        try write("#!/bin/sh\necho x >>'\(sandbox.root)/calls'\nexec \"$@\"\n", to: counter)
        chmod(counter, 0o700)
        func calls() -> Int {
            (try? readText("\(sandbox.root)/calls"))?.split(separator: "\n").count ?? 0
        }
        for number in 0..<30 { try write("\(number)", to: "\(sandbox.root)/many/\(number)") }
        let (key, hidden) = ("\(server.folder)/keys/id", "\(server.folder)/keys/hidden")
        #expect(rename(key, hidden) == 0)
        let batch = try sandbox.queue(
            "upload",
            [
                "--ssh-command", "\(counter) \(server.command)", "\(sandbox.root)/many",
                "sftp://\(server.address)\(server.data)/up/",
            ], #_sourceLocation)
        let refused = try sandbox.wait(batch)
        #expect(refused.status == 4, "\(refused)")
        #expect((1...2).contains(calls()), "\(calls())")
        #expect(rename(hidden, key) == 0)
        try sandbox.succeed("retry", batch)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try sandbox.batch(batch)["filesCompleted"].integer == 30)
    }

    // A server that takes passwords needs an account with one, which no test may make; a key's passphrase is asked for in the same way.
    @Test func `a passphrase is given by the password command`() throws {
        let server = try SSHServer(sandbox)
        let locked = try sandbox.start(
            "/usr/bin/ssh-keygen", ["-q", "-p", "-P", "", "-N", "open sesame", "-f", "\(server.folder)/keys/id"]
        ).wait()
        #expect(locked.status == 0, "\(locked)")
        let batch = try sandbox.send(
            "--ssh-command", server.command, "--password-command", "echo 'open sesame'", source.displayed,
            "sftp://\(server.address)\(server.data)/up/")
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digests(below: server.data.appending(RawPath("up"))) == [RawPath("film.mov"): digest(of: source)])
    }
}
