import CurlTransport
import Digests
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// Operations over the person's own ssh: their transport's words in the protocols', and back.
extension TransferEngine {
    func begin(_ exchange: SFTPExchange, _ local: TransferProtocols.ExchangeID, _ wire: UInt64, _ attempt: Attempt) {
        guard case .sftp(let host, let port, _)? = attempt.place?.address else {
            return fail(attempt, TransferError(.internal, "an SFTP operation without a server: queue it again"))
        }
        guard let target = attempt.context.sshTarget(host: host, port: port, agent: credentials.sshAgent) else {
            return fail(
                attempt, TransferError(.unsupported, "the ssh command has an open quote: mend --ssh-command"))
        }
        var source: SourceFile?
        if case .write = exchange {
            source = attempt.upload?.source
            settleEarlier(attempt)
            countRepeated(attempt)
        }
        let throttle = attempt.throttle ?? makeThrottle(attempt)
        let transport = transports.sftp ?? makeSFTP()
        var flying = FlyingExchange(local: local, wire: wire, carrier: .sftp, isPayload: source != nil)
        if case .digest(_, let size) = exchange { flying.digest = DigestSink(size: size) }
        fly(flying, attempt)
        transport.start(
            OperationID(rawValue: wire), SFTPRequest(exchange), on: target, owner: attempt.owner, source: source,
            limit: throttle)
        if let digest = flying.digest, case .digest(_, let size) = exchange {
            // One byte more shows that the file goes on.
            transport.openGate(OperationID(rawValue: wire), to: digest, total: size + 1)
        }
    }

    /// One for all operations of an attempt, so that its limits can change while they go on.
    private func makeThrottle(_ attempt: Attempt) -> BucketThrottle {
        let limits = limitBook.limits(of: attempt)
        let made = BucketThrottle(attempt.receives ? limits.down : limits.up, clock: timeline.clock)
        attempt.throttle = made
        return made
    }

    private func makeSFTP() -> SFTPTransport {
        let settings = SSHSettings(privateFolder: settings.privateFolder.bytes)
        let made = SFTPTransport(loop: loop, clock: timeline.clock, settings: settings) { [self] events in take(events)
        }
        transports.sftp = made
        return made
    }

    private func take(_ events: [SFTPEvent]) {
        for event in events {
            guard let attempt = exchanges.attempt(of: event.id.rawValue) else { continue }
            let exchange = landed(event.id.rawValue, of: attempt)
            if event.end.wentOut { attempt.hasReachedServer = true }
            if exchange.isPayload {
                // What is acknowledged counts; the rest is on its way or lost with the connection.
                attempt.upload?.unconfirmed += exchange.sent
            } else if event.end.bytesRead > 0, attempt.download != nil {
                moved(attempt, to: attempt.base + event.end.bytesRead)
            }
            FaultPoint.answered.pass()
            switch event.end.outcome {
            case .done, .opened, .attributes, .names, .freeSpace, .refused: wasLetIn(attempt)
            case .broken, .notLetIn, .sinkFailed, .sourceEnded, .sourceFailed: break
            }
            if case .opened = event.end.outcome, isCarriedAlong(attempt) {
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
                    } else if case .done = outcome {
                        outcome = .digested(digest.value)
                    }
                }
                let end = SFTPEnd(
                    outcome, writtenThrough: event.end.writtenThrough, bytesWritten: attempt.written,
                    features: SFTPFeatures(event.end.features), at: timeline.now)
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

    /// And whether the exchange broke off.
    private func outcome(_ outcome: OperationEnd.Outcome, _ attempt: Attempt) -> (SFTPEnd.Outcome, Bool) {
        switch outcome {
        case .done: return (.done, false)
        case .opened(let handle): return (.opened(SFTPHandle(rawValue: handle.rawValue)), false)
        case .attributes(let found):
            return (
                .attributes(
                    SFTPAttributes(
                        size: found.size.flatMap(FileSize.told), modified: found.modified, isFolder: found.isFolder)),
                false
            )
        case .freeSpace(let bytes): return (.freeSpace(bytes), false)
        case .names(let names): return (.names(names.compactMap(RemoteEntry.init)), false)
        case .refused(let status, let text): return (.refused(SFTPStatus(rawValue: status) ?? .failure, text), false)
        case .broken(let error): return (.failed(.network(error)), true)
        case .notLetIn(let reason, let error):
            attempt.context.forgetCredentials()
            return (.notLetIn(reason, error), true)
        case .sinkFailed(let error):
            guard let refusal = attempt.download?.target.refusal(error) else {
                return (.failed(.network(.stoppedLooking)), true)
            }
            return (.failed(.sink(refusal.error, waits: refusal.waits)), true)
        case .sourceEnded, .sourceFailed:
            // Told apart by the caller.
            return (.done, false)
        }
    }
}

extension Attempt {
    /// The owner of its operations and handles at an SFTP server.
    var owner: OperationOwner { OperationOwner(rawValue: UInt64(bitPattern: task.id.rawValue)) }
}

extension SourceFile: SFTPSource {}

extension DownloadTarget: SFTPSink {}

extension SFTPRequest {
    fileprivate init(_ exchange: SFTPExchange) {
        func handle(_ handle: SFTPHandle) -> RemoteHandle { RemoteHandle(rawValue: handle.rawValue) }
        switch exchange {
        case .openForWriting(let path): self = .openForWriting(path)
        case .openForReading(let path): self = .openForReading(path)
        case .status(let path): self = .status(path)
        case .handleStatus(let file): self = .handleStatus(handle(file))
        case .write(let file, let range): self = .write(handle(file), range)
        case .read(let file, let offset): self = .read(handle(file), from: offset)
        case .digest(let file, _): self = .read(handle(file), from: 0)
        case .setSize(let file, let size): self = .setSize(handle(file), size)
        case .setModified(let file, let time): self = .setModified(handle(file), time)
        case .sync(let file): self = .sync(handle(file))
        case .close(let file): self = .close(handle(file))
        case .rename(let from, let to, let replaces): self = .rename(from, to: to, replaces: replaces)
        case .remove(let path): self = .remove(path)
        case .makeFolders(let path): self = .makeFolders(path)
        case .openFolder(let path): self = .openFolder(path)
        case .readFolder(let folder): self = .readFolder(handle(folder))
        case .freeSpace(let path): self = .freeSpace(path)
        }
    }
}

extension RemoteEntry {
    /// `nil` for the folder itself, the one above it, and what no file can be called.
    fileprivate init?(_ found: RemoteName) {
        guard Self.isName(found.name.bytes) else { return nil }
        let size = found.attributes.size.map { $0 <= Size.largest ? Size.bytes($0) : .impossible }
        self.init(
            found.name, size: found.attributes.isSizeImpossible ? .impossible : size ?? .unknown,
            isFolder: found.attributes.isFolder,
            modified: found.attributes.modified.map { Timestamp(seconds: $0) })
    }
}

extension SFTPFeatures {
    fileprivate init(_ features: ServerFeatures) {
        self.init()
        renamesOver = features.renamesOver
        syncs = features.syncs
        tellsFreeSpace = features.tellsFreeSpace
        writesInOrder = features.writesInOrder
    }
}
