import CLinux
import Glibc
import struct Synchronization.Atomic

/// A thread that waits in `epoll` and runs what is due: descriptors, timers, and the jobs of actors.
///
/// It is a serial executor: an actor whose `unownedExecutor` is this loop runs on its thread, and handlers
/// registered on the loop may enter the actor by `assumeIsolated`. A turn is: wait, descriptors, timers, jobs, then
/// what `atEndOfTurn` was given, until nothing is left. An idle loop with no timer never wakes.
///
/// "On the loop" means on its thread; the calls that must be made there trap elsewhere (our own bug).
///
/// Unchecked: every stored property says which thread or lock protects it.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// Jobs and the order to stop, left here by other threads. Under the inbox's lock.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var stopping = false
        /// The loop is in `epoll_wait`, or about to be, and needs the eventfd to notice a new job.
        var sleeping = false
    }

    /// Immutable.
    private let epoll: OwnedDescriptor
    /// Immutable. Edge-triggered and never read: each write is one wake-up.
    private let wakeUp: OwnedDescriptor
    /// Its lock; held for an append or a swap only.
    private let inbox = Mutex(Inbox())
    /// Set once by the loop's thread before it runs anything; read anywhere.
    private let thread = Atomic<UInt>(0)
    /// Set by `init` before anyone can see the loop, taken by `join`; nil for an adopted thread.
    private var ownThread: pthread_t?
    /// Immutable.
    private let eventsPerTurn: Int
    /// On the loop.
    var registrations = RegistrationTable()
    /// On the loop.
    var timers = TimerHeap()
    /// On the loop.
    private var endOfTurn: [() -> Void] = []
    /// On the loop; the batch of jobs being run, kept to reuse its memory.
    private var batch: [UnownedJob] = []
    /// On the loop; how often `epoll_wait` returned.
    package private(set) var turns: UInt64 = 0

    /// A loop on a thread of its own, running until `stop`. The thread keeps the loop alive.
    /// - Parameter eventsPerTurn: at most so many descriptors are served before what they set free is used.
    package init(name: String, eventsPerTurn: Int = 128) throws(Errno) {
        self.eventsPerTurn = eventsPerTurn
        (epoll, wakeUp) = try Self.descriptors()
        ownThread = try Thread.start(name: name) { [self] in
            thread.store(Thread.current, ordering: .releasing)
            turnUntilStopped()
        }
    }

    /// A loop that belongs to the calling thread and turns while that thread is in `run`.
    package init(adoptingCurrentThread: Void) throws(Errno) {
        eventsPerTurn = 128
        (epoll, wakeUp) = try Self.descriptors()
        thread.store(Thread.current, ordering: .releasing)
    }

    private static func descriptors() throws(Errno) -> (OwnedDescriptor, OwnedDescriptor) {
        let epoll = OwnedDescriptor(try systemCall(.epollCreate) { epoll_create1(O_CLOEXEC) })
        let wakeUp = OwnedDescriptor(try systemCall(.eventfd) { eventfd(0, O_CLOEXEC | O_NONBLOCK) })
        _ = try systemCall(.epollCtl, descriptor: wakeUp.rawValue) {
            CLinux_epoll_ctl(
                epoll.rawValue, EPOLL_CTL_ADD, wakeUp.rawValue, EPOLLIN.rawValue | EPOLLET.rawValue, UInt64.max)
        }
        return (epoll, wakeUp)
    }

    // MARK: Executor

    package func enqueue(_ job: UnownedJob) {
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.sleeping = false }
            return inbox.sleeping
        }
        if mustWake { wake() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(UnownedJob(job))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    package func checkIsolated() {
        precondition(isOnLoop, "not on the event loop")
    }

    /// True when the caller is on the loop's thread.
    package var isOnLoop: Bool { thread.load(ordering: .acquiring) == Thread.current }

    // MARK: Running

    /// Turns an adopted loop until `stop`; on its thread. May be called again afterwards.
    package func run() {
        checkIsolated()
        inbox.withLock { $0.stopping = false }
        turnUntilStopped()
    }

    /// Ends the loop when it has run the jobs that are there, from any thread. Jobs that arrive later are never run, so
    /// the loop's actors must have ended their work. Does not wait; `join` does.
    package func stop() {
        let mustWake = inbox.withLock { inbox in
            inbox.stopping = true
            defer { inbox.sleeping = false }
            return inbox.sleeping
        }
        if mustWake { wake() }
    }

    /// Waits until a loop with its own thread has ended; once, from another thread, after `stop`.
    package func join() {
        precondition(!isOnLoop, "a loop cannot wait for its own end")
        guard let thread = ownThread else { return }
        ownThread = nil
        Thread.join(thread)
    }

    // A thread that nobody waits for keeps its stack until it is told that nobody will.
    deinit { if let ownThread { Thread.detach(ownThread) } }

    /// Runs a handler when the current turn has handled its events, timers and jobs, before the loop waits again.
    /// Handlers added meanwhile run in the same turn. On the loop.
    package func atEndOfTurn(_ handler: @escaping () -> Void) {
        checkIsolated()
        endOfTurn.append(handler)
    }

    private func wake() {
        var one: UInt64 = 1
        // It fails only when the counter is full (2^64 - 1 wake-ups), and then the loop is awake anyhow.
        _ = write(wakeUp.rawValue, &one, 8)
    }

    private func turnUntilStopped() {
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: eventsPerTurn)
        defer { events.deallocate() }
        while let mayWait = prepareToWait() {
            let count = wait(events, mayWait: mayWait)
            turns &+= 1
            for event in events[..<count] where event.data.u64 != UInt64.max {
                dispatch(event.data.u64, Readiness(events: event.events))
            }
            fireTimers()
            runJobs()
            runEndOfTurn()
        }
    }

    /// False when there is work already, nil when the loop is to end.
    private func prepareToWait() -> Bool? {
        inbox.withLock { inbox in
            if inbox.stopping, inbox.jobs.isEmpty { return nil }
            inbox.sleeping = inbox.jobs.isEmpty
            return inbox.sleeping
        }
    }

    private func wait(_ events: UnsafeMutableBufferPointer<epoll_event>, mayWait: Bool) -> Int {
        let timeout = mayWait ? timers.nextDeadline.map { MonotonicInstant.now.duration(to: $0) } : .zero
        // -1 is EINTR (a debugger) or our own bug; both turn once more and look again.
        let count = epoll_wait(
            epoll.rawValue, events.baseAddress, Int32(events.count), timeout?.millisecondsRoundedUp ?? -1)
        inbox.withLock { $0.sleeping = false }
        return max(0, Int(count))
    }

    private func fireTimers() {
        guard let next = timers.nextDeadline else { return }
        let now = MonotonicInstant.now
        if next > now { return }
        // Only what was due when the turn began: a timer that sets itself again at once must not starve the rest.
        for handler in timers.takeDue(now) { handler() }
    }

    /// Runs jobs until none is left, but comes up for events after a few rounds: two actors may feed each other for ever.
    private func runJobs() {
        for _ in 0..<16 {
            inbox.withLock { swap(&$0.jobs, &batch) }
            if batch.isEmpty { return }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: batch.count <= 1024)
        }
    }

    private func runEndOfTurn() {
        while !endOfTurn.isEmpty {
            var due: [() -> Void] = []
            swap(&due, &endOfTurn)
            for handler in due { handler() }
        }
    }

    /// One `epoll_ctl`. A descriptor may have been closed, and its number given out again, before its owner could say
    /// so (curl does that): then MOD finds nothing and becomes ADD, ADD finds one and becomes MOD, DEL is content.
    func control(_ operation: Int32, _ descriptor: Int32, _ interest: Interest, data: UInt64) throws(Errno) {
        func call(_ operation: Int32) throws(Errno) {
            _ = try systemCall(.epollCtl, descriptor: descriptor) {
                CLinux_epoll_ctl(epoll.rawValue, operation, descriptor, interest.events, data)
            }
        }
        do {
            try call(operation)
        } catch {
            switch (operation, error) {
            case (EPOLL_CTL_MOD, .noSuchFile): try call(EPOLL_CTL_ADD)
            case (EPOLL_CTL_ADD, .fileExists): try call(EPOLL_CTL_MOD)
            case (EPOLL_CTL_DEL, .noSuchFile), (EPOLL_CTL_DEL, .badDescriptor): break
            default: throw error
            }
        }
    }
}
