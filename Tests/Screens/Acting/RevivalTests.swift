import Testing

@testable import TerminalUI

@Suite("An engine that ends by accident is started again, but not for ever")
struct RevivalTests {
    @Test("five starts with growing pauses, then none")
    func limit() {
        var revival = Revival()
        var time = Duration.seconds(100)
        var pauses: [Duration?] = []
        for _ in 0..<7 {
            let pause = revival.lost(at: time)
            pauses.append(pause)
            #expect(revival.due == pause.map { time + $0 })
            guard let pause else { continue }
            #expect(pause == .zero || !revival.takeDue(at: time + pause - .milliseconds(1)))
            #expect(revival.takeDue(at: time + pause) && !revival.takeDue(at: time + pause), "each once")
            time += pause
            revival.found(at: time)
            time += .seconds(59)
        }
        #expect(pauses == [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8), nil, nil])
        revival.startedByHand()
        revival.found(at: time)
        #expect(revival.lost(at: time) == .seconds(1))
    }

    @Test("one that has lived a minute begins no row")
    func forgotten() {
        var revival = Revival()
        for start in 0..<20 {
            #expect(revival.lost(at: .seconds(60 * start)) == .zero)
            revival.found(at: .seconds(60 * start))
        }
    }

    @Test("who finds an engine plans no start")
    func foundMeanwhile() {
        var revival = Revival()
        _ = revival.lost(at: .zero)
        revival.found(at: .zero)
        _ = revival.lost(at: .seconds(1))
        revival.found(at: .seconds(1))
        #expect(revival.due == nil && !revival.takeDue(at: .seconds(100)))
    }
}
