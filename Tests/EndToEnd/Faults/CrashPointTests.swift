import Glibc
import Testing
import TransferModel

/// The engine killed exactly after each persisted step: debug builds do it themselves when `MARTLET_FAULT` names the step.
@Suite(.inLane) struct CrashPointTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    /// An engine that kills itself at the `number`th pass of a step.
    private func startDoomedEngine(_ step: String, _ number: Int) throws -> ChildProgram {
        sandbox.environment = ["MARTLET_FAULT=engine.\(step):\(number)"]
        defer { sandbox.environment = [] }
        let engine = try sandbox.start("martletd", [])
        try waitUntil("the engine answers") {
            guard engine.status == nil else { throw HarnessError("martletd ended: \(engine.soFar)") }
            return fileExists("\(sandbox.home)/state/run/control.sock")
        }
        return engine
    }

    @Test(arguments: ["started", "answered", "finished"], [1, 6, 23])
    func `uploads survive a kill at a step of a task`(step: String, number: Int) throws {
        try uploadThrough(step, number)
    }

    @Test(arguments: [1, 2])
    func `uploads survive a kill in the middle of reading the folder`(number: Int) throws {
        try uploadThrough("walked", number)
    }

    @Test func `uploads survive a kill when they are claimed and nothing is sent`() throws {
        try uploadThrough("claimed", 1)
    }

    private func uploadThrough(_ step: String, _ number: Int) throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/batch", count: 40, seed: 50)
        let doomed = try startDoomedEngine(step, number)
        let batch = try sandbox.upload(tree.path, nginx.url + "up/")
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/batch").verify()
        #expect(doomed.status == 128 + SIGKILL, "the step was reached")
        let check = try sandbox.start("martletd", ["--check"]).wait()
        #expect(check.status == 0, "\(check)")
    }

    @Test(arguments: ["claimed", "started", "persisted", "synced", "publishing", "renamed", "finished"])
    func `a download survives a kill at each of its steps`(step: String) throws {
        // Slow enough that there is a checkpoint in the middle.
        let content = SeededBytes.bytes(9_000_000, seed: 51)
        try write(content, to: nginx.data.appending(RawPath("film.mov")))
        let doomed = try startDoomedEngine(step, 1)
        let batch = try sandbox.download(nginx.url + "slow/film.mov", "\(sandbox.root)/downloads/")
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(doomed.status == 128 + SIGKILL, "the step was reached")
        let downloads = RawPath("\(sandbox.root)/downloads")
        #expect(try readBytes(downloads.appending(RawPath("film.mov"))) == content)
        #expect(try digests(below: downloads).count == 1, "no part and no second copy is left")
        let ends = try sandbox.events().filter { $0["type"].text == "taskCompleted" }
        #expect(ends.count == 1)
    }

    @Test func `an upload that arrived but was not recorded is recognised, not refused as a stranger's file`() throws {
        let receiver = try Receiver(sandbox)
        try write("cargo", to: "\(sandbox.root)/file")
        let doomed = try startDoomedEngine("answered", 1)
        let batch = try sandbox.upload("\(sandbox.root)/file", receiver.url)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(doomed.status == 128 + SIGKILL, "the step was reached")
        let task = try sandbox.task(batch)
        #expect(task["state"].text == "completed", "\(task)")
        #expect(task["verified"].text == "digest", "\(task)")
        #expect(try readText("\(receiver.data)/file") == "cargo")
    }
}
