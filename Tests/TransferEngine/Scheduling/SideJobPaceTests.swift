import LinuxSystem
import Testing
import TransferModel
import TransferQueue
import WireOperations

@testable import TransferEngine

@Suite("Side jobs at servers that answer slowly") struct SideJobPaceTests {
    private let start = MonotonicInstant(nanoseconds: 0)

    private func after(_ seconds: Int64) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    @Test("a byte now and then is too slow after two minutes, a long list that keeps coming is not")
    func dripping() {
        var dripping = SideJobPace(at: start)
        var coming = SideJobPace(at: start)
        for step in 1...20 as ClosedRange<Int64> {
            dripping.look([WireID(rawValue: 1): step], exchanges: 1)
            coming.look([WireID(rawValue: 1): step * 32_768], exchanges: 1)
            #expect(dripping.isTooSlow(at: after(step * 15)) == (step * 15 > 130))
            #expect(!coming.isTooSlow(at: after(step * 15)))
        }
    }

    @Test("each exchange has time of its own, however short its answer")
    func exchanges() {
        var many = SideJobPace(at: start)
        for step in 1...40 as ClosedRange<Int64> {
            // Most begin and end between two looks.
            many.look([WireID(rawValue: UInt64(step)): 100], exchanges: Int(step) * 3)
            #expect(!many.isTooSlow(at: after(step * 30)))
        }
        #expect(many.isTooSlow(at: after(1400)))
    }

    @Test("a server that is away is asked once in a sweep, and a removal that never ends is not in front for ever")
    func rounds() {
        var rounds = RemovalRounds()
        /// Three uploads, of which the first two never come to an end, and one at another server.
        func sweep() -> [Int64] {
            rounds.beginSweep()
            var asked: [Int64] = []
            for (number, origin) in [(1, "nas"), (2, "nas"), (3, "nas"), (4, "other")] as [(Int64, String)] {
                let task = TaskID(rawValue: number)
                guard rounds.takes(task, at: origin) else { continue }
                asked.append(number)
                if number < 3 { rounds.couldNotAsk(origin, for: task) }
            }
            return asked
        }
        #expect([sweep(), sweep(), sweep(), sweep()] == [[1, 4], [2, 4], [3, 4], [1, 4]])
    }

    @Test("a removal at a server that is back is tried at once, though another server is away")
    func roundsApart() {
        var rounds = RemovalRounds()
        rounds.beginSweep()
        rounds.couldNotAsk("nas", for: TaskID(rawValue: 1))
        rounds.couldNotAsk("other", for: TaskID(rawValue: 2))
        rounds.beginSweep()
        rounds.couldNotAsk("nas", for: TaskID(rawValue: 3))
        rounds.beginSweep()
        #expect(rounds.takes(TaskID(rawValue: 2), at: "other") && !rounds.takes(TaskID(rawValue: 1), at: "nas"))
    }

    @Test("a batch of which many folders wait for their next try is not asked for more of them")
    func manyWait() {
        var looks = LastLooks()
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let error = TransferError(.badServerResponse, "no list")
        func look(_ number: Int64, of batch: Int64) -> DueLook {
            DueLook(
                folder: FolderID(rawValue: number), batch: BatchID(rawValue: batch), origin: "dav://nas:80",
                remote: RawPath(""), isExact: false, due: 1)
        }
        var retryAt = now
        for number in 1...200 as ClosedRange<Int64> {
            #expect(looks.notNow(now, at: []).batches.isEmpty)
            let due = look(number, of: 7)
            looks.begin(due.folder, at: due.origin)
            let next = looks.fail(due, error, giveUpAfterSeconds: 9999, now: now, random: 0.5, waited: { _ in .zero })
            retryAt = max(retryAt, next ?? now)
        }
        #expect(looks.notNow(now, at: ["x"]).batches == [BatchID(rawValue: 7)])
        #expect(looks.notNow(retryAt, at: []).batches.isEmpty)
    }
}
