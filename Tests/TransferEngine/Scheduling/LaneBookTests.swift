import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferQueue

@Suite struct LaneBookTests {
    private func summary(_ lane: Int64, priority: TransferPriority = .normal, batch: Int64 = 1) -> LaneSummary {
        LaneSummary(
            lane: LaneID(rawValue: lane), batch: BatchID(rawValue: batch), direction: .upload,
            origin: "http://there:80",
            priority: priority, position: lane, ready: 5, isStopped: false, notBefore: nil)
    }

    private func task(_ number: Int64) -> ClaimedTask { ClaimedTask(asking: TaskID(rawValue: number)) }

    private func context() -> BatchContext {
        let order = BatchOrder(
            batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: TransferOptions(),
            secrets: TransferSecrets(), destination: "http://there/d/", destinationQuery: nil)
        return BatchContext(order, userAgent: "test")
    }

    @Test("lanes are in the order in which they are served, and keep what is at hand when they are looked at again")
    func order() throws {
        var lanes = LaneBook()
        let batches = lanes.adopt([summary(1), summary(2, priority: .interactive, batch: 2)]).batches
        #expect(batches == [BatchID(rawValue: 1), BatchID(rawValue: 2)])
        #expect(lanes.order.map(\.id) == [2, 1])
        let lane = try #require(lanes[lanes.order[1]])
        lanes.add([task(1), task(2)], to: lane, context())
        let none = lanes.adopt([summary(1)]).unstarted
        #expect(none.isEmpty && lanes.order.map(\.ready) == [2])
        #expect(lanes.contains(lane))
        let begun = lanes.begin(at: 0)?.lane === lane
        #expect(begun)
        #expect(lanes.order.map(\.ready) == [1])
        // Its batch is over: of what was never started nothing can have reached a server.
        let unstarted = lanes.adopt([]).unstarted
        #expect(unstarted == [task(1).claim, task(2).claim])
    }

    @Test("what is stopped is taken out, also of a claim that the queue has not answered yet")
    func stopping() throws {
        var lanes = LaneBook()
        _ = lanes.adopt([summary(1)])
        let lane = try #require(lanes[lanes.order[0]])
        lanes.beginClaim(lane)
        #expect(lane.isClaiming)
        let none = lanes.takeOut([task(2).claim])
        #expect(none.isEmpty)
        let claimed = [task(1), task(2), task(3)].filter { !lanes.isEnded($0) }
        #expect(claimed.map(\.id.rawValue) == [1, 3])
        lanes.add(claimed, to: lane, context())
        lanes.endClaim(lane)
        #expect(!lanes.isEnded(task(2)))
        let back = lanes.takeOut([task(3).claim, task(4).claim])
        #expect(back == [task(3).claim])
        #expect(lanes.order.map(\.ready) == [1])
        let rest = lanes.reorder([BatchID(rawValue: 1)])
        #expect(rest == [task(1).claim])
        #expect(lanes.order.map(\.ready) == [0])
        #expect(lane.generation == 1)
    }

    @Test("any number of changes are one look, and one that comes during a look leads to another")
    func looking() {
        var lanes = LaneBook()
        let begun = [lanes.beginRefresh(), lanes.beginRefresh()]
        #expect(begun == [true, false])
        let stale = [lanes.takeStale(), lanes.takeStale()]
        #expect(stale == [true, false])
        _ = lanes.beginRefresh()
        let again = lanes.takeStale()
        #expect(again)
        lanes.endRefresh()
        let next = lanes.beginRefresh()
        #expect(next)
        let planned = [lanes.planPump(), lanes.planPump()]
        #expect(planned == [true, false])
        lanes.beginPump()
        #expect(!lanes.isPumpDue)
    }
}
