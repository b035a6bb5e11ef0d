import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite struct AccountingTests {
    private static let second: Int64 = 1_000_000_000
    private let batch = BatchID(rawValue: 1)

    private func task(_ number: Int64) -> TaskID { TaskID(rawValue: number) }
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_800_000_000_000 + seconds * 1000) }

    private func made() -> Accounting { Accounting(at: 0, time(0)) { _ in 20_261_122 } }

    @Test("what moved and what failed is in the report, and is told once as a movement")
    func report() {
        var accounting = made()
        let before = accounting.takeMovement()
        accounting.moved(100, .upload, of: batch, at: Self.second, time(1))
        accounting.moved(30, .download, of: batch, at: Self.second, time(1))
        accounting.failed(at: Self.second)
        let movements = [before, accounting.takeMovement(), accounting.takeMovement()]
        #expect(movements == [false, true, false])
        let report = accounting.report(of: nil, at: 2 * Self.second, time(2))
        #expect((report.sentToday, report.receivedToday, report.errors) == (100, 30, 1))
    }

    @Test(
        "today's count is kept each five seconds while bytes move, at once when they stand, and again when it was refused"
    )
    func keeping() throws {
        var accounting = made()
        #expect(!accounting.isDayToBeKept(isMoving: false, at: 60 * Self.second))
        accounting.moved(100, .upload, of: batch, at: Self.second, time(1))
        let due = [(true, 4), (true, 5), (false, 0)].map { isMoving, seconds in
            accounting.isDayToBeKept(isMoving: isMoving, at: Int64(seconds) * Self.second)
        }
        #expect(due == [false, true, true])
        let kept = accounting.keepDay(at: 30 * Self.second, time(30))
        let (count, speeds, before) = try #require(kept)
        #expect(speeds.at == time(30) && speeds.spans.map { $0.up.reduce(0, +) } == [100, 100, 100])
        #expect(count == DayCount(day: 20_261_122, up: 100))
        let isAlreadyKept = accounting.keepDay(at: 31 * Self.second, time(31)) == nil
        #expect(isAlreadyKept)
        accounting.dayNotKept(before)
        let again = accounting.keepDay(at: 32 * Self.second, time(32))?.count
        #expect(again == count)
    }

    @Test("today's count goes on from that of an earlier engine, which need not be kept again")
    func adopting() {
        var accounting = made()
        accounting.moved(1, .upload, of: batch, at: 0, time(0))
        accounting.adopt(DayCount(day: 20_261_122, up: 10, down: 5), at: 0, time(0))
        let report = accounting.report(of: nil, at: 0, time(0))
        #expect((report.sentToday, report.receivedToday) == (11, 5))
        #expect(!accounting.isDayToBeKept(isMoving: false, at: 60 * Self.second))
    }

    @Test("a best speed is known to the next attempt, once, and too many are all forgotten")
    func bestSpeeds() {
        var accounting = made()
        accounting.keepBest(0, of: task(1))
        accounting.keepBest(7, of: task(2))
        let taken = [1, 2, 2].map { accounting.takeBest(of: task($0)) }
        #expect(taken == [0, 7, 0])
        for number in 1...257 { accounting.keepBest(Int64(number), of: task(Int64(number))) }
        let left = [256, 257].map { accounting.takeBest(of: task($0)) }
        #expect(left == [0, 257])
    }

    @Test("an upload that a person stopped stands where it stood until its server has spoken")
    func unconfirmed() {
        var uploads = UnconfirmedUploads()
        let file = ClaimedTask(asking: task(3))
        // By itself: the confirmed position is shown.
        let first = uploads.breakOff(file, at: 50, isStopped: false)
        #expect((first, uploads.sent(of: task(3)), uploads.shown) == (50, 50, []))
        // Stopped before it had heard of its server again.
        let second = uploads.breakOff(file, at: 20, isStopped: true)
        #expect(second == 50)
        #expect(uploads.shown == [])
        uploads.forget(task(3))
        _ = uploads.breakOff(file, at: 20, isStopped: true)
        #expect(uploads.shown.map(\.shown) == [20])
        uploads.showConfirmed(task(3))
        #expect(uploads.shown == [])
        #expect(uploads.contains(task(3)))
        let taken = [uploads.take(task(3)), uploads.take(task(3))]
        #expect(taken == [20, nil])
        _ = uploads.breakOff(file, at: 20, isStopped: true)
        uploads.forget([BatchID(rawValue: 0)])
        #expect(!uploads.contains(task(3)))
    }
}
