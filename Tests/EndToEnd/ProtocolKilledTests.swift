import Glibc
import Testing
import TransferModel

/// `kill -9` of the engine in the middle of one large file, by every protocol: it goes on where it stood, and what went over the wire says so.
@FirstLane @Suite(.serialized) struct ProtocolKilledTests {
    private static let kills: Int64 = 5

    @Test(arguments: WireProtocol.tested)
    func `a large file arrives whole though the engine is killed five times`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let size = Int64(wire.large)
        let source = try bench.makeFile("film.mov", wire.large)
        // Slow enough that it has a middle.
        try bench.proxy.set(wire.rate(wire.large / 5_000_000))
        let batch = try bench.send(source.displayed)
        for kill in 1...Self.kills {
            try bench.awaitSent(size * kill / (Self.kills + 2), of: batch)
            try bench.killEngine()
        }
        let task = try bench.expectArrived(batch, source)
        let ends = try bench.sandbox.events().filter { $0["type"].text == "taskCompleted" }
        #expect(ends.count == 1)
        let carried = try bench.bytesSentByWire()
        let twice = carried - size - size * wire.overhead / 1000 - 100_000
        switch wire.waste {
        case .bytes(let allowed):
            #expect(twice <= Self.kills * allowed, "\(carried) bytes went over the wire")
            #expect(task["resumedFrom"].array.count >= 1, "\(task)")
            #expect(task["restarts"].integer == 0, "\(task)")
        case .wholeFile:
            #expect(twice <= Self.kills * size, "\(carried) bytes went over the wire")
            #expect((task["restarts"].integer ?? 0) >= 1, "a beginning from zero is said: \(task)")
        }
    }
}

/// The same with a batch of files of all sizes.
@SecondLane @Suite(.serialized) struct ProtocolBatchTests {
    @Test(arguments: WireProtocol.distinct.filter { $0 != .ietf3 })
    func `300 files arrive though the engine is killed five times, and none is sent again that was recorded`(
        wire: WireProtocol
    ) throws {
        let bench = try WireBench(wire)
        try bench.proxy.set(wire.rule("rate up 4M"))
        let tree = try FileTree.make(
            at: "\(bench.sandbox.root)/batch", count: 300, seed: 21, largest: 2_000_000, onlyText: !wire.carriesBytes)
        let batch = try bench.send(tree.path)
        var proof = BatchProof(sandbox: bench.sandbox, tree: tree, batch: batch) { try bench.arrived(below: "batch") }
        for completed: Int64 in [0, 25, 90, 170, 260] {
            try proof.awaitCompleted(completed)
            try proof.remember()
            try bench.killEngine()
        }
        try proof.verify()
    }
}
