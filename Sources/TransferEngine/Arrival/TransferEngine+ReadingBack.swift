import LinuxSystem
package import TransferModel
import TransferProtocols
package import TransferQueue
import WireOperations

/// The result of reading a file back.
package enum ReadBackOutcome: Sendable, Hashable {
    /// Its bytes are those that were sent.
    case same
    /// They are not, or the file is not there: the task has failed.
    case other(TransferError)
    /// Nobody can say it, for this reason.
    case unread(TransferError)
    /// Nothing was compared: `--if-exists skip` kept somebody else's file, or the task was retried or removed while it was read.
    case notCompared
}

/// A file that was sent is read at its server and compared with what was sent, by SHA-256.
extension TransferEngine {
    package func readBack(
        _ file: FileToReadBack, in look: DueLook, _ meter: ReadBackMeter
    ) async throws -> ReadBackOutcome {
        guard phase == .running else { return .unread(.stoppedLooking) }
        guard let context = try await contextForRemoval(of: look.batch),
            let place = context.destination?.appending(file.remote)
        else { return .unread(.noListingPlace) }
        if file.isSpared { return .notCompared }
        if let error = context.credentials.failure { return .unread(error) }
        let sent: TransferDigest
        switch await digestOfSent(file, look, context, meter) {
        case .success(let digest): sent = digest
        case .failure(let error): return .unread(error)
        }
        takeSlot(at: look.origin)
        defer { giveSlot(at: look.origin) }
        let host = TransferScheme.server(of: context.order.destination)
        let reading = ReadingBack(meter, size: file.identity.size)
        let error = await read(reading, at: place, look.origin, context)
        if reading.sink.isTooLong {
            let error = other(host, "more bytes than the \(file.identity.size)", file)
            return try await absent(file, in: look, context, error, lies: RemoteEntry(file.remote, size: .unknown))
        }
        if let error {
            guard phase == .running, !meter.isStopped else { return .unread(.stoppedLooking) }
            let isMissing = error.code == .sourceMissing || error.httpStatus == 404 || error.httpStatus == 410
            guard isMissing else { return .unread(error) }
            let error = TransferError(.notThere, "\(host) does not have it any more", .retry("retry sends it again"))
            return try await absent(file, in: look, context, error, lies: nil)
        }
        let found = reading.sink.value
        if found == sent {
            try await queue.writer.markVerified(file, sent)
            return .same
        }
        var entry = RemoteEntry(file.remote, size: .bytes(reading.sink.position))
        entry.digests = [found]
        let differs = other(host, "other bytes (SHA-256 \(found.value)) than those", file)
        return try await absent(file, in: look, context, differs, lies: entry)
    }

    private func other(_ host: String, _ what: String, _ file: FileToReadBack) -> TransferError {
        let whose =
            file.isSkipped ? "of the file here, which was not sent as one like it stood there" : "that were sent"
        return TransferError(.notThere, "\(host) gives \(what) \(whose)", LastLookVerdict.otherLies)
    }

    /// - Parameter entry: what lies there, as far as it was read; `nil`: nothing does.
    private func absent(
        _ file: FileToReadBack, in look: DueLook, _ context: BatchContext, _ error: TransferError,
        lies entry: RemoteEntry?
    ) async throws -> ReadBackOutcome {
        let name = file.remote.components.last ?? context.fileName
        let later = try await queue.reader.later(than: name, finishedAt: file.sent.finishedAt, in: look)
        let absent = AbsentFile(file.sent, error: error, isOther: entry != nil)
        switch LastLookVerdict(absent, lies: entry, later: later) {
        case .isThere: return .unread(.writtenSince)
        case .isOpen: return .unread(.beingSentAgain(1))
        case .isAbsent: break
        }
        // Another look may have failed it meanwhile, or a person have it sent again: it was not there all the same.
        try await queue.writer.fail(absent: [absent], otherLies: LastLookVerdict.otherLies)
        return .other(error)
    }

    /// The SHA-256 of what was sent: as it was kept, or that of a source that has not changed since.
    private func digestOfSent(
        _ file: FileToReadBack, _ look: DueLook, _ context: BatchContext, _ meter: ReadBackMeter
    ) async -> Result<TransferDigest, TransferError> {
        if let digest = file.digest, digest.algorithm == "sha-256" { return .success(digest) }
        let source: SourceFile
        do throws(LocalRefusal) {
            source = try open(file.source, context)
        } catch {
            return .failure(error.error)
        }
        let changed = TransferError(
            .sourceChanged, of: file.source.path, "has changed since it was sent, and no SHA-256 of it was kept",
            .step("'martlet again \(look.batch)' sends it as it is now"))
        guard source.isStill(file.identity) else { return .failure(changed) }
        if let digest = source.digest { return .success(digest) }
        do throws(Errno) {
            let duplicate = try source.duplicate()
            let digest = try await disks.digest(of: duplicate, size: source.identity.size) {
                phase == .running && !meter.isStopped
            }
            guard phase == .running, !meter.isStopped else { return .failure(.stoppedLooking) }
            guard let digest, source.change == nil else { return .failure(changed) }
            return .success(digest)
        } catch {
            return .failure(.source(file.source, error))
        }
    }

    // MARK: The bytes

    /// Reads until all is here, also over several connections. - Returns: why it is not.
    private func read(
        _ reading: ReadingBack, at place: RemotePlace, _ origin: String, _ context: BatchContext
    ) async -> TransferError? {
        var failures = 0
        while true {
            let before = reading.sink.position
            let (error, mayShowOtherwise) = await readOnce(reading, at: place, origin, context)
            guard let error, phase == .running, !reading.meter.isStopped else { return error }
            if mayShowOtherwise { continue }
            // Whoever gives another version each time would be asked without end.
            guard reading.mayGoOn, reading.sink.starts <= Self.readingPatience else { return error }
            failures = reading.sink.position > before ? 1 : failures + 1
            if failures == Self.readingPatience { return error }
            await sleep(for: RetryRule().delay(failures: failures, random: platform.randomFraction()))
        }
    }

    /// Tries in a row that bring nothing.
    private static let readingPatience = 5

    private func readOnce(
        _ reading: ReadingBack, at place: RemotePlace, _ origin: String, _ context: BatchContext
    ) async -> (error: TransferError?, mayShowOtherwise: Bool) {
        guard phase == .running else { return (.stoppedLooking, false) }
        // No name is needed, since nothing is written here.
        guard
            let machine = place.download(
                DownloadJob(
                    name: place.address.fileName, verify: VerificationWish.none, ifChanged: .restart, expects: nil,
                    facts: facts(place, origin), resume: reading.point, isReadBack: true))
        else { return (.noListingPlace, false) }
        reading.mayGoOn = false
        let (error, attempt) = await inquire(.readBack(reading), machine, at: place, context, origin) {
            $0.progress.receive(from: reading.sink.position)
        }
        return (error, attempt.side.mayShowOtherwise)
    }

    /// Performs what the protocol wants for a file that is read for its digest: nothing is written here and nothing is recorded.
    func readBack(_ action: ProtocolAction, _ attempt: Attempt, _ reading: ReadingBack) {
        switch action {
        case .perform(let id, let exchange): begin(exchange, id, attempt)
        case .abandon(let id): abandon(id, of: attempt)
        case .openGate(let id, let opening):
            attempt.progress.receive(from: opening.offset)
            guard reading.sink.begin(opening) else {
                reading.point = nil
                reading.mayGoOn = true
                return endSideJob(attempt, .bug("a part was read back that does not follow the part before it"))
            }
            openGate(id, of: attempt, to: reading.sink, end: opening.end)
        case .wake(let timer, let delay): wake(attempt, timer, after: delay)
        case .persist(let point): reading.point = point.content(GetResumePoint.self)
        case .learned(let facts): remember(facts, of: attempt.factsKey)
        case .finish: endSideJob(attempt, nil)
        case .fail(let error): endSideJob(attempt, error)
        case .wait(let demand):
            reading.mayGoOn = demand.reason == .backoff || demand.reason == .hostBackoff
            attempt.side.refused(demand)
            endSideJob(attempt, demand.error)
        case .resumed, .startOver, .doubtAbsence, .accepted, .listed, .digestSource, .digestRange, .claimName,
            .compareSource, .mismatch:
            break
        }
    }
}

extension TransferError {
    fileprivate static var writtenSince: TransferError {
        TransferError(
            .unsupported, "a later batch of yours has sent another file to its name",
            .step("'martlet verify --read-back ID' of that batch reads it"))
    }
}

/// A file that is read for its digest, over as many attempts as it takes. On the engine's loop.
final class ReadingBack {
    let sink: DigestSink
    let meter: ReadBackMeter
    /// The file's version, and the offset at which the next attempt goes on.
    var point: GetResumePoint?
    /// Another attempt may have more luck than the one that ended.
    var mayGoOn = false

    /// - Parameter size: of what was sent.
    init(_ meter: ReadBackMeter, size: Int64) {
        self.meter = meter
        sink = DigestSink(size: size, meter)
    }
}
