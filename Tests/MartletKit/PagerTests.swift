import ServiceWire
import Testing
import TransferModel

@testable import MartletKit

/// What an engine says unasked, or over and over, does not exist.
@Suite struct PagerTests {
    @Test(arguments: [1, 2, 3, 7, 100])
    func `a list that leads in a circle ends with an error`(length: Int) {
        var pager = Pager<Int>()
        var pages = 0
        let error = #expect(throws: RequestError.self) {
            while pages < 10_000 {
                try pager.move(to: pages % length)
                pages += 1
            }
        }
        #expect(error?.code == .engineUnreachable && pages < 4 * length + 4)
        #expect(error?.message == "the engine gives the same part of a list again and again: update it, and try again")
    }

    @Test func `a list that leads on is read to its end`() throws {
        var pager = Pager<Int>(after: 0)
        for place in 1...5000 { try pager.move(to: place) }
        #expect(pager.after == 5000)
    }

    private func section(_ batch: Int64, rows: Int) -> TreeSection {
        let parent = RowID.batch(BatchID(rawValue: batch))
        let row = NodeRow(id: parent, name: "n", state: .queued, counts: FileCounts(), bytes: ByteCounts())
        return TreeSection(parent: parent, rows: Array(repeating: row, count: rows), total: Int64(rows))
    }

    @Test func `of an update only what was asked for is taken, and no more rows than that`() {
        let (wanted, other) = (NodeID.batch(BatchID(rawValue: 1)), NodeID.batch(BatchID(rawValue: 2)))
        let request = ViewRequest(
            sections: [SectionRequest(parent: .batch(BatchID(rawValue: 1)), limit: 10)], nodes: [wanted], totals: false)
        let told = ViewUpdate(
            sections: [section(1, rows: 10_000), section(2, rows: 1), section(1, rows: 5)],
            nodes: [wanted: NodeRow?.none, other: NodeRow?.none], totals: QueueTotals())
        let taken = told.clipped(to: [request])
        #expect(taken.sections == [section(1, rows: 5)] && taken.nodes == [wanted: NodeRow?.none])
        #expect(taken.totals == nil)
        let long = ViewUpdate(sections: [section(1, rows: 10_000)]).clipped(to: [request])
        #expect((10...1000).contains(long.sections[0].rows.count))
        #expect(told.clipped(to: []) == ViewUpdate())
    }
}
