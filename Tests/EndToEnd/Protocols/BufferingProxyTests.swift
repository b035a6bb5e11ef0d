import SQLiteConnection
import Testing
import TransferModel

/// `martlet receive` behind nginx as it is installed: it keeps each body back until it is whole, so that what was broken off never got there.
@Suite(.inLane) struct BufferingProxyTests {
    private let size: Int64 = 100_000_000
    /// What a cut may cost once the buffering has been noticed: one chunk.
    private let chunk: Int64 = 16 << 20

    @Test(arguments: ["tus", "ietf"])
    func `a proxy that keeps bodies back is noticed, and what is sent twice stays bounded`(way: String) throws {
        let sandbox = try Sandbox()
        let receiver = try Receiver(sandbox)
        let nginx = try Nginx(sandbox, before: receiver.address)
        let proxy = try FaultProxy(sandbox, before: nginx)
        let source = RawPath("\(sandbox.root)/film.mov")
        try write(SeededBytes.stamped(Int(size), seed: 31), to: source)

        // The first kill is what shows it: all that was sent is gone.
        let moments: [Int64] = [30_000_000, 50_000_000, 80_000_000]
        var batch: String?
        for moment in moments {
            // No connection carries more than this: the file cannot end before the kill.
            try proxy.set("rate up 30M", "hold up \(moment + 4_000_000)")
            let sent =
                try batch ?? sandbox.send(source.displayed, "\(way)+http://\(proxy.address)/")
            batch = sent
            try waitUntil("\(moment) bytes are sent") {
                let shown = try sandbox.batch(sent)
                guard shown["finishedAt"] == .null else { throw HarnessError("\(sent) ended early: \(shown)") }
                return (shown["bytesSent"].integer ?? 0) >= moment
            }
            if moment == moments.first { try awaitDurable(8 << 20, sandbox) }
            try sandbox.killEngine()
        }
        try proxy.set()
        let ended = try sandbox.wait(#require(batch))
        #expect(ended.status == 0, "\(ended)")
        #expect(try digest(of: receiver.data.appending(RawPath("film.mov"))) == digest(of: source))
        let task = try sandbox.task(#require(batch))
        try sandbox.killEngine()
        let log = try proxy.finalLog()
        let carried = log.reduce(0) { $0 + ($1["up"].integer ?? 0) }
        // What the first carried, and heads. Each of the others costs a chunk, and one more where the proxy had it whole: it passes some of
        // it on after the next engine has asked, whose first chunk then begins in the wrong place.
        let allowed = moments[0] + 4_000_000 + Int64(moments.count - 1) * 2 * chunk + 200_000
        #expect(carried - size <= allowed, "\(carried - size) bytes were sent twice: \(log) \(task)")
    }

    /// How far an upload has come is put on the disk now and then: the next engine can only know what is there.
    private func awaitDurable(_ bytes: Int64, _ sandbox: Sandbox) throws {
        let queue = try SQLiteConnection(
            path: Array("\(sandbox.home)/state/queue.sqlite".utf8), access: .readOnly)
        try waitUntil("the queue knows of \(bytes) bytes") {
            try queue.integer("SELECT max(unconfirmed) FROM task_details") ?? 0 > bytes
        }
    }
}
