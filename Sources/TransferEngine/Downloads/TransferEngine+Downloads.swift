import Glibc
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// The beginning of a download, and the end of one that needs no attempt: what has the final name decides.
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
    func settlePublishing() async throws {
        for task in try await queue.writer.publishingDownloads() {
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
        guard let found = try? disk.status(of: path.bytes) else { return nil }
        switch options.ifExists {
        case .replace:
            if found.kind != .directory { return nil }
            return .failed(.isTaken(path, "is there and is a directory"))
        case .skip:
            let file = found.kind == .symbolicLink ? try? System.stat(path.bytes) : found
            guard let file, file.kind == .regular else {
                return .failed(
                    .isTaken(path, found.kind == .directory ? "is there and is a directory" : "is there and is no file")
                )
            }
            return .skipped(path, file.size)
        case .fail, .rename, .resume:
            return .exists(path, total)
        }
    }

    /// The end of a task that needs no attempt.
    enum Ending {
        /// The rule leaves the file of that name and length as it is.
        case skipped(RawPath, Int64)
        /// It has its name, perhaps not on the disk yet.
        case published(Completion)
        case failed(TransferError)
        /// Something is there; it may be the same file by the digest that a person gave. The wanted file's length, where it is known.
        case exists(RawPath, Int64?)
    }

    /// - Parameter point: of the task, which knows the temporary file where the target has not opened it.
    func conclude(_ task: ClaimedTask, _ ending: Ending, of target: DownloadTarget, _ point: GetResumePoint?) {
        switch ending {
        case .skipped(let path, let size):
            waits.comparisons.insert(task.claim)
            inBackground { [self] in
                let path = await spelled(path)
                let isGiven = await isNameGiven(path, besides: task)
                // Whoever has stopped the task knows what became of it.
                guard waits.comparisons.contains(task.claim) else { return }
                defer { waits.comparisons.remove(task.claim) }
                if isGiven { return refuse(task, .nameIsGiven(path)) }
                let completion = Completion(size: size, verified: .none, skipped: true, finalPath: path)
                await complete(task, completion, without: target.partAtEnd(point, beside: path))
            }
        case .published(let completion):
            inBackground { [self] in
                guard let path = completion.finalPath else { return }
                let leave = await durably(while: { true }) {
                    try await queue.writer.leaveToPublish(task.claim, as: path)
                }
                guard let leave, leave != .ended else { return }
                guard let error = await syncNames(onTheWayTo: path) else {
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
                guard waits.comparisons.contains(task.claim) else { return }
                defer { waits.comparisons.remove(task.claim) }
                switch outcome {
                case .success(let completion):
                    await complete(task, completion, without: target.partAtEnd(point, beside: path))
                case .failure(let error): refuse(task, error)
                }
            }
        }
    }

    /// Asks the queue as long as the task is compared with what is there.
    private func isNameGiven(_ path: RawPath, besides task: ClaimedTask) async -> Bool {
        await durably(while: { waits.comparisons.contains(task.claim) }) {
            try await queue.writer.isNameGiven(path, besides: task.claim)
        } ?? false
    }

    /// The path by which the queue knows a file that is there: in a folder that ignores case its own spelling counts.
    private func spelled(_ path: RawPath) async -> RawPath {
        guard let folder = path.parent else { return path }
        let name = await disks.worker(.look, device: 0).run { [disk] in
            disk.entryName(path.lastComponent.bytes, in: folder.bytes)
        }
        return name.map { folder.appending(RawPath($0)) } ?? path
    }

    /// Puts a file's name on the disk, and those on the way to it. Returns the error of a disk that fails.
    private func syncNames(onTheWayTo file: RawPath) async -> Errno? {
        let directory = file.parent ?? RawPath("/")
        let device = (try? System.stat(directory.bytes))?.device ?? 0
        let folders = [directory] + durableFolders.unsynced(above: directory)
        let error = await disks.worker(.name, device: device).run { [disk] in
            Publication.syncNames(in: folders, of: file, on: disk)
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
        // No rule decides about a file of the same batch.
        let own = await spelled(path)
        if await isNameGiven(own, besides: task) { return .failure(.nameIsGiven(own)) }
        let exists = TransferError(.destinationExists, of: path, "is already there", .replacing("move it, or "))
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
}

extension TransferError {
    fileprivate static func isTaken(_ path: RawPath, _ what: String) -> TransferError {
        TransferError(.destinationUnwritable, of: path, what, .anotherName)
    }
}

extension ClaimedTask {
    /// The resume point of a download that was getting its final name when it was recorded.
    fileprivate var publishingPoint: GetResumePoint? {
        let point = resumePoint.flatMap { ResumePoint(encoded: $0) }?.content(GetResumePoint.self)
        return point?.publishing == true ? point : nil
    }

    /// The part of a temporary file's name that no other task has, of whichever queue.
    var partMark: String { String(UploadToken.task(uuid).text.prefix(8)) }
}
