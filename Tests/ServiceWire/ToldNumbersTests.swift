import Testing
import TransferModel

@testable import ServiceWire

@Suite struct ToldNumbersTests {
    static let hostile = [
        "9223372036854775807", "-9223372036854775808", "-1", "9007199254740993", "99999999999999999999999", "1e18",
        "-1e300", "1E300",
    ]

    @Test(arguments: ToldNumbersTests.hostile)
    func `every number of every answer comes within the bounds, and words stay`(_ number: String) throws {
        var samples: [any Codable] = MethodName.allCases.map { Samples.result($0) }
        samples += NotificationName.allCases.map { Samples.parameters($0) }
        for sample in samples {
            let told = try JSONValue(sample)
            let mended = ToldNumbers.within(Array(try told.written(number: number).utf8))
            let read = try WireCoding.value(JSONValue.self, from: mended)
            #expect(read.numbers.allSatisfy { (0...9_007_199_254_740_992).contains($0) }, "\(read)")
            #expect(read.numbers.count == told.numbers.count)
            #expect(try read.written(number: "0") == told.written(number: "0"))
            // A process's number, say, may be refused now; what is taken is within the bounds.
            if let taken = Self.decoded(sample, from: mended) {
                #expect(taken.numbers.allSatisfy { (0...9_007_199_254_740_992).contains($0) }, "\(taken)")
            }
        }
    }

    private static func decoded<Value: Codable>(_ sample: Value, from line: [UInt8]) -> JSONValue? {
        guard let value = try? WireCoding.value(Value.self, from: line) else { return nil }
        return try? JSONValue(value)
    }

    @Test(arguments: ToldNumbersTests.hostile)
    func `what is made of such numbers is made without an overflow`(_ number: String) throws {
        func told<Value: Codable>(_ sample: Value) throws -> Value {
            let line = Array(try JSONValue(sample).written(number: number).utf8)
            return try WireCoding.value(Value.self, from: ToldNumbers.within(line))
        }
        let totals = try told(Samples.totals)
        #expect((0...9 * FileSize.largest).contains(totals.counts.total))
        #expect((0...100).contains(totals.share(scanning: false).percent))
        #expect(totals.bytesPerSecondUp + totals.bytesPerSecondDown >= 0)
        #expect(totals.failed >= 0)
        let batch = try told(Samples.snapshot)
        #expect((0...100).contains(batch.share.percent))
        #expect(batch.filesActive + batch.filesWaiting >= 0)
        let task = try told(Samples.taskSnapshot)
        #expect(task.parts?.sentence.isEmpty == false)
        #expect(try told(Samples.section).total >= 0)
        #expect(try told(Samples.throughput).process.map { $0.cpuMilliseconds * 1000 >= 0 } == true)
    }

    @Test func `numbers within the bounds, and digits in words, stay byte for byte`() {
        let line =
            #"{"a\"9":"99999999999999999999 \\","b":[0, 7,9007199254740991,123456789012345],"c":1.5,"d":null}"#
        #expect(ToldNumbers.within(Array(line.utf8)) == Array(line.utf8))
        let told = #"["-5",-5,-0.5,9007199254740992,9007199254740993.5,{"x\\":-1},18446744073709551616]"#
        let mended = #"["-5",0,0,9007199254740992,9007199254740992,{"x\\":0},9007199254740992]"#
        #expect(String(decoding: ToldNumbers.within(Array(told.utf8)), as: UTF8.self) == mended)
        #expect(ToldNumbers.within(Array("-1".utf8)) == Array("0".utf8))
    }

    @Test func `what is no line of JSON does no harm, and what is no UTF-8 is nothing`() {
        for text in ["", "\"", "\"\\", "-", "--1", "e", "1e", "[1,", "\"a\\\"-1"] {
            let line = Array(text.utf8)
            #expect(ToldNumbers.within(line) == line)
        }
        for isBig in [false, true] {
            let wide = "{\"a\":99999999999999999999}".utf16.flatMap { unit in
                let halves = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
                return isBig ? [halves[1], halves[0]] : halves
            }
            #expect(ToldNumbers.within(wide) == [])
            #expect(ToldNumbers.within([0xFE, 0xFF] + wide) == [])
        }
    }
}

extension JSONValue {
    /// All numbers in it.
    var numbers: [Double] {
        switch self {
        case .null, .bool, .text: []
        case .number(let number): [number]
        case .array(let values): values.flatMap(\.numbers)
        case .object(let fields): fields.values.flatMap(\.numbers)
        }
    }

    /// The same JSON with another number in the place of each, its keys sorted.
    func written(number: String) throws -> String {
        switch self {
        case .null: return "null"
        case .bool(let isTrue): return isTrue ? "true" : "false"
        case .number: return number
        case .text(let text): return try Self.quoted(text)
        case .array(let values):
            let parts = try values.map { try $0.written(number: number) }
            return "[" + parts.joined(separator: ",") + "]"
        case .object(let fields):
            let parts = try fields.sorted { $0.key < $1.key }.map { field in
                try Self.quoted(field.key) + ":" + field.value.written(number: number)
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) throws -> String {
        String(decoding: try WireCoding.line(text).dropLast(), as: UTF8.self)
    }
}
