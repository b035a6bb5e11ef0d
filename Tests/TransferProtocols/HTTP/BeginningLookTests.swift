import Digests
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct BeginningLookTests {
    private static let most: Int64 = 1 << 20

    private func part(_ body: [UInt8], from start: Int64, of total: Int64) -> ExchangeEnd {
        let range = "Content-Range: bytes \(start)-\(start + Int64(body.count) - 1)/\(total)"
        var end = answered(206, [range])
        end.body = body
        return end
    }

    @Test("the first and the last bytes are compared, and no byte twice")
    func ranges() throws {
        for (length, second) in [
            (2 * Self.most + 5, Self.most + 5..<2 * Self.most + 5), (Self.most + 5, Self.most..<Self.most + 5),
        ] {
            var look = try #require(BeginningLook(length: length, sourceSize: length))
            #expect(look.range == 0..<Self.most)
            let first = [UInt8](repeating: 1, count: Int(Self.most) - 1) + [2]
            guard case .bytes(let digest) = look.read(part(first, from: 0, of: length)) else {
                Issue.record("it was not read")
                return
            }
            #expect(digest.value == DigestAlgorithm.sha256.digest(of: first).hex)
            #expect(look.matched() == nil)
            #expect(look.range == second)
            // Another part than was asked for.
            let rest = [UInt8](repeating: 0, count: second.count)
            #expect(look.read(part(rest, from: 0, of: length)) == .other)
            #expect(look.read(part(rest, from: second.lowerBound, of: length)) != .other)
            #expect(look.matched() == true)
        }
    }

    @Test("a run of one byte proves nothing where it is not the whole file")
    func runs() throws {
        let long = 2 * Self.most
        var look = try #require(BeginningLook(length: long, sourceSize: long))
        let zeros = [UInt8](repeating: 0, count: Int(Self.most))
        _ = look.read(part(zeros, from: 0, of: long))
        #expect(look.matched() == nil)
        _ = look.read(part(zeros, from: Self.most, of: long))
        #expect(look.matched() == false)
        var whole = try #require(BeginningLook(length: Self.most, sourceSize: long))
        _ = whole.read(part(zeros, from: 0, of: Self.most))
        #expect(whole.matched() == true)
        #expect(BeginningLook(length: long + 1, sourceSize: long) == nil)
        #expect(BeginningLook(length: nil, sourceSize: long) == nil)
    }
}
