import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// A download's last steps, without a connection: everything synced, the digest compared, leave asked, the final name given.
///
/// Between two steps a person may pause or cancel it: then the attempt is over, and nothing that comes of it changes anything here.
extension TransferEngine {
    /// Every byte is there.
    func publish(_ attempt: Attempt, _ work: DownloadWork, _ receipt: Receipt) {
        guard work.target.descriptor != nil, work.point != nil else {
            return fail(attempt, .bug("a download without its file"))
        }
        attempt.stage.beginFinishing()
        leaveSpeed(of: attempt)
        freeSlot(of: attempt)
        queue.writer.record(.finishing, for: attempt.task.claim)
        inBackground { [self] in
            guard await isSafe(attempt, work, receipt), await hasPromised(attempt, work, receipt) else { return }
            await giveName(attempt, work, receipt)
        }
    }

    /// Puts all of it on the disk, and records that.
    private func isSafe(_ attempt: Attempt, _ work: DownloadWork, _ receipt: Receipt) async -> Bool {
        let target = work.target
        guard let descriptor = target.descriptor, var point = work.point else { return false }
        let failure = await target.putOnDisk(by: disks.worker(.sync, of: descriptor), Publication.sync)
        guard attempt.phase == .finishing else { return false }
        if let failure {
            lostPages(attempt, failure)
            return false
        }
        guard (try? System.fstat(descriptor.rawValue))?.size == receipt.bytes else {
            await again(attempt, target, "somebody else has written to the temporary file")
            return false
        }
        target.synced = receipt.bytes
        attempt.progress.complete(receipt.bytes)
        if attempt.progress.learn(total: receipt.bytes) {
            queue.writer.record(.sizeKnown(receipt.bytes), for: attempt.task.claim)
        }
        point.offset = receipt.bytes
        point.received = receipt.verified
        point.promised = receipt.digest
        target.tellPlace(to: &point)
        work.point = point
        record(point, attempt)
        return true
    }

    /// Compares the file with the digest that was promised, if one was.
    private func hasPromised(_ attempt: Attempt, _ work: DownloadWork, _ receipt: Receipt) async -> Bool {
        guard let wanted = receipt.digest else { return true }
        guard let descriptor = work.target.descriptor else { return false }
        let found: TransferDigest?
        do throws(Errno) {
            found = try await disks.digest(of: descriptor, size: receipt.bytes) { attempt.phase == .finishing }
        } catch {
            if attempt.phase == .finishing { refused(attempt, work.target.refusal(error)) }
            return false
        }
        guard attempt.phase == .finishing else { return false }
        if found == wanted { return true }
        if found == nil {
            await again(attempt, work.target, "somebody else has written to the temporary file")
        } else {
            await discard(attempt, work)
        }
        return false
    }

    private func giveName(_ attempt: Attempt, _ work: DownloadWork, _ receipt: Receipt) async {
        let target = work.target
        guard let descriptor = target.descriptor, let point = work.point, let part = target.knownPart(nil)
        else { return }
        var (last, replaces) = (point, false)
        if attempt.context.order.options.ifExists == .replace {
            // A file that is replaced leaves its spelling, and by that the queue knows the files of this batch.
            let found = await disks.worker(.look, of: descriptor).run { [disk, directory = target.directory] in
                disk.entryName(point.name.bytes, in: directory.bytes)
            }
            guard attempt.phase == .finishing else { return }
            if let found { (last.name, replaces) = (RawPath(found), true) }
        }
        let publication = Publication(
            part: part, size: receipt.bytes, final: target.directory.appending(last.name),
            above: durableFolders.unsynced(above: target.directory), mayReplace: replaces, disk: disk)
        // Most names that are taken are seen before anybody is asked.
        if existing(publication.final, attempt.context.order.options, total: publication.size) != nil {
            return nameTaken(attempt, work, publication)
        }
        last.publishing = true
        record(last, attempt)
        // A pause or cancel that came first holds: whoever made it ends this attempt.
        let leave = await leave(attempt, publication)
        guard leave != .ended, attempt.phase == .finishing else { return }
        guard leave == .granted else { return fail(attempt, .nameIsGiven(publication.final)) }
        attempt.stage.beginPublishing()
        FaultPoint.publishing.pass()
        let outcome = await disks.worker(.name, of: descriptor).run { publication.rename() }
        // A cancel that came meanwhile counts if it did not get its name, and its bytes are to go.
        if case .published = outcome {} else { planSweep() }
        switch outcome {
        case .published:
            durableFolders.note(target.directory)
            complete(attempt, receipt, finalPath: publication.final)
        case .nameTaken: nameTaken(attempt, work, publication)
        case .notOurs, .absent:
            // Over a network the file system may ask twice, and hear of its own first try.
            if Publication.isDone(last, in: target.directory, on: disk) {
                return complete(attempt, receipt, finalPath: publication.final)
            }
            if case .absent(let absence) = outcome, let refusal = target.refusal(absence) {
                return refused(attempt, refusal)
            }
            await again(attempt, target, "somebody else has removed or replaced the temporary file")
        case .failed(let error): refused(attempt, target.refusal(error))
        }
    }

    private func record(_ point: GetResumePoint, _ attempt: Attempt) {
        queue.writer.record(
            .checkpoint(resumePoint: ResumePoint(point).encoded, accepted: attempt.progress.accepted),
            for: attempt.task.claim)
    }

    /// Asks the queue for leave to give the file its final name, which the queue then knows of. One that cannot write now is asked again.
    private func leave(_ attempt: Attempt, _ publication: Publication) async -> PublishingLeave {
        await durably(while: { attempt.phase == .finishing }) {
            try await queue.writer.leaveToPublish(attempt.task.claim, as: publication.final)
        } ?? .ended
    }

    /// The bytes are not those that were promised: they are of no use to a later attempt either. What was put together out of several answers
    /// is asked for once more, as a whole.
    private func discard(_ attempt: Attempt, _ work: DownloadWork) async {
        let target = work.target
        if work.isResumed { return await again(attempt, target, "the digest differs") }
        guard await removePart(of: attempt, target) else { return }
        queue.writer.record(
            .restarted(reason: "the digest differs", repeated: attempt.progress.accepted, identity: nil),
            for: attempt.task.claim
        )
        let name = target.directory.appending(work.point?.name ?? RawPath("")).displayed
        let isGiven = attempt.context.order.options.sha256 != nil
        let remedy =
            isGiven
            ? "check the address and --sha256, and queue it again if one is wrong"
            : "look at the file there, or queue it again with --verify size, which compares no digest"
        let what = "\(name) has another SHA-256 than \(isGiven ? "was given" : "its server told")"
        fail(attempt, TransferError(.integrity, what, .queued(remedy)))
    }

    /// Removes a temporary file that is of no use, and has the file fetched from its beginning after the pause of a failed attempt.
    private func again(_ attempt: Attempt, _ target: DownloadTarget, _ reason: String) async {
        guard await removePart(of: attempt, target) else { return }
        queue.writer.record(
            .restarted(reason: reason, repeated: attempt.progress.accepted, identity: nil), for: attempt.task.claim)
        let error = TransferError(.integrity, reason, .automatic("Martlet fetches the file once more"))
        wait(attempt, WaitDemand(.backoff, error))
    }

    /// Removes the temporary file at once, so that no later attempt opens it, and then makes that durable before the next one is recorded:
    /// nothing would know of this one if a power cut brought it back. Another file of that name stays. Returns false when a pause or cancel
    /// came meanwhile.
    private func removePart(of attempt: Attempt, _ target: DownloadTarget) async -> Bool {
        let phase = attempt.phase
        if let part = target.knownPart(nil), let descriptor = target.descriptor {
            _ = try? part.unlink(from: disk)
            await disks.worker(.name, of: descriptor).run { [disk] in try? disk.syncNames(in: part.directory.bytes) }
        }
        return attempt.phase == phase
    }

    private func nameTaken(_ attempt: Attempt, _ work: DownloadWork, _ publication: Publication) {
        let options = attempt.context.order.options
        guard let ending = existing(publication.final, options, total: publication.size) else {
            // A file system that does not replace what may be replaced.
            if publication.mayReplace, (try? System.lstat(publication.final.bytes)) != nil {
                return refused(attempt, work.target.refusal(.fileExists))
            }
            // It went again, or came a moment ago and may be replaced, unless it is this batch's own: the next attempt finds the whole
            // file in the temporary one, and asks for its name once more.
            let name = publication.final.lastComponent.displayed
            let error = TransferError(
                .destinationExists, "another file had the name \(name) a moment ago",
                .automatic("Martlet asks for the name again"))
            return wait(attempt, WaitDemand(.backoff, error))
        }
        close(attempt)
        conclude(attempt.task, ending, of: work.target, work.point)
    }
}
