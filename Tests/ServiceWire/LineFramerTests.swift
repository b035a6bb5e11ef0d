import TestSupport
import Testing

@testable import ServiceWire

@Suite struct LineFramerTests {
    @Test func `lines come out whole however the stream is cut`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let lines: [[UInt8]] = (0..<Int(random.next() % 20)).map { _ in
                (0..<Int(random.next() % 200)).map { _ in UInt8(random.next() % 256) }.filter { $0 != 10 && $0 != 13 }
            }
            let stream: [UInt8] = lines.flatMap { line -> [UInt8] in line + [10] }
            var framer = LineFramer(limit: 1000)
            var found: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let count = min(rest.count, 1 + Int(random.next() % 70))
                found += try framer.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(found == lines.filter { !$0.isEmpty })
            #expect(framer.pendingBytes == 0)
        }
    }

    @Test func `a carriage return before the newline and empty lines are left out`() throws {
        var framer = LineFramer()
        #expect(try framer.append(Array("a\r\n\n\r\nb\n".utf8)) == [Array("a".utf8), Array("b".utf8)])
    }

    @Test func `a line of exactly the limit passes and one byte more does not`() throws {
        var framer = LineFramer(limit: 10)
        #expect(try framer.append(Array("0123456789\n".utf8)).count == 1)
        #expect(throws: LineFramer.LineTooLong(limit: 10)) { try framer.append(Array("01234567890\n".utf8)) }
        var open = LineFramer(limit: 10)
        _ = try open.append(Array("0123456789".utf8))
        #expect(throws: LineFramer.LineTooLong(limit: 10)) { try open.append(Array("x".utf8)) }
    }

    @Test func `what is kept of an endless line is bounded by the limit and a piece`() {
        var framer = LineFramer(limit: 100_000)
        let piece = [UInt8](repeating: 65, count: 1000)
        var pieces = 0
        while (try? framer.append(piece)) != nil { pieces += 1 }
        #expect(pieces == 100)
        #expect(framer.pendingBytes <= 101_000)
    }

    @Test func `the limit may rise between lines`() throws {
        var framer = LineFramer(limit: 4)
        _ = try framer.append(Array("abc\n".utf8))
        framer.limit = 10
        #expect(try framer.append(Array("abcdefgh\n".utf8)).count == 1)
    }
}
