import Glibc
import Testing
import TransferModel

/// Sources that somebody rewrites in place while they are sent: what arrives is one version of them, the one that lies there.
@Suite(.inLane) struct RewrittenSourceTests {
    /// Writes over the file, without another name, length or second.
    private func rewrite(_ path: RawPath, _ bytes: [UInt8], nanoseconds: Int) throws {
        let text = path.bytes.map { CChar(bitPattern: $0) } + [0]
        let opened = open(text, O_WRONLY)
        defer { close(opened) }
        #expect(pwrite(opened, bytes, bytes.count, 0) == bytes.count)
        let time = timespec(tv_sec: 1_700_000_000, tv_nsec: nanoseconds)
        #expect(futimens(opened, [time, time]) == 0)
    }

    @Test(
        arguments: [WireProtocol.sftp, .ftp, .dav, .nextcloud, .s3, .tusToReceiver, .ietf, .put].filter {
            WireProtocol.tested.contains($0)
        })
    func `a large file that is rewritten within its second arrives as it is now`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let source = try bench.makeFile("film.mov", 24_000_000)
        try rewrite(source, SeededBytes.stamped(24_000_000, seed: 1), nanoseconds: 1)
        try bench.proxy.set(wire.rate(6))
        let batch = try bench.send(source.displayed)
        try bench.awaitSent(6_000_000, of: batch)
        try rewrite(source, SeededBytes.stamped(24_000_000, seed: 2), nanoseconds: 2)
        try bench.proxy.set()
        let task = try bench.expectArrived(batch, source)
        #expect(task["restarts"].integer == 1 && task["skipped"].bool == false, "\(task)")
    }

    @Test func `a file of our size and second is replaced by SFTP after a pause, as it was asked for`() throws {
        let bench = try WireBench(.sftp)
        let source = try bench.makeFile("film.mov", 24_000_000)
        try rewrite(source, SeededBytes.stamped(24_000_000, seed: 1), nanoseconds: 1)
        let first = try bench.send(source.displayed)
        try bench.expectArrived(first, source)
        try rewrite(source, SeededBytes.stamped(24_000_000, seed: 2), nanoseconds: 2)
        // The connection that the first batch has used was never held.
        try bench.killEngine()
        try bench.proxy.set(bench.wire.rule("hold up 12M"))
        let batch = try bench.sandbox.queue(
            "upload", bench.options + ["--if-exists", "replace", source.displayed, bench.destination],
            #_sourceLocation)
        try bench.awaitSent(6_000_000, of: batch)
        try bench.sandbox.succeed("pause", batch)
        // This ends the held connection.
        try bench.proxy.set()
        try bench.killEngine()
        try bench.sandbox.succeed("resume", batch)
        let task = try bench.expectArrived(batch, source)
        #expect(task["skipped"].bool == false, "\(task)")
    }

    @Test func `what /proc holds is refused with the way out, and never arrives empty`() throws {
        let bench = try WireBench(.put)
        let batch = try bench.send("/proc/version")
        #expect(try bench.sandbox.wait(batch).status == 1)
        let task = try bench.sandbox.task(batch)
        #expect(task["error"]["code"].text == "unsupported", "\(task)")
        #expect(task["error"]["message"].text?.contains("copy it to a usual file") == true, "\(task)")
        #expect(try bench.arrived().isEmpty)
    }
}
