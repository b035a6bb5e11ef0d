import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Operations over the person's own ssh: whom to reach, the source or sink of their bytes, and what their ends mean here.
extension TransferEngine {
    /// - Parameter digestSize: for a `read` from the start whose bytes are taken for their digest alone: ends at the first byte beyond.
    func begin(
        _ operation: SFTPOperation, _ local: ExchangeID, _ wire: WireID, _ attempt: Attempt,
        digestSize: Int64? = nil
    ) {
        guard case .sftp(let address)? = attempt.place?.route else {
            return fail(attempt, .bug("an SFTP operation without a server"))
        }
        let (context, agent) = (attempt.context, credentials.sshAgent)
        guard let target = context.sshTarget(host: address.host, port: address.port, agent: agent) else {
            return fail(
                attempt,
                TransferError(
                    .unsupported, "the ssh command has an open quote",
                    .queued("queue it again with another --ssh-command")))
        }
        var source: SourceFile?
        if case .write = operation {
            guard let file = self.source(of: attempt) else { return }
            source = file
            settleEarlier(attempt)
            countRepeated(attempt)
        }
        let throttle = attempt.exchanges.throttle ?? makeThrottle(attempt)
        let transport = transports.sftp ?? makeSFTP()
        var flying = FlyingExchange(local: local, wire: wire, carrier: .sftp, isPayload: source != nil)
        flying.digest = digestSize.map { DigestSink(size: $0) }
        fly(flying, attempt)
        transport.start(
            wire, operation, on: target, owner: attempt.owner, source: source, limit: throttle)
        if let digest = flying.digest, let digestSize {
            // One byte more shows that the file goes on.
            transport.openGate(wire, to: digest, total: digestSize + 1)
        }
    }

    /// One for all operations of an attempt, so that its limits can change while they go on.
    private func makeThrottle(_ attempt: Attempt) -> BucketThrottle {
        let limits = limitBook.limits(of: attempt)
        let made = BucketThrottle(attempt.receives ? limits.down : limits.up, clock: timeline.clock)
        attempt.exchanges.throttle = made
        return made
    }

    private func makeSFTP() -> any SFTPOperations {
        let settings = SSHSettings(privateFolder: settings.privateFolder.bytes)
        let made = transports.maker.sftp(timeline.clock, settings) { [self] events in take(events) }
        transports.sftp = made
        return made
    }

    private func take(_ events: [SFTPEvent]) {
        for event in events {
            guard let attempt = exchanges.attempt(of: event.id) else { continue }
            let exchange = landed(event.id, of: attempt)
            if event.end.wentOut { attempt.exchanges.reachedServer() }
            if exchange.isPayload {
                // What is acknowledged counts; the rest is on its way or lost with the connection.
                attempt.upload?.ended(having: exchange.sent)
            } else if event.end.bytesRead > 0, attempt.download != nil {
                moved(attempt, to: attempt.progress.base + event.end.bytesRead)
            }
            FaultPoint.answered.pass()
            if case .answered = event.end.outcome { wasLetIn(attempt) }
            if case .answered(.opened) = event.end.outcome, isCarriedAlong(attempt) {
                leaveSpeed(of: attempt)
                freeSlot(of: attempt)
            }
            switch event.end.outcome {
            case .sourceEnded: sourceChanged(attempt, stored: nil)
            case .sourceFailed(let error): fail(attempt, sourceError(attempt, error))
            default:
                var (outcome, broken) = outcome(event.end.outcome, attempt)
                if let digest = exchange.digest {
                    if digest.isTooLong {
                        (outcome, broken) = (.longer, false)
                    } else if case .answered(.done) = outcome {
                        outcome = .digested(digest.value)
                    }
                }
                let end = SFTPEnd(
                    outcome, writtenThrough: event.end.writtenThrough, lineWindow: event.end.lineWindow,
                    bytesWritten: attempt.written, features: event.end.features, at: timeline.now)
                bodyEnded(attempt, .sftpEnded(exchange.local, end), broken: broken)
            }
        }
    }

    /// An upload of one packet on a connection that all share: the next may begin while its last answers are awaited. Who lets one file
    /// move at a time gets one at a time.
    func isCarriedAlong(_ attempt: Attempt) -> Bool {
        attempt.upload != nil && attempt.task.size.map { $0 <= SFTPUpload.tiny } == true
            && hosts.standings[attempt.origin] == nil && limitBook.engine.transfers > 1
            && limitBook.engine.transfersPerHost > 1
    }

    /// The operation's outcome for the machine, and whether the exchange broke off.
    private func outcome(_ outcome: OperationEnd.Outcome, _ attempt: Attempt) -> (SFTPEnd.Outcome, Bool) {
        switch outcome {
        case .answered(let reply): return (.answered(reply), false)
        case .broken(let error): return (.failed(.network(error)), true)
        case .notLetIn(let reason, let error):
            attempt.context.credentials.forget()
            return (.notLetIn(reason, error), true)
        case .sinkFailed(let error):
            guard let refusal = attempt.download?.target.refusal(error) else {
                return (.failed(.network(.stoppedLooking)), true)
            }
            return (.failed(.sink(refusal.error, waits: refusal.waits)), true)
        case .sourceEnded, .sourceFailed:
            // Told apart by the caller.
            return (.answered(.done), false)
        }
    }
}

extension Attempt {
    /// The owner of its operations and handles at an SFTP server.
    var owner: OperationOwner { OperationOwner(rawValue: UInt64(bitPattern: task.id.rawValue)) }
}

extension SourceFile: SFTPSource {}

extension DownloadTarget: SFTPSink {}
