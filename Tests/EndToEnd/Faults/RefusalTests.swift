import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel

/// What servers refuse, and addresses that lead nowhere.
@Suite(.inLane) struct RefusalTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
        try write(SeededBytes.bytes(2_000_000, seed: 30), to: RawPath("\(sandbox.root)/file"))
    }

    private var source: String { "\(sandbox.root)/file" }

    @Test(arguments: ["http://", "http:///x", "http://[::1/x", "http://host:99999/", "not a url", "http://a b/"])
    func `a malformed URL is refused at once`(url: String) throws {
        let outcome = try sandbox.martlet("upload", source, url)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.errors.contains(url) || outcome.errors.contains("99999"), "it says which: \(outcome)")
        #expect(try sandbox.batches().isEmpty)
        #expect(try sandbox.martlet("download", url, "\(sandbox.root)/").status == 2)
    }

    @Test(arguments: ["gopher://h/x", "file:///etc/passwd", "quux://h/"])
    func `an unknown scheme is refused at once`(url: String) throws {
        let outcome = try sandbox.martlet("upload", "--json", source, url)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(try outcome.json["error"]["code"].text != nil)
        let scheme = url.prefix { $0 != ":" }
        #expect(try outcome.json["error"]["message"].text?.contains(scheme) == true, "\(outcome)")
        #expect(try sandbox.batches().isEmpty)
    }

    @Test func `an unknown host is waited for, and why says so`() throws {
        let batch = try sandbox.upload(source, "http://no-such-host.invalid/up/")
        var task = JSON.null
        try waitUntil("it waits") {
            task = try sandbox.task(batch)
            return task["state"].text == "waiting"
        }
        #expect(task["error"]["code"].text == "cannotFindHost", "\(task)")
        try waitUntil("why names it") { try sandbox.succeed("why", batch).output.contains("no-such-host.invalid") }
        try sandbox.succeed("cancel", batch)
        #expect(try sandbox.batch(batch)["state"].text == "cancelled")
    }

    @Test func `a file that makes no progress is given up after the time that was asked for`() throws {
        let batch = try sandbox.upload("--give-up-after", "2s", source, "http://127.0.0.1:9/up/")
        #expect(try sandbox.wait(batch).status == 1)
        let error = try sandbox.task(batch)["error"]
        #expect(error["code"].text == "gaveUp", "\(error)")
        #expect(error["message"].text?.contains("127.0.0.1:9 does not accept the connection") == true, "\(error)")
    }

    @Test(arguments: [(403, "permissionDenied"), (404, "http"), (409, "http"), (410, "http"), (413, "http")])
    func `a final refusal fails the task with its reason, and nothing else`(status: Int, code: String) throws {
        let refused = try sandbox.upload(source, nginx.url + "status/\(status)/x")
        let other = try sandbox.upload(source, nginx.url + "up/fine")
        #expect(try sandbox.wait(refused).status == 1)
        #expect(try sandbox.wait(other).status == 0)
        let task = try sandbox.task(refused)
        #expect(task["state"].text == "failed")
        #expect(task["error"]["code"].text == code, "\(task)")
        #expect(task["error"]["httpStatus"].integer == Int64(status))
        #expect(task["error"]["message"].text?.isEmpty == false)
        #expect(task["attempts"].integer == 1)
        let list = try sandbox.succeed("why", refused).output
        #expect(list.contains("\(status)"), "\(list)")
    }

    @Test func `a body over the server's limit fails with 413 and the connection is not abused`() throws {
        let refused = try sandbox.upload(source, nginx.url + "small/x")
        #expect(try sandbox.wait(refused).status == 1)
        #expect(try sandbox.task(refused)["error"]["httpStatus"].integer == 413)
        #expect(try nginx.answers().filter { $0.method == "PUT" && $0.path == "/small/x" }.count == 1)
    }

    @Test func `401 waits for a person and keeps everything`() throws {
        let guarded = try Nginx(sandbox, folder: "guarded", authenticated: true)
        let batch = try sandbox.upload(source, guarded.url + "up/x")
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 4, "what is left needs a person: \(ended)")
        let task = try sandbox.task(batch)
        #expect(task["state"].text == "waiting")
        #expect(task["waitReasons"].texts == ["auth"], "\(task)")
        #expect(try sandbox.batch(batch)["waitReasons"].texts == ["auth"])
        #expect(try sandbox.succeed("why", batch).output.contains("401"))

        let known = try sandbox.upload(source, guarded.url.replacing("http://", with: "http://test:test@") + "up/y")
        #expect(try sandbox.wait(known).status == 0)
        let shown =
            try sandbox.succeed("show", known, "--json").output + sandbox.succeed("list", known, "--json").output
        #expect(!shown.contains("test:test"), "a password is never shown")
    }

    @Test func `507 waits for room at the server`() throws {
        let batch = try sandbox.upload(source, nginx.url + "status/507/x")
        var task = JSON.null
        try waitUntil("it waits") {
            task = try sandbox.task(batch)
            return task["state"].text == "waiting"
        }
        #expect(task["waitReasons"].texts.contains("remoteDiskSpace"), "\(task)")
        #expect(task["error"]["httpStatus"].integer == 507)
        #expect(task["error"]["retryable"].bool == true)
        #expect(try sandbox.succeed("why", batch).output.contains("507"))
    }

    @Test func `a missing download fails with 404 and leaves no file`() throws {
        let batch = try sandbox.download(nginx.url + "no-such-file", "\(sandbox.root)/downloads/")
        #expect(try sandbox.wait(batch).status == 1)
        let task = try sandbox.task(batch)
        #expect(task["error"]["code"].text == "http")
        #expect(task["error"]["httpStatus"].integer == 404)
        #expect(try digests(below: RawPath("\(sandbox.root)/downloads")).isEmpty)
    }

    // A small file system of its own needs root, and a container's root may not mount.
    @Test(.enabled(if: Mounting.isAllowed, "nothing can be mounted here"))
    func `a full disk under a download waits, says so, and goes on when there is room`() throws {
        let content = SeededBytes.bytes(3_000_000, seed: 31)
        try write(content, to: nginx.data.appending(RawPath("large")))
        let small = "\(sandbox.root)/small"
        makeFolder(RawPath(small))
        try #require(mount("tmpfs", small, "tmpfs", 0, "size=1m") == 0)
        defer { umount2(small, Int32(MNT_DETACH)) }
        let batch = try sandbox.download(nginx.url + "large", small + "/")
        var task = JSON.null
        try waitUntil("it waits") {
            task = try sandbox.task(batch)
            return task["state"].text == "waiting"
        }
        #expect(task["waitReasons"].texts.contains("diskSpace"), "\(task)")
        #expect(task["error"]["code"].text == "diskFull", "\(task)")
        #expect(!fileExists(small + "/large"))
        #expect(try sandbox.succeed("why", batch).output.contains(small), "it says which disk")
        // A hundredth of it is left to whoever else needs a little.
        let folder = try System.open(Array(small.utf8))
        #expect(try System.space(of: folder.rawValue).free >= 4096)
        folder.close()

        #expect(mount("tmpfs", small, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
        try sandbox.succeed("retry", batch)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(RawPath(small + "/large")) == content)
    }
}
