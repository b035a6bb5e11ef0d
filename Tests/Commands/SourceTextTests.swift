import CommandLine
import TestSupport
import Testing

@testable import Commands

/// Rules about the texts of all modules: what they tell a person to type exists.
@Suite("What the texts of the product name is there")
struct SourceTextTests {
    private static let programs = [MartletProgram.program, EngineProgram.program, ReceiveProgram.program]

    /// Words behind "martlet" that go on with the sentence.
    private static let prose: Set<String> = [
        "and", "ended", "in", "is", "of", "shows", "starts", "that", "there", "without",
    ]

    /// Options of other programs: aws, systemctl.
    private static let foreign: Set<String> = ["format", "no-ask-password"]

    private static func words(behind mark: String, in literal: String) -> [(word: String, rest: Substring)] {
        var found: [(String, Substring)] = []
        var rest = literal[...]
        while let range = rest.firstRange(of: mark) {
            let isWord = rest[..<range.lowerBound].last.map { !$0.isLetter && !$0.isNumber && $0 != "-" } ?? true
            rest = rest[range.upperBound...]
            let word = rest.prefix { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
            if isWord, word.first?.isLowercase == true { found.append((String(word), rest.dropFirst(word.count))) }
        }
        return found
    }

    private static func literals() throws -> [(file: String, text: String)] {
        try ProductSources.files().flatMap { file, text in ProductSources.literals(of: text).map { (file, $0) } }
    }

    @Test("every 'martlet WORD' of a text is a command, and the options behind it are that command's")
    func commands() throws {
        var seen = 0
        for (file, literal) in try Self.literals() {
            for (word, rest) in Self.words(behind: "martlet ", in: literal) where !Self.prose.contains(word) {
                let command = MartletProgram.program.root.subcommands.first { $0.name == word }
                // An example of attach names a host.
                if command == nil, file.hasSuffix("AttachCommand.swift") { continue }
                #expect(command != nil, "\(file): martlet \(word)")
                guard let command else { continue }
                seen += 1
                let known = ([command] + command.subcommands).flatMap { $0.options.map(\.name) }
                let end = rest.firstIndex { ";,()'".contains($0) } ?? rest.endIndex
                for (option, _) in Self.words(behind: "--", in: String(rest[..<end])) {
                    #expect(known.contains(option), "\(file): martlet \(word) ... --\(option)")
                }
            }
        }
        #expect(seen > 80, "only \(seen) were found")
    }

    @Test("every command that advice is made of is one, with its second word")
    func advised() throws {
        var seen = 0
        for (file, text) in try ProductSources.files() {
            for piece in text.split(separator: "AdvisedCommand(\"").dropFirst() {
                let verb = piece.prefix { $0 != "\"" }
                var command: Command? = MartletProgram.program.root
                for word in verb.split(separator: " ") { command = command?.subcommands.first { $0.name == word } }
                seen += 1
                #expect(command != nil && !verb.isEmpty, "\(file): \(verb)")
                if case .notBuilt? = command?.availability { Issue.record("\(file): \(verb) is not built") }
            }
        }
        #expect(seen > 8, "only \(seen) were found")
    }

    @Test("every '--option' of a text is an option of one of the programs")
    func options() throws {
        func all(_ command: Command) -> [String] {
            command.options.map(\.name) + command.subcommands.flatMap(all)
        }
        let known = Set(Self.programs.flatMap { all($0.root) }).union(Self.foreign)
        var seen = 0
        for (file, literal) in try Self.literals() {
            for (option, _) in Self.words(behind: "--", in: literal) {
                seen += 1
                #expect(known.contains(option), "\(file): --\(option)")
            }
        }
        #expect(seen > 150, "only \(seen) were found")
    }

    @Test("a word that no command has, and an option of another one, are found")
    func sees() {
        let words = Self.words(behind: "martlet ", in: "run 'martlet frobnicate --deep' or martlet list")
        #expect(words.map(\.word) == ["frobnicate", "list"])
        #expect(Self.words(behind: "--", in: String(words[0].rest)).map(\.word) == ["deep"])
        #expect(ProductSources.literals(of: "let a = \"x \\\" y\" + \"z\"") == ["x \\\" y", "z"])
    }
}
