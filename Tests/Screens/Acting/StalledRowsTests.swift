import Configuration
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("What runs without a byte is said to be stalled")
struct StalledRowsTests {
    private func news(_ sent: Int64, _ state: TransferState = .running) -> [TreeSection] {
        [Rows.section(nil, [Rows.task(1, 1, "a.bin", state, total: 1000, sent: sent, speed: 100, left: 9)])]
    }

    private func word(_ screen: ScreenHarness) -> String {
        screen.model.tree.cursorRow.map { screen.model.state(of: $0).word } ?? ""
    }

    @Test("after ten seconds, by itself, and no longer once a byte moves")
    func stall() {
        var screen = ScreenHarness(80, 24, news(10))
        screen.wait(.seconds(9))
        #expect(word(screen) == "run")
        #expect(screen.model.nextWake.map { $0 <= .seconds(1) } == true, "nobody else would draw it")
        screen.wait(.seconds(1))
        #expect(word(screen) == "stall")
        #expect(!screen.picture.contains("100   "), "no speed")
        screen.news(news(11))
        #expect(word(screen) == "run")
    }

    @Test("a pause in between starts the count again; what is lost is not measured")
    func interruptions() {
        var screen = ScreenHarness(80, 24, news(10))
        screen.wait(.seconds(8))
        screen.news(news(10, .paused))
        screen.news(news(10))
        screen.wait(.seconds(8))
        #expect(word(screen) == "run")
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.wait(.seconds(20))
        #expect(word(screen) == "?", "without the engine nobody knows")
    }

    @Test("the picture of the speed is an average, and its scale is a round number")
    func throughput() {
        var throughput = Throughput()
        throughput.add(100, at: .seconds(1))
        throughput.add(300, at: .seconds(2))
        throughput.add(50, at: .seconds(6))
        #expect(throughput.averages(60, at: .seconds(7)).suffix(3) == [0, 200, 50])
        #expect(throughput.averages(30, at: .seconds(7)).last == 125)
        // What is not known lowers no average.
        #expect(throughput.averages(20, at: .seconds(7)).last == 125)
        #expect(throughput.peak(at: .seconds(7)) == 300 && throughput.peak(at: .seconds(400)) == 0)
        #expect(throughput.average(of: .seconds(60), at: .seconds(7)) == 125)
        #expect(throughput.averages(60, at: .seconds(400)).allSatisfy { $0 == 0 })
    }

    @Test("the picture of the speed begins with what the engine has kept; what was seen here stays as it was seen")
    func kept() {
        var throughput = Throughput()
        throughput.add(900, at: .seconds(991))
        // The line was down for some seconds.
        throughput.add(300, at: .seconds(1006))
        throughput.begin(with: [5, 10, 20, 30, 40], at: .seconds(1008))
        #expect(throughput.averages(60, at: .seconds(1008)).suffix(6) == [0, 5, 900, 20, 30, 300])
        throughput.begin(with: [7, 7, 7, 7, 7, 7, 7], at: .seconds(1008))
        #expect(throughput.averages(60, at: .seconds(1008)).suffix(8) == [0, 7, 7, 5, 900, 20, 30, 300])
        var none = Throughput()
        none.begin(with: [], at: .seconds(3))
        none.begin(with: [1, 2], at: .seconds(9))
        #expect(none.averages(60, at: .seconds(9)).suffix(3) == [0, 1, 2])
    }

    @Test("numbers on the axis are round and stand every three or four rows, and all that is drawn has room")
    func axis() {
        for value in [0, 1, 999, 41 << 20, 50 << 20, 501_000_000, 60 << 30, Int64.max / 2] {
            for rows in 2...60 {
                for units in [ScreenConfiguration.Units.iec, .si] {
                    let axis = Axis(for: value, rows: rows, units)
                    #expect(axis.top * 1.000001 >= Double(value), "\(value) in \(rows)")
                    #expect(rows < 6 || (3...4).contains(axis.spacing))
                    let marks = axis.marks(Figures(units: units))
                    #expect(marks.allSatisfy { $0.row <= rows && $0.row.isMultiple(of: axis.spacing) })
                    #expect(marks.count == rows / axis.spacing && marks.allSatisfy { $0.word.count <= 5 })
                }
            }
        }
        func words(_ value: Int64, _ rows: Int) -> [String] {
            Axis(for: value, rows: rows, .iec).marks(Figures(units: .iec)).map(\.word)
        }
        #expect(words(58 << 20, 10) == ["20M", "40M", "60M"])
        #expect(words(3 << 20, 22) == ["0.5M", "1.0M", "1.5M", "2.0M", "2.5M", "3.0M", "3.5M"], "all in one unit")
        #expect(words(0, 8) == ["1K", "2K"])
        let decimal = Axis(for: 58_000_000, rows: 10, .si).marks(Figures(units: .si)).map(\.word)
        #expect(decimal == ["20M", "40M", "60M"])
    }
}
