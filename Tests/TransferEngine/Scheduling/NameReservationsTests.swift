import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite struct NameReservationsTests {
    private func task(_ number: Int64) -> TaskID { TaskID(rawValue: number) }

    @Test("names that a careless server takes for one are given one after the other")
    func names() {
        var names = NameReservations()
        let line: [(String, String, Int64, Bool)] = [
            ("d/README", "s", 1, true), ("d/readme", "s", 2, false), ("d/ReadMe", "s", 3, false),
            ("d/readme", "other", 4, true), ("e/readme", "s", 5, true),
            // Asked for again it is had, or waited for, once.
            ("d/README", "s", 1, true), ("d/readme", "s", 2, false),
        ]
        for (name, server, number, expected) in line {
            let isHad = names.reserve(RawPath(name), at: server, by: task(number))
            #expect(isHad == expected, "\(name) of \(number)")
        }
        // Who only waits leaves nobody's place.
        let released = [2, 1, 3, 3].map { names.release(task($0)) }
        #expect(released == [nil, task(3), nil, nil])
        let again = names.reserve(RawPath("d/rEADME"), at: "s", by: task(6))
        #expect(again)
    }

    @Test("letters of all scripts, and bytes that are no UTF-8, are folded")
    func folding() {
        #expect(NameReservations.folded(RawPath("ÄÖ")) == NameReservations.folded(RawPath("äö")))
        // Composed and decomposed.
        #expect(NameReservations.folded(RawPath("\u{E9}")) == NameReservations.folded(RawPath("e\u{301}")))
        #expect(NameReservations.folded(RawPath([0x61, 0xFF])) == NameReservations.folded(RawPath([0x41, 0xFE])))
        #expect(NameReservations.folded(RawPath("a")) != NameReservations.folded(RawPath("b")))
    }
}
