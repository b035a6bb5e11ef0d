import LinuxSystem
import struct Synchronization.Atomic
import TestSupport
import Testing

private actor Writer {
    private let executor: ThreadExecutor
    private(set) var lines: [Int] = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: ThreadExecutor) { self.executor = executor }

    func write(_ line: Int) {
        executor.checkIsolated()
        lines.append(line)
    }
}

@Suite struct WorkerTests {
    @Test func `one thread does its work in the order given and returns it`() async throws {
        let worker = try BlockingWorker(name: "order")
        let seen = Mutex<[Int]>([])
        for value in 0..<3000 { worker.submit { seen.withLock { $0.append(value) } } }
        #expect(await worker.run { seen.withLock { $0.count } } == 3000)
        #expect(seen.withLock { $0 } == Array(0..<3000))
        worker.stop()
    }

    @Test func `an error comes back with its type`() async throws {
        let worker = try BlockingWorker(name: "errors", threads: 2)
        do {
            try await worker.run { () throws(Errno) in throw Errno.noSpace }
            Issue.record("nothing was thrown")
        } catch {
            let typed: Errno = error
            #expect(typed == .noSpace)
        }
        worker.stop()
    }

    @Test func `work that stays on its thread keeps no other waiting, up to so many`() async throws {
        let worker = try BlockingWorker(name: "grow", upTo: 3)
        let end = try Milestone()
        for _ in 0..<2 { worker.submit { end.waitBlocking(milliseconds: -1) } }
        #expect(await worker.run { true })
        worker.submit { end.waitBlocking(milliseconds: -1) }
        let count = Atomic<Int>(0)
        worker.submit { count.add(1, ordering: .relaxed) }
        #expect(count.load(ordering: .relaxed) == 0)
        end.reach()
        worker.stop()
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test func `stopping lets waiting work finish`() throws {
        let worker = try BlockingWorker(name: "stop")
        let count = Atomic<Int>(0)
        for _ in 0..<100 { worker.submit { count.add(1, ordering: .relaxed) } }
        worker.stop()
        #expect(count.load(ordering: .relaxed) == 100)
    }

    @Test func `an actor lives on a thread of its own`() async throws {
        let executor = try ThreadExecutor(name: "writer")
        let writer = Writer(executor)
        for line in 0..<100 { await writer.write(line) }
        #expect(await writer.lines == Array(0..<100))
        #expect(executor.isIsolatingCurrentContext() == false)
        executor.stop()
    }
}
