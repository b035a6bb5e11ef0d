import Digests
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct BeginningLookTests {
    private func part(_ body: [UInt8], from start: Int64, of total: Int64) -> ExchangeEnd {
        let range = "Content-Range: bytes \(start)-\(start + Int64(body.count) - 1)/\(total)"
        var end = answered(206, [range])
        end.body = body
        return end
    }

    @Test("all that is there is compared, a little of it first, and no byte twice")
    func pieces() throws {
        let (first, most) = (Int64(1 << 20), Int64(4 << 20))
        let length = first + most + 5
        var look = try #require(BeginningLook(length: length, sourceSize: length + 1))
        for range in [0..<first, first..<first + most, first + most..<length] {
            #expect(look.range == range)
            let body = [UInt8](repeating: 0, count: range.count - 1) + [2]
            // Another part than was asked for.
            #expect(look.read(part(body, from: range.lowerBound + 1, of: length)) == .other)
            guard case .bytes(let digest) = look.read(part(body, from: range.lowerBound, of: length)) else {
                Issue.record("it was not read")
                return
            }
            #expect(digest.value == DigestAlgorithm.sha256.digest(of: body).hex)
            #expect(look.goOn() == (range.upperBound < length))
        }
        #expect(!look.isWhole)
    }

    @Test("what is longer than the source, or of an unknown length, is no beginning of it")
    func lengths() throws {
        #expect(BeginningLook(length: 6, sourceSize: 5) == nil)
        #expect(BeginningLook(length: nil, sourceSize: 5) == nil)
        #expect(try #require(BeginningLook(length: 5, sourceSize: 5)).isWhole)
    }
}
