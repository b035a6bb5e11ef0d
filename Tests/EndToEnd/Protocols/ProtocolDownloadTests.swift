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
}

extension [String] {
    /// Without an option and its value: it is for uploads alone.
    fileprivate func dropping(_ option: String) -> [String] {
        guard let index = firstIndex(of: option) else { return self }
        return Array(self[..<index] + self[(index + 2)...])
    }
}
