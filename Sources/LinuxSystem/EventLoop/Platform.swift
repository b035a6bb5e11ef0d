/// The things that queue and engine take from the machine below them: threads, the disk, the clock on the wall and chance. Programs run on
/// `LinuxPlatform`; the simulated world (`Tests/Simulation`) brings one that runs everything in one thread, in an order that a seed decides.
package protocol Platform: Sendable {
    /// A loop for actors, on a thread of its own. An actor ends it by `stop`.
    func loop(named name: String) throws(Errno) -> any ActorLoop
    /// A thread for an actor that makes blocking calls.
    func thread(named name: String) throws(Errno) -> any ActorThread
    /// Threads for calls that block.
    func worker(named name: String, threads: Int) throws(Errno) -> any Worker

    /// The disk that files of persons come to lie on.
    var disk: any LocalDisk { get }
    /// The clock on the wall: nanoseconds since 1970, UTC.
    var wallNanoseconds: Int64 { get }
    /// 64 bits that nobody can guess.
    func randomBits() -> UInt64
}

extension Platform {
    /// Milliseconds since 1970, UTC.
    package var wallMilliseconds: Int64 { wallNanoseconds / 1_000_000 }

    /// Uniform in 0..<1.
    package func randomFraction() -> Double {
        // A Double between 1 and 2 has 52 bits behind its point.
        Double(bitPattern: 0x3FF0_0000_0000_0000 | randomBits() >> 12) - 1
    }
}

/// A thread that actors live on: they name it as their `unownedExecutor` and keep it.
package protocol ActorThread: SerialExecutor {
    /// Ends the thread when it has run the jobs that wait. May wait for that, so not from the thread itself.
    func stop()
}

/// A thread that actors live on and that has timers. Its work comes in turns: what is due, the jobs of actors, then what `atEndOfTurn` was given.
/// Handlers may enter the loop's actors by `assumeIsolated`.
package protocol ActorLoop: SerialExecutor, TransportClock {
    /// Runs a handler when the current turn has done what was there. On the loop.
    func atEndOfTurn(_ handler: @escaping () -> Void)
    /// Ends the loop when it has run the jobs that are there. Does not wait.
    func stop()
}

/// Threads for calls that block: disk, hashing, name look-ups.
package protocol Worker: Sendable {
    /// Does `body` sometime; nobody waits. With one thread, in the order in which it was given.
    func submit(_ body: @escaping @Sendable () -> Void)
    /// Waits until all work given so far is done and ends the threads. Not from a thread of the worker.
    func stop()
}

extension Worker {
    /// Does `body` on a thread of the worker and gives back what it returns or throws. The caller's executor is free meanwhile.
    package func run<T: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> T) async throws(E) -> T {
        let result: Result<T, E> = await withUnsafeContinuation { continuation in
            submit { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}

extension EventLoop: ActorLoop {}
extension ThreadExecutor: ActorThread {}
extension BlockingWorker: Worker {}

/// Linux: real threads, the kernel's clock, and Swift's random numbers.
package struct LinuxPlatform: Platform {
    package let disk: any LocalDisk

    package init(disk: any LocalDisk = LinuxDisk()) { self.disk = disk }

    package func loop(named name: String) throws(Errno) -> any ActorLoop { try EventLoop(name: name) }
    package func thread(named name: String) throws(Errno) -> any ActorThread { try ThreadExecutor(name: name) }

    package func worker(named name: String, threads: Int) throws(Errno) -> any Worker {
        try BlockingWorker(name: name, threads: threads)
    }

    package var wallNanoseconds: Int64 { WallClock.nanoseconds }
    package func randomBits() -> UInt64 { UInt64.random(in: .min ... .max) }
}
