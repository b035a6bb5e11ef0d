import Configuration
import Testing

@testable import CommandLine

@Suite("Help, manual and completions come from the table")
struct GeneratedTextTests {
    private func help(_ words: String...) throws -> String {
        guard case .help(let text) = try Sample.program.parse((words + ["--help"]).map { Argument($0) }) else {
            return ""
        }
        return text
    }

    @Test("the program's help lists the commands that are built")
    func programHelp() throws {
        #expect(
            try help() == """
                Usage: sample [COMMAND] [OPTIONS]

                A sample.

                Does 'nothing' with files-to-be. One paragraph.

                .Starts with a dot and has a \\.

                Commands:
                  send      send files
                  list      list everything
                  engine    the engine

                Options:
                      --color WHEN        colours
                  -h, --help              show this and exit

                """)
    }

    @Test("a command's help lists the options that are built")
    func commandHelp() throws {
        #expect(
            try help("send") == """
                Usage: sample send [OPTIONS] SOURCE... DEST

                Send files.

                How:
                      --limit RATE        not faster than this
                  -H, --header TEXT       send this too (may be repeated)
                      --fruit apple|pear  which
                      --fruits FRUIT[,FRUIT]
                                          which ones
                  -w, --wait              wait for the end
                      --heap              on a heap
                  -h, --help              show this and exit

                Examples:
                  sample send a 1
                      send a to 1

                """)
    }

    @Test("help fills the width of the terminal, and no line is wider", arguments: [40, 59, 60, 80, 100, 110, 300])
    func width(columns: Int) {
        for program in [EngineProgram.program, ReceiveProgram.program] {
            let text = CommandHelp.page(program, program.root, path: [], width: columns)
            let widest = text.split(separator: "\n").map(\.count).max() ?? 0
            #expect(widest < min(columns, 110))
            #expect(widest > min(columns, 110) - 12)
        }
    }

    @Test("COLUMNS wins over what the terminal says; without both it is 80")
    func terminalWidth() {
        #expect(TerminalWidth.choose(columns: "60", terminal: 132) == 60)
        #expect(TerminalWidth.choose(columns: nil, terminal: 132) == 132)
        #expect(TerminalWidth.choose(columns: "wide", terminal: 0) == 80)
        #expect(TerminalWidth.choose(columns: "0", terminal: 0) == 80)
    }

    @Test("help COMMAND is COMMAND --help")
    func helpCommand() throws {
        var root = Sample.program.root
        root.subcommands.append(.help(about: root.subcommands))
        let program = Program(root)
        func text(_ words: [String]) throws -> String {
            guard case .help(let text) = try program.parse(words.map { Argument($0) }) else { return "" }
            return text
        }
        #expect(try text(["help"]) == text(["--help"]))
        #expect(try text(["help", "send"]) == text(["send", "--help"]))
        #expect(try text(["help", "engine", "start"]) == text(["engine", "start", "--help"]))
        #expect(try text(["help", "--help"]).hasPrefix("Usage: sample help"))
        func failure(_ words: String...) -> String? {
            do {
                _ = try program.parse(words.map { Argument($0) })
                return nil
            } catch {
                return error.message
            }
        }
        #expect(failure("help", "sned") == "there is no command \"sned\": did you mean send?")
        #expect(failure("help", "list", "x")?.contains("sample help list") == true)
        let files = GeneratedFile.all(of: program)
        #expect(files.dropFirst().allSatisfy { $0.text.contains("help") })
        #expect(files[1].text.contains(#""help") mapfile -t COMPREPLY < <(compgen -W "send list engine""#))
    }

    @Test("text cannot become a request of the manual's formatter")
    func manualEscapes() {
        let page = ManualPage.text(Sample.program)
        #expect(page.contains("\n\\&.Starts with a dot and has a \\e.\n"))
        #expect(page.contains("Does \\(aqnothing\\(aq with files\\-to\\-be."))
        #expect(page.contains(".It Fl H , Fl -header Ar TEXT\n"))
    }

    @Test("every built option is in manual and completions, and no other is completed")
    func completeness() {
        for program in [Sample.program, EngineProgram.program, ReceiveProgram.program] {
            let files = GeneratedFile.all(of: program)
            for command in [program.root] + program.root.subcommands {
                for option in command.options where option.isBuilt && option.name != "help" {
                    #expect(files.allSatisfy { $0.text.contains(option.name) }, "\(option.name)")
                }
            }
            #expect(files.dropFirst().allSatisfy { !$0.text.contains("coalesce") })
        }
    }

    @Test("times are read as dates, as times of day and as distances")
    func times() {
        // 2026-11-21 12:00:00 UTC
        let now: Int64 = 1_795_262_400_000
        func read(_ text: String) -> Int64? {
            WrittenTime(text).map { $0.milliseconds(now: now, calendar: .utc) - now }
        }
        #expect(read("12:30") == 1_800_000)
        #expect(read("11:59") == 86_340_000)
        #expect(read("+90s") == 90_000)
        #expect(read("2026-11-21") == -12 * 3_600_000)
        #expect(read("2026-11-21T13:00") == 3_600_000)
        #expect(read("2026-11-21 13:00:01.250Z") == 3_601_250)
        #expect(read("2026-11-21T13:00:00+02:00") == -3_600_000)
        #expect(read("2024-02-29T00:00Z") != nil)
        for bad in [
            "", "24:00", "12:60", "2025-02-29", "2026-13-01", "2026-11-21T", "2026-11-21T25:00", "+5", "1:2:3", "soon",
            "2026-11-21T10:00+2",
        ] {
            #expect(WrittenTime(bad) == nil, "\(bad)")
        }
    }
}
