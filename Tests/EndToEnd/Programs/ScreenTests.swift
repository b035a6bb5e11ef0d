import Testing
import TransferModel

/// The screen in terminals that are small, colourless, or change under it.
@Suite(.inLane) struct ScreenTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    @Test(arguments: ["20x2", "1x1", "40x8", "80x24", "250x80"])
    func `a terminal of any size shows something and is left with q`(size: String) throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 20, seed: 5)
        let batch = try sandbox.upload(tree.path, nginx.url + "up/")
        try sandbox.wait(batch)
        let screen = try TerminalScreen(sandbox, size: size)
        // One cell may well be a blank.
        if size != "1x1" { try waitUntil("something is shown") { try screen.text().contains { !$0.isWhitespace } } }
        try screen.press("j", "l", "Down", "Space", "k")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `a terminal that shrinks to nothing and grows again shows everything again`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 20, seed: 5)
        let batch = try sandbox.upload(tree.path, nginx.url + "up/")
        try sandbox.wait(batch)
        let screen = try TerminalScreen(sandbox, size: "120x36")
        try screen.awaitText("holiday")
        for size in ["20x2", "1x1", "80x24", "33x5"] { try screen.resize(size) }
        try screen.resize("120x36")
        try screen.awaitText("holiday")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `an engine that is killed is noticed and found again`() throws {
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 400k")
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 60, seed: 5)
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        let screen = try TerminalScreen(sandbox, size: "100x30")
        try screen.awaitText("holiday")
        let proof = BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: batch, folder: "up/holiday")
        try proof.awaitCompleted(10)
        try sandbox.killEngine()
        try proof.verify()
        try screen.awaitRow("holiday", "done")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `keys pause, resume, cancel and undo what the cursor is on`() throws {
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 300k")
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", files: 6, each: 1_500_000)
        let batch = try sandbox.upload(tree.path, proxy.url + "up/")
        let screen = try TerminalScreen(sandbox, size: "100x30")
        try screen.awaitText("holiday")
        func awaitState(_ state: String) throws {
            try waitUntil("the batch is \(state)") { try sandbox.batch(batch)["state"].text == state }
        }
        // A key acts on what is shown, so the picture is waited for as well as the engine.
        try screen.press("g", "p")
        try awaitState("paused")
        try screen.awaitRow("Paused", "holiday")
        try screen.press("p")
        try awaitState("running")
        try screen.press("x")
        try awaitState("cancelled")
        try screen.awaitRow("Cancelled", "holiday")
        try screen.press("u")
        try awaitState("running")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try digests(below: nginx.data.appending(RawPath("up/holiday"))) == digests(below: tree.root))
    }

    /// libdispatch names its threads after their "qos"; one of them wakes once a second, for as long as the program lives.
    @Test func `neither the screen nor the engine has a thread that wakes by itself`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 5, seed: 5)
        try sandbox.wait(try sandbox.upload(tree.path, nginx.url + "up/"))
        let screen = try TerminalScreen(sandbox, size: "80x24")
        try screen.awaitText("holiday")
        let programs = sandbox.ownProcesses()
        #expect(programs.count == 2)
        for pid in programs {
            let threads = names(in: RawPath("/proc/\(pid)/task")).map { thread in
                (try? readText("/proc/\(pid)/task/\(thread)/comm")) ?? ""
            }
            #expect(threads.contains("tasks\n"))
            #expect(!threads.contains { $0.contains("qos") }, "\(threads)")
        }
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }
}
