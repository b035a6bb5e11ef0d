import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// One attempt after the other: events go to the protocol's machine, its actions are performed in their order.
extension TransferEngine {
    // MARK: Beginning

    /// Gives a claimed task its slot. Takes none when the local side refuses at once.
    func start(_ task: ClaimedTask, _ context: BatchContext, origin: String) {
        // An earlier attempt at a download may have ended it: that is settled here, whatever its server would say.
        if case .download(_, let directory, _) = task.work, wasPublished(task, in: directory) { return }
        if let error = context.credentials.failure {
            queue.writer.record(.untouched, for: task.claim)
            queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: error), for: task.claim)
            // The command is not run again by the next file.
            login(context, origin).standing.lookupFailed(LoginStanding.Refusal(.auth, error))
            notice?()
            return
        }
        if task.lacksQuery {
            queue.writer.record(.untouched, for: task.claim)
            return queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: .lostQuery), for: task.claim)
        }
        if let older = attempts[task.id] {
            // The queue has given the task to a new claim; the stop of the old attempt has not arrived yet.
            abandonAll(of: older)
            close(older)
        }
        // A cancel that was taken back: what is still there may serve.
        if let removal = sideJobs.removal(of: task.id) { endSideJob(removal, .takenBack) }
        if let look = sideJobs.look(of: task.id) { endSideJob(look, nil) }
        let prepared =
            switch task.work {
            case .upload(let source, let remote, let identity):
                prepareUpload(task, context, origin, source, remote, identity)
            case .download(let url, let directory, let fileName):
                prepareDownload(task, context, origin, url, directory, fileName)
            }
        guard let attempt = prepared else { return }
        attempts[task.id] = attempt
        attempt.speed = AttemptSpeed(
            at: attempt.stage.startedAt, awake: timeline.clock.awake.nanoseconds,
            meter: accounting.left.take(for: attempt.linePlace, at: timeline.nanoseconds),
            best: accounting.takeBest(of: task.id))
        takeSlot(at: origin)
        attempt.stage.takeSlot()
        let login = login(context, origin)
        login.standing.began(task.id)
        attempt.access.begin(with: login)
        if attempt.machine.asksHost { hosts.beginInquiry(at: origin, by: task.id) }
        startTicking()
        FaultPoint.started.pass()
        switch attempt.job {
        case .upload(let work): beginUpload(attempt, work)
        case .download, .look, .removal, .probe, .listing, .readBack: feed(attempt, .began(at: timeline.now))
        }
    }

    // MARK: Events

    /// An exchange is over: what it is called, and whether it carried bytes of the source.
    func landed(_ wire: WireID, of attempt: Attempt) -> FlyingExchange {
        exchanges.end(wire)
        // Its attempt was found by this name a line before.
        return attempt.exchanges.end(wire)!
    }

    /// Tells the machine, and performs what it wants.
    func feed(_ attempt: Attempt, _ event: ProtocolEvent) {
        guard attempt.phase == .running else { return }
        attempt.run.handle(event)
        perform(attempt)
        if !attempt.machine.asksHost { endInquiry(attempt) }
    }

    /// Ends an inquiry: the host's abilities are known, or not to be had, so other tasks may start.
    func endInquiry(_ attempt: Attempt) {
        if hosts.endInquiry(at: attempt.origin, by: attempt.task.id) { schedulePump() }
    }

    // MARK: Actions

    /// Performs what the machine wants until something takes time, or nothing is left.
    func perform(_ attempt: Attempt) {
        while attempt.phase == .running, let action = attempt.run.next {
            if case .doubtAbsence(let isOutcome) = action, doubtsAbsence(attempt, isOutcome: isOutcome) {
                return untilAbsent(attempt)
            }
            if case .perform = action {
                // A person may have named another file of authorities since the attempt began, or given another login: it is tried by one file.
                if attempt.access.lacksTrust(attempt.context) { return untilTrusted(attempt) }
                if attempt.hasOldLogin { return tryOtherCredentials(attempt, nil) }
                if attempt.context.credentials.lacksLogin { return untilCredentialsAreKnown(attempt) }
            }
            attempt.run.takeNext()
            perform(action, attempt, isLast: !attempt.run.hasActions)
        }
    }

    /// Suspends the attempt's further actions while something takes its time, and performs them then.
    func suspend(_ attempt: Attempt, while work: @escaping () async -> Void) {
        attempt.run.suspend()
        inBackground { [self] in
            await work()
            attempt.run.goOn()
            perform(attempt)
        }
    }

    private func perform(_ action: ProtocolAction, _ attempt: Attempt, isLast: Bool) {
        switch attempt.job {
        case .look: return look(action, attempt)
        case .readBack(let reading): return readBack(action, attempt, reading)
        case .upload, .download, .removal, .probe, .listing: break
        }
        switch action {
        case .perform(let id, let exchange): begin(exchange, id, attempt)
        case .abandon(let id): abandon(id, of: attempt)
        case .openGate(let id, let opening): openGate(id, opening, attempt)
        case .persist(let point):
            let isUnsynced = attempt.download.map { $0.target.isUnsynced(point) } ?? false
            if isUnsynced { persistSynced(point, attempt) } else { persist(point, attempt, waits: !isLast) }
        case .wake(let timer, let delay): wake(attempt, timer, after: delay)
        case .resumed(let offset): resumed(attempt, at: offset)
        case .accepted(let bytes): accepted(attempt, bytes)
        case .learned(let facts):
            remember(facts, of: attempt.factsKey)
            hashFromNowOn(attempt)
        case .listed(let entries): take(listed: entries, attempt)
        case .startOver(let reason, let isOther): startOver(attempt, reason, isOther: isOther)
        case .doubtAbsence: believeAbsence(attempt)
        case .digestSource: digestSource(attempt)
        case .digestRange(let range, let algorithms): digest(range, algorithms, of: attempt)
        case .claimName(let path): reserveName(path, for: attempt)
        case .compareSource(let unasked): compareSource(attempt, keeping: unasked)
        case .finish(let receipt):
            switch attempt.job {
            case .upload: finishUpload(attempt, receipt)
            case .download(let work): publish(attempt, work, receipt)
            case .look, .removal, .probe, .listing, .readBack: endSideJob(attempt, nil)
            }
        case .mismatch(let receipt, let error):
            if attempt.upload?.source?.change == nil {
                differ(attempt, receipt, error)
            } else {
                sourceChanged(attempt, stored: receipt)
            }
        case .fail(let error): if isOutage(error, attempt) { untilFound(attempt) } else { fail(attempt, error) }
        case .wait(let demand): wait(attempt, demand)
        }
    }

    func wake(_ attempt: Attempt, _ timer: ProtocolTimer, after delay: Duration) {
        let source = attempt.upload?.source
        if delay >= Self.longRest, !attempt.stage.hasRested { letOthersTry(besides: attempt) }
        _ = timeline.clock.schedule(after: delay) { [self] in
            // A changed source has a machine of its own, which waits for nothing of the old one's.
            guard attempt.upload?.source === source else { return }
            feed(attempt, .timerFired(timer))
        }
    }

    private static let longRest = Duration.seconds(5)

    /// An attempt keeps its slot and asks nothing for a while. Others need not wait with it for what it was to try: its login, and whether
    /// its host is back.
    private func letOthersTry(besides attempt: Attempt) {
        attempt.stage.hasRested = true
        if attempt.exchanges.lastAnswer?.head.isSuccess == true { served(attempt) }
        if attempt.access.login?.standing.ended(attempt.task.id) == true { schedulePump() }
    }

    func begin(_ exchange: Exchange, _ local: ExchangeID, _ attempt: Attempt) {
        let wire = exchanges.newName()
        switch exchange {
        case .http(let exchange): begin(exchange, local, wire, attempt)
        case .ftp(let operation): begin(operation, local, wire, attempt)
        case .sftp(let operation): begin(operation, local, wire, attempt)
        case .sftpDigest(let handle, let size): begin(.read(handle, from: 0), local, wire, attempt, digestSize: size)
        }
    }

    func fly(_ exchange: FlyingExchange, _ attempt: Attempt) {
        exchanges.begin(exchange.wire, of: attempt)
        attempt.exchanges.begin(exchange)
    }

    /// The source that a request of an upload takes its bytes from, or that is hashed. Without one the request would go out empty or
    /// never, so the attempt ends; then `nil`.
    func source(of attempt: Attempt) -> SourceFile? {
        if let source = attempt.upload?.source { return source }
        fail(attempt, .bug("an upload without its source"))
        return nil
    }

    func abandon(_ local: ExchangeID, of attempt: Attempt) {
        if let exchange = attempt.exchanges[local].flatMap({ attempt.exchanges.end($0.wire) }) {
            abandon(exchange, of: attempt)
        }
    }

    private func abandon(_ exchange: FlyingExchange, of attempt: Attempt) {
        exchanges.end(exchange.wire)
        switch exchange.carrier {
        case .http:
            // The library has it, and does not tell how far it came.
            if exchange.mayChange { attempt.exchanges.reachedServer() }
            transports.http?.abandon(exchange.wire)
        case .ftp:
            attempt.exchanges.reachedServer()
            transports.ftp?.abandon(exchange.wire)
        case .sftp:
            if transports.sftp?.wentOut(exchange.wire) == true { attempt.exchanges.reachedServer() }
            transports.sftp?.abandon(exchange.wire)
        }
    }

    /// Breaks all exchanges off; what a sink can still get, it gets. A request that never went out leaves no intent behind.
    func abandonAll(of attempt: Attempt) {
        if let unasked = attempt.run.takeUnasked() { persist(unasked, attempt, waits: false) }
        for exchange in attempt.exchanges.endAll() {
            attempt.upload?.ended(having: exchange.sent)
            abandon(exchange, of: attempt)
        }
    }
}
