import TransferModel
import TransferQueue

/// The lanes with what is at hand of them, in the order in which they are served, and how far the engine's look at them is behind. A value of
/// the engine; `TransferEngine+Lanes` refreshes it, claims ahead and starts tasks by it.
struct LaneBook {
    private var byID: [LaneID: Lane] = [:]
    /// The lanes in the order in which they are served, with what is at hand.
    private(set) var order: [SchedulerLane] = []
    /// The number of lanes at the beginning of `order` that a person wants served now.
    private(set) var urgent = 0
    /// The place of each lane in `order`.
    private var places: [LaneID: Int] = [:]
    /// Something happened after which more may be claimed than at the last look.
    var claimsAreStale = true
    /// Number of claims that the queue has not answered yet, and what was stopped meanwhile: it may be among them.
    private var claimsUnderWay = 0
    private var endedClaims: Set<TaskClaim> = []
    private var isRefreshing = false
    /// The queue's lanes may be others than these.
    private var isStale = false
    /// A look at what may start is due at the end of this turn of the loop.
    private(set) var isPumpDue = false

    var all: Dictionary<LaneID, Lane>.Values { byID.values }

    subscript(place: SchedulerLane) -> Lane? { byID[LaneID(rawValue: place.id)] }

    /// Returns true while this is the lane that the queue means.
    func contains(_ lane: Lane) -> Bool { byID[lane.summary.lane] === lane }

    // MARK: The queue's view

    /// Notes that the queue's lanes may have changed. - Returns: true: the caller is to refresh; false: somebody does so already.
    mutating func beginRefresh() -> Bool {
        isStale = true
        if isRefreshing { return false }
        isRefreshing = true
        return true
    }

    /// Returns true when the lanes are to be asked for, since something has changed after they were asked for last.
    mutating func takeStale() -> Bool {
        defer { isStale = false }
        return isStale
    }

    mutating func endRefresh() { isRefreshing = false }

    /// Takes over the queue's lanes. - Returns: their batches, and what was at hand of lanes that are gone, which goes back to the queue.
    mutating func adopt(_ summaries: [LaneSummary]) -> (batches: Set<BatchID>, unstarted: [TaskClaim]) {
        var known: [LaneID: Lane] = [:]
        known.reserveCapacity(summaries.count)
        for summary in summaries {
            let lane = byID[summary.lane] ?? Lane(summary)
            lane.summary = summary
            lane.unclaimed = summary.ready
            known[summary.lane] = lane
        }
        // A lane whose batch is over may still have tasks at hand that nobody told us to drop.
        let unstarted = byID.values.filter { known[$0.summary.lane] == nil }.flatMap { $0.remove(nil) }
        byID = known
        order = known.values.map { lane in
            SchedulerLane(
                id: lane.summary.lane.rawValue, host: lane.summary.origin, priority: lane.summary.priority,
                position: lane.summary.position, ready: lane.ready,
                isUrgent: lane.summary.isUrgent, next: lane.next)
        }
        order.sort { one, other in
            if SchedulerLane.comesBefore(one, other) { return true }
            if SchedulerLane.comesBefore(other, one) { return false }
            return one.id < other.id
        }
        urgent = order.prefix { $0.isUrgent }.count
        places = Dictionary(order.enumerated().map { (LaneID(rawValue: $0.element.id), $0.offset) }) { first, _ in first
        }
        claimsAreStale = true
        return (Set(known.values.map(\.summary.batch)), unstarted)
    }

    mutating func removeAll() { (byID, order, urgent, places) = ([:], [], 0, [:]) }

    // MARK: Tasks at hand

    /// Takes out tasks that are not to run. - Returns: those that were at hand, which go back to the queue.
    mutating func takeOut(_ claims: Set<TaskClaim>) -> [TaskClaim] {
        if claimsUnderWay > 0 { endedClaims.formUnion(claims) }
        var unstarted: [TaskClaim] = []
        for lane in byID.values { unstarted += lane.remove(claims) }
        count()
        claimsAreStale = true
        return unstarted
    }

    /// Takes out what is at hand of batches whose order changed. - Returns: what goes back to the queue.
    mutating func reorder(_ batches: Set<BatchID>) -> [TaskClaim] {
        var unstarted: [TaskClaim] = []
        for lane in byID.values where batches.contains(lane.summary.batch) {
            lane.generation += 1
            unstarted += lane.remove(nil)
        }
        count()
        return unstarted
    }

    /// Takes out everything at hand, when the engine stops.
    func takeAll() -> [TaskClaim] { byID.values.flatMap { $0.remove(nil) } }

    private mutating func count() {
        for index in order.indices { order[index].ready = self[order[index]]?.ready ?? 0 }
    }

    /// The lane at a place of `order`, and its batch's context, for one task to start; `nil`: nothing of it can start.
    mutating func begin(at index: Int) -> (lane: Lane, context: BatchContext)? {
        guard let lane = self[order[index]], let context = lane.context else {
            order[index].ready = 0
            return nil
        }
        order[index].ready -= 1
        return (lane, context)
    }

    // MARK: Claims

    mutating func beginClaim(_ lane: Lane) {
        lane.isClaiming = true
        claimsUnderWay += 1
    }

    mutating func endClaim(_ lane: Lane) {
        lane.isClaiming = false
        claimsUnderWay -= 1
        if claimsUnderWay == 0 { endedClaims = [] }
        claimsAreStale = true
    }

    /// Returns true when the task was stopped while the queue worked on the claim.
    func isEnded(_ task: ClaimedTask) -> Bool { endedClaims.contains(task.claim) }

    mutating func add(_ tasks: [ClaimedTask], to lane: Lane, _ context: BatchContext) {
        lane.context = context
        lane.add(tasks)
        if let place = places[lane.summary.lane] { order[place].ready = lane.ready }
    }

    // MARK: The look at what may start

    /// - Returns: false: one is due already.
    mutating func planPump() -> Bool {
        if isPumpDue { return false }
        isPumpDue = true
        return true
    }

    mutating func beginPump() { isPumpDue = false }
}
