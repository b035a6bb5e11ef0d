import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel

/// What becomes of commands when the engine is silent, cannot start, or has lost a file of its own.
@Suite(.inLane) struct OwnFilesTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private var state: String { "\(sandbox.home)/state" }

    private func queueHeld() throws {
        try write("x", to: "\(sandbox.root)/x")
        try sandbox.succeed("upload", "--hold", "\(sandbox.root)/x", "http://127.0.0.1:9/")
    }

    @Test func `with a stopped engine every command ends, by the contract's statuses`() throws {
        try queueHeld()
        let engine = try #require(try sandbox.enginePid())
        kill(engine, SIGSTOP)
        defer { kill(engine, SIGCONT) }
        let commands: [([String], Int32, String)] = [
            (["wait", "--patient", "--timeout", "3s", "--json"], 75, "timedOutWaiting"),
            (["wait", "b1", "--patient", "--timeout", "3s", "--json"], 75, "timedOutWaiting"),
            (["list", "--json"], 69, "engineUnreachable"), (["engine", "status", "--json"], 69, "engineUnreachable"),
            (["engine", "stop", "--now", "--json"], 69, "engineUnreachable"),
            (["upload", "--json", "\(sandbox.root)/x", "http://127.0.0.1:9/"], 69, "engineUnreachable"),
        ]
        let running = try commands.map { try sandbox.start("martlet", $0.0) }
        for (child, (command, status, code)) in zip(running, commands) {
            let outcome = try child.wait()
            #expect(outcome.status == status, "\(command): \(outcome)")
            #expect(try outcome.json["error"]["code"].text == code, "\(command): \(outcome)")
        }
        let told = try sandbox.martlet("list")
        #expect(told.errors.contains("kill -CONT \(engine)"), "\(told)")
        kill(engine, SIGCONT)
        #expect(try sandbox.succeed("engine", "stop", "--now").status == 0)
    }

    @Test func `an engine that stops while it is waited for lets the wait end in its time`() throws {
        try queueHeld()
        let engine = try #require(try sandbox.enginePid())
        let wait = try sandbox.start("martlet", ["wait", "--patient", "--timeout", "8s"])
        try waitUntil("it waits") { wait.status == nil && openSockets(of: wait.pid) > 0 }
        kill(engine, SIGSTOP)
        defer { kill(engine, SIGCONT) }
        #expect(try wait.wait().status == 75)
    }

    /// Whether it has reached the engine.
    private func openSockets(of pid: pid_t) -> Int {
        names(in: RawPath("/proc/\(pid)/fd")).count {
            linkTarget("/proc/\(pid)/fd/\($0)")?.hasPrefix("socket:") == true
        }
    }

    @Test func `something else that listens on the socket, and says nothing, holds nobody up`() throws {
        try queueHeld()
        try sandbox.succeed("engine", "stop", "--now")
        try waitUntil("the engine has left") { sandbox.ownProcesses().isEmpty }
        let listener = try UnixSocket.listen(in: Array("\(state)/run".utf8), name: "control.sock")
        defer { listener.close() }
        for (command, status) in [
            (["wait", "--timeout", "3s"], Int32(75)), (["list"], 69), (["engine", "status"], 69),
            (["engine", "stop", "--now"], 69),
        ] {
            let outcome = try sandbox.start("martlet", command).wait()
            #expect(outcome.status == status, "\(command): \(outcome)")
        }
    }

    @Test func `a wait that is interrupted ends with 130, whatever it was at`() throws {
        try queueHeld()
        for isStopped in [false, true] {
            let engine = try #require(try sandbox.enginePid())
            if isStopped { kill(engine, SIGSTOP) }
            defer { kill(engine, SIGCONT) }
            let wait = try sandbox.start("martlet", ["wait", "--patient"])
            try waitUntil("it waits") { wait.status == nil && openSockets(of: wait.pid) > 0 }
            wait.signal(SIGINT)
            #expect(try wait.wait().status == 130)
        }
    }

    @Test func `an engine that cannot start is 69 and says why`() throws {
        try write("x", to: "\(sandbox.root)/x")
        // Something stands where its folder belongs; root is stopped by that, too.
        try write("not a folder", to: state)
        let front = try sandbox.martlet("upload", "--json", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        #expect(front.status == 69, "\(front)")
        #expect(try front.json["error"]["code"].text == "engineUnreachable", "\(front)")
        #expect(front.errors.contains("is no folder"), "\(front)")
        #expect(try sandbox.start("martletd", []).wait().status == 69)
    }

    // A small file system of its own needs root, and a container's root may not mount.
    @Test(.enabled(if: Mounting.isAllowed, "nothing can be mounted here"), arguments: ["full", "read-only"])
    func `an engine that its disk does not let start is 69 with its code`(disk: String) throws {
        try write("x", to: "\(sandbox.root)/x")
        try #require(mount("tmpfs", sandbox.home, "tmpfs", 0, "size=64k") == 0)
        defer { umount2(sandbox.home, Int32(MNT_DETACH)) }
        if disk == "full" {
            // As much as there is room for.
            let filler = try System.open(Array("\(sandbox.home)/filler".utf8), flags: O_WRONLY | O_CREAT)
            let piece = [UInt8](repeating: 7, count: 4096)
            while let count = try? piece.withUnsafeBytes({ try System.write(filler.rawValue, $0) }), count > 0 {}
            filler.close()
        } else {
            try #require(mount("tmpfs", sandbox.home, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=64k") == 0)
        }
        let told = disk == "full" ? "o space left" : "ead-only file system"
        let upload = ["upload", "--json", "\(sandbox.root)/x", "http://127.0.0.1:9/"]
        for command in [upload, ["engine", "start", "--json"]] {
            let front = try sandbox.start("martlet", command).wait()
            #expect(front.status == 69, "\(command): \(front)")
            #expect(try front.json["error"]["code"].text == "engineUnreachable", "\(command): \(front)")
            let message = try front.json["error"]["message"].text ?? ""
            #expect(message.contains(told) || message.contains("is full"), "\(command): \(message)")
        }
        #expect(try sandbox.start("martletd", []).wait().status == 69)
        #expect(sandbox.ownProcesses().isEmpty)
    }

    @Test(.enabled(if: Mounting.isAllowed, "nothing can be mounted here"))
    func `while the disk of the queue is full why says so, and all goes on when there is room`() throws {
        let nginx = try Nginx(sandbox)
        try write(SeededBytes.bytes(3_000_000, seed: 51), to: nginx.data.appending(RawPath("large")))
        try #require(mount("tmpfs", sandbox.home, "tmpfs", 0, "size=2m") == 0)
        defer {
            sandbox.killEverything()
            umount2(sandbox.home, Int32(MNT_DETACH))
        }
        let batch = try sandbox.download("--limit", "100K", nginx.url + "large", "\(sandbox.root)/downloads/")
        try waitUntil("it runs") { try sandbox.task(batch)["bytesAccepted"].integer ?? 0 > 0 }
        let filler = try System.open(Array("\(sandbox.home)/filler".utf8), flags: O_WRONLY | O_CREAT)
        let piece = [UInt8](repeating: 7, count: 4096)
        // Room that SQLite gives back is taken, too.
        func fill() {
            while let count = try? piece.withUnsafeBytes({ try System.write(filler.rawValue, $0) }), count > 0 {}
        }
        try waitUntil("why says that the disk is full") {
            fill()
            return try sandbox.succeed("why", batch).output
                .contains("\(batch) stands still: the disk that holds the queue is full")
        }
        #expect(try sandbox.succeed("why", batch).output.contains("make room there"))
        filler.close()
        unlink("\(sandbox.home)/filler")
        try waitUntil("it goes on") { try !sandbox.succeed("why", batch).output.contains("stands still") }
        try sandbox.succeed("set", batch, "--limit", "off")
        #expect(try sandbox.wait(batch).status == 0)
    }

    @Test func `a queue that was emptied is told by --check as by the engine`() throws {
        try queueHeld()
        try sandbox.succeed("engine", "stop", "--now")
        try waitUntil("the engine has left") { sandbox.ownProcesses().isEmpty }
        try write("", to: "\(state)/queue.sqlite")
        let engine = try sandbox.start("martletd", []).wait()
        let check = try sandbox.start("martletd", ["--check"]).wait()
        #expect(engine.status == 65 && check.status == 65, "\(engine) \(check)")
        #expect(check.errors.contains("restore it from a backup") && !check.errors.contains(".recover"), "\(check)")
        #expect(check.errors == engine.errors)
    }

    @Test(arguments: ["log", "run", "state"])
    func `a folder that leads elsewhere is not used when it is somebody else's`(name: String) throws {
        guard getuid() == 0 else { return }
        let folder = name == "state" ? state : "\(state)/\(name)"
        let elsewhere = "\(sandbox.root)/elsewhere"
        makeFolder(RawPath(elsewhere))
        if name != "state" { makeFolder(RawPath(state)) }
        symlink(elsewhere, folder)
        lchown(folder, 12345, 12345)
        let engine = try sandbox.start("martletd", []).wait()
        #expect(engine.status == 69, "\(engine)")
        #expect(engine.errors.contains("\(folder) is a link"), "\(engine)")
        #expect(names(in: RawPath(elsewhere)).isEmpty)
    }

    @Test func `damaged secrets are named as themselves, and the queue is left in peace`() throws {
        try write("x", to: "\(sandbox.root)/x")
        try sandbox.succeed(
            "upload", "--hold", "--header", "Authorization: Bearer XtokenX", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        try sandbox.succeed("engine", "stop", "--now")
        try waitUntil("the engine has left") { sandbox.ownProcesses().isEmpty }
        try write(SeededBytes.bytes(50_000, seed: 41), to: RawPath("\(state)/secrets.sqlite"))
        let front = try sandbox.martlet("engine", "start")
        #expect(front.status == 69, "\(front)")
        #expect(front.errors.contains("secrets.sqlite is damaged"), "\(front)")
        #expect(!front.errors.contains("queue.sqlite"), "\(front)")
        unlink("\(state)/secrets.sqlite")
        try sandbox.succeed("resume", "b1")
        try waitUntil("it waits for a person") {
            try sandbox.succeed("show", "t1", "--json").json["waitReasons"] == .array([.text("auth")])
        }
        #expect(try sandbox.succeed("why", "t1").output.contains("secrets.sqlite"))
    }

    @Test func `a queue that is deleted under way takes nothing more, and says so`() throws {
        try queueHeld()
        for name in ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm"] { unlink("\(state)/\(name)") }
        let front = try sandbox.martlet("upload", "--json", "\(sandbox.root)/x", "http://127.0.0.1:9/")
        #expect(front.status == 69, "\(front)")
        #expect(try front.json["error"]["code"].text == "queueCorrupt", "\(front)")
        #expect(front.errors.contains("deleted or replaced"), "\(front)")
    }
}
