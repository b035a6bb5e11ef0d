import Glibc
import Testing
import TransferModel

/// Somebody else's file gets the name while an upload goes on.
@FirstLane @Suite(.serialized) struct TakenNameTests {
    private let size = 8_000_000

    /// An upload under way, and the place where it would become a file.
    private func begin(
        _ wire: WireProtocol, _ options: [String] = []
    ) throws -> (bench: WireBench, source: RawPath, batch: String, there: RawPath) {
        let bench = try WireBench(wire)
        guard case .receiver(let receiver) = bench.far else { throw HarnessError("\(wire) has no martlet receive") }
        let source = try bench.makeFile("film.mov", size)
        try bench.proxy.set(bench.wire.rate(3))
        let batch = try bench.sandbox.queue(
            "upload", bench.options + options + [source.displayed, bench.destination], #_sourceLocation)
        try bench.awaitStored(1_000_000, of: batch)
        return (bench, source, batch, receiver.data.appending(RawPath("film.mov")))
    }

    @Test(arguments: [WireProtocol.tusToReceiver, .ietf])
    func `the same file is as good as ours`(wire: WireProtocol) throws {
        let (bench, source, batch, there) = try begin(wire)
        try write(try readBytes(source), to: there)
        try bench.proxy.set()
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.sandbox.task(batch)["state"].text == "completed")
        #expect(try readBytes(there) == readBytes(source))
    }

    @Test(arguments: [WireProtocol.tusToReceiver, .ietf])
    func `another file is named, stays, and is replaced or skipped when that is allowed`(wire: WireProtocol) throws {
        for rule in ["replace", "skip"] {
            let (bench, source, batch, there) = try begin(wire)
            let other = SeededBytes.bytes(1000, seed: 9)
            try write(other, to: there)
            try bench.proxy.set()
            #expect(try bench.sandbox.wait(batch).status == 1)
            let failed = try bench.sandbox.task(batch)
            #expect(failed["error"]["code"].text == "destinationExists", "\(failed)")
            #expect(try readBytes(there) == other)
            let why = try bench.sandbox.succeed("why", batch).output
            #expect(why.contains("martlet set \(batch) --if-exists replace"), "\(why)")
            // Tried again without that, it is refused again, and nothing is worse.
            try bench.sandbox.succeed("retry", batch)
            #expect(try bench.sandbox.wait(batch).status == 1)
            #expect(try readBytes(there) == other)
            try bench.sandbox.succeed("set", batch, "--if-exists", rule)
            try bench.sandbox.succeed("retry", batch)
            #expect(try bench.sandbox.wait(batch).status == 0, "\(rule)")
            #expect(try readBytes(there) == (rule == "replace" ? readBytes(source) : other))
        }
    }
}
