import Glibc
import Testing
import TransferModel

/// The harness proves itself first: a comparison that never differs, or a log that is never read, would make every other test worthless.
@Suite(.inLane) struct HarnessTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func put(_ tree: FileTree, to url: String) throws {
        for path in try digests(below: tree.root).keys {
            let escaped = path.bytes.map { byte in
                let digits = String(byte, radix: 16)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }
            let name = path.bytes.contains { $0 >= 128 } ? nil : path.text
            guard let name else { continue }
            let outcome = try sandbox.start(
                "/usr/bin/curl", ["-sS", "--fail", "-g", "-T", "\(tree.path)/\(name)", url + escaped.joined()]
            ).wait()
            #expect(outcome.status == 0, "\(outcome)")
        }
    }

    @Test func `nginx stores what is put, its log counts it, and a tree that differs is seen`() throws {
        let nginx = try Nginx(sandbox)
        let tree = try FileTree.make(at: "\(sandbox.root)/plain", files: 6, each: 5000)
        try put(tree, to: nginx.url + "up/plain/")
        let there = nginx.data.appending(RawPath("up/plain"))
        #expect(try digests(below: there) == digests(below: tree.root))
        #expect(
            try nginx.timesStored(below: "up/plain")
                == Dictionary(uniqueKeysWithValues: (0..<6).map { (RawPath("\($0).bin"), 1) }))
        try write([1], to: there.appending(RawPath("3.bin")))
        #expect(try digests(below: there) != digests(below: tree.root))
    }

    @Test func `names and sizes of a generated tree are the same every time`() throws {
        let first = try FileTree.make(at: "\(sandbox.root)/one", count: 40, seed: 3)
        let second = try FileTree.make(at: "\(sandbox.root)/two", count: 40, seed: 3)
        let other = try FileTree.make(at: "\(sandbox.root)/three", count: 40, seed: 4)
        let digests = try digests(below: first.root)
        #expect(digests.count == 40)
        #expect(Set(digests.values).count > 30, "files differ from one another")
        #expect(digests.keys.contains { $0.text == nil }, "one name is not UTF-8")
        #expect(try digests == EndToEndTests.digests(below: second.root))
        #expect(try digests != EndToEndTests.digests(below: other.root))
    }

    @Test func `the proxy breaks what it is told to break, and says so`() throws {
        let nginx = try Nginx(sandbox)
        let proxy = try FaultProxy(
            sandbox, before: nginx, rules: "rst up 100k first=1", "answer 503 retry-after=2 conn=2")
        try write(SeededBytes.bytes(500_000, seed: 1), to: RawPath("\(sandbox.root)/file"))
        let statuses = try (0..<3).map { _ in
            try sandbox.start(
                "/usr/bin/curl",
                ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-T", "\(sandbox.root)/file", proxy.url + "x"]
            ).wait().output
        }
        #expect(statuses[0] != "201")
        #expect(statuses[1...] == ["503", "201"])
        // It answers first, and writes its log then.
        try waitUntil("nginx has stored it, once") { try nginx.timesStored(below: "") == [RawPath("x"): 1] }
        try waitUntil("the proxy has written its log") { try proxy.log().count == 3 }
        #expect(try proxy.log().first { $0["n"].integer == 1 }?["fault"].text?.hasPrefix("rst") == true)
    }

    @Test func `a terminal shows what its program prints, takes keys and knows its end`() throws {
        let screen = try TerminalScreen(sandbox, size: "40x5", program: "/bin/cat")
        try screen.press("hello", "Enter")
        try screen.awaitText("hello")
        try screen.press("C-d")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `a program's status and output are kept, whether it ends or is killed`() throws {
        let ended = try sandbox.start("/bin/sh", ["-c", "echo out; echo err >&2; exit 7"]).wait()
        #expect((ended.status, ended.output, ended.errors) == (7, "out\n", "err\n"))
        let killed = try sandbox.start("/bin/sleep", ["1000"])
        killed.signal(SIGKILL)
        #expect(try killed.wait().status == 128 + SIGKILL)
    }

    /// Else one test, looking for what it has left behind, could take another's program for its own, and kill it.
    @Test func `a program has nothing open that the test has`() throws {
        let ours = dup(2)
        defer { close(ours) }
        let open = try sandbox.start("/bin/ls", ["/proc/self/fd"]).wait()
        #expect(open.lines == ["0", "1", "2", "3"], "the last is the folder that it lists")
    }
}
