import CurlTransport
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("A batch's file of authorities", .timeLimit(.minutes(2))) struct AuthoritiesTests {
    @Test("one that nobody can read holds up its own batch alone, and nobody is trusted in its place")
    func pipe() async throws {
        let harness = try await EngineHarness()
        for name in ["a", "b"] { try harness.sandbox.write(name, pattern(10)) }
        // libcurl would wait for somebody to write into it.
        let pipe = harness.sandbox.path("pipe")
        try System.mkfifo(pipe, mode: 0o600)
        let held = try await harness.add(
            harness.request(upload: ["a"]) { request in
                request.options.caFile = RawPath(pipe)
                if case .upload(let sources, let url) = request.work {
                    request.work = .upload(sources, to: "https" + url.dropFirst("http".count))
                }
            })
        let task = try await harness.task(of: held) { $0.state == .failed || $0.state == .waiting }
        #expect(task.error?.code == .tlsFailure)
        let other = try await harness.add(harness.request(upload: ["b"]))
        #expect(try await harness.finished(other).filesCompleted == 1)
        await harness.stop()
    }

    @Test("certificates are read whole, and what is none is no file of them")
    func reading() async throws {
        let sandbox = try Sandbox("authorities")
        try sandbox.write("ca.pem", pattern(100_000))
        #expect(
            await AuthoritiesReader.read(RawPath(sandbox.path("ca.pem")))
                == .authorities(Authorities(bytes: pattern(100_000))))
        try System.mkfifo(sandbox.path("pipe"), mode: 0o600)
        for name in ["pipe", "nowhere", "."] {
            #expect(await AuthoritiesReader.read(RawPath(sandbox.path(name))) == .unusable)
        }
    }

    private let one = RawPath("/one.pem")
    private let two = RawPath("/two.pem")
    private let now = Timestamp(milliseconds: 1_000_000)
    private func read(_ byte: UInt8) -> AuthoritiesReader.Found { .authorities(Authorities(bytes: [byte])) }

    @Test("a file that is set, taken back and set again is read again")
    func setAgain() {
        var trust = Trust(in: one)
        trust.take(read(1), of: one, at: now)
        #expect(trust.pathToRead == nil && trust.authorities?.bytes == [1])
        trust.set(file: nil)
        #expect(trust == .system && trust.authorities == nil && trust.pathToRead == nil)
        trust.set(file: one)
        #expect(trust.pathToRead == one && trust.authorities == .nobody)
    }

    @Test("until another file was read nobody is trusted, and what was read of the first one says nothing of it")
    func another() {
        var trust = Trust(in: one)
        trust.take(read(1), of: one, at: now)
        trust.set(file: two)
        #expect(trust.authorities == .nobody && trust.isUnread)
        trust.take(read(1), of: one, at: now)
        #expect(trust.authorities == .nobody && trust.pathToRead == two)
        trust.take(read(2), of: two, at: now)
        #expect(trust.authorities?.bytes == [2])
    }

    @Test("a file that is set once more, or was read a while ago, is read again; until then it is trusted as before")
    func anew() {
        var trust = Trust(in: one)
        trust.take(read(1), of: one, at: now)
        trust.set(file: one)
        #expect(trust.pathToRead == one && trust.authorities?.bytes == [1])
        trust.take(.unusable, of: one, at: now)
        #expect(trust.pathToRead == one && trust.authorities?.bytes == [1])
        trust.take(read(2), of: one, at: now)
        #expect(trust.pathToRead == nil && trust.authorities?.bytes == [2])
        #expect(!trust.isOld(at: now) && trust.isOld(at: now.advanced(by: .seconds(61))))
        var none = Trust(in: two)
        none.take(.unusable, of: two, at: now)
        #expect(none.authorities == .nobody && none.pathToRead == two && !none.isUnread)
    }

    @Test("who waits for a file is let go on by the reading of that file alone")
    func waiters() async {
        var line = AuthoritiesLine()
        let (one, two) = (one, two)
        for path in [one, two, one] {
            let waiter: AuthoritiesWaiter = await withCheckedContinuation { made in
                Task { _ = await withCheckedContinuation { made.resume(returning: AuthoritiesWaiter($0)) } }
            }
            line.join(waiter, LoopTimer(number: 1), for: path)
        }
        let began = [line.beginReading(one), line.beginReading(one)]
        let served = line.endReading(one)
        #expect(began == [true, false] && served.count == 2)
        let (others, again) = (line.endReading(two), line.endReading(one))
        #expect(others.count == 1 && again.isEmpty)
        for (waiter, _) in served + others { waiter.goOn(.read) }
    }
}
