import Testing
import TransferModel

/// Batches that are added on the screen, from the first key to the file at its destination.
@Suite(.inLane) struct AddingTests {
    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    @Test func `pasted paths are counted, sent and arrive, and the screen says the command that does the same`() throws
    {
        let tree = try FileTree.make(at: "\(sandbox.root)/my holiday", count: 20, seed: 5)
        let screen = try TerminalScreen(sandbox, size: "100x30")
        try screen.awaitText("Nothing is being transferred")
        // As a file manager gives it; the last one is not there.
        try screen.paste("'\(tree.path)'\n\(sandbox.root)/nothing\n")
        try screen.awaitText("1 path chosen")
        try screen.awaitText("No such file or directory")
        try screen.awaitRow("Chosen", "\(tree.count) files")
        try screen.press("F2")
        try screen.awaitText("Where to:")
        try screen.type(nginx.url + "up")
        try screen.press("Enter")
        try screen.awaitText("The same as a command")
        try screen.awaitText("'my holiday'")
        try screen.press("F2")
        try screen.awaitText("Queued b1")
        #expect(try sandbox.wait("b1").status == 0)
        #expect(try digests(below: nginx.data.appending(RawPath("up/my holiday"))) == digests(below: tree.root))
        // Where it went is proposed the next time.
        try screen.press("a")
        try screen.awaitText("my holiday/")
        try screen.press("Space", "F2")
        try screen.awaitRow("Where to:", nginx.url + "up/")
        try screen.press("C-c", "q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `a configured server is used by its name on the screen and in commands`() throws {
        try write("one", to: "\(sandbox.root)/one.txt")
        try write("two", to: "\(sandbox.root)/two.txt")
        #expect(try sandbox.martlet("destination", "add", "web", nginx.url + "up/").status == 0)
        let tested = try sandbox.martlet("destination", "test", "web")
        #expect(
            tested.status == 0 && tested.output.contains("web answered in ") && !tested.output.contains("login"),
            "\(tested)")
        let gone = try sandbox.martlet("destination", "add", "gone", "http://127.0.0.1:1/in/")
        #expect(gone.status == 0)
        let refused = try sandbox.martlet("destination", "test", "gone")
        #expect(refused.status == 1 && refused.output.contains("gone cannot be used:"), "\(refused)")
        #expect(try sandbox.martlet("upload", "--wait", "\(sandbox.root)/one.txt", "web:by name/").status == 0)
        #expect(try readText("\(nginx.data.displayed)/up/by name/one.txt") == "one")
        let screen = try TerminalScreen(sandbox, size: "80x24")
        try screen.awaitText("engine ok")
        try screen.press("a")
        try screen.awaitText("Chosen: nothing yet")
        try screen.type("~two.txt")
        try screen.press("Enter")
        try screen.awaitRow("Chosen", "1 file")
        try screen.press("F2")
        try screen.awaitRow("web:", nginx.url)
        try screen.press("C-u")
        try screen.type("web:screen/")
        try screen.press("Enter")
        try screen.awaitRow("Server", "answered in")
        try screen.press("F2")
        try screen.awaitText("Queued b2")
        #expect(try sandbox.wait("b2").status == 0)
        #expect(try readText("\(nginx.data.displayed)/up/screen/two.txt") == "two")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }

    @Test func `a test says that the login is good only where the server asks for one`() throws {
        let closed = try Nginx(sandbox, folder: "closed", authenticated: true)
        for (name, url) in [("open", nginx.url), ("closed", closed.url)] {
            let account = ["--user", "test", "--password-command", "echo test"]
            let added = try sandbox.start("martlet", ["destination", "add", name, url + "up/"] + account).wait()
            #expect(added.status == 0, "\(added)")
        }
        let anybody = try sandbox.martlet("destination", "test", "open")
        #expect(anybody.status == 0 && anybody.output.contains("no password asked for so far"), "\(anybody)")
        let somebody = try sandbox.martlet("destination", "test", "closed")
        #expect(somebody.status == 0 && somebody.output.contains(": login ok"), "\(somebody)")
        let report = try sandbox.martlet("destination", "test", "closed", "--json")
        #expect(report.output.contains(#""login":"ok""#), "\(report)")
    }

    @Test func `a server that was removed comes back with its password, from the screen and by a command`() throws {
        let closed = try Nginx(sandbox, folder: "closed", authenticated: true)
        let url = closed.url.replacing("://", with: "://test:test@")
        #expect(try sandbox.martlet("destination", "add", "closed", url + "up/").status == 0)
        let screen = try TerminalScreen(sandbox, size: "80x24")
        try screen.awaitText("engine ok")
        try screen.press("D")
        try screen.awaitRow("closed", "kept")
        try screen.press("x")
        try screen.awaitText("closed is removed")
        try screen.awaitText("No server is configured yet")
        #expect(try sandbox.martlet("destination", "test", "closed").status == 3)
        try screen.press("u")
        try screen.awaitText("closed is back")
        #expect(try sandbox.martlet("destination", "test", "closed").status == 0)
        // Esc and a letter in one write would be Alt and the letter.
        try screen.press("q")
        try screen.awaitText("Nothing is being transferred")
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
        #expect(try sandbox.martlet("destination", "remove", "closed").status == 0)
        let back = try sandbox.martlet("destination", "restore")
        #expect(back.status == 0 && back.output == "closed: back; use it as closed:PATH\n", "\(back)")
        #expect(try sandbox.martlet("destination", "test", "closed").status == 0)
        #expect(try sandbox.martlet("destination", "restore", "closed").status == 3)
    }
}
