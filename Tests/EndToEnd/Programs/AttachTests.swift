import Glibc
import Testing
import TransferModel

/// The screen on another machine's engine: the user's own ssh, a real sshd, lines that are cut.
@Suite(.inLane) struct AttachTests {
    let sandbox: Sandbox
    let sshd: SSHServer

    init() throws {
        sandbox = try Sandbox()
        sshd = try SSHServer(sandbox)
    }

    /// The machine `there` is this one with another home; the screen's own home stays empty.
    private func attach(_ ssh: String) throws -> TerminalScreen {
        try TerminalScreen(
            sandbox, size: "100x30", program: "/usr/bin/env", "MARTLET_HOME=\(near)", "\(Sandbox.programs)/martlet",
            "attach", "--ssh-command", ssh, "--remote-command", martletThere, "there")
    }

    private var near: String { "\(sandbox.root)/near" }
    private var martletThere: String { "MARTLET_HOME=\(sandbox.home) \(Sandbox.programs)/martlet" }

    /// Kills the ssh of the screen, as a line that is cut would end it.
    private func cutLine() throws {
        let lines = names(in: RawPath("/proc")).compactMap { name -> pid_t? in
            guard let pid = name.text.flatMap(pid_t.init), let bytes = try? readBytes(RawPath("/proc/\(pid)/cmdline"))
            else {
                return nil
            }
            let words = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first == "ssh" && words.last?.contains("\(martletThere) relay") == true ? pid : nil
        }
        try #require(lines.count == 1, "\(lines)")
        kill(lines[0], SIGKILL)
    }

    @Test func `the screen shows another machine's work, says when the line is down, and comes back by itself`() throws
    {
        let nginx = try Nginx(sandbox)
        let slow = try FaultProxy(sandbox, before: nginx, rules: "rate up 400k")
        let door = try FaultProxy(sandbox, target: sshd.address, folder: "door")
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 60, seed: 5)
        let batch = try sandbox.upload(tree.path, slow.url + "up/")
        let screen = try attach(sshd.command(through: door))
        try screen.awaitText("engine of there ok")
        try screen.awaitText("holiday")
        // What tries again is refused until the door opens.
        try door.set("refuse")
        try cutLine()
        try screen.awaitText("LINE TO there DOWN")
        try screen.awaitText("trying again in")
        try screen.awaitText("Shown below: as of")
        try screen.awaitText("holiday")
        try screen.awaitText("no line to there")
        try screen.press("g", "x")
        try screen.awaitText("nothing can be changed now")
        try door.set()
        try screen.awaitText("The line to there is up again.")
        try screen.awaitText("engine of there ok")
        try screen.awaitRow("holiday", "done")
        #expect(try sandbox.batch(batch)["state"].text == "completed")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
        try screen.awaitText("martlet attach there")
        // Here nothing was queued or started; how the screen was left is remembered.
        #expect(!fileExists("\(near)/state/queue.sqlite") && !fileExists("\(near)/state/run"))
        #expect(try readText("\(near)/state/screen").contains("[view there]"))
    }

    @Test func `ssh asks before the screen opens, and an engine is started there when none runs`() throws {
        let screen = try attach(
            "\(sshd.command) -o StrictHostKeyChecking=ask -o HostKeyAlias=there -o UserKnownHostsFile=\(sandbox.root)/known"
        )
        try screen.awaitText("continue connecting")
        try screen.press("yes", "Enter")
        try screen.awaitText("engine of there ok")
        try screen.awaitText("Nothing is being transferred on there.")
        #expect(try !screen.text().contains("continue connecting"))
        // An engine that is gone is not a line that is down, and is started when the person wants it.
        try sandbox.killEngine()
        try screen.awaitText("ENGINE OF there NOT ANSWERING")
        try screen.press("s")
        try screen.awaitText("engine of there ok")
        #expect(try sandbox.enginePid() != nil)
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `what keeps ssh from getting there is said, and the status is 69`() throws {
        func outcome(_ ssh: String, _ remote: String) throws -> Outcome {
            try sandbox.martlet("attach", "--ssh-command", ssh, "--remote-command", remote, "there")
        }
        let missing = try outcome(sshd.command, "/nowhere/martlet")
        #expect(missing.status == 69)
        #expect(missing.errors.contains("martlet: there has no martlet in its PATH: install it there"))
        let refused = try outcome("ssh -F /dev/null -o Port=1 -o HostName=127.0.0.1", martletThere)
        #expect(refused.status == 69)
        #expect(refused.errors.contains("martlet: no line to there (ssh: "))
        #expect(try sandbox.martlet("attach", "-oProxyCommand=x").status == 2)
    }
}
