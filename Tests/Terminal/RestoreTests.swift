import Glibc
import Testing

@Suite("The terminal is as before, however the program ended")
struct RestoreTests {
    private let probe = neighbour("terminal-probe")

    private func environment(_ more: [String: String] = [:]) -> [String: String] {
        var all = [
            "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no",
        ]
        all.merge(more) { $1 }
        return all
    }

    private func opened(_ more: [String: String] = [:]) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal()
        try terminal.start([probe], environment: environment(more))
        try terminal.wait(for: "last nothing")
        try terminal.wait("the modes") { terminal.modes.on.isSuperset(of: [1, 25, 1000, 1004, 1006, 1049, 2004]) }
        #expect(terminal.modes.applicationKeypad)
        #expect(!terminal.hasOriginalModes)
        return terminal
    }

    @Test("after leaving, and what is printed then is on the normal screen")
    func leaving() throws {
        let terminal = try opened()
        terminal.type("q")
        #expect(try terminal.waitForEnd() == 0)
        #expect(terminal.isRestored)
        let alternateEnds = try #require(terminal.text.firstRange(of: "\u{1B}[?1049l"))
        #expect(terminal.text[alternateEnds.upperBound...].contains("left"))
        #expect(terminal.modes.unexpected == [])
    }

    @Test(
        "on the terminal's own page nothing is taken away: the last picture stays, and what is printed then is below it"
    )
    func ownPage() throws {
        let terminal = try PseudoTerminal()
        try terminal.start([probe], environment: environment(["PROBE_NO_ALT": "1"]))
        try terminal.wait(for: "last nothing")
        try terminal.wait("the modes") { terminal.modes.on.isSuperset(of: [1000, 2004]) }
        #expect(!terminal.modes.on.contains(1049))
        terminal.type("q")
        #expect(try terminal.waitForEnd() == 0)
        #expect(terminal.isRestored)
        let below = try #require(terminal.text.firstRange(of: "\u{1B}[999;1H"))
        #expect(terminal.text[below.upperBound...].contains("left"))
        #expect(terminal.modes.unexpected == [])
    }

    @Test("after exit(3) in the middle")
    func exiting() throws {
        let terminal = try opened()
        terminal.type("e")
        #expect(try terminal.waitForEnd() == 3 << 8)
        #expect(terminal.isRestored)
    }

    @Test("after a signal, which is also how the program ends", arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
    func signal(_ signal: Int32) throws {
        let terminal = try opened()
        kill(terminal.process, signal)
        #expect(try terminal.waitForEnd() & 0x7F == signal)
        #expect(terminal.isRestored)
    }

    @Test("after a crash that was sent", arguments: [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT])
    func sentCrash(_ signal: Int32) throws {
        let terminal = try opened()
        kill(terminal.process, signal)
        #expect(try terminal.waitForEnd() & 0x7F == signal)
        #expect(terminal.isRestored)
    }

    @Test(
        "after a real crash",
        arguments: [
            ("s", [SIGSEGV]), ("i", [SIGILL, SIGTRAP]), ("a", [SIGABRT]), ("o", [SIGSEGV, SIGBUS]),
        ])
    func realCrash(key: String, signals: [Int32]) throws {
        let terminal = try opened()
        terminal.type(key)
        let status = try terminal.waitForEnd()
        #expect(signals.contains(status & 0x7F))
        #expect(terminal.isRestored)
    }

    @Test("a crash's report comes after the terminal is back, and asks nothing")
    func backtrace() throws {
        let terminal = try PseudoTerminal()
        var environment = environment(["HOME": "/nonexistent"])
        environment["SWIFT_BACKTRACE"] = nil
        try terminal.start([probe], environment: environment)
        try terminal.wait(for: "last nothing")
        terminal.type("i")
        let status = try terminal.waitForEnd()
        #expect([SIGILL, SIGTRAP].contains(status & 0x7F))
        #expect(terminal.isRestored)
        // The report is there only where Swift's backtracer is installed.
        if let report = terminal.text.firstRange(of: "crashed") {
            let back = try #require(terminal.text.firstRange(of: "\u{1B}[?1049l"))
            #expect(back.lowerBound < report.lowerBound)
        }
        #expect(!terminal.text.contains("Press space"))
    }

    @Test("while it is stopped by Ctrl-Z or SIGTSTP, and it comes back with everything", arguments: [true, false])
    func stopping(byKey: Bool) throws {
        let terminal = try PseudoTerminal()
        try terminal.start(["/bin/bash", "--norc", "--noediting", "-i"], environment: environment(["PS1": "ready> "]))
        try terminal.wait(for: "ready>")
        terminal.type("\(probe)\n")
        try terminal.wait(for: "last nothing")
        try terminal.wait("the modes") { terminal.modes.on.contains(1006) }
        let all = terminal.modes.on
        if byKey { terminal.type("\u{1A}") } else { try terminal.killForeground(SIGTSTP) }
        try terminal.wait(for: "Stopped")
        try terminal.wait(for: "ready>")
        #expect(terminal.modes.isNeutral)
        #expect(terminal.hasOriginalModes)
        terminal.type("fg\n")
        try terminal.wait(for: "last redraw")
        try terminal.wait("the modes") { terminal.modes.on == all && terminal.modes.applicationKeypad }
        // In the background it must not touch the terminal.
        terminal.type("\u{1A}")
        try terminal.wait(for: "Stopped")
        terminal.type("set -b; bg\n")
        try terminal.wait(for: "Stopped")
        #expect(terminal.modes.isNeutral)
        terminal.type("fg\n")
        try terminal.wait(for: "last redraw")
        terminal.type("q")
        try terminal.wait(for: "left")
        #expect(terminal.modes.isNeutral)
        terminal.type("exit\n")
        _ = try terminal.waitForEnd()
        #expect(terminal.hasOriginalModes)
    }

    /// ncurses ignores SIGTSTP while it draws, unless somebody else has it.
    @Test("by SIGTSTP in the middle of a frame, too")
    func stoppingInAFrame() throws {
        let terminal = try PseudoTerminal(columns: 300, rows: 100)
        try terminal.start(["/bin/bash", "--norc", "--noediting", "-i"], environment: environment(["PS1": "ready> "]))
        try terminal.wait(for: "ready>")
        terminal.type("\(probe)\n")
        try terminal.wait(for: "last nothing")
        terminal.type("f")
        // The rest of the frame is more than the terminal holds: the program cannot be done with it.
        try terminal.wait(for: "#")
        try terminal.killForeground(SIGTSTP)
        try terminal.wait(for: "Stopped")
        #expect(terminal.modes.isNeutral)
        try terminal.wait(for: "ready>")
        terminal.type("fg\n")
        try terminal.wait(for: "last redraw")
        terminal.type("q")
        try terminal.wait(for: "left")
        terminal.type("exit\n")
        _ = try terminal.waitForEnd()
    }

    @Test("Ctrl-Z in a window of its own says so instead of freezing it")
    func alone() throws {
        let terminal = try opened()
        terminal.type("\u{1A}")
        try terminal.wait(for: "body to continue us")
        terminal.type("q")
        #expect(try terminal.waitForEnd() == 0)
    }

    @Test("a window that closes ends the program")
    func closedWindow() throws {
        let terminal = try opened()
        terminal.hangUp()
        let status = try terminal.waitForEnd()
        #expect(status & 0x7F == SIGHUP || status == 4 << 8)
    }

    @Test("what is printed on descriptor 2 stays off the screen")
    func standardError() throws {
        let terminal = try opened()
        terminal.type("Ex")
        try terminal.wait(for: "x")
        terminal.type("q")
        _ = try terminal.waitForEnd()
        #expect(!terminal.text.contains("noise"))
    }

    @Test("an unknown terminal is told once and replaced, a useless one is refused")
    func fallback() throws {
        let terminal = try opened(["TERM": "xterm-nobody-has-this"])
        try terminal.wait(for: "does not know the terminal \"xterm-nobody-has-this\"")
        terminal.type("q")
        #expect(try terminal.waitForEnd() == 0)
        #expect(terminal.isRestored)

        let dumb = try PseudoTerminal()
        try dumb.start([probe], environment: environment(["TERM": "dumb"]))
        #expect(try dumb.waitForEnd() == 1 << 8)
        #expect(dumb.text.contains("cannot show a screen"))
        #expect(dumb.isRestored)
    }

    @Test("any size is drawn, and many resizes are followed")
    func sizes() throws {
        let terminal = try opened(["LINES": "5", "COLUMNS": "7"])
        for (columns, rows) in [(1, 1), (0, 0), (300, 2), (2, 100), (20, 2), (120, 36)] {
            terminal.resize(columns: columns, rows: rows)
        }
        try terminal.wait(for: "120x36")
        terminal.resize(columns: 3, rows: 1)
        terminal.type("x")
        // The last of three cells, written without wrapping.
        try terminal.wait(for: "\u{1B}[?7lo\u{1B}[?7h")
        terminal.resize(columns: 99, rows: 9)
        try terminal.wait(for: "99x9")
        terminal.type("q")
        #expect(try terminal.waitForEnd() == 0)
        #expect(terminal.isRestored)
    }
}

/// A program of the package, which stands beside the test's.
func neighbour(_ name: String) -> String {
    var path = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path[..<max(0, length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + name
}
