import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
package import TransferQueue

/// Removes what unfinished uploads have left at servers, and downloads here: when a cancel or purge cannot be taken back any more,
/// or when a person says so.
extension TransferEngine {
    /// The grace time of a cancel, and a little more.
    var grace: Duration { settings.grace + .milliseconds(500) }
    /// A server that could not be asked is asked again after this.
    private var pauseAfterFailure: Duration { owesRemovals ? .seconds(300) : .seconds(3600) }

    /// Looks for the remains of cancelled uploads after some time; the earliest that is planned stays.
    func planSweep(after chosen: Duration? = nil) {
        let delay = chosen ?? grace
        guard phase == .running else { return }
        // Something new: its server may be there, whatever others are away.
        if chosen == nil { timers.owesSince = timeline.clock.now }
        let due = timeline.clock.now.advanced(by: delay)
        if let planned = timers.sweep {
            if planned.due <= due { return }
            timeline.clock.cancel(planned.timer)
        }
        timers.owesSince = timers.owesSince ?? timeline.clock.now
        let timer = timeline.clock.schedule(after: delay) { [self] in
            timers.sweep = nil
            inBackground { [self] in await durably(.sweep) { try await sweep() } }
        }
        timers.sweep = (timer, due)
    }

    /// True while something is to be removed. After a day in which nobody could it is left for the next start, and for `leftovers`.
    package var owesRemovals: Bool {
        guard let since = timers.owesSince else { return false }
        return since.duration(to: timeline.clock.now) < .seconds(86_400)
    }

    /// Takes away what is due.
    func sweep() async throws {
        removals.beginSweep()
        // Files at this machine wait for no server.
        let times = [
            try await sweep(.download, in: .cancelled), try await sweepPurged(),
            try await sweep(.upload, in: .cancelled), try await sweep(.upload, in: .completed),
        ]
        try await forgetIdleHosts()
        guard phase == .running else { return }
        guard let next = times.compactMap(\.self).min() else {
            // Unless more is due since.
            if timers.sweep == nil { timers.owesSince = nil }
            return
        }
        planSweep(after: next + .milliseconds(1))
    }

    /// Facts of a host that nothing has been sent to for so long are learnt anew: else they would be kept of every host there ever was.
    private static let lifeOfHosts = Duration.seconds(30 * 86_400)

    private func forgetIdleHosts() async throws {
        let page = 500
        while phase == .running {
            let forgotten = try await queue.writer.forgetHosts(
                learntBefore: timeline.now.advanced(by: .zero - Self.lifeOfHosts), limit: page)
            for origin in forgotten { hosts.facts[origin] = nil }
            if forgotten.count < page { return }
        }
    }

    /// - Returns: when there is something to do again.
    private func sweep(_ direction: TransferDirection, in state: TransferState) async throws -> Duration? {
        var last = TaskID(rawValue: 0)
        var next: Duration?
        let ends = try await queue.writer.endsOfCancels(now: timeline.now)
        while phase == .running {
            let page = try await queue.writer.remains(of: direction, in: [state], after: last, limit: 100)
            guard let end = page.last?.task.id else { break }
            last = end
            for remains in page {
                let age = remains.finishedAt.map { timeline.now.since($0) } ?? grace
                if age < grace {
                    next = min(next ?? grace, grace - age)
                } else if let end = ends[remains.task.batch], end > timeline.now {
                    next = min(next ?? grace, end.since(timeline.now))
                } else if await mustTryAgain(remains, for: .cleanup) {
                    next = next ?? pauseAfterFailure
                }
                guard phase == .running else { return nil }
            }
        }
        return next
    }

    /// Ends the purges that nobody can take back any more: first what was left, then what is known of it.
    /// - Returns: when there is something to do again.
    private func sweepPurged() async throws -> Duration? {
        var last = TaskID(rawValue: 0)
        var next: Duration?
        while phase == .running {
            let page = try await queue.writer.purgedRemains(now: timeline.now, after: last)
            guard let end = page.last?.task.id else { break }
            last = end
            for remains in page {
                if await mustTryAgain(remains, for: .purge) { next = pauseAfterFailure }
                guard phase == .running else { return nil }
            }
        }
        guard phase == .running, let due = try await queue.writer.forgetPurged(now: timeline.now) else { return next }
        let wait = max(.milliseconds(1), due.since(timeline.now))
        return min(next ?? wait, wait)
    }

    /// Takes something away. One that the queue cannot read or note holds up no other.
    /// - Returns: true when it is to be tried again later. What only a person can mend is left for `leftovers`, and for the next start.
    private func mustTryAgain(_ remains: Remains, for purpose: RemovalPurpose) async -> Bool {
        let isHere = if case .download = remains.task.work { true } else { false }
        if !isHere, !removals.takes(remains.task.id, at: remains.origin) { return true }
        do {
            let error = try await takeAway(remains, for: purpose)
            if error?.isOfLine == true { removals.couldNotAsk(remains.origin, for: remains.task.id) }
            return error?.isRetryable ?? false
        } catch {
            report(.error, "the queue did not take a change: \(error)", task: remains.task.id)
            return true
        }
    }

    package func remove(_ remains: Remains, for purpose: RemovalPurpose) async -> TransferError? {
        do {
            return try await takeAway(remains, for: purpose)
        } catch {
            return TransferError(.internal, "the queue did not take a change (\(error))", .retry())
        }
    }

    /// As `remove`; throws what the queue refuses.
    private func takeAway(_ remains: Remains, for purpose: RemovalPurpose) async throws -> TransferError? {
        let task = remains.task
        guard phase == .running else { return .stoppedLooking }
        guard remains.isThere else {
            // Nobody has to be asked, nor let in.
            if purpose == .purge { try await queue.writer.forget(remains) }
            return nil
        }
        if let look = sideJobs.look(of: task.id) { endSideJob(look, nil) }
        if case .download(_, let directory, _) = task.work {
            return try await removePart(remains, in: directory, for: purpose)
        }
        guard case .upload(_, let remote, _) = task.work, let stored = task.resumePoint else { return nil }
        guard attempts[task.id] == nil, sideJobs.beginRemoval(of: task.id) else { return .takenBack }
        defer { sideJobs.endRemoval(of: task.id) }
        guard let point = ResumePoint(encoded: stored, secret: task.resumeSecret) else { return .unreadableRemains }
        guard let context = try await contextForRemoval(of: task.batch) else { return .unreadableRemains }
        // A password command takes its time: meanwhile a person may have taken the cancel back.
        guard phase == .running else { return .stoppedLooking }
        guard attempts[task.id] == nil else { return .takenBack }
        if let error = context.credentials.failure { return error }
        if let refusal = credentials.refusal(context, remains.origin) { return refusal.error }
        let place = context.destination?.appending(remote)
        let machines = ([point] + point.left).compactMap { point in
            place.flatMap { $0.removal(of: point, facts: facts($0, remains.origin)) }
        }
        if let place, !machines.isEmpty {
            // Whoever takes the cancel back begins anew under another name: what is removed now may be gone a little later.
            var leaving = point.disclaimed
            leaving.isOutdated = true
            guard try await queue.writer.leaveToRemove(remains, resumePoint: leaving.encoded) else { return .takenBack }
            guard phase == .running else {
                // Nobody has been there.
                _ = try await queue.writer.leaveToRemove(remains, resumePoint: stored)
                return .stoppedLooking
            }
            var hasReachedServer = false
            for machine in machines {
                guard attempts[task.id] == nil else { return .takenBack }
                let attempt = Attempt(
                    .removal, of: task, context: context, origin: remains.origin, machine: machine,
                    at: timeline.nanoseconds)
                attempt.place = place
                let error = await run(attempt)
                hasReachedServer = hasReachedServer || attempt.exchanges.hasReachedServer
                guard let error else { continue }
                if !hasReachedServer, attempts[task.id] == nil {
                    // Nobody has been there: it may be gone on with as before.
                    _ = try await queue.writer.leaveToRemove(remains, resumePoint: stored)
                }
                report(.info, "what is left at the server stays there: \(error.message)", task: task.id)
                return error
            }
            report(.info, "what was left at the server is gone", task: task.id)
        } else if purpose == .cleanup {
            return .unreadableRemains
        }
        // A person may have taken the cancel back meanwhile: then it begins anew by itself.
        if attempts[task.id] == nil {
            try await queue.writer.forget(remains, keeping: purpose == .purge ? nil : remains.knowledge)
        }
        return nil
    }

    /// Removes a download's temporary file.
    private func removePart(
        _ remains: Remains, in directory: RawPath, for purpose: RemovalPurpose
    ) async throws -> TransferError? {
        let task = remains.task
        guard let stored = task.resumePoint, try await queue.writer.leaveToRemove(remains, resumePoint: stored),
            attempts[task.id] == nil
        else { return .takenBack }
        do {
            let point = task.resumePoint.flatMap { ResumePoint(encoded: $0) }?.content(GetResumePoint.self)
            if let part = point.flatMap({ KnownPart($0, in: directory) }) {
                if try !part.unlink(from: disk) {
                    switch part.absence(on: disk) {
                    case .gone: break
                    // Nothing else could end a purge of it: nobody can bring back a folder that was removed.
                    case .otherFolder where purpose != .cleanup: break
                    case .otherFolder, .folderAway: return .partOutOfReach(directory)
                    }
                }
                // Before nothing knows of it: a power cut can bring a name back that was just taken away.
                let device = (try? System.stat(directory.bytes))?.device ?? 0
                let failure = await disks.worker(.name, device: device).run { [disk] in
                    Publication.syncNames(in: [directory], on: disk)
                }
                if let failure { throw failure }
            }
        } catch let error as Errno {
            report(.warning, "the beginning of a download that is not wanted any more stays: \(error)", task: task.id)
            return TransferError(
                .internal, "its temporary file cannot be removed (\(error))", .step("remove it by hand"))
        }
        // A person may have taken the cancel back meanwhile: then it begins anew by itself.
        if attempts[task.id] == nil { try await queue.writer.forget(remains) }
        return nil
    }
}

extension TransferError {
    /// Nobody knows any more what is left, or whose it was.
    static var unreadableRemains: TransferError {
        TransferError(.unsupported, "what is recorded of the upload cannot be read here", .step("look at the server"))
    }

    /// The server could not be asked: the next question would end so, too.
    fileprivate var isOfLine: Bool {
        [.timedOut, .cannotConnectToHost, .cannotFindHost, .networkConnectionLost, .notConnectedToInternet].contains(
            code)
    }

    /// The error when a download's temporary file lies in a folder that is not there now.
    static func partOutOfReach(_ folder: RawPath) -> TransferError {
        TransferError(
            .destinationUnwritable, of: folder, "is not there now, and the beginning of the file was in it",
            .step("bring it back"))
    }

    /// The error of a removal that ends early.
    package static var takenBack: TransferError {
        TransferError(
            .cancelledByUser, "the upload goes on, or its remains are being taken away already",
            .step("look again later"))
    }
}

/// The reason for which remains are taken away.
package enum RemovalPurpose: Sendable {
    /// The task stays, and may be retried: what is known of the final name is kept (`ResumePoint.withoutParts`).
    case cleanup
    /// The task is forgotten by the queue's next change, unless that is refused: until then the same is kept.
    case purgeOfTask
    /// The task's batch was purged, and nobody can take that back any more.
    case purge
}

extension Remains {
    /// The resume point that is kept when the parts are gone.
    package var knowledge: [UInt8]? {
        guard case .upload = task.work, state != .completed else { return nil }
        return task.storedPoint?.withoutParts?.encoded
    }

    /// By which it was sent; `nil`: nothing of it is at a server.
    package var protocolName: String? {
        let point = task.resumePoint.flatMap { ResumePoint(encoded: $0) }
        return point.flatMap { point in ([point] + point.left).first(where: \.leavesParts)?.kind }
    }
}
