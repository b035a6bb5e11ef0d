import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Notes remains that a killed engine may have left at servers without a record in the queue.
extension TransferEngine {
    /// Should there be no next attempt, who clears up has to know what may be there, too. Most protocols leave nothing that was not recorded
    /// before its first byte.
    func guessRemainsOfInterrupted() async throws {
        var destinations: [BatchID: RemotePlace] = [:]
        for scheme in ProtocolDescriptor.schemesToGuess {
            for remains in try await queue.writer.interruptedUploads(to: "\(scheme.rawValue)://") {
                let task = remains.task
                guard case .upload(_, let remote, let identity) = task.work else { continue }
                if destinations[task.batch] == nil, let order = try await queue.writer.order(of: task.batch) {
                    destinations[task.batch] = RemotePlace(
                        order.destination, query: order.destinationQuery, s3: order.options.s3)
                }
                guard let place = destinations[task.batch]?.appending(remote) else { continue }
                let job = GuessJob(
                    token: .task(task.uuid), size: identity.size, modifiedNanoseconds: identity.modifiedNanoseconds,
                    facts: facts(place, remains.origin))
                guard let guess = place.guess(job) else { continue }
                queue.writer.record(.guess(resumePoint: guess.encoded), for: task.claim)
            }
        }
        let downloads = try await queue.writer.interruptedDownloads().map(\.task)
        try await queue.writer.forgetInterrupted(besides: downloads.map(\.id))
        var folders: [RawPath: [ClaimedTask]] = [:]
        for task in downloads {
            if case .download(_, let directory, _) = task.work { folders[directory, default: []].append(task) }
        }
        for (directory, tasks) in folders { removeUnrecorded(tasks, in: directory) }
    }

    /// Takes away the empty files of downloads that a kill met between making them and recording them: should there be no next attempt, nothing
    /// would know of them. A folder that cannot be looked through now is looked through at the next start.
    private func removeUnrecorded(_ tasks: [ClaimedTask], in directory: RawPath) {
        inBackground { [self] in
            let marks = Set(tasks.map(\.partMark))
            // A folder of a server that is away may hold a thread up, but not the engine.
            let found = await disks.worker(.look, device: 0).run {
                DownloadTarget.unrecorded(marks, in: directory)
            }
            guard let found else { return }
            for task in tasks where attempts[task.id] == nil {
                // One that has begun and ended since has recorded its file, which is empty no more.
                for part in found[task.partMark] ?? [] { try? part.unlinkEmpty(from: disk) }
            }
            if !found.isEmpty {
                let failure = await disks.worker(.name, device: 0).run { [disk] in
                    Publication.syncNames(in: [directory], on: disk)
                }
                if failure != nil { return }
            }
            await durably { try await queue.writer.forgetInterrupted(tasks.map(\.claim)) }
        }
    }

    /// An attempt that leaves nothing has shown that a guess was wrong, or cleared it up.
    func forgetGuess(_ attempt: Attempt) {
        guard attempt.task.hasGuess, attempt.upload?.resumePoint == nil else { return }
        let task = attempt.task
        inBackground { [self] in
            await durably { try await queue.writer.forgetGuess(of: task.claim) }
        }
    }
}

extension ClaimedTask {
    var storedPoint: ResumePoint? { resumePoint.flatMap { ResumePoint(encoded: $0, secret: resumeSecret) } }

    /// Only a guess is there, for who clears up.
    var hasGuess: Bool { storedPoint?.isGuess == true }

    /// The resume point that an upload goes on from; `nil`: there is none, or a guess alone.
    var knownPoint: ResumePoint? { hasGuess ? nil : storedPoint }
}
