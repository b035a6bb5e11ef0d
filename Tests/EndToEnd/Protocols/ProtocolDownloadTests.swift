import Testing
import TransferModel

/// Downloads by protocols that are no plain HTTP, broken off by `kill -9`.
@Suite(.inLane) struct ProtocolDownloadTests {
    @Test(arguments: WireProtocol.tested.filter { [.sftp, .ftp, .ftpes, .s3, .dav, .nextcloud].contains($0) })
    func `a download goes on where a killed engine stood`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let size: Int64 = 40_000_000
        let original = try bench.makeFile("film.mov", Int(size))
        try bench.expectArrived(bench.send(original.displayed), original)
        // What the upload carried counts no more.
        _ = try bench.bytesSentByWire()
        let before = try bench.proxy.log().reduce(0) { $0 + ($1["down"].integer ?? 0) }
        try bench.proxy.set(wire.rule("rate down 12M"))
        let target = RawPath("\(bench.sandbox.root)/downloads")
        let batch = try bench.sandbox.queue(
            "download", bench.options.dropping("--chunk") + [bench.destination + "film.mov", "\(target)/"],
            #_sourceLocation)
        for kill: Int64 in 1...3 {
            try bench.awaitSent(size * kill / 5, of: batch)
            try bench.sandbox.killEngine()
        }
        let ended = try bench.sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try digests(below: target) == [RawPath("film.mov"): digest(of: original)], "and nothing beside it")
        let task = try bench.sandbox.task(batch)
        #expect(!task["resumedFrom"].array.isEmpty, "\(task)")
        // ProFTPD tells digests, so one is asked for.
        if wire == .ftpes { #expect(task["verified"].text == "digest", "\(task)") }
        _ = try bench.bytesSentByWire()
        let carried = try bench.proxy.log().reduce(0) { $0 + ($1["down"].integer ?? 0) } - before
        // What was received after the last checkpoint comes again.
        #expect(carried < 2 * size, "\(carried) bytes came")
    }

    @Test(arguments: WireProtocol.tested.filter { [.sftp, .ftp, .ftpes, .put].contains($0) })
    func `a file that grows while it comes is told of, and comes as it is by --verify none`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let original = try bench.makeFile("log.txt", 12_000_000)
        try bench.expectArrived(bench.send(original.displayed), original)
        let there = try #require(bench.far.folder).appending(RawPath("log.txt"))
        let url = bench.destination + "log.txt"
        // A connection that is there already has the rules that it began with.
        _ = try bench.bytesSentByWire()
        try bench.proxy.set(wire.rule("rate down 4M"))
        func growing(_ options: String...) throws -> String {
            let batch = try bench.sandbox.queue(
                "download", bench.options.dropping("--protocol") + options + [url, "\(bench.sandbox.root)/here/"],
                #_sourceLocation)
            let before = length(of: there)
            try bench.awaitSent(before / 3, of: batch)
            try append(SeededBytes.stamped(500_000, seed: 2), to: there)
            return batch
        }
        let batch = try growing()
        try waitUntil("\(batch) begins again") { (try bench.sandbox.task(batch)["restarts"].integer ?? 0) >= 1 }
        try bench.proxy.set()
        #expect(try bench.sandbox.wait(batch).status == 0)
        let here = RawPath("\(bench.sandbox.root)/here")
        #expect(try digests(below: here) == [RawPath("log.txt"): digest(of: there)])
        try write("", to: "\(here)/log.txt")
        _ = try bench.bytesSentByWire()
        try bench.proxy.set(wire.rule("rate down 4M"))
        let asItComes = try growing("--verify", "none", "--if-exists", "replace")
        #expect(try bench.sandbox.wait(asItComes).status == 0)
        let task = try bench.sandbox.task(asItComes)
        #expect(task["restarts"].integer == 0 && task["verified"].text == "none", "\(task)")
        let came = length(of: here.appending(RawPath("log.txt")))
        #expect(came == task["bytesTotal"].integer && came >= 12_500_000, "\(task)")
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.sftp)))
    func `a file of /proc has bytes though its length is told as 0`() throws {
        let bench = try WireBench(.sftp)
        let url = "sftp://\(bench.proxy.address)/proc/version"
        func download(_ options: String...) throws -> (JSON, String) {
            let batch = try bench.sandbox.queue(
                "download", bench.options + options + [url, "\(bench.sandbox.root)/here/"], #_sourceLocation)
            _ = try bench.sandbox.wait(batch)
            return (try bench.sandbox.task(batch), batch)
        }
        let (refused, batch) = try download()
        #expect(refused["state"].text == "failed", "\(refused)")
        let why = try bench.sandbox.succeed("why", batch).output
        #expect(why.contains("says that the file has 0 bytes") && why.contains("--verify none"), "\(why)")
        let (task, _) = try download("--verify", "none")
        let content = try readText("/proc/version")
        #expect(try readText("\(bench.sandbox.root)/here/version") == content, "\(task)")
        #expect(task["state"].text == "completed" && task["bytesTotal"].integer == Int64(content.utf8.count), "\(task)")
    }
}

extension [String] {
    /// Without an option and its value: it is for uploads alone.
    fileprivate func dropping(_ option: String) -> [String] {
        guard let index = firstIndex(of: option) else { return self }
        return Array(self[..<index] + self[(index + 2)...])
    }
}
