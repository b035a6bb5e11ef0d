import TransferModel
import TransferProtocols
import TransferQueue

/// Notes remains that a killed engine may have left at servers without a record in the queue.
extension TransferEngine {
    /// A small file over SFTP needs no resume point: its next attempt finds the temporary file by its name. Should there be no next attempt,
    /// who clears up has to know the name, too. Small files of other protocols leave nothing, or are known before their first byte.
    func noteInterrupted() async throws {
        var destinations: [BatchID: RemotePlace] = [:]
        var isNoted = false
        for remains in try await queue.writer.interruptedUploads(to: "sftp://") {
            let task = remains.task
            guard case .upload(_, let remote, let identity) = task.work, identity.size <= SFTPUpload.small else {
                continue
            }
            if destinations[task.batch] == nil, let order = try await queue.writer.order(of: task.batch) {
                destinations[task.batch] = RemotePlace(order.destination)
            }
            guard let place = destinations[task.batch]?.appending(remote), case .sftp(_, _, let path) = place.address,
                facts(place, remains.origin).cannotRename != true
            else { continue }
            let guess = SFTPResumePoint(
                guessedFor: path, token: .task(task.uuid), size: identity.size,
                modifiedNanoseconds: identity.modifiedNanoseconds)
            queue.writer.record(.guess(resumePoint: ResumePoint(guess).encoded), for: task.claim)
            isNoted = true
        }
        if isNoted { try await queue.writer.commit() }
    }

    /// An attempt that leaves nothing has shown that a guess was wrong, or cleared it up.
    func forgetGuess(_ attempt: Attempt) {
        guard attempt.task.hasGuess else { return }
        let task = attempt.task
        inBackground { [self] in
            await durably { try await queue.writer.forgetRemains(of: task.id, under: task.claim) }
        }
    }
}

extension ClaimedTask {
    private var storedPoint: ResumePoint? { resumePoint.flatMap { ResumePoint(encoded: $0, secret: resumeSecret) } }

    /// Only a guess is there, for who clears up.
    var hasGuess: Bool { storedPoint?.content(SFTPResumePoint.self)?.isGuess == true }

    /// The resume point that an upload goes on from; `nil`: there is none, or a guess alone.
    var knownPoint: ResumePoint? { hasGuess ? nil : storedPoint }
}
