import CommandLine
import FoundationEssentials
import MartletKit
import Testing

@testable import Commands
import Terminal
@testable import TerminalUI
import TestSupport

@Suite("Files in Resources are those that the tables make")
struct GeneratedFilesTests {
    @Test("each file is up to date (\"make docs\" writes them)", arguments: Documents.all.map(\.path))
    func upToDate(path: String) throws {
        let made = try #require(Documents.all.first { $0.path == path })
        let kept = try String(contentsOfFile: Checkout.resource(path), encoding: .utf8)
        #expect(kept == made.text)
    }

    @Test("the manual's pictures are those that the screen's tests draw, its keys those of the key table")
    func screen() throws {
        let folder = Checkout.root + "/Tests/Screens/Pictures/"
        for (name, picture) in [("main-80x24", Manual.mainView), ("problems-80x24", Manual.problems)] {
            let drawn = try String(contentsOfFile: folder + name + ".txt", encoding: .utf8)
            let lines = drawn.split(separator: "\n").map { $0.dropFirst().dropLast() }.filter {
                !$0.allSatisfy { $0 == " " }
            }
            let shown = picture.split(separator: "\n").filter { !$0.isEmpty }
            #expect(shown.count >= 10)
            for line in shown { #expect(lines.contains { $0.hasPrefix(line) }, "\(name): \(line)") }
        }
        let tables: [(KeyMap.View, [(key: String, deed: String)])] = [
            (.transfers, Manual.keys), (.throughput, Manual.throughputKeys), (.destinations, Manual.serverKeys),
        ]
        for (view, keys) in tables {
            for (key, deed) in keys {
                let press = try #require(KeyPress(name: key))
                #expect(KeyMap.standard.action(for: press, in: view)?.summary(in: view) == deed, "\(view) \(key)")
            }
        }
    }

    @Test("the manual names every view of keys.conf, and every page by the letter that opens it")
    func pages() throws {
        let manual = try #require(Documents.all.first { $0.path.hasSuffix("/martlet.1") }).text
        for view in KeyMap.View.allCases { #expect(manual.contains("[\(view.rawValue)]"), "Manual.files") }
        for page in KeyMap.View.pages {
            for key in page.openingKeys where Int(key) == nil {
                #expect(Manual.keys.contains { $0.key == key }, "\(page): Manual.keys")
            }
        }
    }

    @Test("no command or option is declared twice, and every one has help")
    func table() {
        func check(_ command: Command, _ path: String) {
            let names = command.options.map(\.name)
            #expect(Set(names).count == names.count, "\(path)")
            let shorts = command.options.compactMap(\.short)
            #expect(Set(shorts).count == shorts.count, "\(path)")
            #expect(!command.summary.isEmpty && !command.summary.hasSuffix("."), "\(path)")
            for option in command.options {
                #expect(!option.help.isEmpty && !option.help.hasSuffix("."), "\(option.name)")
            }
            for below in command.subcommands { check(below, "\(path) \(below.name)") }
        }
        check(MartletProgram.program.root, "martlet")
    }

    @Test("every command of the contract is known, and what is not built is refused by name")
    func contract() {
        let names = """
            upload download list show why pause resume cancel retry undo move set run-now wait events watch log purge limit
            session destination signals policy leftovers receive fetch engine doctor attach verify ls
            """.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(
            Set(MartletProgram.program.root.subcommands.map(\.name)) == Set(names + ["again", "help", "docs", "relay"]))
        for command in MartletProgram.program.root.subcommands {
            guard case .notBuilt(let remedy) = command.availability else { continue }
            #expect(throws: CommandFailure.usage("the command \(command.name) is not built yet", remedy)) {
                try MartletProgram.program.parse([command.name, "x", "--y"].map { Argument($0) })
            }
        }
    }

    @Test("each word of the manual's list of what is not built is refused as not built")
    func unbuilt() async throws {
        let manual = try #require(Documents.all.first { $0.path.hasSuffix("/martlet.1") }).text
        let below = try #require(manual.firstRange(of: ".Sh NOT BUILT YET\n")).upperBound
        let list = manual[below...].replacing("\\-", with: "-")
        var kinds: [String: [String]] = [:]
        for line in list.split(separator: "\n").prefix(while: { !$0.hasPrefix(".Sh") }) where line.hasSuffix(".") {
            let halves = line.dropLast().split(separator: ": ", maxSplits: 1).map(String.init)
            if halves.count == 2 { kinds[halves[0]] = halves[1].split(separator: ", ").map(String.init) }
        }
        let (commands, values) = (kinds.removeValue(forKey: "Commands"), kinds.removeValue(forKey: "Values"))
        for command in try #require(commands) {
            let said = await refusal(command.split(separator: " ").map(String.init) + ["x"])
            #expect(said.hasPrefix("martlet: the command \(command) is not built yet: "), "\(said)")
        }
        // Causes are refused by nobody: nothing ends with them.
        for value in try #require(values) where !value.hasSuffix(" as a cause") {
            let unbuilt = try #require(Self.unbuiltValues[value], "\(value)")
            let said = await refusal(unbuilt.words)
            #expect(said.contains(unbuilt.message), "\(said)")
        }
        #expect(kinds.count == 2)
        for (commands, options) in kinds {
            for name in commands.dropFirst("Options of ".count).split(separator: " and ").map(String.init) {
                for option in options[0].split(separator: " ").map(String.init) {
                    let said = await refusal([name, option, "x", "y", "z"])
                    #expect(said.hasPrefix("martlet: \(name): \(option) is not built yet: "), "\(said)")
                }
            }
        }
    }

    /// How each value is asked for, and the words by which it is refused.
    private static let unbuiltValues: [String: (words: [String], message: String)] = [
        "--if-exists rename": (
            ["upload", "--if-exists", "rename", "/etc/passwd", "https://h/in/"],
            "--if-exists rename is not built yet: use fail, skip or replace"
        ),
        "--if-exists resume": (
            ["download", "--if-exists", "resume", "https://h/1", "dir"],
            "--if-exists resume is not built yet: use fail, skip or replace"
        ),
        "- as SOURCE (standard input)": (
            ["upload", "-", "https://h/in/"], "standard input (-) is not built yet: write it to a file first"
        ),
        "a batch of downloads as ID of again": (
            ["again", "b7"], "b7 is no batch of uploads: queue its URLs with martlet download"
        ),
        "watch --json": (
            ["watch", "b7", "--json"], "watch has no --json yet"
        ),
        "show --json of a folder": (
            ["show", "b7:raw", "--json"], "a folder has no --json yet"
        ),
    ]

    private func refusal(_ words: [String]) async -> String {
        let order = BatchRequest(work: .download([]))
        let bench = Bench(FakeEngine { $0.orders = [BatchID(rawValue: 7): order] })
        #expect(await bench.run(words.map { Argument($0) }) == .usage, "\(words)")
        return bench.error + bench.output
    }

    @Test("every option of the contract is known to upload or download")
    func contractOptions() {
        let names = """
            session name hold first priority protocol method form field header header-command if-exists if-changed verify sha256
            segments coalesce keep chunk limit not-before give-up-after request-timeout discretionary no-metered no-battery
            after include exclude follow-links snapshot on-finished user password-command netrc ca pin insecure ssh-command
            wait json help on-attention key metadata answer-field mirror
            """.split(whereSeparator: \.isWhitespace).map(String.init)
        for command in MartletProgram.program.root.subcommands where ["upload", "download"].contains(command.name) {
            #expect(Set(command.options.map(\.name)) == Set(names), "\(command.name)")
        }
    }
}
