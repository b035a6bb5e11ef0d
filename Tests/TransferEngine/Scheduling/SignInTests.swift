import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// How often a login that is refused is tried, and what goes on when it is mended.
@Suite(.timeLimit(.minutes(2))) struct SignInTests {
    private static let password = "Basic bWU6cHc="

    /// A server that takes one password.
    private func harness(_ password: SharedValue<String>) async throws -> EngineHarness {
        try await EngineHarness { request, _ in
            request.fields["authorization"] == password.withLock { $0 }
                ? .ordinary : .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""])
        }
    }

    private func files(_ harness: EngineHarness, _ count: Int) throws -> [String] {
        for index in 0..<count { try harness.sandbox.write("f\(index)", [UInt8(index)]) }
        return (0..<count).map { "f\($0)" }
    }

    @Test("a wrong password is shown once, whatever the number of files and batches")
    func once() async throws {
        let wanted = SharedValue(Self.password)
        let harness = try await harness(wanted)
        let names = try files(harness, 40)
        let wrong: (inout BatchRequest) -> Void = { request in
            request.secrets.user = "me"
            request.secrets.password = "wrong"
        }
        let first = try await harness.add(harness.request(upload: names, wrong))
        try await harness.task(of: first) { $0.waitReasons == [.auth] }
        let second = try await harness.add(harness.request(upload: names, to: "/other/", wrong))
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.count == 1)
        // Both say for what they wait, though only one file has met it.
        let held = await harness.engine.live().held
        #expect(held[first]?.reason == .auth && held[second]?.reason == .auth && held[first]?.until == nil)
        // The one that has met it is the queue's to tell of, those that stand in line are the engine's.
        let refused = await harness.engine.live().refused
        #expect(refused.map(\.place.batch) == [first, second] && refused.map(\.files) == [39, 40])
        #expect(refused.allSatisfy { $0.isWhole && $0.refusal.reason == .auth })
        // Another password is another matter.
        let third = try await harness.add(
            harness.request(upload: names, to: "/third/") { request in
                request.secrets.user = "me"
                request.secrets.password = "pw"
            })
        #expect(try await harness.finished(third).filesCompleted == 40)
        #expect(harness.store.server.requests.count == 41)
        await harness.stop()
    }

    @Test("who is refused waits for a person, however short the patience is, and a failure lets nobody in")
    func impatient() async throws {
        let wanted = SharedValue(Self.password)
        let harness = try await harness(wanted)
        let names = try files(harness, 3)
        let request = harness.request(upload: names) { request in
            request.secrets.user = "me"
            request.secrets.password = "wrong"
            request.options.giveUpAfterSeconds = 0
        }
        let batch = try await harness.add(request)
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.count == 1)
        #expect(try await harness.tasks(batch).allSatisfy { $0.state != .failed })
        await harness.stop()
    }

    @Test("where everybody may read a wrong password is shown once for a file all the same")
    func readable() async throws {
        let harness = try await EngineHarness(knowsStore: false) { request, _ in
            request.method == "PUT"
                ? .answer("401 Unauthorized", fields: ["WWW-Authenticate: Basic realm=\"r\""]) : .ordinary
        }
        let names = try files(harness, 40)
        let batch = try await harness.add(
            harness.request(upload: names) { request in
                request.secrets.user = "me"
                request.secrets.password = "wrong"
            })
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.map(\.method) == ["HEAD", "PUT"])
        await harness.stop()
    }

    @Test("an unknown host key is met once, whatever the number of files and batches", arguments: [true, false])
    func unknownKey(isChanged: Bool) async throws {
        let harness = try await EngineHarness()
        let names = try files(harness, 30)
        let log = String(decoding: harness.sandbox.path("asked"), as: UTF8.self)
        let complaint =
            isChanged
            ? "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"
            : "No ED25519 host key is known for there and you have requested strict checking."
        let script = "echo x >>'\(log)'; echo '\(complaint)' >&2; echo Host key verification failed. >&2; exit 255\n"
        try harness.sandbox.write("ssh", Array(script.utf8))
        let command = "/bin/sh " + String(decoding: harness.sandbox.path("ssh"), as: UTF8.self)
        func request(_ folder: String) -> BatchRequest {
            let sources = names.map { name in
                UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name)))
            }
            var request = BatchRequest(work: .upload(sources, to: "sftp://there/\(folder)/"))
            request.options.sshCommand = command
            return request
        }
        let first = try await harness.add(request("a"))
        try await harness.task(of: first) { $0.waitReasons == [.hostKey] }
        let second = try await harness.add(request("b"))
        await harness.engine.waitUntilIdle()
        #expect(harness.sandbox.read("asked") == Array("x\n".utf8))
        let held = await harness.engine.live().held
        #expect(held[first]?.reason == .hostKey && held[second]?.reason == .hostKey)
        await harness.stop()
    }

    @Test("after the cure all of it goes on by itself, in every batch with that login")
    func cured() async throws {
        let wanted = SharedValue(Self.password + "x")
        let harness = try await harness(wanted)
        let names = try files(harness, 30)
        let login: (inout BatchRequest) -> Void = { request in
            request.secrets.user = "me"
            request.secrets.password = "pw"
        }
        let first = try await harness.add(harness.request(upload: names, login))
        try await harness.task(of: first) { $0.waitReasons == [.auth] }
        let second = try await harness.add(harness.request(upload: names, to: "/other/", login))
        await harness.engine.waitUntilIdle()
        wanted.withLock { $0 = Self.password }
        // One batch is named; the other has the same login.
        _ = try await harness.queue.writer.retry([.batch(first)])
        await harness.engine.queueChanged()
        await harness.engine.tryAgain()
        #expect(try await harness.finished(first).filesCompleted == 30)
        #expect(try await harness.finished(second).filesCompleted == 30)
        // The one that had been refused looks first whether it arrived after all.
        #expect(harness.store.server.requests.count { $0.method == "PUT" } == 61)
        try await harness.expectSound()
        await harness.stop()
    }

    @Test("a batch goes on, and that is told, when another one has shown that their login is good")
    func shownByAnother() async throws {
        let wanted = SharedValue(Self.password + "x")
        let harness = try await harness(wanted)
        let names = try files(harness, 2)
        var secrets = TransferSecrets()
        (secrets.user, secrets.password) = ("me", "pw")
        let first = try await harness.add(harness.request(upload: names) { $0.secrets = secrets })
        try await harness.task(of: first) { $0.waitReasons == [.auth] }
        let second = try await harness.add(harness.request(upload: names, to: "/other/") { $0.secrets = secrets })
        await harness.engine.waitUntilIdle()
        wanted.withLock { $0 = Self.password }
        _ = try await harness.queue.writer.retry([.batch(second)])
        await harness.engine.queueChanged()
        await harness.engine.tryAgain()
        try await harness.finished(second)
        try await harness.finished(first)
        let told = try await harness.events(.resumed).filter { $0.batch == first }
        #expect(told.map(\.payload.message) == ["its login is let in"])
        await harness.stop()
    }

    @Test("a login that is given again is tried, though it is the same")
    func givenAgain() async throws {
        let wanted = SharedValue(Self.password + "x")
        let harness = try await harness(wanted)
        let names = try files(harness, 3)
        var secrets = TransferSecrets()
        (secrets.user, secrets.password) = ("me", "pw")
        let batch = try await harness.add(harness.request(upload: names) { $0.secrets = secrets })
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        // The server has let nobody in for a while.
        wanted.withLock { $0 = Self.password }
        _ = try await harness.queue.writer.replaceSecrets(of: [.batch(batch)], by: secrets)
        await harness.engine.settingsChanged()
        try await harness.queue.writer.requeueWaitingForLogin([batch])
        await harness.engine.queueChanged()
        #expect(try await harness.finished(batch).filesCompleted == 3)
        await harness.stop()
    }

    @Test("a password that is taken back while files are sent is shown once more and no further")
    func revoked() async throws {
        let wanted = SharedValue(Self.password)
        let harness = try await harness(wanted)
        let names = try files(harness, 60)
        let batch = try await harness.add(
            harness.request(upload: names) { request in
                request.secrets.user = "me"
                request.secrets.password = "pw"
                request.secrets.headers = [HeaderField("X-Key", "k")]
            })
        try await harness.batch(batch) { $0.filesCompleted >= 5 }
        wanted.withLock { $0 = "another" }
        while await harness.engine.live().held[batch] == nil,
            try await harness.queue.reader.batch(batch)?.state == .running
        {
            await harness.engine.waitUntilIdle()
        }
        let refused = try await harness.tasks(batch).count { $0.waitReasons == [.auth] }
        // Those that were under way, and one that tried whether it was their own address.
        #expect(refused <= EngineLimits().transfersPerHost + 1)
        await harness.stop()
    }

    @Test("a password command that fails runs once for a batch, and again when a person wants that")
    func command() async throws {
        let harness = try await EngineHarness()
        let names = try files(harness, 20)
        let log = String(decoding: harness.sandbox.path("asked"), as: UTF8.self)
        let batch = try await harness.add(
            harness.request(upload: names) { request in
                request.secrets.user = "me"
                request.secrets.passwordCommand = "echo x >> '\(log)'; test -e '\(log).open' && echo pw"
            })
        try await harness.task(of: batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        #expect(harness.sandbox.read("asked") == Array("x\n".utf8))
        #expect(harness.store.server.requests.isEmpty)
        try harness.sandbox.write("asked.open", [])
        _ = try await harness.queue.writer.retry([.batch(batch)])
        await harness.engine.queueChanged()
        await harness.engine.tryAgain()
        #expect(try await harness.finished(batch).filesCompleted == 20)
        #expect(harness.sandbox.read("asked") == Array("x\nx\n".utf8))
        #expect(harness.store.server.requests.allSatisfy { $0.fields["authorization"] == Self.password })
        await harness.stop()
    }

    @Test("a file that is refused takes nobody's login away: what runs beside it goes on showing it")
    func refusedBeside() async throws {
        let (runs, gate) = (try Milestone(), try Milestone())
        // Temporary names have hexadecimal digits in them, and these letters never.
        let names = ["refused", "beside"]
        let harness = try await EngineHarness { request, _ in
            if request.method == "MOVE", request.fields["destination"]?.hasSuffix("refused") == true {
                runs.waitBlocking()
                return .answer("403 Forbidden")
            }
            guard request.method == "PUT" && request.target.contains("beside") else { return .ordinary }
            return .afterBody {
                runs.reach()
                gate.waitBlocking()
            }
        }
        for name in names { try harness.sandbox.write(name, pattern(300_000)) }
        let log = String(decoding: harness.sandbox.path("asked"), as: UTF8.self)
        let batch = try await harness.add(
            harness.request(upload: names) { request in
                if case .upload(let sources, let url) = request.work {
                    request.work = .upload(sources, to: "dav" + url.dropFirst("http".count))
                }
                request.options.uploadBy = nil
                request.secrets.user = "me"
                // The keyring is closed by then.
                request.secrets.passwordCommand = "test ! -e '\(log)' && ok=1; echo x >> '\(log)'; test $ok && echo pw"
            })
        try await until { try await harness.tasks(batch).first?.waitReasons == [.auth] }
        gate.reach()
        try await until { try await harness.tasks(batch).last?.state == .completed }
        #expect(harness.store.server.requests.allSatisfy { $0.fields["authorization"] == Self.password })
        _ = try await harness.queue.writer.cancel([.batch(batch)])
        await harness.engine.queueChanged()
        await harness.engine.waitUntilIdle()
        // For what is over it is asked once more, not once for each file.
        try await harness.engine.askForRemovals(of: batch, times: 10)
        #expect((harness.sandbox.read("asked") ?? []).count <= 6)
        await harness.stop()
    }

    @Test("another login is tried by one file, though others run with the one before")
    func givenWhileRunning() async throws {
        let (gate, sent) = (try Milestone(), SharedValue(0))
        let harness = try await EngineHarness { request, _ in
            guard request.fields["authorization"] == Self.password else { return .answer("401 Unauthorized") }
            guard request.method == "PUT" else { return .ordinary }
            // The first one shows that the login is good.
            let isFirst = sent.withLock { sent in
                sent += 1
                return sent == 1
            }
            return isFirst ? .ordinary : .afterBody { gate.waitBlocking() }
        }
        let names = ["f0", "f1", "f2", "f3", "f4"]
        for name in names { try harness.sandbox.write(name, pattern(300_000)) }
        let batch = try await harness.add(
            harness.request(upload: names) { request in
                if case .upload(let sources, let url) = request.work {
                    request.work = .upload(sources, to: "dav" + url.dropFirst("http".count))
                }
                request.options.uploadBy = nil
                request.secrets.user = "me"
                request.secrets.password = "pw"
            })
        try await until { harness.store.server.requests.count { $0.method == "PUT" } >= 5 }
        var secrets = TransferSecrets()
        (secrets.user, secrets.password) = ("me", "mistyped")
        _ = try await harness.queue.writer.replaceSecrets(of: [.batch(batch)], by: secrets)
        await harness.engine.settingsChanged()
        gate.reach()
        try await harness.batch(batch) { $0.waitReasons == [.auth] }
        await harness.engine.waitUntilIdle()
        #expect(harness.store.server.requests.count { $0.fields["authorization"] != Self.password } == 1)
        await harness.stop()
    }

    @Test("password commands that do not end hold up nothing but their own batches")
    func slowCommands() async throws {
        let harness = try await EngineHarness()
        harness.store.put("/free", pattern(100_000))
        let names = try files(harness, 1)
        let go = String(decoding: harness.sandbox.path("go"), as: UTF8.self)
        var slow: [BatchID] = []
        for index in 0..<5 {
            slow.append(
                try await harness.add(
                    harness.request(upload: names, to: "/slow\(index)/") { request in
                        request.secrets.user = "me"
                        request.secrets.passwordCommand = "until test -e '\(go)'; do sleep 0.05; done; echo pw"
                    }))
        }
        let task = try await harness.run(harness.request(download: ["/free"]))
        #expect(task.state == .completed)
        for batch in slow { #expect(try await harness.queue.reader.batch(batch)?.state.isTerminal == false) }
        try harness.sandbox.write("go", [])
        for batch in slow { #expect(try await harness.finished(batch).filesCompleted == 1) }
        await harness.stop()
    }
}

/// A value that a server's script reads and the test changes.
final class SharedValue<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result { value.withLock(body) }
}

extension TransferEngine {
    fileprivate func askForRemovals(of batch: BatchID, times: Int) async throws {
        for _ in 0..<times { _ = try await contextForRemoval(of: batch) }
    }
}
