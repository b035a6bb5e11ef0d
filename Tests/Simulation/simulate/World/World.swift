import LinuxSystem

/// The simulated world: all threads of a run in one real thread, in virtual time. What is done next, and how long it takes, is the seed's choice.
///
/// Everything in it is on the process's main thread; `Sendable` only because executors must be.
final class World: @unchecked Sendable {
    /// Time that nobody sets.
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// The wall clock minus `now`, in nanoseconds; the person sets it.
    private(set) var wallOffset: Int64 = 1_767_225_600_000_000_000
    /// Each offset that it had, from when on.
    private var offsets: [(since: MonotonicInstant, offset: Int64)] = []
    /// Nanoseconds for which the machine has slept.
    private(set) var slept: Int64 = 0
    /// Decides the order of work.
    private var chance: Chance
    let story = Story()

    /// The thread whose work is being done.
    private(set) var current: SimulatedThread?
    private var ready: [SimulatedThread] = []
    private var timers = TimerQueue()
    private(set) var steps = 0
    /// Broken rules, in the order in which they were seen; the run ends at the first.
    private(set) var faults: [String] = []

    /// Jobs of no actor.
    private(set) var pool: SimulatedThread!

    /// Called when something begins that takes time: an interesting moment may fall into it.
    var underWay: ((UnderWay) -> Void)?

    init(seed: UInt64) {
        chance = Chance(seed: seed ^ 0x5743)
        pool = SimulatedThread("pool", width: 2, in: self)
    }

    var wallNanoseconds: Int64 { now.nanoseconds + wallOffset }
    func stepClock(by step: Duration) {
        if offsets.isEmpty { offsets.append((MonotonicInstant(nanoseconds: 0), wallOffset)) }
        wallOffset += step.nanoseconds
        offsets.append((now, wallOffset))
    }

    /// When the wall clock showed a time for the first time; `nil`: it never did.
    func moment(of milliseconds: Int64) -> MonotonicInstant? {
        let all = offsets.isEmpty ? [(since: MonotonicInstant(nanoseconds: 0), offset: wallOffset)] : offsets
        for (index, span) in all.enumerated() {
            let time = MonotonicInstant(nanoseconds: milliseconds * 1_000_000 - span.offset)
            let end = index + 1 < all.count ? all[index + 1].since : now
            if time.nanoseconds + 1_000_000 >= span.since.nanoseconds, time <= end { return time }
        }
        return nil
    }

    var wallMilliseconds: Int64 { wallNanoseconds / 1_000_000 }

    /// Virtual time since the beginning.
    var elapsed: Duration { .nanoseconds(now.nanoseconds - 1_000_000_000_000) }
    /// Without the time for which the machine slept.
    var awake: Duration { elapsed - .nanoseconds(slept) }

    /// The number of times that something happened, for the summary of many runs.
    private(set) var counts: [String: Int] = [:]

    // MARK: Telling

    func count(_ what: String) { counts[what, default: 0] += 1 }

    func tell(_ who: String, _ what: @autoclosure () -> String) {
        story.tell("\(Self.written(elapsed)) \(who): \(what())")
    }

    /// A rule of the world is broken.
    func fault(_ what: String) {
        faults.append(what)
        tell("FAULT", what)
    }

    /// `1234.567`, in seconds.
    private static func written(_ time: Duration) -> String {
        let milliseconds = time.nanoseconds / 1_000_000
        let rest = String(milliseconds % 1000 + 1000).dropFirst()
        return "\(milliseconds / 1000).\(rest)"
    }

    // MARK: Work

    func list(_ thread: SimulatedThread) {
        if thread.isListed { return }
        thread.isListed = true
        ready.append(thread)
    }

    func schedule(after delay: Duration, on thread: SimulatedThread, _ handler: @escaping () -> Void) -> LoopTimer {
        timers.add(now.advanced(by: max(.zero, delay)), thread, handler)
    }

    func cancel(_ timer: LoopTimer) { timers.cancel(timer) }

    /// Returns after so much virtual time.
    func pause(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: time, on: pool) { continuation.resume() }
        }
    }

    /// The machine sleeps: time passes, and nothing happens.
    func sleep(_ time: Duration) {
        now = now.advanced(by: time)
        slept += time.nanoseconds
    }

    /// Does what is to be done until `isOver`, or until nothing is left, or for so many steps. Returns true when it was over.
    func run(steps limit: Int, until isOver: () -> Bool) -> Bool {
        let end = steps + limit
        while steps < end, faults.isEmpty {
            if isOver() { return true }
            moveTimers()
            guard !ready.isEmpty else {
                guard let next = timers.nextDeadline else { return false }
                now = max(now, next)
                continue
            }
            step()
        }
        return false
    }

    private func moveTimers() {
        while let (thread, handler) = timers.takeDue(now) { thread.perform(handler) }
    }

    private func step() {
        steps += 1
        let place = chance.below(ready.count)
        let thread = ready[place]
        current = thread
        if !thread.isDead { work(thread) }
        current = nil
        if thread.isDead {
            thread.work = []
            thread.endOfTurn = []
        }
        if !thread.hasWork {
            thread.isListed = false
            // The thread may have been moved by nothing: the list only grows meanwhile.
            ready.remove(at: place)
        }
        // A step takes up to 200 µs.
        now = now.advanced(by: .nanoseconds(Int64(chance.below(200_000))))
    }

    private func work(_ thread: SimulatedThread) {
        // A turn ends when nothing is left to do, and sometimes before.
        if thread.work.isEmpty || !thread.endOfTurn.isEmpty && chance.oneIn(8) {
            let due = thread.endOfTurn
            thread.endOfTurn = []
            for handler in due where !thread.isDead { handler() }
            return
        }
        let first = thread.width == 1 ? 0 : chance.below(min(thread.width, thread.work.count))
        switch thread.work.remove(at: first) {
        case .call(let body): body()
        case .job(let job): job.runSynchronously(on: thread.asUnownedSerialExecutor())
        }
    }
}

/// Something that takes time, so that other things may happen in the middle of it, or right at its end.
struct UnderWay {
    enum Subject {
        /// A message and its answer.
        case message
        /// A body that goes to a server, by its host.
        case upload(String)
        /// A body that comes from a server's file.
        case download(RemoteFile)
        /// The disk has something to do for the engine.
        case disk
    }

    let subject: Subject
    /// As long as nothing happens.
    let time: Duration
}

/// Timers of all threads by their deadlines; equal ones in the order in which they were set.
private struct TimerQueue {
    private struct Entry {
        let deadline: MonotonicInstant
        let number: UInt64
        let thread: SimulatedThread
        let handler: () -> Void
    }

    /// The latest deadline first, so that the next is at the end.
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0

    var nextDeadline: MonotonicInstant? { entries.last?.deadline }

    mutating func add(
        _ deadline: MonotonicInstant, _ thread: SimulatedThread, _ handler: @escaping () -> Void
    ) -> LoopTimer {
        lastNumber += 1
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        entries.insert(Entry(deadline: deadline, number: lastNumber, thread: thread, handler: handler), at: low)
        return LoopTimer(number: lastNumber)
    }

    mutating func cancel(_ timer: LoopTimer) {
        guard let place = entries.firstIndex(where: { LoopTimer(number: $0.number) == timer }) else { return }
        entries.remove(at: place)
    }

    /// The next timer that is due; those of threads that are dead are dropped.
    mutating func takeDue(_ now: MonotonicInstant) -> (SimulatedThread, () -> Void)? {
        while let last = entries.last, last.deadline <= now {
            entries.removeLast()
            if !last.thread.isDead { return (last.thread, last.handler) }
        }
        while let last = entries.last, last.thread.isDead { _ = entries.removeLast() }
        return nil
    }
}
