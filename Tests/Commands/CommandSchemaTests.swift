import CommandLine
import FoundationEssentials
import MartletKit
import Testing

@testable import Commands
import TestSupport

@Suite("Resources/protocol/commands.json says what --json prints")
struct CommandSchemaTests {
    /// As much of the file as is compared.
    private struct CommandSchemas: Decodable {
        struct Definition: Decodable {
            struct Property: Decodable {}
            let properties: [String: Property]?
            let required: [String]?
        }
        let commands: [String: [String]]?
        let definitions: [String: Definition]

        private enum CodingKeys: String, CodingKey {
            case commands
            case definitions = "$defs"
        }
    }

    private static func read(_ name: String) throws -> CommandSchemas {
        let data = try Data(contentsOf: URL(filePath: Checkout.resource("protocol/\(name)")))
        return try JSONDecoder().decode(CommandSchemas.self, from: data)
    }

    @Test("exactly the commands with --json are named, with definitions that there are")
    func commands() throws {
        func withJSON(_ command: Command, _ path: String) -> [String] {
            let own = command.groups.flatMap(\.options).contains { $0.name == "json" } ? [path] : []
            return own + command.subcommands.flatMap { withJSON($0, path.isEmpty ? $0.name : "\(path) \($0.name)") }
        }
        let named = try #require(try Self.read("commands.json").commands)
        // watch knows the option in order to refuse it.
        #expect(Set(named.keys) == Set(withJSON(MartletProgram.program.root, "")).subtracting(["watch"]))
        let files = try [Self.read("commands.json"), Self.read("schemas.json")]
        let definitions = Set(files.flatMap(\.definitions.keys))
        for name in named.values.joined() { #expect(definitions.contains(name), "\(name)") }
    }

    @Test("the README claims --json of as many commands as have it")
    func readme() throws {
        let text = try String(contentsOfFile: Checkout.root + "/README.md", encoding: .utf8)
        let said = text.split(separator: "\n").filter {
            $0.contains("commands take --json") || $0.contains("every command")
        }
        #expect(said.count == 1 && said[0].contains("most commands take --json"), "\(said)")
        // A group has no work of its own.
        func own(_ command: Command, _ path: String = "") -> [String] {
            let below = command.subcommands.filter { $0.availability == .built }
            return below.flatMap { command in
                let path = path.isEmpty ? command.name : "\(path) \(command.name)"
                return command.subcommands.isEmpty ? [path] : own(command, path)
            }
        }
        let commands = own(MartletProgram.program.root)
        let named = try #require(try Self.read("commands.json").commands)
        let having = commands.count { named[$0] != nil }
        #expect(having * 2 > commands.count && having < commands.count, "\(having) of \(commands)")
    }

    @Test("objects that only commands print have the keys of their definitions")
    func keys() async throws {
        let definitions = try Self.read("commands.json").definitions
        func check(_ line: String, _ name: String) throws {
            let definition = try #require(definitions[name])
            let object = try JSONDecoder().decode(
                [String: CommandSchemas.Definition.Property?].self, from: Data(line.utf8))
            #expect(Set(object.keys).isSubset(of: Set(try #require(definition.properties).keys)), "\(name)")
            #expect(Set(definition.required ?? []).isSubset(of: Set(object.keys)), "\(name)")
        }
        let refused = NodeResult(
            id: .folder(BatchID(rawValue: 7), path: RawPath("raw")), result: .refused, code: .refused, message: "no")
        let bench = Bench(
            FakeEngine {
                $0.results = [refused]
                $0.batches = [.sample(7, .running)]
            })
        _ = await bench.run("pause", "b7:raw", "--json")
        _ = await bench.run("session", "list", "--json")
        _ = await bench.run("events", "--ack", "3", "--consumer", "c", "--json")
        _ = await bench.run("engine", "stop", "--json")
        _ = await bench.run("show", "b9", "--json")
        let lines = bench.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 5)
        for (line, name) in zip(lines, ["ChangedNode", "Session", "Acknowledged", "NotRunning", "Failure"]) {
            try check(line, name)
        }
        #expect(lines[0].contains("\"id\":\"b7:raw\""))
    }
}
