import Glibc
import LinuxSystem
import struct Synchronization.Atomic
import TestSupport
import TransferModel
import WireOperations

@testable import SSHTransport

/// Time that moves when the test says so. On the loop.
final class ManualClock: TransportClock {
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// A clock of its own, which is not to be compared with the other.
    var awake: MonotonicInstant { now.advanced(by: .zero - asleep) }
    private var asleep = Duration.milliseconds(700)
    private var timers: [(deadline: MonotonicInstant, number: UInt64, handler: () -> Void)] = []
    private var lastNumber: UInt64 = 0

    func schedule(after delay: Duration, _ handler: @escaping () -> Void) -> LoopTimer {
        lastNumber += 1
        timers.append((now.advanced(by: delay), lastNumber, handler))
        return LoopTimer(number: lastNumber)
    }

    func cancel(_ timer: LoopTimer) { timers.removeAll { LoopTimer(number: $0.number) == timer } }

    func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = timers.min(by: { ($0.deadline, $0.number) < ($1.deadline, $1.number) }), next.deadline <= end {
            timers.removeAll { $0.number == next.number }
            now = max(now, next.deadline)
            next.handler()
        }
        now = end
    }

    /// The machine sleeps: on waking all that became due meanwhile is done at once.
    func sleep(for duration: Duration) {
        asleep += duration
        now = now.advanced(by: duration)
        advance(by: .zero)
    }
}

/// Bytes that can be computed from their offsets; may end or fail early.
final class PatternSource: SFTPSource, Sendable {
    let endsAt: Int64
    let failsAt: Int64
    private let reads = Atomic<Int>(0)

    init(endsAt: Int64 = Int64.max, failsAt: Int64 = Int64.max) {
        self.endsAt = endsAt
        self.failsAt = failsAt
    }

    static func byte(_ offset: Int64) -> UInt8 {
        UInt8(truncatingIfNeeded: offset &* 31 &+ offset >> 8 &+ offset >> 19)
    }

    static func bytes(_ range: Range<Int64>) -> [UInt8] { range.map { byte($0) } }

    var readCount: Int { reads.load(ordering: .relaxed) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        reads.add(1, ordering: .relaxed)
        if offset >= failsAt { throw .inputOutput }
        let count = max(0, min(Int64(buffer.count), min(endsAt, failsAt) - offset))
        for index in 0..<Int(count) { buffer[index] = Self.byte(offset + Int64(index)) }
        return Int(count)
    }
}

/// A local file as source and sink, read and written where it stands.
final class FileEnd: SFTPSource, SFTPSink, @unchecked Sendable {
    private let file: OwnedDescriptor
    /// On the loop.
    private var written: Int64 = 0

    init(_ path: [UInt8], writing: Bool = false) throws {
        file = try System.open(path, flags: writing ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, mode: 0o644)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try System.preadAll(file.rawValue, buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try System.pwriteAll(file.rawValue, bytes, at: written)
        written += Int64(bytes.count)
    }
}

/// Remembers what it was given; shared with the test, which reads it between events.
final class RecordingSink: SFTPSink, Sendable {
    private let state = Mutex<[UInt8]>([])
    private let failsAfter: Int

    init(failsAfter: Int = Int.max) { self.failsAfter = failsAfter }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        let fits = state.withLock { state in
            if state.count + bytes.count > failsAfter { return false }
            state += bytes
            return true
        }
        if !fits { throw .noSpace }
    }

    var bytes: [UInt8] { state.withLock { $0 } }
}

/// Lets so much through, then nothing until more is given.
final class Allowance: TransferThrottle, @unchecked Sendable {
    /// On the loop.
    var left: Int
    /// What it says when nothing is left.
    var wait: Duration?
    /// On the loop.
    private(set) var taken = 0

    init(_ left: Int, wait: Duration? = nil) {
        self.left = left
        self.wait = wait
    }

    func grant(_ wanted: Int) -> ThrottleGrant { left > 0 ? .bytes(min(left, wanted)) : .wait(wait) }

    func take(_ count: Int) {
        left -= count
        taken += count
    }
}

/// The transport's caller: an actor on the loop, as the engine is.
actor SFTPClient {
    let loop: EventLoop
    let clock: ManualClock?
    private(set) var events: [SFTPEvent] = []
    private var transport: SFTPTransport?
    private var waiting: [WireID: CheckedContinuation<OperationEnd, Never>] = [:]
    private var ended: [WireID: OperationEnd] = [:]
    private var whenTrue: [(condition: (isolated SFTPClient) -> Bool, found: CheckedContinuation<Void, Never>)] = []
    private var lastID: UInt64 = 0
    let target: SSHTarget
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop, _ target: SSHTarget, manualClock: Bool) {
        self.loop = loop
        self.target = target
        clock = manualClock ? ManualClock() : nil
    }

    func open(_ settings: SSHSettings) {
        transport = SFTPTransport(loop: loop, clock: clock, settings: settings) { [weak self] batch in
            self?.assumeIsolated { $0.take(batch) }
        }
    }

    /// Ends all children and waits until they are reaped.
    func close() async {
        transport?.shutDown()
        await until { $0.transport?.childCount == 0 }
        transport = nil
    }

    private func take(_ batch: [SFTPEvent]) {
        for event in batch {
            events.append(event)
            if let found = waiting.removeValue(forKey: event.id) {
                found.resume(returning: event.end)
            } else {
                ended[event.id] = event.end
            }
        }
    }

    /// Begins operations together.
    @discardableResult
    func start(
        _ requests: [SFTPOperation], owner: UInt64 = 1, source: (any SFTPSource & Sendable)? = nil,
        limit: (any TransferThrottle & Sendable)? = nil, on other: SSHTarget? = nil
    ) -> [WireID] {
        requests.map { request in
            lastID += 1
            let id = WireID(rawValue: lastID)
            transport?.start(
                id, request, on: other ?? target, owner: OperationOwner(rawValue: owner), source: source, limit: limit)
            return id
        }
    }

    func end(of id: WireID) async -> OperationEnd {
        if let end = ended.removeValue(forKey: id) { return end }
        return await withCheckedContinuation { waiting[id] = $0 }
    }

    func perform(
        _ requests: SFTPOperation..., owner: UInt64 = 1, source: (any SFTPSource & Sendable)? = nil,
        on other: SSHTarget? = nil
    ) async -> [OperationEnd] {
        var ends: [OperationEnd] = []
        for id in start(requests, owner: owner, source: source, on: other) { ends.append(await end(of: id)) }
        return ends
    }

    /// Opens a file.
    func handle(_ request: SFTPOperation, owner: UInt64 = 1) async throws -> SFTPHandle {
        let end = await perform(request, owner: owner)[0]
        guard case .answered(.opened(let handle)) = end.outcome else { throw Unexpected(end: end) }
        return handle
    }

    struct Unexpected: Error { let end: OperationEnd }

    func openGate(_ id: WireID, _ sink: any SFTPSink & Sendable, total: Int64? = nil) {
        transport?.openGate(id, to: sink, total: total)
    }

    func abandon(_ id: WireID) { transport?.abandon(id) }
    func abandonAll(of owner: UInt64) { transport?.abandonAll(of: OperationOwner(rawValue: owner)) }
    func progress(_ id: WireID) -> OperationProgress? { transport?.progress(id) }
    func advance(by duration: Duration) { clock?.advance(by: duration) }
    func sleep(for duration: Duration) { clock?.sleep(for: duration) }
    func resumeThrottled() { transport?.resumeThrottled() }
    var childCount: Int { transport?.childCount ?? 0 }
    var activeCount: Int { transport?.activeCount ?? 0 }
    var turns: UInt64 { loop.turns }

    /// Waits for a condition, looked at after each turn of the loop that has something; only a hang waits for ever.
    func until(_ condition: @escaping @Sendable (isolated SFTPClient) -> Bool) async {
        while !condition(self) { await pause() }
    }

    /// Lets a turn of the loop end.
    func pause() async {
        await withCheckedContinuation { found in _ = loop.schedule(after: .milliseconds(2)) { found.resume() } }
    }
}

/// A client on a loop of its own, and a folder.
struct SFTPBench {
    let sandbox: Sandbox
    let loop: EventLoop
    let client: SFTPClient

    static let server = "/usr/lib/openssh/sftp-server"

    /// Runs `test` with a client whose `ssh` is a shell script: by default it is OpenSSH's SFTP server itself.
    static func run(
        ssh script: String = "exec \(server)", password: String? = nil, manualClock: Bool = false,
        _ change: (inout SSHSettings) -> Void = { _ in }, _ test: (SFTPBench) async throws -> Void
    ) async throws {
        let sandbox = try Sandbox()
        try sandbox.write("ssh", Array("#!/bin/sh\n\(script)\n".utf8))
        let words = ["/bin/sh", String(decoding: sandbox.path("ssh"), as: UTF8.self)].map { Array($0.utf8) }
        let target = SSHTarget(command: words, host: "there", password: password.map { Array($0.utf8) })
        try await run(target, sandbox, manualClock: manualClock, change, test)
    }

    static func run(
        _ target: SSHTarget, _ sandbox: Sandbox, manualClock: Bool = false,
        _ change: (inout SSHSettings) -> Void = { _ in }, _ test: (SFTPBench) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "sftp-test")
        let client = SFTPClient(loop, target, manualClock: manualClock)
        var settings = SSHSettings(privateFolder: sandbox.path("private"))
        change(&settings)
        await client.open(settings)
        do {
            try await test(SFTPBench(sandbox: sandbox, loop: loop, client: client))
            await client.close()
        } catch {
            await client.close()
            loop.stop()
            throw error
        }
        loop.stop()
    }

    func path(_ name: String) -> RawPath { RawPath(sandbox.path(name)) }
}
