import CommandLine
import Configuration
import DisplayText
import LinuxSystem
import MartletKit
import TestSupport
import Testing

@testable import Commands
@testable import TerminalUI

@Suite("The command that the screen shows is what the screen does")
struct ScreenCommandTests {
    let sandbox: Sandbox
    private let engine = FakeEngine()
    private static let now: Int64 = 1_795_264_867_000

    private static let configured = """
        [nas]
        url = https://nas.example/in/
        if-exists = skip
        verify = size
        limit = 8M
        """

    private static let names: [[UInt8]] = [
        Array("plain.txt".utf8), Array("it's 'quoted' \"twice\".txt".utf8), Array("  blanks \\ back".utf8),
        Array("$HOME `x` $(y) !z; & | > *?[a]~#".utf8), Array("-dash".utf8),
        Array("写真アルバム 2024年 北海道旅行 その一 その二.jpg".utf8),
        Array("esc\u{1B}[31m\u{7}\ttab".utf8), Array("new\nline".utf8), [0x6C, 0xE4, 0xFF, 0x27, 0x41],
        [UInt8](repeating: UInt8(ascii: "x"), count: 200), Array("\u{202E}gpj.👩‍👩‍👧".utf8),
    ]

    init() throws {
        sandbox = try Sandbox()
        try sandbox.directory("config")
        try sandbox.write("config/destinations.conf", Self.configured)
        try sandbox.directory("into")
        for name in Self.names { try sandbox.file(name) }
    }

    private func path(_ name: [UInt8]) -> [UInt8] { sandbox.path + [0x2F] + name }

    /// Standard output of a shell that ended well.
    private func output(of shell: String, _ script: [UInt8]) throws -> [UInt8] {
        let pipe = try System.pipe()
        var program = ChildProgram(shell, arguments: [Array("-c".utf8), script])
        program.standardOutput = pipe.write.rawValue
        let child = try ChildProcess(program)
        pipe.write.close()
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try chunk.withUnsafeMutableBytes { buffer in try System.read(pipe.read.rawValue, buffer) }
            if count == 0 { break }
            output += chunk[..<count]
        }
        #expect(try child.wait() == .exited(0))
        return output
    }

    /// What a shell makes of the lines that are on the screen.
    private func shell(_ lines: [ShellCommand.Line]) throws -> [Argument] {
        let text = lines.map { ($0.isInsideWord ? [] : Array("   ".utf8)) + $0.bytes }.joined(separator: [0x0A])
        let home = Array("HOME='".utf8) + sandbox.path + Array("'; martlet() { printf '%s\\0' \"$@\"; }\n".utf8)
        let output = try output(of: "/bin/bash", home + text)
        return output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Argument(Array($0)) }
    }

    /// What the command queues, and what the screen would.
    private func both(_ order: AddOrder, width: Int) async throws -> (command: BatchRequest?, screen: BatchRequest) {
        let environment = ["MARTLET_SSH_COMMAND": "ssh -i key", "https_proxy": "http://proxy:3128"]
        let lines = ShellCommand(words: order.words, home: sandbox.path).lines(width: width, indent: 3)
        let words = try shell(lines)
        let folder = sandbox.path
        let file = String(decoding: folder, as: UTF8.self) + "/config/destinations.conf"
        let bench = Bench(engine) { surroundings in
            surroundings.currentDirectory = folder
            surroundings.environment = environment
            surroundings.umask = 0o077
            surroundings.destinationsPath = file
            surroundings.askPassword = { _ in "s3cret" }
        }
        let before = engine.requests.count
        #expect(await bench.run(words) == .done, "\(bench.error)")
        let book = DestinationBook(
            DestinationsFile(bytes: Array(Self.configured.utf8)), environment: environment)
        var request = try order.request(
            book, currentDirectory: Array("/".utf8),
            AddSurroundings(environment: environment, umask: 0o077, now: Self.now, calendar: .utc))
        let queued = engine.requests.count > before ? engine.requests.last : nil
        if let queued { request.uuid = queued.uuid }
        return (queued, request)
    }

    @Test("every name, on lines of every width", arguments: [12, 20, 40, 76, 200])
    func names(_ width: Int) async throws {
        var order = AddOrder(.upload(Self.names.map(path), to: "https://host/in'put/"))
        order.name = "it's -- 写真"
        order.include = ["*.jpg", "-x", "a b", "['\"]*"]
        order.exclude = ["$HOME/*", "\u{1B}[0m"]
        let (command, screen) = try await both(order, width: width)
        #expect(command == screen)
    }

    @Test("every choice of the review")
    func choices() async throws {
        let upload = AddOrder.Work.upload([path(Self.names[0])], to: "nas:some where/")
        for policy in [nil, .fail, .skip, .replace] as [ExistingFilePolicy?] {
            for start in [.now, .held, .at("18:00"), .at("+2h"), .at("2026-12-24 06:00")] as [AddOrder.Start] {
                var order = AddOrder(upload)
                order.ifExists = policy
                order.start = start
                order.verify = policy == .skip ? VerificationWish.none : policy == .fail ? .digest : nil
                order.limit = policy == nil ? nil : RateLimit(policy == .skip ? "off" : "512K")
                order.priority = start == .held ? .background : .normal
                order.followLinks = policy == .replace
                let (command, screen) = try await both(order, width: 60)
                #expect(command == screen, "\(order)")
            }
        }
    }

    @Test("a download, and a user whose password is asked for")
    func others() async throws {
        let into = path(Array("into".utf8))
        let download = AddOrder(.download(["https://h/a?b=1&c='x'", "https://h/b%20c"], into: into))
        let (command, screen) = try await both(download, width: 30)
        #expect(command == screen)
        var login = AddOrder(.upload([path(Self.names[0])], to: "https://ana@host/in/"))
        login.password = "s3cret"
        let (asked, shown) = try await both(login, width: 30)
        #expect(asked == shown)
        #expect(asked?.secrets.password == "s3cret")
    }

    @Test("what the review's form says comes to the same, with a server's defaults changed or not")
    func form() async throws {
        let nas = DestinationsFile(bytes: Array(Self.configured.utf8))["nas"]
        let work = AddOrder.Work.upload([path(Self.names[0])], to: "nas:x/")
        var review = ReviewStep(work, asksPassword: nil, destination: nas)
        let first = review.order()
        let usual = try #require(first)
        #expect(usual.words.map { String(decoding: $0.bytes, as: UTF8.self) }.filter { $0.hasPrefix("--") } == [])
        var (command, screen) = try await both(usual, width: 80)
        #expect(command == screen)
        #expect(screen.options.ifExists == .skip && screen.options.bytesPerSecond == 8 << 20)
        review.form.set(.ifExists, to: "fail")
        review.form.set(.limit, to: "")
        review.form.set(.start, to: "at a time")
        let (hasNewPatterns, early) = (review.settle(), review.order())
        #expect(!hasNewPatterns && early == nil)
        review.form.set(.time, to: "06:30")
        let changed = review.order()
        (command, screen) = try await both(try #require(changed), width: 80)
        #expect(command == screen)
        #expect(screen.options.ifExists == .fail && screen.options.bytesPerSecond == nil)
        #expect(screen.options.notBefore != nil && screen.options.verify == .size)
    }

    /// Names that a shell which ends a word early would run, and whatever else there may be but NUL.
    private static func names(seed: UInt64) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        let parts: [[UInt8]] = [
            "'", "\\", "\\'", "; >ran;", "$(>ran)", "`>ran`", "\n>ran\n", "\u{1B}", "7", "f", "%", "é",
            // Swift joins these with what stands before or behind them.
            "\u{301}", "\u{D4E}",
        ].map {
            Array($0.utf8)
        }
        return (0..<60).map { _ in
            (0..<random.below(12)).flatMap { _ in
                random.below(3) == 0 ? [UInt8(1 + random.below(255))] : parts[random.below(parts.count)]
            }
        }
            + ["\u{1B}';>ran;'", "\n'\n>ran\n#", "a'\u{301};>ran;'\u{301}", "\u{D4E}';>ran;\u{D4E}'", "=f"].map {
                Array($0.utf8)
            }
    }

    @Test(
        "whatever the name, no shell runs a part of it, and one that knows the words gets the very bytes",
        arguments: [1, 2, 3])
    func shells(_ seed: UInt64) throws {
        try sandbox.directory("here")
        let start = Array("cd '".utf8) + sandbox.path + Array("/here'; printf '%s|' ".utf8)
        for name in Self.names(seed: seed) {
            let text = String(validating: name, as: UTF8.self).map { [Array($0.shellWord.utf8)] } ?? []
            for word in [ShellCommand.quoted(name), ShellQuoting.escaped(name)] + text {
                if word.starts(with: "$'".utf8) { #expect(!word.dropFirst(2).dropLast().contains(UInt8(ascii: "'"))) }
                // What stands behind a word shows that it has ended where it should.
                let script = start + word + Array(" end".utf8)
                for shell in ["/bin/sh", "/bin/dash", "/bin/bash"] where (try? System.stat(Array(shell.utf8))) != nil {
                    let output = try output(of: shell, script)
                    #expect(output.suffix(5) == Array("|end|".utf8), "\(shell) \(name)")
                    if shell == "/bin/bash" { #expect(Array(output.dropLast(5)) == name) }
                }
            }
        }
        let left = try DirectoryReader(path: sandbox.path + Array("/here".utf8)).next()
        #expect(left == nil, "a name was run")
    }
}
