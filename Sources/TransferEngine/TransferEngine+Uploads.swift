import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// The local side of uploads: the source is opened, recognised, watched for changes.
extension TransferEngine {
    /// An attempt for an upload; `nil` when it is over before it began.
    func prepareUpload(
        _ task: ClaimedTask, _ context: BatchContext, _ origin: String, _ local: RawPath, _ remote: RawPath,
        _ recorded: SourceIdentity
    ) -> Attempt? {
        guard let address = context.address(below: remote) else {
            refuse(task, TransferError(.unsupported, "the destination's address is malformed: queue it again"))
            return nil
        }
        let source: SourceFile
        do throws(TransferError) {
            source = try open(local, remote, context)
        } catch {
            refuse(task, error)
            return nil
        }
        let point = task.resumePoint.flatMap { ResumePoint(encoded: $0) }
        let remains = point?.content(PutResumePoint.self) ?? PutResumePoint(stored: false, etag: nil)
        var changes = point?.sourceChanges ?? 0
        if source.identity != recorded {
            guard SourceChangeRule.beginsAgain(context.order.options.ifChanged, changes: changes) else {
                refuse(task, .sourceChanged(local, times: changes + 1))
                return nil
            }
            changes += 1
            record(restart: remains, changes, of: task, "the source changed after it was queued", 0, source.identity)
        }
        let machine = PutUpload(plan(task, context, address, source, remains, begunBefore: task.begunBefore))
        let attempt = Attempt(
            task, context: context, origin: origin, machine: machine, at: timeline.nanoseconds)
        attempt.source = source
        attempt.total = source.identity.size
        attempt.changes = changes
        attempt.ownRemains = remains
        return attempt
    }

    private func open(_ local: RawPath, _ remote: RawPath, _ context: BatchContext) throws(TransferError) -> SourceFile
    {
        // A walk lists links only with --follow-links; a source that a person named may be one.
        let isBelow = remote.bytes.contains(UInt8(ascii: "/"))
        return try SourceFile(path: local, mayBeLink: context.order.options.followLinks || !isBelow)
    }

    private func plan(
        _ task: ClaimedTask, _ context: BatchContext, _ address: HTTPAddress, _ source: SourceFile,
        _ remains: PutResumePoint, begunBefore: Timestamp?
    ) -> PutPlan {
        let options = context.order.options
        return PutPlan(
            address: address, size: source.identity.size, ifExists: options.ifExists, verify: options.verify,
            begunBefore: begunBefore, resume: remains.stored ? remains : nil)
    }

    private func record(
        restart remains: PutResumePoint, _ changes: Int, of task: ClaimedTask, _ reason: String, _ repeated: Int64,
        _ identity: SourceIdentity
    ) {
        queue.writer.record(.restarted(reason: reason, repeated: repeated, identity: identity), for: task.id)
        var point = ResumePoint(remains)
        point.sourceChanges = changes
        queue.writer.record(.checkpoint(resumePoint: point.encoded, accepted: 0), for: task.id)
    }

    /// The server has it all, by the protocol's judgement; now whether it has one version of it.
    func finishUpload(_ attempt: Attempt, _ receipt: Receipt) {
        if !receipt.skipped, !receipt.foundThere, attempt.source?.change != nil {
            return sourceChanged(attempt, stored: receipt)
        }
        complete(attempt, receipt, finalPath: nil)
    }

    /// The source is not the file any more that was being sent: it begins again with the new one, in the same slot, or ends.
    /// - Parameter stored: what the server has taken of the old one, if it has.
    func sourceChanged(_ attempt: Attempt, stored: Receipt?) {
        guard case .upload(let local, let remote, _) = attempt.task.work else { return }
        abandonAll(of: attempt)
        guard SourceChangeRule.beginsAgain(attempt.context.order.options.ifChanged, changes: attempt.changes),
            let address = attempt.context.address(below: remote)
        else { return fail(attempt, .sourceChanged(local, times: attempt.changes + 1)) }
        let source: SourceFile
        do throws(TransferError) {
            source = try open(local, remote, attempt.context)
        } catch {
            return fail(attempt, error)
        }
        attempt.changes += 1
        let remains = PutResumePoint(
            stored: stored != nil || attempt.ownRemains?.stored == true, etag: stored?.etag)
        record(
            restart: remains, attempt.changes, of: attempt.task, "the source changed while it was sent", attempt.sent,
            source.identity)
        attempt.ownRemains = remains
        attempt.repeated += attempt.sent
        attempt.sent = 0
        attempt.source = source
        attempt.total = source.identity.size
        attempt.actions = []
        let machine = PutUpload(
            plan(attempt.task, attempt.context, address, source, remains, begunBefore: attempt.task.begunBefore))
        attempt.machine = machine
        feed(attempt, .began(at: timeline.now))
    }

    func sourceError(_ attempt: Attempt, _ error: Errno) -> TransferError {
        guard case .upload(let local, _, _) = attempt.task.work else {
            return TransferError(.internal, "a download without a source: retry")
        }
        return .source(local, error)
    }

    /// Hashes the whole source on another thread.
    func digestSource(_ attempt: Attempt) {
        guard let source = attempt.source, let duplicate = try? source.duplicate() else {
            return fail(attempt, sourceError(attempt, .badDescriptor))
        }
        inBackground { [self] in
            let result: Result<TransferDigest, Errno> = await files.run {
                Result { () throws(Errno) in try Publication.digest(duplicate) }
            }
            switch result {
            case .success(let digest): feed(attempt, .digested(digest))
            case .failure(let error): fail(attempt, sourceError(attempt, error))
            }
        }
    }
}

extension TransferError {
    static func sourceChanged(_ path: RawPath, times: Int) -> TransferError {
        let often = times > 1 ? " \(times) times" : ""
        return TransferError(
            .sourceChanged,
            "\(path.displayed) changed\(often) while it was to be sent: retry when nobody writes to it any more")
    }
}
