import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite struct NameClaimsTests {
    private func task(_ number: Int64) -> TaskID { TaskID(rawValue: number) }

    @Test("names that a careless server takes for one are given one after the other")
    func claims() {
        var claims = NameClaims()
        let line: [(String, String, Int64, Bool)] = [
            ("d/README", "s", 1, true), ("d/readme", "s", 2, false), ("d/ReadMe", "s", 3, false),
            ("d/readme", "other", 4, true), ("e/readme", "s", 5, true),
            // Asked for again it is had, or waited for, once.
            ("d/README", "s", 1, true), ("d/readme", "s", 2, false),
        ]
        for (name, server, number, expected) in line {
            let isHad = claims.claim(RawPath(name), at: server, by: task(number))
            #expect(isHad == expected, "\(name) of \(number)")
        }
        // Who only waits leaves nobody's place.
        let released = [2, 1, 3, 3].map { claims.release(task($0)) }
        #expect(released == [nil, task(3), nil, nil])
        let again = claims.claim(RawPath("d/rEADME"), at: "s", by: task(6))
        #expect(again)
    }

    @Test("letters of all scripts, and bytes that are no UTF-8, are folded")
    func folding() {
        #expect(NameClaims.folded(RawPath("ÄÖ")) == NameClaims.folded(RawPath("äö")))
        // Composed and decomposed.
        #expect(NameClaims.folded(RawPath("\u{E9}")) == NameClaims.folded(RawPath("e\u{301}")))
        #expect(NameClaims.folded(RawPath([0x61, 0xFF])) == NameClaims.folded(RawPath([0x41, 0xFE])))
        #expect(NameClaims.folded(RawPath("a")) != NameClaims.folded(RawPath("b")))
    }
}
