import FoundationEssentials
import Testing

@testable import TransferModel

@Suite("Orders of rows, by what moves") struct TreeOrderTests {
    private func row(
        _ id: RowID, sent: Int64 = 0, speed: Int64 = 0, left: Int64? = nil, _ state: TransferState = .queued
    )
        -> NodeRow
    {
        var counts = FileCounts()
        counts[state] = 1
        var row = NodeRow(
            id: id, name: "", state: state, counts: counts,
            bytes: ByteCounts(total: 100, sent: sent, accepted: sent, verified: 0))
        row.bytesPerSecond = speed
        row.secondsLeft = left
        return row
    }

    private func folder(_ id: Int64) -> RowID { .folder(BatchID(rawValue: 1), FolderID(rawValue: id)) }
    private func task(_ id: Int64) -> RowID { .task(BatchID(rawValue: 1), TaskID(rawValue: id)) }

    private var rows: [NodeRow] {
        [
            row(folder(1), sent: 10), row(folder(2), sent: 90, speed: 5, left: 2, .running),
            row(folder(3), sent: 20, speed: 9, left: 9, .running), row(task(1), sent: 30, speed: 1, left: 70, .running),
            row(task(2), sent: 80, speed: 8, left: 3, .running), row(task(3)), row(task(4), sent: 100, .completed),
        ]
    }

    @Test(
        "what moves comes first, folders before files, and what stands still keeps its place",
        arguments: [
            (TreeOrder(.speed), [3, 2, 1, 2, 1, 3, 4]), (TreeOrder(.speed, reversed: true), [2, 3, 1, 1, 2, 3, 4]),
            (TreeOrder(.eta), [2, 3, 1, 2, 1, 3, 4]), (TreeOrder(.eta, reversed: true), [3, 2, 1, 1, 2, 3, 4]),
            (TreeOrder(.done), [2, 3, 1, 2, 1, 3, 4]), (TreeOrder(.done, reversed: true), [1, 3, 2, 1, 2, 3, 4]),
            (TreeOrder(.size), [1, 2, 3, 1, 2, 3, 4]), (TreeOrder(), [1, 2, 3, 1, 2, 3, 4]),
        ])
    func settled(order: TreeOrder, expected: [Int64]) {
        let found = order.settled(rows).map(\.id).map { id -> Int64 in
            switch id {
            case .folder(_, let folder): folder.rawValue
            case .task(_, let task): task.rawValue
            case .batch, .group: 0
            }
        }
        #expect(found == expected)
    }

    @Test("an order can be kept")
    func codable() throws {
        for by in TreeOrder.Key.allCases {
            for reversed in [false, true] {
                let order = TreeOrder(by, reversed: reversed)
                let bytes = try JSONEncoder().encode(order)
                #expect(try JSONDecoder().decode(TreeOrder.self, from: bytes) == order)
            }
        }
    }
}
