import Glibc
import Testing
import TransferModel

/// `kill -9` of the front, of the engine, of both, at any moment of a batch of 100 files.
@Suite(.inLane) struct KilledTests {
    let sandbox: Sandbox
    let nginx: Nginx
    let proxy: FaultProxy
    let tree: FileTree

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
        // Slow enough that a batch has a middle.
        proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 400k")
        tree = try FileTree.make(at: "\(sandbox.root)/batch", count: 100, seed: 7)
    }

    private func queue() throws -> BatchProof {
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        return BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch")
    }

    @Test func `an engine killed again and again finishes the batch and repeats nothing that was recorded`() throws {
        var proof = try queue()
        for completed: Int64 in [0, 1, 12, 13, 47, 80] {
            try proof.awaitCompleted(completed)
            try proof.remember()
            try sandbox.killEngine()
        }
        try proof.verify()
    }

    @Test func `a killed front changes nothing`() throws {
        // The batch must still be under way when the front is killed, also on a machine that is busy with other things.
        try proxy.set("rate up 120k")
        let waiting = try sandbox.start("martlet", ["upload", "--wait", tree.path, proxy.url + "up/"])
        try waitUntil("the batch is there") { try sandbox.batches().count == 1 }
        let batch = try #require(try sandbox.batches().first?["id"].text)
        let engine = try sandbox.enginePid()
        var proof = BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch")
        try proof.awaitCompleted(5)
        try proof.remember()
        waiting.signal(SIGKILL)
        #expect(try waiting.wait().status == 128 + SIGKILL)
        try proof.verify()
        #expect(try sandbox.enginePid() == engine, "the engine went on")
        #expect(try nginx.timesStored(below: "up/batch").values.allSatisfy { $0 == 1 }, "every file went out once")
    }

    @Test func `front and engine killed together are as good as the engine alone`() throws {
        let waiting = try sandbox.start("martlet", ["upload", "--wait", tree.path, proxy.url + "up/"])
        try waitUntil("the batch is there") { try sandbox.batches().count == 1 }
        let batch = try #require(try sandbox.batches().first?["id"].text)
        var proof = BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch")
        try proof.awaitCompleted(20)
        try proof.remember()
        waiting.signal(SIGKILL)
        try sandbox.killEngine()
        try proof.verify()
    }

    @Test func `a front that waits outlives the engine and starts it again`() throws {
        let waiting = try sandbox.start("martlet", ["upload", "--wait", tree.path, proxy.url + "up/"])
        try waitUntil("the batch is there") { try sandbox.batches().count == 1 }
        let batch = try #require(try sandbox.batches().first?["id"].text)
        let proof = BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch")
        try proof.awaitCompleted(10)
        try sandbox.killEngine()
        let ended = try waiting.wait()
        #expect(ended.status == 0, "\(ended)")
        try proof.verify()
    }

    // `--hold` keeps the network out of it. The delays only spread the kills over the command's life; nothing depends on them.
    @Test func `an upload command whose front is killed queued everything or nothing`() throws {
        try sandbox.succeed("engine", "start")
        for delay: Int32 in [0, 2, 4, 7, 11, 16, 24, 40] {
            let command = try sandbox.start("martlet", ["upload", "--hold", tree.path, proxy.url + "up/"])
            poll(nil, 0, delay)
            command.signal(SIGKILL)
            try command.wait()
        }
        try expectWholeBatches()
    }

    @Test func `an upload command whose engine is killed queued everything or nothing, and says which`() throws {
        var promised = 0
        for delay: Int32 in [0, 3, 6, 10, 15, 25] {
            try sandbox.succeed("engine", "start")
            let before = try sandbox.batches().count
            let command = try sandbox.start("martlet", ["upload", "--hold", tree.path, proxy.url + "up/"])
            poll(nil, 0, delay)
            try sandbox.killEngine()
            let outcome = try command.wait()
            let added = try sandbox.batches().count - before
            switch outcome.status {
            case 0:
                promised += 1
                #expect(added == 1, "status 0 is a promise: \(outcome)")
            case 69: #expect(added <= 1, "\(outcome)")
            default: #expect(added == 0, "status \(outcome.status) means that nothing was queued: \(outcome)")
            }
        }
        #expect(promised > 0)
        try expectWholeBatches()
    }

    private func expectWholeBatches() throws {
        try waitUntil("no batch is scanned any more") {
            try sandbox.batches().allSatisfy { $0["scanning"].bool == false }
        }
        for batch in try sandbox.batches() {
            #expect(batch["filesTotal"].integer == Int64(tree.count), "\(batch)")
            #expect(batch["bytesTotal"].integer == tree.bytes, "\(batch)")
        }
        let check = try sandbox.start("martletd", ["--check"]).wait()
        #expect(check.status == 0, "\(check)")
    }
}
