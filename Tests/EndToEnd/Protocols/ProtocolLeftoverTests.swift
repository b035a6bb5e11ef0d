import Testing
import TransferModel

/// What a cancelled upload has at its server: it serves an undo as long as there is one, and goes afterwards.
@Suite(.inLane) struct ProtocolLeftoverTests {
    // One of each way to leave something; tuspyserver lets nobody take an upload away.
    private static let wires = WireProtocol.tested.filter {
        [.tusToReceiver, .ietf, .s3, .sftp, .ftp, .nextcloud].contains($0)
    }

    /// A file under way, with something of it at the server.
    private func begin(_ wire: WireProtocol, grace: String) throws -> (WireBench, source: RawPath, batch: String) {
        let bench = try WireBench(wire)
        makeFolder(RawPath("\(bench.sandbox.home)/config"))
        try write("grace = \(grace)\n", to: "\(bench.sandbox.home)/config/martlet.conf")
        let source = try bench.makeFile("film.mov", 40_000_000)
        try bench.proxy.set(wire.rate(6))
        let batch = try bench.send(source.displayed)
        try bench.awaitStored(10_000_000, of: batch)
        return (bench, source, batch)
    }

    @Test(arguments: wires)
    func `what a cancelled upload has left goes when the cancel is final, and a retry begins anew`(
        wire: WireProtocol
    ) throws {
        let (bench, source, batch) = try begin(wire, grace: "2s")
        try bench.sandbox.succeed("cancel", batch)
        try bench.proxy.set()
        try waitUntil("nothing is left") { try bench.sandbox.leftovers().isEmpty }
        #expect(try bench.arrived().isEmpty, "no part, no temporary name")
        let log = try bench.sandbox.succeed("log", batch).output
        #expect(log.contains("cancelled by martlet"), "\(log)")
        #expect(try bench.sandbox.succeed("why", batch).output.contains("begins it anew"))
        try bench.sandbox.succeed("retry", batch)
        let task = try bench.expectArrived(batch, source)
        #expect(task["resumedFrom"].array.allSatisfy { $0.integer == 0 }, "\(task)")
    }

    @Test(arguments: wires)
    func `a cancel and a purge that are taken back leave the upload where it stood`(wire: WireProtocol) throws {
        let (bench, source, batch) = try begin(wire, grace: "10m")
        try bench.sandbox.succeed("cancel", batch)
        try bench.sandbox.succeed("purge", batch)
        #expect(try bench.sandbox.martlet("show", batch).status == 3)
        let left = try bench.sandbox.succeed("leftovers", "--json").output
        #expect(left.contains("\"t1\""), "what lies there is known: \(left)")
        try bench.sandbox.succeed("undo")
        #expect(try bench.sandbox.succeed("why", batch).output.contains("goes on where it stood"))
        try bench.proxy.set()
        try bench.sandbox.succeed("undo")
        let task = try bench.expectArrived(batch, source)
        let began = task["resumedFrom"].array.compactMap(\.integer)
        #expect((began.max() ?? 0) >= 4_000_000 && task["restarts"].integer == 0, "\(task)")
    }

    @Test(arguments: wires)
    func `a purged batch takes with it what it has left`(wire: WireProtocol) throws {
        let (bench, _, batch) = try begin(wire, grace: "2s")
        try bench.sandbox.succeed("cancel", batch)
        try bench.sandbox.succeed("purge", batch)
        try bench.proxy.set()
        try waitUntil("nothing is left") { try bench.sandbox.leftovers().isEmpty }
        #expect(try bench.arrived().isEmpty)
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.s3)))
    func `a bucket tells of uploads that were begun there, and those that nobody goes on from are taken away`() throws {
        let (bench, _, batch) = try begin(.s3, grace: "10m")
        let there = "s3://test/up/"
        let listed = try bench.sandbox.succeed("leftovers", "list", "--in", there, "--json").output
        let upload = try JSON(parsing: listed)
        #expect(upload["task"].text == "t1", "\(listed)")
        let id = try #require(upload["uploadID"].text)
        let busy = try bench.sandbox.martlet("leftovers", "abort", "--in", there, "--upload", id)
        #expect(busy.status == 1, "it is being sent: \(busy)")
        try bench.sandbox.succeed("cancel", batch)
        try bench.proxy.set()
        try bench.sandbox.succeed("leftovers", "abort", "--in", there, "--upload", id)
        #expect(try bench.sandbox.succeed("leftovers", "list", "--in", there, "--json").output.isEmpty)
    }
}
