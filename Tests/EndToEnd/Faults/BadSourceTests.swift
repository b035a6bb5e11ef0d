import Glibc
import Testing
import TransferModel

/// Sources that are not there, cannot be read, or change while they are sent.
@Suite(.inLane) struct BadSourceTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    @Test func `a missing source is refused by name, and nothing is queued`() throws {
        let missing = "\(sandbox.root)/no-such-file"
        let outcome = try sandbox.martlet("upload", missing, nginx.url)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.errors.contains(missing), "\(outcome)")
        let machine = try sandbox.martlet("upload", "--json", missing, nginx.url)
        #expect(machine.status == 2)
        #expect(try machine.json["error"]["code"].text == "sourceMissing", "\(machine)")
        #expect(try sandbox.batches().isEmpty)
    }

    @Test func `one missing source among several queues nothing at all`() throws {
        try write("here", to: "\(sandbox.root)/here")
        let outcome = try sandbox.martlet("upload", "\(sandbox.root)/here", "\(sandbox.root)/gone", nginx.url)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(try sandbox.batches().isEmpty)
    }

    @Test func `an unreadable source is refused by name`() throws {
        // Nothing is unreadable for root but what leads in a circle.
        let path = "\(sandbox.root)/closed"
        if geteuid() == 0 {
            symlink(path, path)
        } else {
            try write("secret", to: path)
            chmod(path, 0)
        }
        let outcome = try sandbox.martlet("upload", path, nginx.url)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.errors.contains(path), "\(outcome)")
        #expect(try sandbox.batches().isEmpty)
    }

    @Test func `several sources need a folder to go to`() throws {
        try write("a", to: "\(sandbox.root)/a")
        try write("b", to: "\(sandbox.root)/b")
        let outcome = try sandbox.martlet("upload", "\(sandbox.root)/a", "\(sandbox.root)/b", nginx.url + "name")
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.errors.contains("/"), "the fix is named: \(outcome)")
    }

    @Test func `a file that vanished after it was queued fails alone, by name`() throws {
        let tree = try FileTree.make(at: "\(sandbox.root)/batch", files: 5, each: 1000)
        let batch = try sandbox.upload("--hold", tree.path, nginx.url)
        try waitUntil("the folder is read") { try sandbox.batch(batch)["scanning"].bool == false }
        unlink("\(tree.path)/2.bin")
        try sandbox.succeed("resume", batch)
        #expect(try sandbox.wait(batch).status == 1)
        let tasks = try sandbox.tasks(batch)
        let failed = tasks.filter { $0["state"].text == "failed" }
        #expect(failed.count == 1)
        #expect(failed.first?["error"]["code"].text == "sourceMissing", "\(failed)")
        #expect(failed.first?["error"]["message"].text?.contains("2.bin") == true, "\(failed)")
        #expect(tasks.filter { $0["state"].text == "completed" }.count == 4)
    }

    @Test func `a folder that vanishes while it is walked disturbs nothing else`() throws {
        for folder in 0..<60 {
            _ = try FileTree.make(at: "\(sandbox.root)/vanishing/\(folder)", files: 5, each: 10, seed: UInt64(folder))
        }
        let tree = try FileTree.make(at: "\(sandbox.root)/staying", count: 20, seed: 4)
        let vanishing = try sandbox.upload("\(sandbox.root)/vanishing", nginx.url + "up/")
        removeTree(RawPath("\(sandbox.root)/vanishing"))
        let staying = try sandbox.upload(tree.path, nginx.url + "up/")
        try BatchProof(sandbox: sandbox, nginx: nginx, tree: tree, batch: staying, folder: "up/staying").verify()

        try sandbox.wait(vanishing)
        let batch = try sandbox.batch(vanishing)
        #expect(["completed", "failed"].contains(batch["state"].text), "\(batch)")
        #expect(batch["scanning"].bool == false)
        let tasks = try sandbox.tasks(vanishing)
        #expect(
            tasks.allSatisfy { $0["state"].text == "completed" || $0["error"]["code"].text == "sourceMissing" },
            "\(tasks)")
        #expect(Int64(tasks.count) == batch["filesTotal"].integer)
    }

    enum Change: CaseIterable { case shrinks, grows, isReplaced }

    private func change(_ path: String, _ change: Change) throws -> [UInt8] {
        let newer: [UInt8]
        switch change {
        case .shrinks:
            truncate(path, 100_000)
            newer = try readBytes(RawPath(path))
        case .grows:
            newer = try readBytes(RawPath(path)) + SeededBytes.bytes(50_000, seed: 9)
            try write(newer, to: RawPath(path))
        case .isReplaced:
            newer = SeededBytes.bytes(3_000_000, seed: 10)
            try write(newer, to: RawPath(path + ".new"))
            rename(path + ".new", path)
        }
        return newer
    }

    @Test(arguments: Change.allCases)
    func `a file that changes while it is sent is sent again, whole`(how: Change) throws {
        let path = "\(sandbox.root)/log.txt"
        try write(SeededBytes.bytes(3_000_000, seed: 8), to: RawPath(path))
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 1M first=2")
        let batch = try sandbox.upload(path, proxy.url)
        try waitUntil("bytes go out") { try (sandbox.task(batch)["bytesSent"].integer ?? 0) > 200_000 }
        let newer = try change(path, how)
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 0, "\(ended)")
        #expect(try readBytes(nginx.data.appending(RawPath("log.txt"))) == newer, "the file as it is now, unmixed")
        let task = try sandbox.task(batch)
        #expect(task["restarts"].integer == 1, "\(task)")
        #expect(task["bytesTotal"].integer == Int64(newer.count))
    }

    @Test(arguments: Change.allCases)
    func `a file that changes while it is sent fails when the batch says so`(how: Change) throws {
        let path = "\(sandbox.root)/log.txt"
        let older = SeededBytes.bytes(3_000_000, seed: 8)
        try write(older, to: RawPath(path))
        let proxy = try FaultProxy(sandbox, before: nginx, rules: "rate up 1M first=2")
        let batch = try sandbox.upload("--if-changed", "fail", path, proxy.url)
        try waitUntil("bytes go out") { try (sandbox.task(batch)["bytesSent"].integer ?? 0) > 200_000 }
        _ = try change(path, how)
        #expect(try sandbox.wait(batch).status == 1)
        let task = try sandbox.task(batch)
        #expect(task["state"].text == "failed")
        #expect(task["error"]["code"].text == "sourceChanged", "\(task)")
        // A plain PUT may have been on its way as a whole when the file changed; a mixture never arrives.
        if fileExists("\(nginx.data)/log.txt") {
            #expect(try readBytes(nginx.data.appending(RawPath("log.txt"))) == older)
        }
    }

    @Test func `a name full of escape sequences arrives as it is and is shown harmlessly`() throws {
        let name = RawPath(Array("evil\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\r\n\u{202e}txt".utf8) + [0xff, 0x1b])
        let folder = RawPath("\(sandbox.root)/names")
        try write([1, 2, 3], to: folder.appending(name))
        let batch = try sandbox.upload("--hold", folder.displayed, nginx.url)
        try waitUntil("the folder is read") { try sandbox.batch(batch)["filesTotal"].integer == 1 }
        do {
            let screen = try TerminalScreen(sandbox, size: "200x24")
            try screen.awaitText("names")
            try screen.press("*")
            try screen.awaitText("evil\\x1b[3")
            try screen.press("q")
            #expect(try screen.awaitEnd() == 0)
        }
        try sandbox.succeed("resume", batch)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(nginx.data.appending(RawPath("names")).appending(name)) == [1, 2, 3])

        let task = try sandbox.task(batch)
        #expect(task["sourceBase64"].text != nil, "a name that is not UTF-8 can still be had")
        for command in [
            ["list", batch], ["show", task["id"].text ?? ""], ["events", "--after", "0"], ["log", batch], ["list"],
        ] {
            let outcome = try sandbox.start("martlet", command).wait()
            #expect(outcome.status == 0, "\(command): \(outcome)")
            let raw = outcome.output.unicodeScalars.filter {
                ($0.value < 32 && $0 != "\n") || (127...159).contains($0.value)
            }
            #expect(raw.isEmpty, "\(command) lets a control character through")
            #expect(!outcome.output.unicodeScalars.contains("\u{202e}"))
        }
    }
}
