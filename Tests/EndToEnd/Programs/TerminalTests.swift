import Glibc
import Testing
import TransferModel

/// The terminal that the screen runs in: given back as it was, whatever ends the screen, and the shell's own in between.
@Suite(.inLane) struct TerminalTests {
    private static let untouched = "alternate=0 cursor=1 mouse=0"

    let sandbox: Sandbox
    let nginx: Nginx

    init() throws {
        sandbox = try Sandbox()
        nginx = try Nginx(sandbox)
    }

    /// A batch that is done, and a shell in a terminal that has run what it was told.
    private func shell(_ commands: String) throws -> TerminalScreen {
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 20, seed: 5)
        try sandbox.wait(sandbox.upload(tree.path, nginx.url + "up/"))
        let script = "\(sandbox.root)/commands"
        try write(commands, to: script)
        return try TerminalScreen(
            sandbox, size: "80x24", program: "/bin/bash", "--norc", "--noprofile", "-i", script)
    }

    private var front: pid_t? {
        sandbox.ownProcesses().first { linkTarget("/proc/\($0)/exe")?.hasSuffix("/martlet") == true }
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT])
    func `whatever ends the screen, the terminal is given back as it was`(signal: Int32) throws {
        let screen = try shell(
            """
            ulimit -c 0
            stty -g >\(sandbox.root)/before
            \(Sandbox.programs)/martlet
            status=$?
            stty -g >\(sandbox.root)/after
            echo "the shell again: $status"
            exec cat
            """)
        try screen.awaitText("holiday")
        #expect(try screen.modes().contains("alternate=1"))
        kill(try #require(front), signal)
        try screen.awaitText("the shell again: \(128 + signal)")
        #expect(try screen.modes() == Self.untouched)
        #expect(try readText("\(sandbox.root)/before") == readText("\(sandbox.root)/after"))
        let left = try screen.text()
        #expect(!left.contains("holiday"), "the screen's picture is gone: \(left)")
    }

    @Test func `a suspended screen leaves the shell its terminal, and comes back whole`() throws {
        let screen = try TerminalScreen(sandbox, size: "80x24", program: "/bin/bash", "--norc", "--noprofile", "-i")
        let tree = try FileTree.make(at: "\(sandbox.root)/holiday", count: 20, seed: 5)
        try sandbox.wait(sandbox.upload(tree.path, nginx.url + "up/"))
        try screen.type("\(Sandbox.programs)/martlet")
        try screen.press("Enter")
        for _ in 1...3 {
            try screen.awaitText("holiday")
            try screen.press("C-z")
            try screen.awaitText("Stopped")
            #expect(try screen.modes() == Self.untouched)
            try screen.type("clear; fg")
            try screen.press("Enter")
            try screen.awaitText("holiday")
            #expect(try screen.modes().hasPrefix("alternate=1"))
        }
        try screen.press("q")
        try waitUntil("the shell has its terminal") { try screen.modes() == Self.untouched }
    }

    @Test func `a click puts the cursor on a row, and with the mouse off the terminal's own selection is left alone`()
        throws
    {
        let names = ["autumn", "spring", "winter"]
        for name in names {
            let tree = try FileTree.make(at: "\(sandbox.root)/\(name)", count: 3, seed: 5)
            try sandbox.wait(sandbox.upload(tree.path, nginx.url + "up/"))
        }
        let screen = try TerminalScreen(sandbox, size: "80x24", "--mouse", "on")
        for name in names + names.reversed() {
            try screen.awaitText(name)
            let rows = try screen.text().split(separator: "\n", omittingEmptySubsequences: false)
            let row = try #require(rows.firstIndex { $0.contains(name) })
            try screen.click(column: 20, row: row + 1)
            try waitUntil("the cursor is on \(name)") { try screen.cursorRow() == row }
        }
        #expect(try screen.modes().hasSuffix("mouse=1"))
        try screen.type(":mouse off")
        try screen.press("Enter")
        try waitUntil("the mouse is the terminal's") { try screen.modes().hasSuffix("mouse=0") }
        try screen.press("q")
        #expect(try screen.awaitEnd() == 0)
    }
}
