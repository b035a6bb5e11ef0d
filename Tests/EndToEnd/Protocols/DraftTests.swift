import Testing
import TransferModel

/// The IETF's draft where it is not announced, and servers that keep to it in their own way.
@Suite(.inLane) struct DraftTests {
    let sandbox: Sandbox
    let source: RawPath
    private let size: Int64 = 30_000_000

    init() throws {
        sandbox = try Sandbox()
        source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 71), to: source)
    }

    /// Sends the file, kills the engine in the middle, and gives the task when it has arrived.
    /// - Parameter before: what goes through the proxy first; gives how many bytes that is.
    private func sendAndKill(
        _ server: DraftServer, _ scheme: String = "http", before: (FaultProxy) throws -> Int64 = { _ in 0 }
    ) throws -> JSON {
        let proxy = try FaultProxy(sandbox, before: server, rules: "rate up 12M")
        let others = try before(proxy)
        let batch = try sandbox.send(source.displayed, "\(scheme)://\(proxy.address)/up/")
        try waitUntil("half is sent") { try (sandbox.task(batch)["bytesSent"].integer ?? 0) >= size / 2 }
        try sandbox.killEngine()
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digest(of: server.data.appending(RawPath("up/film.mov"))) == digest(of: source))
        let task = try sandbox.task(batch)
        try sandbox.killEngine()
        let carried = try proxy.finalLog().reduce(0) { $0 + ($1["up"].integer ?? 0) }
        #expect(carried - others <= size + 2 << 20, "\(carried) bytes were sent")
        #expect(task["restarts"].integer == 0, "\(task)")
        #expect((task["resumedFrom"].array.first?.integer ?? 0) > size / 3, "\(task)")
        return task
    }

    @Test(arguments: ["none", "late"])
    func `a 104 in the middle of a plain PUT is taken up at once`(quirk: String) throws {
        let server = try DraftServer(sandbox, settings: ["ANNOUNCES=0", "QUIRK=\(quirk)"])
        _ = try sendAndKill(server)
        let requests = try server.requests()
        #expect(requests.allSatisfy { $0["method"].text != "PUT" || $0["Upload-Complete"].text == "?1" }, "\(requests)")
        #expect(requests.count { $0["method"].text == "PUT" } == 1, "it was never sent from the beginning again")
        #expect(requests.contains { $0["method"].text == "PATCH" && $0["status"].integer == 201 }, "\(requests)")
    }

    @Test func `a small file before does not hide that a server can go on`() throws {
        let server = try DraftServer(sandbox, settings: ["ANNOUNCES=0"])
        try write("small", to: "\(sandbox.root)/small")
        let proxy = try FaultProxy(sandbox, before: server)
        let first = try sandbox.send("\(sandbox.root)/small", "http://\(proxy.address)/up/")
        #expect(try sandbox.wait(first).status == 0)
        try proxy.set("rst up 12M first=2")
        try sandbox.killEngine()
        let batch = try sandbox.send(source.displayed, "http://\(proxy.address)/up/")
        #expect(try sandbox.wait(batch).status == 0)
        let task = try sandbox.task(batch)
        #expect(!task["resumedFrom"].array.isEmpty, "\(task)")
        #expect(try digest(of: server.data.appending(RawPath("up/film.mov"))) == digest(of: source))
    }

    @Test(arguments: [8, 6, 5, 3])
    func `the version that a server announces is found and spoken`(version: Int) throws {
        let server = try DraftServer(sandbox, version: version)
        let task = try sendAndKill(server)
        #expect(task["protocol"].text == "ietf", "\(task)")
        let asked = try server.requests().filter { $0["method"].text == "OPTIONS" }
        #expect(
            asked.compactMap { $0["Upload-Draft-Interop-Version"].text }
                == ["8", "6", "5", "3"].filter { Int($0) ?? 0 >= version })
    }

    @Test(arguments: ["http", "ietf+http"], [6, 3])
    func `a server that announces nothing is offered one version after the other`(scheme: String, version: Int) throws {
        let server = try DraftServer(sandbox, version: version, settings: ["ANNOUNCES=0"])
        let older = [8, 6, 5].filter { $0 > version }
        _ = try sendAndKill(server, scheme) { proxy in
            for other in older {
                let name = "\(sandbox.root)/before-\(other)"
                try write(SeededBytes.stamped(2 << 20, seed: UInt64(other)), to: RawPath(name))
                let batch = try sandbox.send(name, "\(scheme)://\(proxy.address)/up/")
                #expect(try sandbox.wait(batch).status == 0)
            }
            return Int64(older.count) * (2 << 20)
        }
        let puts = try server.requests().filter { $0["method"].text == "PUT" }
        #expect(
            puts.compactMap { $0["Upload-Draft-Interop-Version"].text } == (older + [version]).map(String.init),
            "\(puts)")
    }

    @Test(arguments: ["silent", "swapped"], [8, 3])
    func `servers that tell the end in their own way are understood`(quirk: String, version: Int) throws {
        let server = try DraftServer(sandbox, version: version, settings: ["QUIRK=\(quirk)"])
        _ = try sendAndKill(server, "ietf+http")
    }

    @Test func `a server that knows nothing of it gets one plain file`() throws {
        let server = try DraftServer(sandbox, version: 99, settings: ["ANNOUNCES=0"])
        let batch = try sandbox.send(source.displayed, "http://\(server.address)/up/")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try sandbox.task(batch)["protocol"].text == "put")
        #expect(try digest(of: server.data.appending(RawPath("up/film.mov"))) == digest(of: source))
        #expect(
            try server.requests().allSatisfy { $0["bytes"].integer != 0 || $0["method"].text != "PUT" }, "never empty")
    }
}
