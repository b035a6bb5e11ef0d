import Testing

@testable import UploadReceiver

@Suite("The QR code of a URL")
struct QRCodeTests {
    @Test("it has the three corners by which readers find it, and a light margin")
    func corners() throws {
        let code = try #require(QRCode("http://192.168.1.20:41234/"))
        #expect(code.width >= 25)
        func ring(_ row: Int, _ column: Int) -> [Bool] {
            (0..<7).map { code.modules[(row + 3) * code.width + column + $0] }
        }
        let middle = [true, false, true, true, true, false, true]
        #expect(ring(0, 0) == middle)
        #expect(ring(0, code.width - 7) == middle)
        #expect(ring(code.width - 7, 0) == middle)
        #expect(ring(code.width - 7, code.width - 7) != middle)
        #expect(code.lines.count == (code.width + 5) / 2)
        #expect(code.lines[0].allSatisfy { $0 == "█" })
        #expect(code.lines.allSatisfy { $0.count == code.width + 4 && $0.hasPrefix("██") && $0.hasSuffix("██") })
        // The upper edge of a corner: two rows a line, the first one dark.
        #expect(code.lines[1].dropFirst(2).hasPrefix(" ▄▄▄▄▄ "))
    }

    @Test("a text that fits no code gets none")
    func tooLong() { #expect(QRCode(String(repeating: "x", count: 10_000)) == nil) }

    @Test("the address of every interface is told as one that others can use")
    func reachable() throws {
        let all = try #require(ListenAddress("0.0.0.0:80"))
        #expect(all.reachable.host != "0.0.0.0")
        #expect(all.reachable.port == 80)
        let one = try #require(ListenAddress("127.0.0.1:80"))
        #expect(one.reachable == one)
    }
}
