import Glibc
import Testing
import TransferModel

/// `kill -9` of the engine at any moment of one large file, by every protocol: it goes on where it stood, and what went over the wire says so.
@Suite(.inLane) struct ProtocolKilledTests {
    @Test(arguments: WireProtocol.tested)
    func `a large file arrives whole though the engine is killed five times`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let size: Int64 = 300_000_000
        let moments = Moments(5, of: size, for: wire.rawValue)
        let source = try bench.makeFile("film.mov", Int(size))
        var batch: String?
        var reached: Int64 = 0
        for moment in moments.places {
            try bench.proxy.set(rules(wire, from: wire.resumes ? reached : 0, to: moment))
            if batch != nil { try bench.letArrive() }
            let sent = try batch ?? bench.send(source.displayed)
            batch = sent
            try bench.awaitSent(moment, of: sent)
            try bench.sandbox.killEngine()
            reached = moment
        }
        try bench.proxy.set(wire.rate(60))
        try bench.letArrive()
        let task = try bench.expectArrived(#require(batch), source)
        let ends = try bench.sandbox.events().filter { $0["type"].text == "taskCompleted" }
        #expect(ends.count == 1)
        let carried = try bench.bytesSentByWire()
        let twice = carried - size - size * wire.overhead / 1000 - 100_000
        let kills = Int64(moments.places.count)
        switch wire.waste {
        case .bytes(let allowed):
            #expect(twice <= kills * allowed, "\(carried) bytes went over the wire, \(twice) of them twice, \(moments)")
            #expect(task["resumedFrom"].array.count >= 1, "\(task), \(moments)")
            #expect(task["restarts"].integer == 0, "\(task), \(moments)")
        case .wholeFile:
            // The bytes up to each kill, and what the last connection before it may have carried beyond.
            let allowed = moments.places.reduce(0) { $0 + $1 + 8_000_000 }
            #expect(twice <= allowed, "\(carried) bytes went over the wire, \(moments)")
            #expect((task["restarts"].integer ?? 0) >= 1, "a beginning from zero is said: \(task), \(moments)")
        }
    }

    /// The file's end cannot be reached before the kill: no connection carries so much. Where there are several side by side they are slow.
    private func rules(_ wire: WireProtocol, from start: Int64, to moment: Int64) -> [String] {
        if wire.parallel > 1 { return [wire.rate(20)] }
        return [wire.rate(60), wire.rule("hold up \(moment - start + 6_000_000)")]
    }
}

/// The same with a batch of files of all sizes.
@Suite(.inLane) struct ProtocolBatchTests {
    /// What a file costs besides its bytes: heads, questions before and after, names.
    private static let perFile: Int64 = 6_000
    private static let largest = 2_000_000

    @Test(arguments: WireProtocol.tested)
    func `300 files arrive though the engine is killed five times, and none is sent again that was recorded`(
        wire: WireProtocol
    ) throws {
        let bench = try WireBench(wire)
        try bench.proxy.set(wire.rule("rate up 4M"))
        let tree = try FileTree.make(
            at: "\(bench.sandbox.root)/batch", count: 300, seed: 21, largest: Self.largest, onlyText: !wire.carriesBytes
        )
        let moments = Moments(5, of: 300, for: wire.rawValue)
        let batch = try bench.send(tree.path)
        var proof = BatchProof(sandbox: bench.sandbox, tree: tree, batch: batch) { try bench.arrived(below: "batch") }
        for completed in moments.places {
            try proof.awaitCompleted(completed)
            try proof.remember()
            try bench.killEngine()
        }
        try proof.verify()
        // Eight files are on their way at once; what one of them loses is what it loses alone, and never more than itself.
        let lost: Int64 =
            switch wire.waste {
            case .bytes(let allowed): min(allowed, Int64(Self.largest))
            case .wholeFile: Int64(Self.largest)
            }
        let carried = try bench.bytesSentByWire()
        let twice = carried - tree.bytes - tree.bytes * wire.overhead / 1000 - Int64(tree.count) * Self.perFile
        #expect(
            twice <= Int64(moments.places.count) * 8 * lost,
            "\(carried) bytes went over the wire for \(tree.bytes), \(moments)")
    }
}
