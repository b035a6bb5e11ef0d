import Glibc
import Testing
import TransferModel

/// The engine killed right before and right after everything that it makes durable, and after every answer, by every protocol.
///
/// How often a step is passed depends on the order in which answers come, so nobody says it beforehand: a round for the first time, the
/// second, the third, until an engine comes through without having met its number.
@Suite(.inLane) struct ProtocolCrashPointTests {
    /// As `MARTLET_FAULT` names them; how often each is passed at least, with two files, one of which goes in pieces where there are such.
    private static let steps: [(name: String, least: Int)] = [
        ("engine.answered", 2), ("engine.persisted", 0), ("queue.commit", 3), ("queue.committed", 3),
    ]
    /// So many rounds that every lasting order is seen; what goes on longer goes on alike.
    private static let most = 10

    // tuspyserver, asked by the next engine for an upload that is still being written, stands still for half a minute each time.
    @Test(arguments: WireProtocol.tested.filter { $0 != .tus })
    func `two files survive a kill at every persisted step`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        var round = 0
        var reached: [String: Int] = [:]
        for step in Self.steps {
            for number in 1...Self.most {
                round += 1
                guard try survives(bench, "\(step.name):\(number)", round) else { break }
                reached[step.name] = number
            }
            #expect(reached[step.name, default: 0] >= step.least, "\(step.name) was reached \(reached)")
        }
        if wire.resumes { #expect(reached["engine.persisted", default: 0] >= 1, "\(reached)") }
        let check = try bench.sandbox.start("martletd", ["--check"]).wait()
        #expect(check.status == 0, "\(check)")
    }

    /// Sends two files with an engine that ends at that step. `false`: it never came to it.
    private func survives(_ bench: WireBench, _ step: String, _ round: Int) throws -> Bool {
        let name = "round-\(round)"
        let tree = try makeTree(bench, name, seed: UInt64(round) * 100)
        let doomed = try bench.sandbox.startDoomedEngine(step)
        let batch = try bench.send(tree.path)
        let isReached = try bench.sandbox.awaitDoom(of: doomed, or: batch)
        let proof = BatchProof(sandbox: bench.sandbox, tree: tree, batch: batch) { try bench.arrived(below: name) }
        try proof.verify()
        try bench.sandbox.killEngines()
        return isReached
    }

    /// A little one, and one for which something has to be remembered.
    private func makeTree(_ bench: WireBench, _ name: String, seed: UInt64) throws -> FileTree {
        let root = RawPath("\(bench.sandbox.root)/\(name)")
        let sizes = [20_000, 6_000_000]
        for (index, size) in sizes.enumerated() {
            try write(
                SeededBytes.stamped(size, seed: seed + UInt64(index)),
                to: root.appending(RawPath(index == 0 ? "0.bin" : "sub folder/1.bin")))
        }
        return FileTree(root: root, count: sizes.count, bytes: Int64(sizes.reduce(0, +)))
    }
}
