import Glibc
import Testing
import TransferModel

/// The engine killed exactly after, or before, each persisted step of an upload, by every protocol.
@FourthLane @Suite(.serialized) struct ProtocolCrashPointTests {
    /// The steps, as `MARTLET_FAULT` names them; those that every protocol takes must be reached.
    private static let steps = [
        "engine.claimed:1", "engine.started:1", "engine.started:4", "engine.answered:1", "engine.answered:2",
        "engine.answered:3", "engine.answered:5", "engine.answered:9", "engine.persisted:1", "engine.persisted:2",
        "engine.finished:1", "engine.finished:4", "queue.commit:3", "queue.committed:3", "queue.commit:5",
        "queue.committed:5", "queue.commit:8", "queue.committed:8",
    ]

    @Test(arguments: WireProtocol.tested)
    func `a few files survive a kill at every persisted step`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        var reached: Set<String> = []
        for (index, step) in Self.steps.enumerated() {
            let name = "round-\(index)"
            let tree = try makeTree(bench, name, seed: UInt64(index) * 100)
            let doomed = try startDoomedEngine(bench.sandbox, step)
            let batch = try bench.send(tree.path)
            let proof = BatchProof(sandbox: bench.sandbox, tree: tree, batch: batch) { try bench.arrived(below: name) }
            try proof.verify()
            if doomed.status == 128 + SIGKILL {
                reached.insert(step)
            }
            if try bench.sandbox.enginePid() != nil { try bench.sandbox.killEngine() }
        }
        for step in [
            "engine.claimed:1", "engine.started:4", "engine.answered:5", "engine.finished:4", "queue.committed:3",
        ] {
            #expect(reached.contains(step), "\(step) was not reached, only \(reached.sorted())")
        }
        if wire.resumes { #expect(reached.contains("engine.persisted:1"), "\(reached.sorted())") }
        let check = try bench.sandbox.start("martletd", ["--check"]).wait()
        #expect(check.status == 0, "\(check)")
    }

    /// Nothing, little, and enough that something has to be remembered.
    private func makeTree(_ bench: WireBench, _ name: String, seed: UInt64) throws -> FileTree {
        let root = RawPath("\(bench.sandbox.root)/\(name)")
        let sizes = [0, 1, 20_000, 300_000, 10_000_000]
        for (index, size) in sizes.enumerated() {
            try write(
                SeededBytes.stamped(size, seed: seed + UInt64(index)),
                to: root.appending(RawPath(index.isMultiple(of: 2) ? "\(index).bin" : "sub folder/\(index).bin")))
        }
        return FileTree(root: root, count: sizes.count, bytes: Int64(sizes.reduce(0, +)))
    }

    private func startDoomedEngine(_ sandbox: Sandbox, _ step: String) throws -> ChildProgram {
        let before = sandbox.environment
        sandbox.environment.append("MARTLET_FAULT=\(step)")
        defer { sandbox.environment = before }
        let engine = try sandbox.start("martletd", [])
        try waitUntil("the engine answers") {
            // Some steps are passed while it starts.
            try engine.status != nil || sandbox.enginePid() == engine.pid
        }
        return engine
    }
}
