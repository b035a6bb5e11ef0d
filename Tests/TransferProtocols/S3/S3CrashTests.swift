import Testing
import TransferModel
import TransferProtocols

/// xorshift64: the same sequence everywhere.
private struct Chance {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}

/// A task over its attempts: the engine's part, as far as a protocol needs it, with a bucket that forgets to answer and an engine that is killed.
private struct Task {
    let size: Int64
    var bucket = S3BucketModel()
    var point: S3ResumePoint?
    var begun: Timestamp?
    var receipt: Receipt?
    var failure: TransferError?
    var kills = 0
    var accepted: Int64 = 0

    /// One attempt, until it ends or the engine is killed. Out of a hundred steps `trouble` are killed or lose an answer.
    mutating func attempt(_ chance: inout Chance, trouble: Int) {
        var plan = s3Plan(size: size, begun: begun, resume: point, parallel: 3)
        plan.subject.ifExists = .fail
        begun = begun ?? noon
        var machine = S3Upload(plan)
        var open: [(ExchangeID, HTTPExchange)] = []
        var events: [ProtocolEvent] = [.began(at: noon)]
        while receipt == nil, failure == nil {
            if events.isEmpty {
                guard !open.isEmpty else { return }
                let (id, exchange) = open.remove(at: chance.below(open.count))
                let arrives = chance.below(100) >= trouble / 2
                let end = arrives ? bucket.answer(exchange) : unanswered(lost, sent: 0)
                let isHeard = chance.below(100) >= trouble
                events.append(.ended(id, isHeard ? end : unanswered(lost, sent: 1 << 40)))
            }
            if chance.below(100) < trouble / 4 {
                kills += 1
                return
            }
            for action in machine.handle(events.removeFirst()) {
                switch action {
                case .perform(let id, .http(let exchange)): open.append((id, exchange))
                case .abandon(let id): open.removeAll { $0.0 == id }
                case .digestRange(let range, let names):
                    events.append(.rangeDigested(range, S3Script.digests(range, names)))
                case .persist(let stored): point = stored.content(S3ResumePoint.self)
                case .wake(let timer, _): events.append(.timerFired(timer))
                case .accepted(let bytes): accepted = bytes
                case .finish(let done): receipt = done
                case .fail(let error): failure = error
                case .wait: return
                case .startOver: point = nil
                default: break
                }
            }
        }
    }
}

@Suite struct S3CrashTests {
    @Test(
        "whatever is lost or killed, the object is whole, made of each part once, and by one upload", arguments: 1...150
    )
    func anyTrouble(seed: Int) {
        var chance = Chance(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
        let size = [3 * mebibyte, 23 * mebibyte, 200 * mebibyte + 1][seed % 3]
        var task = Task(size: size)
        task.bucket.pageSize = 7
        var attempts = 0
        while task.receipt == nil, task.failure == nil, attempts < 2000 {
            attempts += 1
            task.attempt(&chance, trouble: seed % 2 == 0 ? 4 : 16)
        }
        #expect(task.failure == nil && task.receipt != nil, "after \(attempts) attempts")
        let ranges = task.bucket.object?.ranges ?? []
        #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == size)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(task.receipt?.bytes == size && task.receipt?.verified != Verification.none)
        // Those, too, whose birth nobody heard of.
        #expect(task.bucket.unfinished == 0)
    }

    @Test("without trouble nothing is sent twice, and a kill costs no more than the parts on their way")
    func costs() {
        var chance = Chance(state: 7)
        let size = 200 * mebibyte + 1
        var calm = Task(size: size)
        calm.attempt(&chance, trouble: 0)
        #expect(calm.receipt?.verified == .digest && calm.bucket.received == size && calm.accepted == size)
        #expect(calm.bucket.unfinished == 0)
        for seed in 1...20 {
            var chance = Chance(state: UInt64(seed) << 20 | 1)
            var task = Task(size: size)
            var attempts = 0
            while task.receipt == nil, task.failure == nil, attempts < 500 {
                attempts += 1
                task.attempt(&chance, trouble: 8)
            }
            #expect(task.failure == nil)
            // Three parts of 5 MiB on their way in each attempt, each with at most two more tries.
            #expect(task.bucket.received <= size + Int64(attempts) * 6 * 5 * mebibyte)
        }
    }
}
