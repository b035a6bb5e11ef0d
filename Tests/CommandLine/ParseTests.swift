import Configuration
import TestSupport
import Testing

@testable import CommandLine

/// A small program with one of everything.
enum Sample {
    enum Fruit: String, CaseIterable, Sendable { case apple, pear }

    static let limit = Option("limit", ValueSyntax<RateLimit>.rate, "not faster than this")
    static let header = Option("header", short: "H", ValueSyntax<String>.text("TEXT"), repeats: true, "send this too")
    static let fruit = Option("fruit", ValueSyntax<Fruit>.choice(), "which")
    static let fruits = Option("fruits", ValueSyntax<[Fruit]>.choices("FRUIT", Fruit.self), "which ones")
    static let wait = Option.flag("wait", short: "w", "wait for the end")
    static let coalesce = Option(
        "coalesce", ValueSyntax<Int>.count(1...9), availability: .notBuilt("leave it out"), "pack small files")
    static let heap = Option.flag("heap", "on a heap")
    static let screenColor = Option("color", ValueSyntax<String>.text("WHEN"), "colours")

    static let program: Program = {
        var send = Command("send", "send files")
        send.operands = [
            Operand(ValueSyntax<[UInt8]>.path("SOURCE", .files), .oneOrMore),
            Operand(ValueSyntax<Int>.count(1...9).named("DEST")),
        ]
        send.groups = [OptionGroup("How", [limit, header, fruit, fruits, wait, coalesce, heap])]
        send.examples = [Command.Example(line: "sample send a 1", effect: "send a to 1")]
        var list = Command("list", "list everything")
        list.operands = [Operand(ValueSyntax<String>.text("ID"), .optional)]
        var start = Command("start", "start it")
        start.groups = [OptionGroup("Options", [wait])]
        var engine = Command("engine", "the engine")
        engine.subcommands = [start, Command("stop", "stop it")]
        engine.runsAlone = false
        var move = Command("move", "move work")
        move.availability = .notBuilt("cancel and queue again")
        var root = Command("sample", "a sample")
        root.details = ["Does 'nothing' with files-to-be. One paragraph.", ".Starts with a dot and has a \\."]
        root.groups = [OptionGroup("Options", [screenColor])]
        root.subcommands = [send, list, engine, move]
        var program = Program(root)
        program.seeAlso = ["other"]
        return program
    }()
}

@Suite("Command lines are understood")
struct ParseTests {
    private func run(_ words: String...) throws -> Invocation {
        let request = try Sample.program.parse(words.map { Argument($0) })
        guard case .run(let invocation) = request else { throw CommandFailure.usage("help", "none") }
        return invocation
    }

    private func message(_ words: String...) -> String {
        do {
            _ = try Sample.program.parse(words.map { Argument($0) })
            return "understood"
        } catch {
            #expect(error.status == .usage)
            #expect(error.code == .usage)
            return error.line(program: "sample")
        }
    }

    @Test("options have the types of their declarations")
    func typedValues() throws {
        let line = try run("send", "--limit=2M", "-H", "a: b", "--header", "c: d", "--fruit", "pear", "x", "3")
        #expect(line.path == ["send"])
        #expect(line.value(Sample.limit) == .bytesPerSecond(2 << 20))
        #expect(line.values(Sample.header) == ["a: b", "c: d"])
        #expect(line.value(Sample.fruit) == .pear)
        #expect(!line.has(Sample.wait))
        #expect(line.operands.map(\.text) == ["x", "3"])
    }

    @Test("options may come after operands, and before the command's name")
    func anyOrder() throws {
        let line = try run("--wait", "send", "x", "3", "--limit", "off", "-w")
        #expect(line.has(Sample.wait))
        #expect(line.value(Sample.limit) == .unlimited)
        #expect(try run("send", "x", "-w", "3").operands.map(\.text) == ["x", "3"])
    }

    @Test("a value before the command's name is not taken for the command")
    func valueBeforeCommand() throws {
        #expect(try run("--color", "never").path == [])
        #expect(
            message("--color", "never", "list") == "sample: list: there is no option --color: see sample list --help")
    }

    @Test("two dashes end the options, and one dash is an operand")
    func endOfOptions() throws {
        #expect(try run("send", "--wait", "--", "--limit", "-", "3").operands.map(\.text) == ["--limit", "-", "3"])
    }

    @Test("the last value of an option that does not repeat counts")
    func lastCounts() throws {
        #expect(try run("send", "--fruit=pear", "--fruit=apple", "x", "3").value(Sample.fruit) == .apple)
    }

    @Test("a long name may be shortened while it is unambiguous")
    func abbreviation() throws {
        #expect(try run("send", "--li", "1K", "x", "3").value(Sample.limit) == .bytesPerSecond(1024))
        #expect(
            message("send", "--he", "x", "3")
                == "sample: send: --he may be more than one option: write --header, --heap or --help")
    }

    @Test("an operand keeps its bytes when they are not UTF-8")
    func bytes() throws {
        let name: [UInt8] = [0x66, 0xFF, 0x0A]
        guard case .run(let line) = try Sample.program.parse([Argument("send"), Argument(name), Argument("3")]) else {
            Issue.record("not run")
            return
        }
        #expect(line.operands[0].bytes == name)
        #expect(line.operands[0].shown == "f\\xff\\x0a")
    }

    @Test("subcommands have their own options")
    func subcommands() throws {
        let line = try run("engine", "start", "--wait")
        #expect(line.path == ["engine", "start"])
        #expect(message("engine") == "sample: engine: what to do is missing: give start or stop")
        #expect(message("engine", "halt") == "sample: engine: there is no command \"halt\": give start or stop")
        #expect(
            message("engine", "stop", "--wait")
                == "sample: engine: stop: there is no option --wait: see sample engine stop --help")
    }

    @Test("what is unknown is named, with the nearest thing there is")
    func unknown() {
        #expect(message("sned") == "sample: there is no command \"sned\": did you mean send?")
        // What an unknown option takes for a value is no command.
        #expect(message("--zzz", "5") == "sample: there is no option --zzz: see sample --help")
        #expect(message("--colour", "5") == "sample: there is no option --colour: did you mean --color?")
        #expect(message("\u{1B}[2J") == "sample: there is no command \"\\x1b[2J\": see sample --help")
        #expect(
            message("send", "--waiit", "x", "3") == "sample: send: there is no option --waiit: did you mean --wait?")
        #expect(
            message("send", "--zzz=4", "x", "3") == "sample: send: there is no option --zzz: see sample send --help")
        // Each has an h in it, and neither asks for help.
        for (name, other) in [("-hello.jpg", "y"), ("-photo.jpg", "y"), ("-photo.jpg", "--header=y")] {
            let refused = message("send", name, other, "x")
            #expect(
                refused
                    == "sample: send: \"\(name)\" is read as options: write ./\(name) when it is a file, or put -- before all names; help is --help"
            )
        }
        #expect(message("send", "-wq", "x", "3") == "sample: send: there is no option -q: see sample send --help")
    }

    @Test("whoever asks for help gets it, whatever is wrong with the options before")
    func helpWithUnknownOption() throws {
        for words in [["--zzz", "5", "--help"], ["--help", "--zzz", "5"], ["--zzz", "5", "-h"]] {
            guard case .help(let text) = try Sample.program.parse(words.map { Argument($0) }) else {
                Issue.record("no help for \(words)")
                continue
            }
            #expect(text.hasPrefix("Usage: sample"))
        }
        #expect(message("sned", "--help") == "sample: there is no command \"sned\": did you mean send?")
    }

    @Test("a bad value names the option, the value and what is allowed")
    func badValues() {
        #expect(
            message("send", "--limit", "fast", "x", "3")
                == "sample: send: --limit: \"fast\" is not allowed: give bytes a second such as 512K or 8M, or off")
        #expect(
            message("send", "--fruits", "pear,plum", "x", "3")
                == "sample: send: --fruits: \"pear,plum\" is not allowed: give one or more of apple, pear, separated by commas"
        )
        #expect(
            message("send", "x", "y") == "sample: send: DEST: \"y\" is not allowed: give a whole number from 1 to 9")
    }

    @Test("a value that is missing or not wanted is named")
    func valueCount() {
        #expect(
            message("send", "x", "3", "--limit")
                == "sample: send: --limit has no value: give bytes a second such as 512K or 8M, or off")
        #expect(
            message("send", "--wait=yes", "x", "3")
                == "sample: send: --wait takes no value: leave out what follows the =")
    }

    @Test("operands that are missing or too many are named")
    func operandCount() {
        #expect(message("send") == "sample: send: SOURCE is missing: give a path")
        #expect(message("send", "x") == "sample: send: DEST is missing: give a whole number from 1 to 9")
        #expect(message("list", "a", "b") == "sample: list: \"b\" is one operand too many: give only [ID]")
        #expect(
            message("engine", "stop", "now") == "sample: engine: stop: \"now\" is one operand too many: give none")
    }

    @Test("what is not built yet is refused by name, and its help is still there")
    func notBuilt() throws {
        #expect(
            message("send", "--coalesce", "3", "x", "3") == "sample: send: --coalesce is not built yet: leave it out")
        #expect(message("move", "b7", "--top") == "sample: the command move is not built yet: cancel and queue again")
        guard case .help(let text) = try Sample.program.parse([Argument("move"), Argument("--help")]) else {
            Issue.record("no help")
            return
        }
        #expect(text.contains("Not built yet: cancel and queue again."))
    }

    @Test("no words make the parser fail in another way than by a usage failure", arguments: 0..<300)
    func garbage(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let words = [
            "send", "engine", "start", "--", "-", "--limit", "--li=", "-H", "-wH", "--x", "3", "=", "--=", "", "-é",
            "---",
        ]
        let line = (0..<random.below(7)).map { _ in
            random.below(6) == 0
                ? Argument((0..<random.below(5)).map { _ in UInt8(1 + random.below(255)) })
                : Argument(words[random.below(words.count)])
        }
        do throws(CommandFailure) {
            _ = try Sample.program.parse(line)
        } catch {
            #expect(error.status == .usage)
            #expect(!error.message.unicodeScalars.contains { $0.value < 32 })
        }
    }
}
