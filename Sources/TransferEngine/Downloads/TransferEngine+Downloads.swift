import CurlTransport
import Glibc
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// The local side of downloads: a temporary file, checkpoints, and the final name when all is there.
extension TransferEngine {
    /// An attempt for a download; `nil` when it is over before it began.
    func prepareDownload(
        _ task: ClaimedTask, _ context: BatchContext, _ origin: String, _ url: String, _ directory: RawPath,
        _ fileName: RawPath?
    ) -> Attempt? {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard
            let place = RemotePlace(
                parts[0], query: parts.count > 1 ? parts[1] : nil, s3: context.order.options.s3)
        else {
            refuse(
                task, TransferError(.unsupported, "the address is malformed", .queued("check it and queue it again")))
            return nil
        }
        let options = context.order.options
        let target = DownloadTarget(mark: task.partMark, directory: directory, umask: options.umask, on: disk)
        var point = task.resumePoint.flatMap { ResumePoint(encoded: $0) }?.content(GetResumePoint.self)
        if let point { Publication.removeOwnEmpty(point, in: directory, on: disk) }
        let name = fileName ?? point?.name
        if let name, let refusal = existing(directory.appending(name), options, total: point?.version.total) {
            conclude(task, refusal, of: target, point)
            return nil
        }
        let left = point.map { target.reopen($0) } ?? .nothing
        if case .outOfReach(let refusal) = left {
            refused(task, refusal)
            return nil
        }
        let loss = PartLoss(left, accepted: task.accepted)
        if case .part = left {} else { point?.lose() }
        point?.publishing = false
        if case .all(let reason, let bytes) = loss {
            record(restart: reason, bytes, of: task, keeping: target.partName == nil ? nil : point?.place)
            target.forget()
        }
        let expects = options.sha256.map { TransferDigest(algorithm: "sha-256", value: $0.lowercased()) }
        guard
            let machine = place.download(
                DownloadJob(
                    name: fileName, verify: options.verify, ifChanged: options.ifChanged, expects: expects,
                    facts: facts(place, origin), resume: point))
        else {
            refuse(
                task, TransferError(.unsupported, "the address is malformed", .queued("check it and queue it again")))
            return nil
        }
        let work = DownloadWork(target, from: point, isResumed: left.usable > 0)
        if case .tail(let bytes) = loss { work.lostTail = bytes }
        let attempt = Attempt(
            .download(work), of: task, context: context, origin: origin, machine: machine, at: timeline.nanoseconds)
        attempt.place = place
        attempt.progress.begin(at: point?.offset ?? 0)
        return attempt
    }

    /// Ends a download that an earlier attempt has given its final name without knowing or recording that.
    /// - Returns: whether it is over.
    func wasPublished(_ task: ClaimedTask, in directory: RawPath) -> Bool {
        guard let point = task.publishingPoint, Publication.isDone(point, in: directory, on: disk) else { return false }
        concludePublished(task, point, in: directory)
        return true
    }

    /// Settles the downloads that were getting their final names when the last engine was killed: completed where they got them; else they
    /// are queued, paused or cancelled, as the person has said. A look at the disk is enough, whatever their batches may do now.
    func settleInterrupted() async throws {
        for task in try await queue.writer.interruptedDownloads() {
            inBackground { [self] in
                guard case .download(_, let directory, _) = task.work, let point = task.publishingPoint,
                    // A folder of a server that is away may hold a thread up, but not the engine.
                    await disks.worker(.look, device: 0).run({ [disk] in
                        Publication.isDone(point, in: directory, on: disk)
                    })
                else { return queue.writer.record(.requeued, for: task.claim) }
                concludePublished(task, point, in: directory)
            }
        }
    }

    /// Until it is durable, a cancel would come too late and is told so, as before the name was given.
    private func concludePublished(_ task: ClaimedTask, _ point: GetResumePoint, in directory: RawPath) {
        let completion = Completion(
            size: point.offset, verified: point.received ?? .none, digest: point.promised,
            finalPath: directory.appending(point.name))
        let target = DownloadTarget(mark: task.partMark, directory: directory, umask: 0o077, on: disk)
        conclude(task, .published(completion), of: target, nil)
    }

    /// Applies the rule for a file that has the final name already; `nil`: the download goes on.
    /// - Parameter total: length of the file that is wanted, where its server has told it.
    func existing(_ path: RawPath, _ options: TransferOptions, total: Int64?) -> Ending? {
        guard let found = try? System.lstat(path.bytes) else { return nil }
        switch options.ifExists {
        case .replace:
            if found.kind != .directory { return nil }
            return .failed(.isTaken(path, "is a directory"))
        case .skip:
            let file = found.kind == .symbolicLink ? try? System.stat(path.bytes) : found
            guard let file, file.kind == .regular else {
                return .failed(.isTaken(path, found.kind == .directory ? "is a directory" : "is there and is no file"))
            }
            return .completed(Completion(size: file.size, verified: .none, skipped: true, finalPath: path))
        case .fail, .rename, .resume:
            return .exists(path, total)
        }
    }

    /// The end of a task that needs no attempt.
    enum Ending {
        case completed(Completion)
        /// It has its name, perhaps not on the disk yet.
        case published(Completion)
        case failed(TransferError)
        /// Something is there; it may be the same file by the digest that a person gave. The wanted file's length, where it is known.
        case exists(RawPath, Int64?)
    }

    /// - Parameter point: of the task, which knows the temporary file where the target has not opened it.
    func conclude(_ task: ClaimedTask, _ ending: Ending, of target: DownloadTarget, _ point: GetResumePoint?) {
        switch ending {
        case .completed(let completion):
            guard let part = target.knownPart(point) else {
                return queue.writer.record(.completed(completion), for: task.claim)
            }
            inBackground { [self] in await complete(task, completion, without: part) }
        case .published(let completion):
            inBackground { [self] in
                guard let path = completion.finalPath else { return }
                let leave = await durably(while: { true }) {
                    try await queue.writer.leaveToPublish(task.claim, as: path)
                }
                guard let leave, leave != .void else { return }
                guard let error = await syncNames(onTheWayTo: target.directory) else {
                    return queue.writer.record(.completed(completion), for: task.claim)
                }
                refuse(task, target.refusal(error).error)
            }
        case .failed(let error): refuse(task, error)
        case .exists(let path, let total):
            waits.comparisons.insert(task.claim)
            inBackground { [self] in
                let outcome = await sameness(of: task, path, total)
                // Whoever has stopped the task knows what became of it.
                guard waits.comparisons.remove(task.claim) != nil else { return }
                switch outcome {
                case .success(let completion): await complete(task, completion, without: target.knownPart(point))
                case .failure(let error): refuse(task, error)
                }
            }
        }
    }

    /// Puts the names in a folder on the disk, and those on the way to it. Returns the error of a disk that fails.
    private func syncNames(onTheWayTo directory: RawPath) async -> Errno? {
        let device = (try? System.stat(directory.bytes))?.device ?? 0
        let folders = [directory] + durableFolders.unsynced(above: directory)
        let error = await disks.worker(.name, device: device).run { [disk] in
            Publication.syncNames(in: folders, on: disk)
        }
        if error == nil { durableFolders.note(directory) }
        return error
    }

    /// Records that the file is there already. Nothing knows of the temporary file afterwards, so it goes first.
    private func complete(_ task: ClaimedTask, _ completion: Completion, without part: KnownPart?) async {
        if let part {
            let device = (try? System.stat(part.directory.bytes))?.device ?? 0
            await disks.worker(.name, device: device).run { [disk] in part.remove(from: disk) }
        }
        queue.writer.record(.completed(completion), for: task.claim)
    }

    /// Compares the file that is there with the one that is wanted: only a digest can tell that they are the same. Somebody else may have put
    /// anything there since it was looked at.
    private func sameness(
        of task: ClaimedTask, _ path: RawPath, _ total: Int64?
    ) async -> Result<Completion, TransferError> {
        let exists = TransferError(.destinationExists, of: path, "is there already", .replacing("move it, or "))
        guard let wanted = credentials.contexts[task.batch]?.order.options.sha256,
            let file = try? System.open(path.bytes, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let status = try? System.fstat(file.rawValue), status.kind == .regular, FileSize.isPossible(status.size),
            total == nil || total == status.size,
            let digest = try? await disks.digest(
                of: file, size: status.size, while: { waits.comparisons.contains(task.claim) }),
            digest.value == wanted.lowercased(), (try? System.fstat(file.rawValue))?.size == status.size
        else { return .failure(exists) }
        return .success(Completion(size: status.size, verified: .digest, digest: digest, finalPath: path))
    }

    // MARK: Receiving

    /// The resume point as it is stored: the engine adds the temporary file, which is made before its name is recorded.
    /// `nil`: the attempt has ended.
    func recordable(_ point: ResumePoint, _ attempt: Attempt) -> ResumePoint? {
        switch attempt.job {
        case .upload(let work):
            var point = point
            point.sourceChanges = work.changes
            if let own = point.ownVersion { work.ownVersion = own }
            point.ownVersion = work.ownVersion
            point.targetIsOther = work.subject.targetIsOther
            work.leave(attempt.machine.unremoved)
            point.leave(work.left)
            work.resumePoint = point
            work.outdatedPoint = nil
            return point
        case .download(let work): return point.content(GetResumePoint.self).flatMap { withPart($0, attempt, work) }
        case .look, .removal, .probe, .listing, .readBack: return nil
        }
    }

    private func withPart(_ point: GetResumePoint, _ attempt: Attempt, _ work: DownloadWork) -> ResumePoint? {
        var get = point
        let target = work.target
        if target.descriptor == nil {
            let final = target.directory.appending(get.name)
            if let ending = existing(final, attempt.context.order.options, total: get.version.total) {
                abandonAll(of: attempt)
                close(attempt)
                conclude(attempt.task, ending, of: target, work.point)
                return nil
            }
            do throws(DownloadTarget.Refusal) {
                try target.prepare(for: get.name)
            } catch {
                refused(attempt, error)
                return nil
            }
            if target.hasMadeFolders { durableFolders.forget() }
        }
        target.tellPlace(to: &get)
        work.point = get
        return ResumePoint(get)
    }

    func openGate(_ local: ExchangeID, _ opening: GateOpening, _ attempt: Attempt) {
        guard let target = attempt.download?.target else { return }
        if let total = opening.total, !FileSize.isPossible(total) { return fail(attempt, impossible(attempt)) }
        do throws(DownloadTarget.Refusal) {
            try target.begin(opening)
        } catch {
            return refused(attempt, error)
        }
        attempt.progress.receive(from: opening.offset)
        target.syncedAt = timeline.nanoseconds
        if let total = opening.total, attempt.progress.learn(total: total) {
            queue.writer.record(.sizeKnown(total), for: attempt.task.claim)
        }
        openGate(local, of: attempt, to: target, total: opening.total)
    }

    func openGate(
        _ local: ExchangeID, of attempt: Attempt, to sink: any TransferBodySink & SFTPSink,
        total: Int64?
    ) {
        // It may have ended behind its gate, with no body or by a cut: then its end is on the way.
        guard let exchange = attempt.exchanges[local] else { return }
        switch exchange.carrier {
        case .http: transports.http?.openGate(exchange.wire, to: .sink(sink))
        case .ftp: transports.ftp?.openGate(exchange.wire, to: sink)
        case .sftp: transports.sftp?.openGate(exchange.wire, to: sink, total: total)
        }
    }

    private func impossible(_ attempt: Attempt) -> TransferError {
        return TransferError(
            .badServerResponse, "the server says that the file has more than 8 PiB",
            .thenRetry("its administrator can mend that"))
    }

    func refused(_ attempt: Attempt, _ refusal: LocalRefusal) {
        if refusal.isShortage { suspendStarts() }
        if let reason = refusal.waits {
            wait(attempt, WaitDemand(reason, refusal.error))
        } else {
            fail(attempt, refusal.error)
        }
    }

    /// Puts what has come on the disk and records it, when enough has come or enough time has passed.
    func checkpointIfDue(_ attempt: Attempt) {
        guard attempt.phase == .running, !attempt.run.isHeld, let target = attempt.download?.target, !target.isSyncing,
            let exchange = attempt.exchanges.underWay.first, target.descriptor != nil
        else { return }
        let passed = Duration.nanoseconds(timeline.nanoseconds - target.syncedAt)
        if passed >= settings.checkpointInterval { flush(exchange) }
        let fresh = target.written - target.synced
        guard fresh >= settings.checkpointBytes || (fresh > 0 && passed >= settings.checkpointInterval) else { return }
        inBackground { [self] in
            switch await sync(attempt) {
            case .done:
                feed(attempt, .synced(through: target.synced))
                // A fast one goes on at once: what is not synced at the end is waited for there.
                checkpointIfDue(attempt)
            case .overtaken: break
            case .failed(let error): lostPages(attempt, error)
            }
        }
    }

    private func flush(_ exchange: FlyingExchange) {
        switch exchange.carrier {
        case .http: transports.http?.flush(exchange.wire)
        case .ftp: transports.ftp?.flush(exchange.wire)
        // Its sink has everything at once.
        case .sftp: break
        }
    }

    /// The result of putting a temporary file on the disk.
    enum SyncOutcome {
        /// `synced` and `accepted` say how far it is there.
        case done
        /// It begins anew meanwhile: what is there of it counts no more.
        case overtaken
        /// Some of it is lost, and the kernel says so this once.
        case failed(Errno)
    }

    /// Puts what has come of a download on the disk.
    func sync(_ attempt: Attempt) async -> SyncOutcome {
        guard let target = attempt.download?.target, let descriptor = target.descriptor else { return .overtaken }
        let (through, start) = (target.written, target.starts)
        let failure = await target.putOnDisk(by: disks.worker(.sync, of: descriptor)) { disk, file throws(Errno) in
            try disk.syncBytes(file.rawValue)
        }
        target.syncedAt = timeline.nanoseconds
        if let failure { return .failed(failure) }
        // A start over may have cut the file meanwhile.
        guard start == target.starts else { return .overtaken }
        FaultPoint.synced.pass()
        target.synced = through
        attempt.progress.sync(through: through)
        return .done
    }

    /// Records a point that counts bytes which are not on the disk yet: they come first. A later attempt believes it.
    func persistSynced(_ point: ResumePoint, _ attempt: Attempt) {
        attempt.run.hold()
        inBackground { [self] in
            let outcome = await sync(attempt)
            attempt.run.goOn()
            guard attempt.phase == .running else { return }
            switch outcome {
            case .done: persist(point, attempt, waits: attempt.run.hasActions)
            case .overtaken: break
            case .failed(let error): return lostPages(attempt, error)
            }
            perform(attempt)
        }
    }

    /// The disk has not taken what it was given. Nothing of this attempt is asked again whether it is there: the next one goes on at the last
    /// checkpoint that was.
    func lostPages(_ attempt: Attempt, _ error: Errno) {
        guard attempt.phase == .running || attempt.phase == .finishing, let target = attempt.download?.target
        else { return }
        var refusal = target.refusal(error)
        // A disk that fails again and again is for a person to look at.
        if refusal.waits == nil, attempt.failures <= Self.syncFailures { refusal.waits = .backoff }
        refused(attempt, refusal)
    }

    private static let syncFailures = 3

    /// Records that nothing counts of what a download has written, where that is so.
    func beganAnew(_ attempt: Attempt) -> Bool {
        guard let reason = attempt.download?.target.spoilt else { return false }
        startOver(attempt, reason, isOther: false)
        return true
    }

    /// A body may have ended. After a cut, what came is synced first, so that the next attempt goes on there.
    func bodyEnded(_ attempt: Attempt, _ event: ProtocolEvent, broken: Bool) {
        if case .readBack(let reading) = attempt.job, broken {
            feed(attempt, .synced(through: reading.sink.position))
        }
        guard let target = attempt.download?.target, broken, !beganAnew(attempt), target.written > target.synced else {
            return feed(attempt, event)
        }
        inBackground { [self] in
            switch await sync(attempt) {
            case .done: feed(attempt, .synced(through: target.synced))
            case .overtaken: break
            case .failed(let error): return lostPages(attempt, error)
            }
            feed(attempt, event)
        }
    }
}

extension TransferError {
    fileprivate static func isTaken(_ path: RawPath, _ what: String) -> TransferError {
        TransferError(.destinationUnwritable, of: path, what, .step("choose another name"))
    }
}

extension ClaimedTask {
    /// The resume point of a download that was getting its final name when it was recorded.
    fileprivate var publishingPoint: GetResumePoint? {
        let point = resumePoint.flatMap { ResumePoint(encoded: $0) }?.content(GetResumePoint.self)
        return point?.publishing == true ? point : nil
    }

    /// The part of a temporary file's name that no other task has, of whichever queue.
    fileprivate var partMark: String { String(UploadToken.task(uuid).text.prefix(8)) }
}
