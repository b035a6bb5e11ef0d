import LinuxSystem

/// A thread, loop or pool of the simulated world: a line of work that the world does one piece at a time, when the seed says so.
///
/// Pieces of one thread are done in their order, as on a real one; those of several threads in any. A thread of a program that was killed
/// drops its work.
final class SimulatedThread: ActorLoop, ActorThread, Worker, @unchecked Sendable {
    enum Work {
        /// Of an actor that lives here.
        case job(UnownedJob)
        /// A timer, a call that blocks, an answer that came; and a job of no actor.
        case call(() -> Void)
    }

    let name: String
    /// The number of pieces that may be done at the same time: those of several threads overtake each other.
    let width: Int
    private unowned let world: World
    /// The program that it is part of; `nil`: it is of the world outside.
    private let program: ProgramLife?

    /// The time that each piece takes that a worker is given; `nil`: none.
    private let pace: (() -> Duration)?
    /// When a worker of one thread will have done what it was given so far.
    private var busyUntil = MonotonicInstant(nanoseconds: 0)

    var work: [Work] = []
    var endOfTurn: [() -> Void] = []
    /// It is in the world's list of those that have something to do.
    var isListed = false

    init(
        _ name: String, width: Int = 1, of program: ProgramLife? = nil, in world: World, pace: (() -> Duration)? = nil
    ) {
        self.pace = pace
        self.name = name
        self.width = width
        self.world = world
        self.program = program
    }

    var isDead: Bool { program?.isAlive == false }
    var hasWork: Bool { !work.isEmpty || !endOfTurn.isEmpty }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }
    func enqueue(_ job: UnownedJob) { append(.job(job)) }
    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    func isIsolatingCurrentContext() -> Bool? { world.current === self }
    func checkIsolated() { precondition(world.current === self, "not on the thread \(name)") }

    // MARK: Loop and worker

    func submit(_ body: @escaping @Sendable () -> Void) {
        guard let pace else { return append(.call(body)) }
        let end = (width == 1 ? max(busyUntil, now) : now).advanced(by: pace())
        busyUntil = end
        if end == now { return append(.call(body)) }
        _ = world.schedule(after: now.duration(to: end), on: self, body)
    }

    func perform(_ body: @escaping () -> Void) { append(.call(body)) }

    func atEndOfTurn(_ handler: @escaping () -> Void) {
        if isDead { return }
        endOfTurn.append(handler)
        world.list(self)
    }

    func stop() {}

    private func append(_ piece: Work) {
        if isDead { return }
        work.append(piece)
        world.list(self)
    }

    // MARK: Clock

    var now: MonotonicInstant { world.now }
    var awake: MonotonicInstant { MonotonicInstant(nanoseconds: world.now.nanoseconds - world.slept) }

    func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
        world.schedule(after: delay, on: self, handler)
    }

    func cancel(_ timer: LoopTimer) { world.cancel(timer) }
}

/// The life of one process of the engine, from its start to its end or its kill.
final class ProgramLife {
    private(set) var isAlive = true
    let number: Int

    init(number: Int) { self.number = number }

    /// As `kill -9`: whatever its threads had to do is dropped, now and for ever.
    func kill() { isAlive = false }
}
