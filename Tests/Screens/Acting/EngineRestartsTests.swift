import Testing

@testable import TerminalUI

@Suite("An engine that ends by accident is started again, but not for ever")
struct EngineRestartsTests {
    @Test("five starts with growing pauses, then none")
    func limit() {
        var restarts = EngineRestarts()
        var time = Duration.seconds(100)
        var pauses: [Duration?] = []
        for _ in 0..<7 {
            let pause = restarts.lost(at: time)
            pauses.append(pause)
            #expect(restarts.due == pause.map { time + $0 })
            guard let pause else { continue }
            #expect(pause == .zero || !restarts.takeDue(at: time + pause - .milliseconds(1)))
            #expect(restarts.takeDue(at: time + pause) && !restarts.takeDue(at: time + pause), "each once")
            time += pause
            restarts.found(at: time)
            time += .seconds(59)
        }
        #expect(pauses == [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8), nil, nil])
        restarts.startedByHand()
        restarts.found(at: time)
        #expect(restarts.lost(at: time) == .seconds(1))
    }

    @Test("one that has lived a minute begins no row")
    func forgotten() {
        var restarts = EngineRestarts()
        for start in 0..<20 {
            #expect(restarts.lost(at: .seconds(60 * start)) == .zero)
            restarts.found(at: .seconds(60 * start))
        }
    }

    @Test("who finds an engine plans no start")
    func foundMeanwhile() {
        var restarts = EngineRestarts()
        _ = restarts.lost(at: .zero)
        restarts.found(at: .zero)
        _ = restarts.lost(at: .seconds(1))
        restarts.found(at: .seconds(1))
        #expect(restarts.due == nil && !restarts.takeDue(at: .seconds(100)))
    }
}
