import Glibc
import Testing
import TransferModel

/// Uploads over TLS that are broken off by `kill -9` and go on: `martlet receive` with a certificate, and a WebDAV server.
@Suite(.inLane) struct TLSTests {
    let sandbox: Sandbox
    let source: RawPath
    private let size: Int64 = 60_000_000
    private let kills: [Int64] = [15_000_000, 30_000_000, 40_000_000]

    init() throws {
        sandbox = try Sandbox()
        source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 51), to: source)
    }

    /// Sends the file with kills on its way, and gives the task, and the bytes that were carried.
    private func sendAndKill(_ proxy: FaultProxy, _ url: String, _ authority: String) throws -> (JSON, carried: Int64) {
        try proxy.set("rate up 12M")
        let batch = try sandbox.send("--ca", authority, source.displayed, url)
        for moment in kills {
            try waitUntil("\(moment) bytes are sent") {
                let shown = try sandbox.batch(batch)
                guard shown["finishedAt"] == .null else { throw HarnessError("\(batch) ended early: \(shown)") }
                return (shown["bytesSent"].integer ?? 0) >= moment
            }
            try sandbox.killEngine()
            try proxy.awaitClosed()
        }
        try proxy.set()
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        let task = try sandbox.task(batch)
        try sandbox.killEngine()
        return (task, try proxy.finalLog().reduce(0) { $0 + ($1["up"].integer ?? 0) })
    }

    // Asked by OPTIONS, as no 104 is sent over TLS; `https://` alone finds that out.
    @Test(arguments: [("tus+https", "tus"), ("ietf+https", "ietf"), ("https", "ietf")])
    func `an upload to martlet receive goes on where it stood`(scheme: String, word: String) throws {
        let authority = try CertificateAuthority(sandbox)
        let receiver = try Receiver(sandbox, options: authority.options)
        #expect(receiver.url.hasPrefix("https://"))
        let proxy = try FaultProxy(sandbox, target: receiver.address)
        let (task, carried) = try sendAndKill(proxy, "\(scheme)://\(proxy.address)/", authority.certificate)
        #expect(try digests(below: receiver.data)[RawPath("film.mov")] == digest(of: source))
        #expect(task["protocol"].text == word, "\(task)")
        #expect(task["restarts"].integer == 0 && !task["resumedFrom"].array.isEmpty, "\(task)")
        // Heads, handshakes, and the frames of TLS.
        #expect(carried <= size + size / 200 + Int64(kills.count) << 20 + 100_000, "\(carried) bytes were sent")
    }

    @Test func `a WebDAV server gets the file whole, and what lies there under a temporary name goes`() throws {
        let server = try DavServer(sandbox, settings: ["TLS=1"])
        let proxy = try FaultProxy(sandbox, before: server)
        let (task, _) = try sendAndKill(proxy, "davs://\(proxy.address)/up/", "\(server.folder)/tls/ca.crt")
        #expect(
            try digests(below: server.data) == [RawPath("up/film.mov"): digest(of: source)], "and nothing beside it")
        #expect(task["restarts"].integer ?? 0 >= 1, "a beginning from zero is said: \(task)")
    }
}
