import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// One attempt after the other: events go to the protocol's machine, its actions are performed in their order.
extension TransferEngine {
    // MARK: Beginning

    /// Gives a claimed task its slot. Takes none when the local side refuses at once.
    func start(_ task: ClaimedTask, _ context: BatchContext, origin: String) {
        if case .failed(let error) = context.credentials {
            queue.writer.record(.waiting(WaitReasons(.auth), retryAt: nil, error: error), for: task.id)
            return context.forgetCredentials()
        }
        let prepared =
            switch task.work {
            case .upload(let local, let remote, let identity):
                prepareUpload(task, context, origin, local, remote, identity)
            case .download(let url, let directory, let fileName):
                prepareDownload(task, context, origin, url, directory, fileName)
            }
        guard let attempt = prepared else { return }
        attempts[task.id] = attempt
        load[origin, default: 0] += 1
        slotsInUse += 1
        startTicking()
        FaultPoint.started.pass()
        feed(attempt, .began(at: timeline.now))
    }

    // MARK: Events

    /// What the transport has to tell at the end of a turn.
    func take(_ events: [TransportEvent]) {
        for event in events {
            guard let attempt = owners[event.id],
                let local = attempt.exchanges.first(where: { $0.wire == event.id })?.local
            else { continue }
            switch event {
            case .interim: break
            case .head(_, let head, _):
                // An upload's head comes again with the end of the exchange, and is looked at there.
                guard attempt.target != nil else { continue }
                FaultPoint.answered.pass()
                let answer = HTTPAnswer(head)
                attempt.lastAnswer = (answer, [])
                feed(attempt, .answered(local, answer, at: timeline.now))
            case .ended(let wire, let end):
                owners[wire] = nil
                attempt.exchanges.removeAll { $0.wire == wire }
                ended(attempt, local, end)
            }
        }
    }

    private func ended(
        _ attempt: Attempt, _ local: TransferProtocols.ExchangeID, _ end: CurlTransport.ExchangeEnd
    ) {
        if attempt.target == nil {
            if end.bytesSent > 0 { moved(attempt, to: attempt.base + end.bytesSent) }
            FaultPoint.answered.pass()
            switch end.failure?.cause {
            case .sourceEnded: return sourceChanged(attempt, stored: nil)
            case .sourceFailed(let error): return fail(attempt, sourceError(attempt, error))
            default: break
            }
            let end = converted(end, attempt)
            attempt.lastAnswer = end.answer.map { ($0, end.body) }
            feed(attempt, .ended(local, end))
        } else {
            moved(attempt, to: attempt.base + end.bytesReceived)
            downloadEnded(attempt, local, converted(end, attempt))
        }
    }

    /// The transport's end in the protocols' words.
    private func converted(_ end: CurlTransport.ExchangeEnd, _ attempt: Attempt) -> TransferProtocols.ExchangeEnd {
        var failure: TransferProtocols.ExchangeFailure?
        if let broken = end.failure {
            if case .sinkFailed(let error) = broken.cause, let refusal = attempt.target?.refusal(error) {
                failure = .sink(refusal.error, waits: refusal.waits)
            } else {
                if broken.failureClass == .handshake { attempt.context.handshakes += 1 }
                let host = attempt.origin.drop { $0 != "/" }.drop { $0 == "/" }
                failure = .network(
                    NetworkFailure.error(broken, host: String(host), handshakes: attempt.context.handshakes))
            }
        } else {
            attempt.context.handshakes = 0
        }
        let written = attempt.target.map { max(0, $0.written - attempt.base) } ?? 0
        return TransferProtocols.ExchangeEnd(
            answer: end.head.map(HTTPAnswer.init), body: end.body.bytes, bytesSent: end.bytesSent,
            bytesWritten: written, failure: failure, at: timeline.now)
    }

    /// Tells the machine, and performs what it wants.
    func feed(_ attempt: Attempt, _ event: ProtocolEvent) {
        guard attempt.phase == .running else { return }
        attempt.actions += attempt.machine.handle(event)
        perform(attempt)
    }

    // MARK: Actions

    /// Performs what the machine wants until something takes time, or nothing is left.
    func perform(_ attempt: Attempt) {
        var next = 0
        while next < attempt.actions.count, !attempt.isBlocked, attempt.phase == .running {
            let action = attempt.actions[next]
            next += 1
            perform(action, attempt, isLast: next == attempt.actions.count)
        }
        attempt.actions.removeFirst(min(next, attempt.actions.count))
    }

    private func perform(_ action: ProtocolAction, _ attempt: Attempt, isLast: Bool) {
        switch action {
        case .perform(let id, .http(let exchange)): begin(exchange, id, attempt)
        case .perform(_, .ftp), .perform(_, .sftp), .accepted, .learned, .digestRange:
            fail(attempt, TransferError(.internal, "that protocol is not performed yet: queue it again by https"))
        case .abandon(let id): abandon(id, of: attempt)
        case .openGate(let id, let opening): openGate(id, opening, attempt)
        case .persist(let point): persist(point, attempt, waits: !isLast)
        case .wake(let timer, let delay):
            _ = timeline.clock.schedule(after: delay) { [self] in feed(attempt, .timerFired(timer)) }
        case .resumed(let offset): queue.writer.record(.resumed(at: offset, repeated: 0), for: attempt.task.id)
        case .startOver(let reason): startOver(attempt, reason)
        case .digestSource: digestSource(attempt)
        case .finish(let receipt):
            if attempt.target == nil { finishUpload(attempt, receipt) } else { publish(attempt, receipt) }
        case .fail(let error): fail(attempt, error)
        case .wait(let demand): wait(attempt, demand)
        }
    }

    private func begin(_ exchange: HTTPExchange, _ local: TransferProtocols.ExchangeID, _ attempt: Attempt) {
        lastExchange += 1
        let wire = CurlTransport.ExchangeID(rawValue: lastExchange)
        var body = HTTPBody.none
        switch exchange.body {
        case .none: break
        case .bytes(let bytes): body = .bytes(bytes)
        case .framed: break
        case .source(let range):
            body = attempt.source?.bytes.map { .bytes($0) } ?? .source(length: range.upperBound - range.lowerBound)
            attempt.base = 0
            attempt.sent = 0
        }
        let request = attempt.context.request(exchange, body: body)
        // The engine's buckets always, also without a limit: one that is set later holds for what is under way.
        var limits = RateLimits()
        if attempt.target == nil {
            limits.up = [upBucket, attempt.context.bucket].compactMap { $0 }
        } else {
            limits.down = [downBucket, attempt.context.bucket].compactMap { $0 }
        }
        do {
            try transport?.start(wire, request, source: attempt.source, limits: limits)
            owners[wire] = attempt
            attempt.exchanges.append((local, wire))
        } catch {
            // What a request cannot express: a given header field with a line end, a malformed file of authorities.
            let text = RawPath(error.description).displayed
            fail(attempt, TransferError(.unsupported, "the request cannot be made (\(text)): check --header and --ca"))
        }
    }

    private func abandon(_ local: TransferProtocols.ExchangeID, of attempt: Attempt) {
        guard let index = attempt.exchanges.firstIndex(where: { $0.local == local }) else { return }
        let wire = attempt.exchanges.remove(at: index).wire
        owners[wire] = nil
        transport?.abandon(wire)
    }

    /// Breaks all exchanges off; what a sink can still get, it gets.
    func abandonAll(of attempt: Attempt) {
        for exchange in attempt.exchanges {
            transport?.abandon(exchange.wire)
            owners[exchange.wire] = nil
        }
        attempt.exchanges = []
    }

    private func persist(_ point: ResumePoint, _ attempt: Attempt, waits: Bool) {
        guard let encoded = recordable(point, attempt) else { return }
        queue.writer.record(.checkpoint(resumePoint: encoded, accepted: attempt.accepted), for: attempt.task.id)
        if waits { untilDurable(attempt) }
    }

    /// Holds the attempt's further actions until everything recorded so far is on the disk.
    func untilDurable(_ attempt: Attempt) {
        attempt.isBlocked = true
        inBackground { [self] in
            await durable(attempt)
            FaultPoint.persisted.pass()
            attempt.isBlocked = false
            perform(attempt)
        }
    }

    /// Returns when everything recorded so far is on the disk. A queue that cannot write now (its disk is full) tries again:
    /// payload must not overtake it.
    func durable(_ attempt: Attempt) async {
        while phase == .running || phase == .draining {
            do {
                return try await queue.writer.commit()
            } catch {
                report(.error, "the queue cannot be written: \(error)", task: attempt.task.id)
                await pause(.seconds(1))
            }
        }
    }

    /// Lets time pass on the engine's clock.
    func pause(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = timeline.clock.schedule(after: duration) { continuation.resume() }
        }
    }

    private func startOver(_ attempt: Attempt, _ reason: String) {
        queue.writer.record(
            .restarted(reason: reason, repeated: attempt.accepted, identity: nil), for: attempt.task.id)
        attempt.repeated += attempt.accepted
        attempt.accepted = 0
        attempt.base = 0
        attempt.sent = 0
        attempt.target?.synced = 0
    }
}

extension HTTPAnswer {
    init(_ head: ResponseHead) {
        self.init(status: head.status, headers: head.fields.map { HeaderField($0.name, $0.value) })
    }
}
