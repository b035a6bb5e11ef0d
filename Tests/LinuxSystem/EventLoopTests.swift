import Glibc
import LinuxSystem
import Testing

/// One end of a pair under a number that other tests, which get the lowest free ones, do not take in between, and the other end.
private func pair(at number: Int32) throws -> (OwnedDescriptor, OwnedDescriptor) {
    let (one, other) = try System.socketPair(nonBlocking: true)
    let high = fcntl(one.rawValue, F_DUPFD_CLOEXEC, number)
    guard high >= 0 else { throw Errno.current }
    return (OwnedDescriptor(high), other)
}

/// An actor on a loop, as the engine is one.
private actor Counter {
    let loop: EventLoop
    var values: [Int] = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ value: Int) {
        loop.checkIsolated()
        values.append(value)
    }

    /// Enters the actor from a timer's handler.
    func addFromTimer(_ value: Int, after delay: Duration, _ done: CheckedContinuation<Void, Never>) {
        loop.schedule(after: delay) {
            self.assumeIsolated { $0.values.append(value) }
            done.resume()
        }
    }

    func onLoop<T: Sendable>(_ body: @Sendable (EventLoop) throws -> T) rethrows -> T { try body(loop) }
}

@Suite struct MonotonicInstantTests {
    @Test("a point further away than 64 bits count is the last one or the first, and never on the other side of now")
    func ends() {
        let now = MonotonicInstant(nanoseconds: 1 << 50)
        let last = now.advanced(by: .seconds(Int64.max))
        #expect(last.nanoseconds == .max && now < last)
        #expect(last.advanced(by: .nanoseconds(1)) == last)
        let first = MonotonicInstant(nanoseconds: -2).advanced(by: .seconds(Int64.min))
        #expect(first.nanoseconds == .min)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min))
        #expect(now.duration(to: last) == .nanoseconds(Int64.max - now.nanoseconds))
    }
}

@Suite struct EventLoopTests {
    private func withLoop(_ body: (Counter, EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        try await body(Counter(loop), loop)
        loop.stop()
        loop.join()
    }

    @Test func `an actor's jobs run on the loop's thread, each exactly once`() async throws {
        try await withLoop { counter, loop in
            await withTaskGroup { group in
                for value in 0..<1000 { group.addTask { await counter.add(value) } }
            }
            #expect(await counter.values.sorted() == Array(0..<1000))
            #expect(!loop.isOnLoop)
        }
    }

    @Test func `a handler on the loop may enter its actor`() async throws {
        try await withLoop { counter, _ in
            await withCheckedContinuation { done in
                Task { await counter.addFromTimer(7, after: .milliseconds(1), done) }
            }
            #expect(await counter.values == [7])
        }
    }

    @Test func `timers fire in the order of their deadlines and a cancelled one never`() async throws {
        try await withLoop { counter, _ in
            let order: [Int] = await withCheckedContinuation { done in
                Task {
                    await counter.onLoop { loop in
                        let log = Log()
                        loop.schedule(after: .milliseconds(8)) { done.resume(returning: log.values) }
                        let cancelled = loop.schedule(after: .milliseconds(2)) { log.values.append(99) }
                        loop.schedule(after: .milliseconds(4)) { log.values.append(2) }
                        loop.schedule(after: .zero) { log.values.append(1) }
                        loop.schedule(after: .milliseconds(4)) { log.values.append(3) }
                        loop.cancel(cancelled)
                    }
                }
            }
            #expect(order == [1, 2, 3])
        }
    }

    @Test func `an idle loop does not turn`() async throws {
        try await withLoop { counter, _ in
            let before = await counter.onLoop { $0.turns }
            // A thousand round trips of another loop are ample time for a busy one to show itself.
            let other = try EventLoop(name: "other")
            let bystander = Counter(other)
            for value in 0..<1000 { await bystander.add(value) }
            other.stop()
            other.join()
            // At most the turns that the two calls themselves need.
            #expect(await counter.onLoop { $0.turns } - before <= 2)
        }
    }

    @Test func `a descriptor's readiness is told until it is cancelled, and not to a later user of the number`()
        async throws
    {
        try await withLoop { counter, _ in
            let (mine, theirs) = try System.socketPair(nonBlocking: true)
            let seen: [Int] = try await withCheckedThrowingContinuation { done in
                Task {
                    await counter.onLoop { loop in
                        let log = Log()
                        do {
                            log.registration = try loop.register(mine.rawValue, .read) { ready in
                                log.values.append(Int(ready.rawValue))
                                log.registration.map { loop.cancel($0) }
                                loop.schedule(after: .milliseconds(3)) { done.resume(returning: log.values) }
                            }
                            _ = try [UInt8(1)].withUnsafeBytes { try System.send(theirs.rawValue, $0) }
                        } catch {
                            done.resume(throwing: error)
                        }
                    }
                }
            }
            #expect(seen == [Int(Readiness.read.rawValue)])
        }
    }

    @Test func `a registration outlives the closing of its descriptor without harm`() async throws {
        try await withLoop { counter, _ in
            try await counter.onLoop { loop in
                let (first, _) = try pair(at: 800)
                let old = try loop.register(first.rawValue, .read) { _ in }
                let number = first.rawValue
                first.close()
                // The same number again, as curl sees it.
                let (second, peer) = try pair(at: 800)
                #expect(second.rawValue == number)
                let new = try loop.register(second.rawValue, .read) { _ in }
                try loop.update(old, .write)
                loop.cancel(old)
                try loop.update(new, [.read, .write])
                loop.cancel(new)
                second.close()
                loop.cancel(new)
                peer.close()
            }
        }
    }

    @Test func `an update of a closed and reopened descriptor adds it again`() async throws {
        try await withLoop { counter, _ in
            try await counter.onLoop { loop in
                let (first, _) = try pair(at: 900)
                let registration = try loop.register(first.rawValue, .read) { _ in }
                let number = first.rawValue
                first.close()
                let (second, _) = try pair(at: 900)
                #expect(second.rawValue == number)
                try loop.update(registration, .write)
                loop.cancel(registration)
            }
        }
    }

    @Test func `the end of a turn comes after its jobs and runs what it adds itself`() async throws {
        try await withLoop { counter, _ in
            let order: [Int] = await withCheckedContinuation { done in
                Task {
                    await counter.onLoop { loop in
                        let log = Log()
                        loop.atEndOfTurn {
                            log.values.append(1)
                            loop.atEndOfTurn {
                                log.values.append(2)
                                done.resume(returning: log.values)
                            }
                        }
                    }
                }
            }
            #expect(order == [1, 2])
        }
    }

    @Test func `an adopted loop runs on the calling thread until it is stopped`() async throws {
        let worker = try BlockingWorker(name: "adopter")
        defer { worker.stop() }
        let fired = try await worker.run { () throws(Errno) -> Bool in
            let loop = try EventLoop(adoptingCurrentThread: ())
            let log = Log()
            loop.schedule(after: .milliseconds(1)) {
                log.values.append(1)
                loop.stop()
            }
            loop.run()
            return log.values == [1]
        }
        #expect(fired)
    }

    @Test func `a stopped loop lets go of itself`() throws {
        weak var gone: EventLoop?
        do {
            let loop = try EventLoop(name: "short")
            gone = loop
            loop.stop()
            loop.join()
        }
        #expect(gone == nil)
    }
}

/// What handlers of one loop saw; only touched there, and read after the last of them.
private final class Log: @unchecked Sendable {
    var values: [Int] = []
    var registration: Registration?
}
