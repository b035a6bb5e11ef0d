import FoundationEssentials
import Testing
import TransferModel

@testable import ServiceWire
import TestSupport

/// `Resources/protocol/` and the code say the same.
@Suite struct SpecificationTests {
    static let folder = Checkout.resource("protocol/")

    /// Rows of the page's tables: the cells of lines that begin with a quoted word.
    private func rows(of columns: Int) throws -> [[String]] {
        let text = try String(contentsOf: URL(filePath: Self.folder + "README.md"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .map { line in
                line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { cell in
                    cell.filter { $0 != "`" }.trimmed
                }
            }.filter { $0.count == columns }
    }

    @Test func `every method stands in the page as in the table`() throws {
        let written = try rows(of: 4).map {
            MethodRow(
                name: $0[0], parameters: $0[1].split(separator: " ").map(String.init),
                result: $0[2].split(separator: " ").map(String.init),
                since: try #require(ProtocolVersion($0[3])))
        }
        #expect(written == MethodName.allCases.map { MethodTable.row($0) })
    }

    @Test func `every notification stands in the page as in the table`() throws {
        let written = try rows(of: 3).filter { ProtocolVersion($0[2]) != nil }
            .map {
                MethodRow(
                    name: $0[0], parameters: $0[1].split(separator: " ").map(String.init), result: [],
                    since: try #require(ProtocolVersion($0[2])))
            }
        #expect(written == NotificationName.allCases.map { MethodTable.row($0) })
    }

    @Test func `every error number stands in the page with its name`() throws {
        let text = try String(contentsOf: URL(filePath: Self.folder + "README.md"), encoding: .utf8)
        for code in RequestErrorCode.allCases {
            #expect(text.contains("| \(code.number) | `\(code.rawValue)` |"), "\(code)")
        }
        #expect(Set(RequestErrorCode.allCases.map(\.number)).count == RequestErrorCode.allCases.count)
    }

    @Test func `the page names the version that is spoken, and its history knows it`() throws {
        let text = try String(contentsOf: URL(filePath: Self.folder + "README.md"), encoding: .utf8)
        #expect(text.hasPrefix("# The control protocol, version \(ProtocolVersion.current)\n"))
        #expect(text.contains("\n| \(ProtocolVersion.current) | "))
    }

    @Test(arguments: MethodName.allCases)
    func `what a method sends has the fields of the table and the form of the schema`(_ name: MethodName) throws {
        let schemas = try JSONSchemas(file: Self.folder + "schemas.json")
        let row = MethodTable.row(name)
        for (fields, sample, definition) in [
            (row.parameters, Samples.parameters(name), "params:\(name.rawValue)"),
            (row.result, Samples.result(name), "result:\(name.rawValue)"),
        ] {
            let value = try JSONValue(sample)
            #expect(Set(value.fields.map { Set($0.keys) } ?? []) == Set(fields.map(\.withoutMark)), "\(definition)")
            #expect(schemas.faults(of: value, as: definition) == [])
            #expect(schemas.optional(definition) == Set(fields.filter { $0.hasSuffix("?") }.map(\.withoutMark)))
        }
    }

    @Test(arguments: NotificationName.allCases)
    func `what a notification sends has the form of the schema`(_ name: NotificationName) throws {
        let schemas = try JSONSchemas(file: Self.folder + "schemas.json")
        let value = try JSONValue(Samples.parameters(name))
        #expect(value.fields.map { Set($0.keys) } == Set(MethodTable.row(name).parameters.map(\.withoutMark)))
        #expect(schemas.faults(of: value, as: name.rawValue, "params:") == [])
    }

    @Test func `the objects of the command contract have schemas of their own`() throws {
        let schemas = try JSONSchemas(file: Self.folder + "schemas.json")
        #expect(schemas.faults(of: try JSONValue(Samples.snapshot), as: "Batch") == [])
        #expect(schemas.faults(of: try JSONValue(Samples.taskSnapshot), as: "Task") == [])
        #expect(schemas.faults(of: try JSONValue(Samples.event), as: "Event") == [])
        #expect(schemas.faults(of: try JSONValue(Samples.error), as: "TransferError") == [])
        #expect(schemas.faults(of: try JSONValue(WireError(RequestError(.refused, "no"))), as: "Error") == [])
        let status = try JSONValue(Samples.result(.engineStatus))
        #expect(schemas.faults(of: status, as: "EngineStatus") == [])
    }

    @Test func `the schemas know every word of every closed list`() throws {
        let schemas = try JSONSchemas(file: Self.folder + "schemas.json")
        func words(_ name: String) -> [String]? { schemas.definitions[name]?["enum"]?.array?.compactMap(\.text) }
        #expect(words("State") == TransferState.allCases.map(\.rawValue))
        #expect(words("WaitReason") == WaitReason.allCases.map(\.rawValue))
        #expect(words("TransferErrorCode") == TransferErrorCode.allCases.map(\.rawValue))
        #expect(words("RequestErrorCode") == RequestErrorCode.allCases.map(\.rawValue))
        #expect(words("EventType") == TransferEventType.allCases.map(\.rawValue))
        #expect(words("Priority") == TransferPriority.allCases.map(\.rawValue))
        #expect(words("LogLevel") == LogLevel.allCases.map(\.rawValue))
    }

    @Test func `a schema says no to what it does not know`() throws {
        let schemas = try JSONSchemas(file: Self.folder + "schemas.json")
        var fields = try #require(try JSONValue(Samples.snapshot).fields)
        fields["state"] = .text("flying")
        fields["surprise"] = .null
        fields["name"] = nil
        #expect(schemas.faults(of: .object(fields), as: "Batch").count == 3)
    }
}

extension JSONSchemas {
    func faults(of value: JSONValue, as name: String, _ prefix: String) -> [String] {
        faults(of: value, as: prefix + name)
    }

    /// Fields of an object that need not be there.
    func optional(_ name: String) -> Set<String> {
        let all = Set((definitions[name]?["properties"]?.fields ?? [:]).keys)
        return all.subtracting((definitions[name]?["required"]?.array ?? []).compactMap(\.text))
    }
}

extension String {
    var withoutMark: String { hasSuffix("?") ? String(dropLast()) : self }
    fileprivate var trimmed: String {
        let head = drop { $0 == " " }
        return String(head.reversed().drop { $0 == " " }.reversed())
    }
}
