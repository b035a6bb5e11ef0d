import Glibc
import LinuxSystem
import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Makes sure that an engine is connected; starts one when none answers and the options allow it. One that was told to stop stays
    /// stopped: only ``connectLaunching()``, or another program, starts the next.
    public func connect() async throws(RequestError) {
        try await connect(launching: options.launching == .ifNeeded && !wasStopped)
    }

    /// As `connect()`, whatever the options say about starting: for the key "start a new engine".
    public func connectLaunching() async throws(RequestError) {
        try await connect(launching: true)
    }

    /// As `connect()`, but never starts an engine.
    func connectOnly() async throws(RequestError) {
        try await connect(launching: false)
    }

    /// The first time as `connect()`; after a loss it never starts an engine.
    package func connectAgain() async throws(RequestError) {
        try await connect(launching: options.launching == .ifNeeded && lostSince == nil)
    }

    /// Tries at once instead of at the next planned time; never starts an engine. The outcome is the next state.
    public func retryNow() {
        guard link == nil, attempt == nil, lostSince != nil, !isClosed else { return }
        beginAttempt(launching: false)
    }

    /// Ends the connection; open requests fail, subscriptions end. The engine goes on.
    public func close() {
        isClosed = true
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        lostSince = nil
        link?.close()
        for view in views.values { view.finish() }
        views = [:]
        state = .idle
        for listener in stateListeners.values { listener.finish() }
        stateListeners = [:]
    }

    private func connect(launching: Bool) async throws(RequestError) {
        var own = false
        // A link is one's own to use once it has been welcomed.
        while link == nil || attempt != nil {
            if isClosed { throw RequestError(.engineUnreachable, "this connection was closed") }
            if attempt == nil {
                own = true
                beginAttempt(launching: launching)
            }
            // Somebody else's attempt may not have been allowed to start an engine: then one of our own follows.
            guard let result = await attempt?.value else { continue }
            if own { return try result.get() }
        }
    }

    private func beginAttempt(launching: Bool) {
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        state = .connecting
        attempt = Task {
            let result = await makeLink(launching: launching)
            attempt = nil
            switch result {
            case .success(let identity): connected(identity)
            case .failure(let error): notConnected(error)
            }
            return result.map { _ in }
        }
    }

    private func connected(_ identity: EngineIdentity) {
        guard let link, !isClosed else {
            self.link?.close()
            return
        }
        // An engine that was killed right behind its welcome.
        guard link.isOpen else { return linkEnded() }
        link.onEnd = { [weak self] in self?.assumeIsolated { $0.linkEnded() } }
        link.onNotification = { [weak self] name, line in self?.assumeIsolated { $0.notified(name, line) } }
        lostSince = nil
        wasStopped = false
        retries = 0
        state = .connected(identity)
        for number in views.keys { Task { await sendView(number) } }
    }

    private func linkEnded() {
        let loss = loss(nil)
        wasStopped = loss == .stopped
        link = nil
        if isClosed { return }
        lostSince = Timestamp(milliseconds: WallClock.milliseconds)
        planRetry(loss)
    }

    private func notConnected(_ error: RequestError) {
        link = nil
        if isClosed { return }
        if lostSince == nil { state = .idle } else { planRetry(loss(error)) }
    }

    /// Says that the engine is lost and, when the options want it, when it is tried again: 1, 2, 4 … 10 s.
    private func planRetry(_ loss: Loss) {
        guard let lostSince else { return }
        guard options.reconnects else {
            state = .lost(since: lostSince, nextTry: nil, loss)
            // Nothing would ever come of them.
            for view in views.values { view.finish(Self.lost) }
            views = [:]
            return
        }
        let delay = Duration.seconds(min(10, 1 << min(retries, 4)))
        retries += 1
        retryTimer = loop.schedule(after: delay) { [weak self] in
            self?.assumeIsolated { connection in
                connection.retryTimer = nil
                connection.retryNow()
            }
        }
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        state = .lost(since: lostSince, nextTry: now.advanced(by: delay), loss)
    }

    // MARK: One attempt

    private func makeLink(launching: Bool) async -> Result<EngineIdentity, RequestError> {
        do { return .success(try await establish(launching: launching)) } catch { return .failure(error) }
    }

    /// Connects, and starts an engine when none answers. While another engine holds the queue and does not answer yet
    /// (it starts or stops), tries again, for a bounded time: there is no event to wait for in another process.
    private func establish(launching: Bool) async throws(RequestError) -> EngineIdentity {
        if let remote = options.remote { return try await reach(remote, launching: launching) }
        let deadline = MonotonicInstant.now.advanced(by: .seconds(30))
        var delay = Duration.milliseconds(10)
        while true {
            if let socket = try dial(), let identity = try await greet(socket) { return identity }
            // Nobody would hear of an engine that is started for who has gone.
            guard launching, !isClosed else { throw Self.notRunning }
            switch try await EngineLauncher.launch(places, on: loop) {
            case .ready: break
            case .queueLocked(let message):
                if MonotonicInstant.now > deadline { throw RequestError(.queueLocked, message) }
                await sleep(for: delay)
                delay = min(delay * 2, .milliseconds(200))
            }
        }
    }

    /// A connected socket; `nil` when nobody listens.
    nonisolated func dial() throws(RequestError) -> OwnedDescriptor? {
        do {
            return try UnixSocket.connect(in: Array(places.socketDirectory.utf8), name: Places.socketName)
        } catch .noSuchFile, .connectionRefused, .notDirectory {
            return nil
        } catch .wouldBlock {
            throw RequestError(
                .engineUnreachable,
                "whoever listens at \(places.socketFile) takes nobody in: look with 'fuser' who it is, let it go on with kill -CONT, or end it"
            )
        } catch {
            throw RequestError(
                .engineUnreachable,
                "the engine's socket \(places.socketFile) cannot be used (\(error)): check its owner")
        }
    }

    /// The handshake; `nil` when the engine went away in it (it was just stopping).
    func greet(_ socket: OwnedDescriptor) async throws(RequestError) -> EngineIdentity? {
        let welcome: Welcome
        do {
            let peer = try System.peerCredentials(socket.rawValue)
            guard peer.userID == System.userID else {
                throw RequestError(.engineUnreachable, "the socket \(places.socketFile) belongs to another user")
            }
            let link = try Link(loop: loop, socket: socket)
            self.link = link
            if options.remote == nil { link.peer = peer.processID }
            // A name on this machine means nothing on another.
            let agent = options.remote == nil ? System.environment("SSH_AUTH_SOCK").map { RawPath($0) } : nil
            let bus = options.remote == nil ? System.environment("DBUS_SESSION_BUS_ADDRESS") : nil
            let hello = Hello(
                client: options.client, sshAgent: agent,
                sessionBus: bus.map { String(decoding: $0, as: UTF8.self) })
            // A screen shows that it connects, and goes on when it can.
            let limit = options.remote == nil ? AnswerLimit.current.map { min($0, AnswerLimit.greeting) } : nil
            let answer = try await exchange(on: link, within: limit) { id in
                (try? WireCoding.line(WireRequest(id: .number(id), method: .hello, params: hello))) ?? []
            }
            welcome = try WireCoding.value(AnswerResult<Welcome>.self, from: answer).result
        } catch let error as RequestError {
            dropLink()
            if error == Self.lost { return nil }
            throw error
        } catch {
            dropLink()
            let place = options.remote?.machine ?? places.socketFile
            throw RequestError(.engineUnreachable, "whoever answers at \(place) is no engine: \(error)")
        }
        let peer = options.remote.map { "the engine of \($0.machine)" } ?? "the engine"
        if let refusal = ProtocolVersion.current.refusal(of: welcome.protocolVersion, peer: peer) {
            dropLink()
            throw RequestError(.engineUnreachable, refusal)
        }
        var identity = EngineIdentity(
            pid: welcome.pid, version: welcome.engineVersion, protocolVersion: "\(welcome.protocolVersion)")
        identity.grace = welcome.graceSeconds.map { .seconds($0) }
        if options.remote != nil, let now = welcome.now {
            identity.clockAhead = now.since(Timestamp(milliseconds: WallClock.milliseconds))
        }
        return identity
    }

    private func dropLink() {
        link?.close()
        link = nil
    }

    private func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.schedule(after: duration) { continuation.resume() }
        }
    }
}
