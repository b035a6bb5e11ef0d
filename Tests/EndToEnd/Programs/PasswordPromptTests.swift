import Glibc
import Testing

/// The prompt for a password: what is typed is not shown, and whatever ends or stops the program meanwhile finds the terminal as it was.
@Suite(.inLane) struct PasswordPromptTests {
    private static let question = "Password for nas.invalid, user ana:"

    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private var command: String { "\(Sandbox.programs)/martlet destination add nas https://ana@nas.invalid/" }

    private var front: pid_t? {
        sandbox.ownProcesses().first { linkTarget("/proc/\($0)/exe")?.hasSuffix("/martlet") == true }
    }

    /// True where `stty -a` says that what is typed is shown.
    private func shows(_ settings: String) -> Bool {
        settings.split(whereSeparator: \.isWhitespace).contains("echo")
    }

    /// A shell in a terminal whose name is in the file `tty`.
    private func shell() throws -> TerminalScreen {
        let screen = try TerminalScreen(sandbox, size: "80x24", program: "/bin/bash", "--norc", "--noprofile", "-i")
        try run("tty >\(sandbox.root)/tty", in: screen)
        return screen
    }

    /// Runs a line in the shell, on an empty screen.
    private func run(_ line: String, in screen: TerminalScreen) throws {
        try screen.type("clear")
        try screen.press("Enter")
        try waitUntil("the screen is empty") {
            let text = try screen.text()
            return !text.contains(Self.question) && !text.contains("Stopped") && !text.contains("clear")
        }
        try screen.type(line)
        try screen.press("Enter")
    }

    /// Waits for the prompt, at which nothing that is typed is shown.
    private func awaitPrompt(_ screen: TerminalScreen) throws {
        try screen.awaitText(Self.question)
        let name = try #require(try readText("\(sandbox.root)/tty").split(separator: "\n").first)
        let settings = try sandbox.start("/bin/stty", ["-a", "-F", String(name)]).wait().output
        #expect(settings.contains("-echo ") && !shows(settings), "\(settings)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `whatever ends the program at the prompt, the terminal shows again what is typed`(signal: Int32) throws {
        let (script, after) = ("\(sandbox.root)/commands", "\(sandbox.root)/after")
        try write(
            """
            ulimit -c 0
            # Swift's own report of a crash begins by SIGQUIT, too.
            export SWIFT_BACKTRACE=enable=no
            trap : INT
            \(command)
            status=$?
            stty -a >\(after)
            echo "the shell again: $status"
            exec cat
            """, to: script)
        // Not an interactive shell, which would put the terminal right by itself.
        let screen = try TerminalScreen(sandbox, size: "80x24", program: "/bin/sh", script)
        try screen.awaitText(Self.question)
        if signal == SIGINT { try screen.press("C-c") } else { kill(try #require(front), signal) }
        try screen.awaitText("the shell again: \(128 + signal)")
        #expect(shows(try readText(after)))
    }

    @Test func `a prompt that was stopped asks once more, and shows nothing of what is typed then either`() throws {
        let screen = try shell()
        try run(command, in: screen)
        for _ in 1...2 {
            try awaitPrompt(screen)
            try screen.press("C-z")
            try screen.awaitText("Stopped")
            try run("fg", in: screen)
        }
        try awaitPrompt(screen)
        try screen.type("geheim")
        try screen.press("Enter")
        try screen.awaitText("nas: added")
        #expect(try !screen.text().contains("geheim"))
    }

    @Test func `an end of the input and bytes of another character set are told as what they are`() throws {
        let screen = try shell()
        try run(command, in: screen)
        try awaitPrompt(screen)
        try screen.press("C-d")
        try screen.awaitText("the input ended before an answer was typed")
        try run(command, in: screen)
        try awaitPrompt(screen)
        try screen.send([0xE4])
        try screen.press("Enter")
        try screen.awaitText("what was typed is not UTF-8")
    }
}
