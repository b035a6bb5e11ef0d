import Testing

@testable import TerminalUI

@Suite("Columns go in a fixed order when the window is narrow")
struct ColumnsTests {
    private func names(_ width: Int) -> [Columns.Column] { Columns(width: width).places.map(\.column) }

    @Test("the columns at the widths people use")
    func widths() {
        #expect(names(120) == [.sign, .name, .files, .size, .bar, .percent, .speed, .timeLeft, .state])
        #expect(names(80) == [.sign, .name, .size, .bar, .percent, .speed, .timeLeft, .state])
        #expect(names(71) == [.sign, .name, .size, .bar, .percent, .speed, .state])
        #expect(names(63) == [.sign, .name, .size, .percent, .speed, .state])
        #expect(names(40) == [.sign, .name, .percent, .speedOrState])
        #expect(names(32) == [.sign, .name, .percent, .state])
        #expect(names(28) == [.sign, .name, .percent])
        #expect(names(20) == [.sign, .name])
        #expect(names(5) == [.name])
        #expect(Columns(width: 80)[.name] == 3..<36)
        #expect(Columns(width: 120)[.name] == 3..<50)
    }

    @Test("at every width the columns are inside, apart, fill the window, and the name can be read")
    func property() {
        for width in 1...400 {
            let columns = Columns(width: width)
            var end = -1
            for (column, cells) in columns.places {
                #expect(
                    cells.lowerBound == end + 1 && cells.upperBound <= width && !cells.isEmpty, "\(width) \(column)")
                end = cells.upperBound
            }
            #expect(end == width, "\(width)")
            #expect((columns[.name]?.count ?? 0) >= min(8, width), "\(width)")
        }
    }
}
