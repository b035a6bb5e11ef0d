import Glibc
import Testing
import TransferModel

/// Downloads that are interrupted go on where they stood, and never mix two versions of a file.
@Suite(.inLane) struct DownloadTests {
    let sandbox: Sandbox
    let nginx: Nginx
    let content = SeededBytes.bytes(32_000_000, seed: 21)

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
        try write(content, to: nginx.data.appending(RawPath("film.mov")))
    }

    private var target: RawPath { RawPath("\(sandbox.root)/downloads/film.mov") }

    /// Queues the slow download and kills the engine when 20 % are safely on disk: what is left takes six seconds more, so that the end
    /// does not overtake the kill on a machine that has much else to do.
    private func downloadAndKillMidway() throws -> String {
        let batch = try sandbox.download(nginx.url + "slow/film.mov", "\(sandbox.root)/downloads/")
        try waitUntil("20 % are synced to disk") {
            try (sandbox.task(batch)["bytesAccepted"].integer ?? 0) >= 6_400_000
        }
        try sandbox.killEngine()
        #expect(!fileExists(target.displayed), "the final name never shows a torso")
        return batch
    }

    @Test func `a download killed at 20 percent goes on with one Range request`() throws {
        let batch = try downloadAndKillMidway()
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(target) == content)

        let gets = try nginx.answers().filter { $0.method == "GET" }
        #expect(gets.count == 2, "\(gets)")
        #expect(gets.map(\.status) == [200, 206])
        let resumed = try #require(gets.last)
        #expect(!resumed.ifRange.isEmpty, "the range is asked for on a condition")
        let task = try sandbox.task(batch)
        let offset = try #require(task["resumedFrom"].array.first?.integer, "\(task)")
        // The newest checkpoint may not have been committed when the kill came; the one before it was.
        #expect(offset >= 2_000_000)
        #expect(resumed.range == "bytes=\(offset)-")
        #expect(resumed.bytesSent == content.count - Int(offset))
        #expect(task["restarts"].integer == 0)
        #expect(task["bytesAccepted"].integer == Int64(content.count))
        #expect(task["finalPath"].text == target.displayed)
    }

    @Test(arguments: [32_000_000, 13_000_000, 33_000_001])
    func `a file that changed at the server starts over and is never mixed`(size: Int) throws {
        let batch = try downloadAndKillMidway()
        let newer = SeededBytes.bytes(size, seed: 22)
        let served = nginx.data.appending(RawPath("film.mov"))
        try write(newer, to: served)
        // nginx's tag is seconds and size: make sure that the second differs.
        var times = [timeval(tv_sec: 1_600_000_000, tv_usec: 0), timeval(tv_sec: 1_600_000_000, tv_usec: 0)]
        utimes(cString(served), &times)

        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(target) == newer)
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 1, "\(task)")
        #expect(task["bytesTotal"].integer == Int64(size))
    }

    @Test func `several files arrive in a folder under their own names`() throws {
        try write("one", to: "\(nginx.data)/a/one.txt")
        try write("two", to: "\(nginx.data)/a/two and a half.txt")
        let batch = try sandbox.download(
            nginx.url + "a/one.txt", nginx.url + "a/two%20and%20a%20half.txt", "\(sandbox.root)/downloads/")
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readText("\(sandbox.root)/downloads/one.txt") == "one")
        #expect(try readText("\(sandbox.root)/downloads/two and a half.txt") == "two")
        #expect(try digests(below: RawPath("\(sandbox.root)/downloads")).count == 2, "and nothing else is left there")
    }
}
