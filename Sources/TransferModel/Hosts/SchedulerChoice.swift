/// A line of tasks that may run: those of one batch, for one host, with one priority.
public struct SchedulerLane: Hashable, Sendable {
    /// Whatever names it for the caller.
    public var id: Int64
    public var host: String
    public var priority: TransferPriority
    /// The batch's place in the queue.
    public var position: Int64
    /// Tasks at hand that can start at once.
    public var ready: Int
    /// A person wants it now (`run-now`): before all others, and beyond the number of slots.
    public var isUrgent: Bool
    /// The place of its next task among all of the batch.
    public var next: Int64

    public init(
        id: Int64, host: String, priority: TransferPriority, position: Int64, ready: Int, isUrgent: Bool = false,
        next: Int64 = 0
    ) {
        self.id = id
        self.host = host
        self.priority = priority
        self.position = position
        self.ready = ready
        self.isUrgent = isUrgent
        self.next = next
    }

    /// The order in which lanes are served: what is wanted now, the highest priority, then the queue's order.
    public static func comesBefore(_ one: SchedulerLane, _ other: SchedulerLane) -> Bool {
        if one.isUrgent != other.isUrgent { return one.isUrgent }
        if one.priority != other.priority { return one.priority > other.priority }
        return one.position != other.position ? one.position < other.position : one.next < other.next
    }
}

/// The slots of the engine as a look at what may start finds them.
public struct SchedulerSlots: Hashable, Sendable {
    /// Slots that are left; below zero while more run than the limit says.
    public var free: Int
    /// Transfers that crawl (`CrawlMark`), by their hosts.
    public var crawling: [String: Int] { didSet { crawlingInAll = crawling.values.reduce(0, +) } }
    private var crawlingInAll: Int
    /// The slots of transfers that crawl which files for other hosts may have as well. Less than the limit: one at a time means that.
    public var lent: Int

    public init(free: Int, crawling: [String: Int] = [:], lent: Int = 0) {
        self.free = free
        self.crawling = crawling
        crawlingInAll = crawling.values.reduce(0, +)
        self.lent = lent
    }

    /// Slots that are left for a host. Transfers that crawl count for their own host alone: a slow one does not starve the others.
    public func free(for host: String) -> Int {
        free + min(crawlingInAll - (crawling[host] ?? 0), lent)
    }
}

/// The choice of the task that starts next. Pure.
public enum SchedulerChoice {
    /// The first lane, in an order made by `comesBefore`, that has a task at hand and whose host takes one more.
    /// A lane whose host is full or held back lets the next one pass. One look at all lanes starts any number of tasks: each goes on at the
    /// place of the last, since what starts makes no room for the lanes before it.
    /// - Parameters:
    ///   - lanes: those not passed yet.
    ///   - slots: those of the whole engine.
    ///   - mayStart: whether a lane's host takes one more of it now.
    public static func next(
        _ lanes: ArraySlice<SchedulerLane>, slots: SchedulerSlots, mayStart: (_ lane: SchedulerLane) -> Bool
    ) -> Int? {
        guard slots.free + slots.lent > 0 else { return nil }
        return lanes.firstIndex { $0.ready > 0 && slots.free(for: $0.host) > 0 && mayStart($0) }
    }

    /// Tasks that a lane's first claim takes, and the most that a lane has at hand.
    public static let firstWindow = 32
    public static let longestWindow = 512

    /// The number of tasks to claim ahead for a lane, so that its connections never wait for a commit. 0: enough at hand.
    /// - Parameters:
    ///   - ready: tasks at hand.
    ///   - window: what the lane may have at hand; see `window(after:)`.
    public static func claim(ready: Int, window: Int) -> Int { ready > window / 2 ? 0 : window - ready }

    /// The window after a lane ran dry before its claim was answered: twice as large. Slow large files never get there.
    public static func window(after window: Int) -> Int { min(longestWindow, 2 * window) }
}
