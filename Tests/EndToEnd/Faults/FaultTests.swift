import Testing
import TransferModel

/// A line or a server that fails: the task waits, says why, goes on, and completes.
@Suite(.inLane) struct FaultTests {
    let sandbox: Sandbox
    let nginx: Nginx
    let content = SeededBytes.bytes(4_000_000, seed: 11)

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
        try write(content, to: RawPath("\(sandbox.root)/film.mov"))
    }

    private var source: String { "\(sandbox.root)/film.mov" }

    /// Waits until the only task of the batch waits, and gives it.
    private func awaitWaiting(_ batch: String) throws -> JSON {
        var task = JSON.null
        try waitUntil("\(batch) waits") {
            task = try sandbox.task(batch)
            return task["state"].text == "waiting"
        }
        return task
    }

    private func expectArrived(_ batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)", sourceLocation: sourceLocation)
        #expect(
            try readBytes(nginx.data.appending(RawPath("film.mov"))) == content, sourceLocation: sourceLocation)
        #expect(try nginx.timesStored(below: "").values.allSatisfy { $0 == 1 }, sourceLocation: sourceLocation)
        let task = try sandbox.task(batch)
        #expect(
            task["bytesSent"].integer == Int64(content.count), "never past the total", sourceLocation: sourceLocation)
    }

    @Test func `a server that refuses connections is waited for`() throws {
        try nginx.crash()
        let batch = try sandbox.upload(source, nginx.url)
        let task = try awaitWaiting(batch)
        #expect(
            !Set(task["waitReasons"].texts).isDisjoint(with: ["connectivity", "backoff", "hostBackoff"]), "\(task)")
        #expect(task["error"]["code"].text == "cannotConnectToHost", "\(task)")
        #expect(task["error"]["retryable"].bool == true)
        // Between two tries it is being started, and nobody has to be named.
        try waitUntil("why says who does not answer") {
            try sandbox.succeed("why", batch).output.contains("127.0.0.1")
        }
        try nginx.restart()
        try expectArrived(batch)
    }

    @Test func `a connection reset half way is begun again`() throws {
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rst up 2M first=2")
        let batch = try sandbox.upload(source, proxy.url)
        try expectArrived(batch)
        let task = try sandbox.task(batch)
        #expect(task["attempts"].integer == 2, "\(task)")
        #expect((task["bytesRepeated"].integer ?? 0) > 0, "what was sent twice is counted: \(task)")
    }

    @Test func `a server that falls silent is given up and asked again`() throws {
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "stall up 1M first=2")
        let batch = try sandbox.upload("--request-timeout", "2s", source, proxy.url)
        try expectArrived(batch)
        let history = try sandbox.succeed("show", sandbox.task(batch)["id"].text ?? "", "--history", "--json").json[
            "history"]
        #expect(history.array.contains { $0["cause"].text == "timedOut" }, "\(history)")
    }

    @Test func `503 with Retry-After is obeyed`() throws {
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "answer 503 retry-after=2 first=1")
        let batch = try sandbox.upload(source, proxy.url)
        let task = try awaitWaiting(batch)
        #expect(!Set(task["waitReasons"].texts).isDisjoint(with: ["backoff", "hostBackoff"]), "\(task)")
        #expect(task["error"]["httpStatus"].integer == 503)
        #expect(task["retryAt"].text != nil)
        let why = try sandbox.succeed("why", batch).output
        #expect(why.contains("503"), "\(why)")
        try expectArrived(batch)
        // The proxy writes a line when a connection has ended.
        try sandbox.killEngine()
        try waitUntil("the proxy has written its log") { try proxy.log().count >= 2 }
        let began = try proxy.log().compactMap { $0["at"].seconds }.sorted()
        #expect(began[1] - began[0] >= 2, "not before the server's time")
    }

    @Test func `a download over a line that breaks goes on by ranges`() throws {
        try write(content, to: nginx.data.appending(RawPath("served.mov")))
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rst down 1M first=2")
        let batch = try sandbox.download(proxy.url + "served.mov", "\(sandbox.root)/arrived.mov")
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try readBytes(RawPath("\(sandbox.root)/arrived.mov")) == content)
        let statuses = try nginx.answers().filter { $0.method == "GET" }.map(\.status)
        #expect(statuses.first == 200)
        #expect(statuses.dropFirst().allSatisfy { $0 == 206 }, "\(statuses)")
    }

    @Test func `https is verified, and works with the right authority`() throws {
        let server = try Nginx(sandbox, folder: "nginx-tls", tls: true)
        let refused = try sandbox.upload(source, server.url)
        #expect(try sandbox.wait(refused).status == 1)
        let task = try sandbox.task(refused)
        #expect(task["error"]["code"].text == "tlsFailure", "\(task)")
        let accepted = try sandbox.upload("--ca", server.certificateAuthority, source, server.url)
        let ended = try sandbox.wait(accepted)
        #expect(ended.status == 0, "\(ended)")
        #expect(try readBytes(server.data.appending(RawPath("film.mov"))) == content)
    }
}
