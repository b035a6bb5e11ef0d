import Glibc
import struct Synchronization.Atomic

/// A queue of work and the threads that do it, first come first served.
///
/// Unchecked: everything that changes is under `lock`.
private final class WorkQueue: @unchecked Sendable {
    enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob, UnownedSerialExecutor)
    }

    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Work] = []
    /// Index of the first work in `waiting` that is not done; the done part before it is dropped in bulk.
    private var head = 0
    private var stopping = false
    private var threads: [pthread_t] = []
    /// Threads that have nothing to do.
    private var idle = 0
    private let name: String
    private let mostThreads: Int

    init(name: String, mostThreads: Int) {
        (self.name, self.mostThreads) = (name, mostThreads)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        pthread_cond_destroy(changed)
        lock.deallocate()
        changed.deallocate()
    }

    /// Starts the first threads. - Parameter whenStarted: called on each of them.
    func start(_ count: Int, whenStarted: @escaping @Sendable () -> Void = {}) throws(Errno) {
        do throws(Errno) {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            for _ in 0..<count { try addThread(whenStarted) }
        } catch {
            stopAndJoin()
            throw error
        }
    }

    /// With the lock.
    private func addThread(_ whenStarted: @escaping @Sendable () -> Void) throws(Errno) {
        let thread = try Thread.start(name: name) { [self] in
            whenStarted()
            work()
        }
        threads.append(thread)
    }

    func append(_ work: Work) {
        pthread_mutex_lock(lock)
        waiting.append(work)
        // Without another thread it waits for one of those that there are.
        if waiting.count - head > idle, threads.count < mostThreads, !stopping { try? addThread {} }
        pthread_cond_signal(changed)
        pthread_mutex_unlock(lock)
    }

    /// Lets the threads finish what waits and ends them.
    func stopAndJoin() {
        pthread_mutex_lock(lock)
        stopping = true
        pthread_cond_broadcast(changed)
        let ending = threads
        threads = []
        pthread_mutex_unlock(lock)
        for thread in ending { Thread.join(thread) }
    }

    private func work() {
        while let work = next() {
            switch work {
            case .closure(let body): body()
            case .job(let job, let executor): job.runSynchronously(on: executor)
            }
        }
    }

    private func next() -> Work? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while head == waiting.count {
            if stopping { return nil }
            idle += 1
            pthread_cond_wait(changed, lock)
            idle -= 1
        }
        let work = waiting[head]
        head += 1
        if head == waiting.count || head >= 1024 {
            waiting.removeFirst(head)
            head = 0
        }
        return work
    }
}

/// One or more named threads for calls that block: disk, hashing, directory walks, name look-ups.
///
/// With one thread the work is done in the order it was given.
package final class BlockingWorker: Sendable {
    private let queue: WorkQueue

    /// Starts the threads.
    package init(name: String, threads: Int = 1) throws(Errno) {
        queue = WorkQueue(name: name, mostThreads: threads)
        try queue.start(threads)
    }

    /// Starts one thread; more follow while work waits for one.
    package init(name: String, upTo mostThreads: Int) throws(Errno) {
        queue = WorkQueue(name: name, mostThreads: mostThreads)
        try queue.start(1)
    }

    /// Does `body` on a thread of its own: commands of a person, and files on disks that may not answer, take as long as they like.
    package static func alone<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Result
    ) async throws(Errno) -> Result {
        let worker = try BlockingWorker(name: name)
        let result = await worker.run { () -> Result in body() }
        Task.detached { worker.stop() }
        return result
    }

    /// Does `body` on a thread of the worker sometime; nobody waits.
    package func submit(_ body: @escaping @Sendable () -> Void) {
        queue.append(.closure(body))
    }

    /// Waits until all work given so far is done and ends the threads. Not from a thread of the worker.
    package func stop() {
        queue.stopAndJoin()
    }
}

/// A thread on which an actor lives that makes blocking calls, such as the writer of a database.
///
/// Give it to the actor as `nonisolated var unownedExecutor`, and keep it as long as the actor.
package final class ThreadExecutor: SerialExecutor {
    private let queue: WorkQueue
    /// Set once by the thread before it runs anything.
    private let thread = Atomic<UInt>(0)

    /// Starts the thread; it runs until `stop`.
    package init(name: String) throws(Errno) {
        queue = WorkQueue(name: name, mostThreads: 1)
        try queue.start(1) { [self] in
            thread.store(Thread.current, ordering: .releasing)
        }
    }

    package func enqueue(_ job: UnownedJob) {
        queue.append(.job(job, asUnownedSerialExecutor()))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        enqueue(UnownedJob(job))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func isIsolatingCurrentContext() -> Bool? {
        thread.load(ordering: .acquiring) == Thread.current
    }

    package func checkIsolated() {
        precondition(thread.load(ordering: .acquiring) == Thread.current, "not on the executor's thread")
    }

    /// Runs the jobs that wait and ends the thread; jobs that come later never run. Not from the thread itself.
    package func stop() {
        queue.stopAndJoin()
    }
}
