import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// A download's last steps, without a connection: everything synced, the digest compared, the final name given.
extension TransferEngine {
    /// Every byte is there: sync, digest, rename, without a connection.
    func publish(_ attempt: Attempt, _ receipt: Receipt) {
        guard let target = attempt.target, let descriptor = target.descriptor, let point = attempt.point,
            let partName = target.partName
        else { return fail(attempt, TransferError(.internal, "a download without its file: retry")) }
        attempt.phase = .finishing
        leaveSpeed(of: attempt)
        freeSlot(of: attempt)
        queue.writer.record(.finishing, for: attempt.task.id)
        let publication = Publication(
            part: target.directory.appending(partName), final: target.directory.appending(point.name),
            directory: target.directory, mayReplace: attempt.context.order.options.ifExists == .replace)
        inBackground { [self] in
            do throws(Errno) {
                try await files.run { () throws(Errno) in try Publication.sync(descriptor) }
                if let wanted = receipt.digest {
                    let found = try await files.run { () throws(Errno) in try Publication.digest(descriptor) }
                    if found != wanted { return discard(attempt, publication) }
                }
            } catch {
                return finishingFailed(attempt, target.refusal(error))
            }
            attempt.accepted = receipt.bytes
            if attempt.total != receipt.bytes {
                attempt.total = receipt.bytes
                queue.writer.record(.sizeKnown(receipt.bytes), for: attempt.task.id)
            }
            var last = point
            last.offset = receipt.bytes
            last.version.total = receipt.bytes
            last.publishing = true
            (last.partName, last.partInode) = (target.partName, target.partInode)
            queue.writer.record(
                .checkpoint(resumePoint: ResumePoint(last).encoded, accepted: receipt.bytes), for: attempt.task.id)
            await durable(attempt)
            FaultPoint.publishing.pass()
            switch await files.run({ publication.rename() }) {
            case .published: complete(attempt, receipt, finalPath: publication.final)
            case .nameTaken: nameTaken(attempt, publication, receipt)
            case .failed(let error): finishingFailed(attempt, target.refusal(error))
            }
        }
    }

    /// The bytes are not those that were promised: they are of no use to a later attempt either.
    private func discard(_ attempt: Attempt, _ publication: Publication) {
        try? System.unlink(publication.part.bytes)
        queue.writer.record(
            .restarted(reason: "the digest differs", repeated: attempt.accepted, identity: nil), for: attempt.task.id)
        fail(
            attempt,
            TransferError(
                .integrity,
                "\(publication.final.displayed) has another SHA-256 than promised: check the address and --sha256, and queue it again if one is wrong"
            ))
    }

    private func nameTaken(_ attempt: Attempt, _ publication: Publication, _ receipt: Receipt) {
        let options = attempt.context.order.options
        guard let ending = existing(publication.final, options, point: attempt.point) else {
            return finishingFailed(attempt, attempt.target?.refusal(.fileExists))
        }
        if case .completed = ending { try? System.unlink(publication.part.bytes) }
        close(attempt)
        conclude(attempt.task, ending)
    }

    private func finishingFailed(_ attempt: Attempt, _ refusal: DownloadTarget.Refusal?) {
        guard let refusal else { return fail(attempt, TransferError(.internal, "publishing failed: retry")) }
        refused(attempt, refusal)
    }
}

extension DownloadTarget {
    /// Whether the temporary file has got its final name already.
    func wasPublished(_ point: GetResumePoint) -> Bool {
        guard let inode = point.partInode, let part = point.partName,
            (try? System.lstat(directory.appending(part).bytes)) == nil,
            let found = try? System.lstat(directory.appending(point.name).bytes)
        else { return false }
        return found.inode == inode && found.size == point.offset
    }
}
