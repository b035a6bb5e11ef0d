import Glibc
import Testing
import TransferModel

/// `martlet receive` as the other end of a batch.
@Suite(.inLane) struct ReceiverTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func `a batch arrives whole, and comes back whole`() throws {
        let receiver = try Receiver(sandbox)
        let tree = try FileTree.make(at: "\(sandbox.root)/batch", count: 60, seed: 12)
        let batch = try sandbox.upload(tree.path, receiver.url)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digests(below: receiver.data.appending(RawPath("batch"))) == digests(below: tree.root))

        try write(SeededBytes.bytes(3_000_000, seed: 13), to: receiver.data.appending(RawPath("back.bin")))
        let download = try sandbox.download(receiver.url + "back.bin", "\(sandbox.root)/back.bin")
        #expect(try sandbox.wait(download).status == 0)
        #expect(try readBytes(RawPath("\(sandbox.root)/back.bin")) == SeededBytes.bytes(3_000_000, seed: 13))
    }

    @Test func `a file that is there is not replaced silently, and the same file counts as completed`() throws {
        let receiver = try Receiver(sandbox)
        try write("old", to: receiver.data.appending(RawPath("file")))
        try write("new", to: "\(sandbox.root)/file")
        let refused = try sandbox.upload("\(sandbox.root)/file", receiver.url)
        #expect(try sandbox.wait(refused).status == 1)
        #expect(try sandbox.task(refused)["error"]["code"].text == "destinationExists")
        #expect(try readText("\(receiver.data)/file") == "old")
        let replaced = try sandbox.upload("--if-exists", "replace", "\(sandbox.root)/file", receiver.url)
        #expect(try sandbox.wait(replaced).status == 0)
        #expect(try readText("\(receiver.data)/file") == "new")
    }

    /// Bits turn over on the way, and nothing was said of how files are to be compared.
    @Test(arguments: ["", "tus+", "ietf+", "--protocol put"])
    func `a file that arrives damaged is never called complete`(way: String) throws {
        let receiver = try Receiver(sandbox)
        let proxy = try FaultProxy(sandbox, target: receiver.address)
        let options = way.hasPrefix("--") ? way.split(separator: " ").map(String.init) : []
        let url = "\(options.isEmpty ? way : "")http://\(proxy.address)/"
        for (name, count) in [("small", 5000), ("large", 3_000_000)] {
            let source = "\(sandbox.root)/\(name)"
            try write(SeededBytes.bytes(count, seed: 1), to: RawPath(source))
            // Behind the heads, before the end: in the body, whatever the protocol.
            try proxy.set("corrupt up \(count - 100)")
            let damaged = try sandbox.queue("upload", options + [source, url], #_sourceLocation)
            #expect(try sandbox.wait(damaged).status == 1, "\(way) \(name)")
            let task = try sandbox.task(damaged)
            #expect(task["error"]["code"].text == "integrity", "\(task)")
            // Rules are for new connections.
            try sandbox.killEngine()
            try proxy.set()
            let replaced = try sandbox.queue(
                "upload", ["--if-exists", "replace"] + options + [source, url], #_sourceLocation)
            #expect(try sandbox.wait(replaced).status == 0)
            #expect(try sandbox.task(replaced)["verified"].text == "digest", "\(way) \(name)")
            #expect(try readBytes(receiver.data.appending(RawPath(name))) == SeededBytes.bytes(count, seed: 1))
            try sandbox.killEngine()
        }
    }

    @Test(arguments: ["", "tus+", "ietf+", "--protocol put"])
    func `the same file sent twice is completed, another one is refused or replaces it`(way: String) throws {
        let receiver = try Receiver(sandbox)
        let options = way.hasPrefix("--") ? way.split(separator: " ").map(String.init) : []
        let url = (options.isEmpty ? way : "") + receiver.url
        for (name, count) in [("small", 5000), ("large", 3_000_000)] {
            let source = "\(sandbox.root)/\(name)"
            try write(SeededBytes.bytes(count, seed: 1), to: RawPath(source))
            for _ in 0..<3 {
                let batch = try sandbox.queue("upload", options + [source, url], #_sourceLocation)
                #expect(try sandbox.wait(batch).status == 0)
                #expect(try sandbox.task(batch)["verified"].text == "digest", "\(way) \(name)")
            }
            try write(SeededBytes.bytes(count, seed: 2), to: RawPath(source))
            let refused = try sandbox.queue("upload", options + [source, url], #_sourceLocation)
            #expect(try sandbox.wait(refused).status == 1)
            #expect(try sandbox.task(refused)["error"]["code"].text == "destinationExists")
            let replaced = try sandbox.queue(
                "upload", ["--if-exists", "replace"] + options + [source, url], #_sourceLocation)
            #expect(try sandbox.wait(replaced).status == 0)
            #expect(
                try readBytes(receiver.data.appending(RawPath(name))) == SeededBytes.bytes(count, seed: 2))
        }
    }

    @Test
    func `an upload that is broken off falls back to what its server has confirmed, and goes on from what it has`()
        throws
    {
        let receiver = try Receiver(sandbox)
        let content = SeededBytes.bytes(12_000_000, seed: 14)
        try write(content, to: RawPath("\(sandbox.root)/film"))
        let batch = try sandbox.queue(
            "upload", ["--limit", "400k", "\(sandbox.root)/film", "tus+" + receiver.url], #_sourceLocation)
        func expectConfirmed(_ shown: JSON) {
            #expect(shown["bytesSent"] == shown["bytesAccepted"], "\(shown)")
        }
        try waitUntil("a part of it is sent") { try sandbox.batch(batch)["bytesSent"].integer ?? 0 > 1_000_000 }
        try receiver.crash()
        // The third try is over, and the next one seconds away: the kill is to meet it waiting.
        try waitUntil("the task waits for its fourth try") {
            let task = try sandbox.task(batch)
            return task["state"].text == "waiting" && task["attempts"].integer ?? 0 >= 3
        }
        try expectConfirmed(sandbox.task(batch))
        try expectConfirmed(sandbox.batch(batch))
        try sandbox.killEngine()
        try expectConfirmed(sandbox.batch(batch))
        try receiver.restart()
        _ = try sandbox.succeed("set", batch, "--limit", "off")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(receiver.data.appending(RawPath("film"))) == content)
        #expect(try sandbox.task(batch)["restarts"].integer == 0)
    }

    /// Both ends on one machine, the proxy between them, and each of them killed again and again.
    @Test(arguments: WireProtocol.tested.filter { [.tusToReceiver, .ietf].contains($0) })
    func `both ends survive kill -9 again and again, and what is sent twice is what was on its way`(
        wire: WireProtocol
    ) throws {
        let bench = try WireBench(wire)
        let size: Int64 = 160_000_000
        let moments = Moments(9, of: 110_000_000, for: "both ends by \(wire)")
        let source = try bench.makeFile("film.mov", Int(size))
        var batch: String?
        var reached: Int64 = 0
        for (index, moment) in moments.places.enumerated() {
            // No connection carries so much that the end could be reached before the last kill.
            try bench.proxy.set(wire.rate(30), wire.rule("hold up \(moment - reached + 6_000_000)"))
            reached = moment
            let sent = try batch ?? bench.send(source.displayed)
            batch = sent
            try bench.push(sent) { task in
                guard task["finishedAt"] == .null else { throw HarnessError("it ended early: \(task)") }
                return (task["bytesSent"].integer ?? 0) >= moment
            }
            // This end, that end, both.
            if index % 3 != 0 { try bench.far.crash() }
            if index % 3 != 1 { try bench.sandbox.killEngine() }
            if index % 3 != 0 { try bench.far.restart() }
        }
        try bench.proxy.set()
        try bench.push(#require(batch)) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(#require(batch), source)
        #expect(task["restarts"].integer == 0, "\(task), \(moments)")
        // What lay in the sockets of the end that was killed: at most what the system gives one.
        let twice = try bench.bytesSentByWire() - size
        #expect(twice <= Int64(moments.places.count) * (6 << 20), "\(twice) bytes were sent twice, \(moments)")
        guard case .receiver(let receiver) = bench.far else { return }
        #expect(try digests(below: receiver.data)[RawPath("film.mov")] == digest(of: source), "\(moments)")
    }

    @Test func `a token is asked for, and given by a header`() throws {
        try write("open-sesame\n", to: "\(sandbox.root)/token")
        chmod("\(sandbox.root)/token", 0o600)
        let receiver = try Receiver(sandbox, access: ["--token-file", "\(sandbox.root)/token"])
        try write("cargo", to: "\(sandbox.root)/file")
        let stranger = try sandbox.upload("\(sandbox.root)/file", receiver.url)
        #expect(try sandbox.wait(stranger).status == 4, "401 waits for a person")
        #expect(!fileExists("\(receiver.data)/file"))
        let friend = try sandbox.upload(
            "--header", "Authorization: Bearer open-sesame", "\(sandbox.root)/file", receiver.url)
        #expect(try sandbox.wait(friend).status == 0)
        #expect(try readText("\(receiver.data)/file") == "cargo")
    }

    @Test(arguments: ["", "tus+", "ietf+", "--protocol put"])
    func `a token that the receiver made is found for uploads and downloads, also after both were killed`(
        way: String
    ) throws {
        let receiver = try Receiver(sandbox, access: [])
        try write(SeededBytes.bytes(3_000_000, seed: 14), to: RawPath("\(sandbox.root)/film.mov"))
        try write("small", to: "\(sandbox.root)/note")
        let options = way.hasPrefix("--") ? way.split(separator: " ").map(String.init) : []
        let url = (options.isEmpty ? way : "") + receiver.url
        let batch = try sandbox.queue(
            "upload",
            options + ["--limit", "500k", "\(sandbox.root)/film.mov", "\(sandbox.root)/note", url], #_sourceLocation)
        try waitUntil("bytes flow") { (try sandbox.batch(batch)["bytesSent"].integer ?? 0) > 300_000 }
        try receiver.crash()
        try sandbox.killEngine()
        try receiver.restart()
        #expect(try sandbox.martlet("set", batch, "--limit", "off").status == 0)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(
            try digest(of: receiver.data.appending(RawPath("film.mov")))
                == digest(of: RawPath("\(sandbox.root)/film.mov")))
        let download = try sandbox.download(
            receiver.url.replacing("127.0.0.1", with: "localhost") + "film.mov", "\(sandbox.root)/back.mov")
        #expect(try sandbox.wait(download).status == 0)
        #expect(try digest(of: RawPath("\(sandbox.root)/back.mov")) == digest(of: RawPath("\(sandbox.root)/film.mov")))
        #expect(try sandbox.martlet("destination", "test", receiver.url).status == 0)

        // It is in its file, and nowhere else.
        let port = try #require(receiver.url.dropLast().split(separator: ":").last)
        let token = try readText("\(sandbox.home)/state/receive/\(port).token").dropLast()
        #expect(token.utf8.count == 48)
        try sandbox.killEngine()
        for name in ["queue.sqlite", "queue.sqlite-wal", "secrets.sqlite", "log/martletd.log"] {
            let bytes = (try? readBytes(RawPath("\(sandbox.home)/state/\(name)"))) ?? []
            #expect(!String(decoding: bytes, as: UTF8.self).contains(token), "\(name)")
        }
        #expect(!receiver.process.soFar.output.contains(token))
    }

    @Test func `a program of another user that took the port is sent nothing`() throws {
        // Nobody but root can start one.
        guard getuid() == 0 else { return }
        let receiver = try Receiver(sandbox, access: [])
        let port = try #require(receiver.url.dropLast().split(separator: ":").last)
        try receiver.crash()
        let heard = "\(sandbox.root)/heard"
        let script = """
            import os, socket
            log = open("\(heard)", "wb", 0)
            os.setuid(12345)
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", \(port)))
            listener.listen(16)
            print("ready", flush=True)
            while True:
                connection, _ = listener.accept()
                log.write(b"+")
                while (data := connection.recv(65536)):
                    log.write(data)
            """
        let thief = try sandbox.start("/usr/bin/python3", ["-c", script])
        defer { thief.signal(SIGKILL) }
        try waitUntil("the port is taken") { thief.soFar.output.contains("ready") }
        try write("cargo", to: "\(sandbox.root)/file")
        let batch = try sandbox.upload("\(sandbox.root)/file", receiver.url)
        try waitUntil("it connected and was turned away") {
            let task = try sandbox.task(batch)
            return task["error"]["message"].text?.contains("no program of yours") == true
        }
        #expect(try readText(heard).allSatisfy { $0 == "+" })
        thief.signal(SIGKILL)
        _ = try? thief.wait()
        try receiver.restart()
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try readText("\(receiver.data)/file") == "cargo")
    }

    @Test func `TLS below 1.2 is not spoken`() throws {
        let authority = try CertificateAuthority(sandbox)
        let receiver = try Receiver(sandbox, options: authority.options)
        func status(_ version: String) throws -> Int32? {
            try sandbox.start(
                "/usr/bin/openssl",
                ["s_client", "-connect", receiver.address, version, "-cipher", "DEFAULT@SECLEVEL=0", "-no_ign_eof"]
            ).wait().status
        }
        #expect(try status("-tls1_2") == 0)
        #expect(try status("-tls1_3") == 0)
        #expect(try status("-tls1_1") != 0)
        #expect(try status("-tls1") != 0)
    }
}
