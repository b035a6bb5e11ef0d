import Testing
import TransferModel

@Suite struct PartRunTests {
    private func runs(_ states: [PartRun.State], sent: Int64 = 88) -> [PartRun] {
        var runs: [PartRun] = []
        for state in states {
            PartRun.add(state, bytes: 100, sent: state == .completed ? 100 : state == .running ? sent : 0, to: &runs)
        }
        return runs
    }

    @Test("parts side by side in one state are one run, those that move stand alone")
    func joining() {
        let runs = runs([.completed, .completed, .running, .running, .completed, .waiting, .waiting, .waiting])
        #expect(runs.map { [$0.first, $0.last] } == [[1, 2], [3, 3], [4, 4], [5, 5], [6, 8]])
        #expect(runs.map(\.bytesTotal) == [200, 100, 100, 100, 300])
        #expect(runs.map(\.bytesSent) == [200, 88, 88, 100, 0])
        #expect(runs.sentence == "3 of 8 completed; 3 at 88%, 4 at 88%")
    }

    @Test("more parts than there can be are counted to a bound")
    func bounded() {
        let many = PartRun(first: 1, last: Int(ByteSum.largest), state: .completed, bytesTotal: 1, bytesSent: 1)
        #expect(Array(repeating: many, count: 200).completed == ByteSum.largest)
        #expect(ByteSum.of(Array(repeating: .max, count: 200)) == ByteSum.largest)
        #expect(ByteSum.of([1, 2, -4]) == -1)
    }

    @Test("a part is at 100 only when the server has it")
    func percent() {
        #expect(runs([.running], sent: 100).first?.percent == 99)
        #expect(runs([.running], sent: 0).first?.percent == 0)
        #expect(runs([.completed]).first?.percent == 100)
        #expect(runs([]).sentence == "0 of 0 completed")
        #expect(PartRun(first: 1, last: 1, state: .waiting, bytesTotal: 0, bytesSent: 0).percent == 0)
    }
}
