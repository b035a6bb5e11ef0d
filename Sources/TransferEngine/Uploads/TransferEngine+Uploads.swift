import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// The local side of uploads: the source is opened, recognised, watched for changes.
extension TransferEngine {
    /// An attempt for an upload; `nil` when it is over before it began.
    func prepareUpload(
        _ task: ClaimedTask, _ context: BatchContext, _ origin: String, _ place: SourcePlace, _ remote: RawPath,
        _ recorded: SourceIdentity
    ) -> Attempt? {
        let local = place.path
        let source: SourceFile
        do throws(LocalRefusal) {
            if let destination = context.destination?.address,
                let error = type(of: destination).refusal(of: remote, for: local)
            {
                throw LocalRefusal(error: error)
            }
            source = try open(place, context)
        } catch {
            refused(task, error)
            return nil
        }
        // Bytes of an earlier attempt may lie under the final name, also when nothing goes on from them.
        let hasArrived = task.accepted > 0 && task.resumePoint != nil || task.knownPoint?.targetIsOther == true
        let task = fresh(task)
        var point = task.knownPoint
        var changes = point?.sourceChanges ?? 0
        // Such a point is of a version before the one that was recorded.
        let wasOutdated = point?.isOutdated == true
        let isOther = !source.isStill(recorded)
        if isOther {
            // Who retries a source that had changed wants what it is now; the rule is for what happens by itself.
            if !recorded.isOpen, !SourceChangeRule.beginsAgain(context.order.options.ifChanged, changes: changes) {
                refuse(task, .sourceChanged(local, times: changes + 1))
                return nil
            }
            changes = SourceChangeRule.count(
                after: changes, isOpen: recorded.isOpen, hasGoneOut: task.begunBefore != nil || task.accepted > 0)
            // A guess at what a killed engine has left of the earlier version still says what is to be removed.
            point = task.storedPoint ?? ResumePoint(StoredVersion(stored: false, etag: nil))
            point?.sourceChanges = changes
            // From here on the recorded identity is the new one: a kill before the machine's own point must not forget the change.
            point?.isOutdated = true
            record(
                restart: recorded.isOpen
                    ? "the source is taken as it is now" : "the source changed after it was queued",
                recorded.isOpen ? task.accepted : 0, of: task, keeping: point, identity: source.identity)
        }
        var subject = subject(task, context, local, remote, source, hasChanged: point?.isOutdated == true)
        subject.hasArrived = subject.hasArrived || hasArrived
        if isOther, !recorded.isOpen, !wasOutdated {
            subject.earlierVersion = NamedVersion(
                size: recorded.size, modified: recorded.modifiedNanoseconds / 1_000_000_000)
        }
        let facts = facts(context.destination, origin)
        source.hash(for: subject, facts)
        guard let machine = context.uploadMachine(subject, below: remote, facts: facts, resume: point)
        else {
            refuse(
                task, TransferError(.unsupported, "the destination's address is malformed", .queued("queue it again")))
            return nil
        }
        let work = UploadWork(subject, from: source, at: timeline.now)
        work.changes = changes
        work.resumePoint = point
        // The upload of an earlier version is not asked after any more.
        work.absence = point?.isOutdated == true ? nil : point?.absence
        work.ownVersion = point?.ownVersion
        work.leave(task.storedPoint?.left ?? [])
        let attempt = Attempt(
            .upload(work), of: task, context: context, origin: origin, machine: machine, at: timeline.nanoseconds)
        attempt.place = context.destination?.appending(remote)
        attempt.progress.begin(of: source.identity.size)
        // The bytes that are known to be there are another version's.
        if isOther { attempt.progress.beginAnother(of: source.identity.size) }
        return attempt
    }

    /// The task without what is forgotten of earlier attempts: of those that knew it, only how much had been accepted is left. Nothing goes on
    /// from a point that is outdated.
    private func fresh(_ task: ClaimedTask) -> ClaimedTask {
        let point = task.storedPoint
        let isForgotten = task.begunBefore == nil && task.resumePoint == nil
        guard task.accepted > 0, isForgotten || point?.isOutdated == true else { return task }
        record(
            restart: "nothing of the attempts before counts", task.accepted, of: task, keeping: point, isOther: true)
        var task = task
        task.accepted = 0
        if task.restarts < ProgressRule.versions { (task.furthest, task.progressStart) = (0, 0) }
        task.restarts += 1
        return task
    }

    /// Facts learnt about a place's server that still hold.
    func facts(_ place: RemotePlace?, _ origin: String) -> HostFacts {
        hosts.facts[place?.address.factsKey(origin) ?? origin]?.current(at: timeline.now) ?? HostFacts()
    }

    func open(_ place: SourcePlace, _ context: BatchContext) throws(LocalRefusal) -> SourceFile {
        try SourceFile(place, followsLinks: context.order.options.followLinks)
    }

    private func subject(
        _ task: ClaimedTask, _ context: BatchContext, _ local: RawPath, _ remote: RawPath, _ source: SourceFile,
        hasChanged: Bool
    ) -> UploadSubject {
        let options = context.order.options
        // A form goes to an address that is no file's; there the file has its own name.
        let own = options.form == nil ? context.fileName : local.lastComponent
        let name = remote.bytes.isEmpty ? own : remote.lastComponent
        var subject = UploadSubject(
            name: name, size: source.identity.size, modifiedNanoseconds: source.identity.modifiedNanoseconds,
            ifExists: options.ifExists, verify: options.verify, begunBefore: task.begunBefore,
            token: .task(task.uuid), hasChanged: hasChanged, unanswered: cut(task),
            isLastOfBatch: isLast(of: context))
        subject.hasArrived = task.accepted > 0 || subject.unanswered != nil
        subject.confirmed = task.accepted
        subject.targetIsOther = task.knownPoint?.targetIsOther == true
        subject.firstGeneration = ResumePoint.nextGeneration(after: task.storedPoint?.left ?? [])
        subject.clockWasSetBack = task.clockWasSetBack || task.setBacks != timeline.setBacks
        return subject
    }

    /// The bytes that a broken-off attempt had sent and nobody has confirmed; `nil`: none.
    private func cut(_ task: ClaimedTask) -> UploadCut? {
        guard let sent = accounting.unconfirmed.sent(of: task.id), sent > task.accepted else { return nil }
        return UploadCut(offset: task.accepted, sent: sent - task.accepted)
    }

    /// Returns true when nothing of a batch over SFTP waits for a slot any more, as far as the queue has told; else false.
    private func isLast(of context: BatchContext) -> Bool {
        guard case .sftp? = context.destination?.route else { return false }
        return lanes.all.allSatisfy { lane in
            lane.summary.batch != context.order.batch || Int64(lane.ready) + lane.unclaimed == 0
        }
    }

    /// Begins an upload once the source's time of modification tells every change that follows.
    func beginUpload(_ attempt: Attempt, _ work: UploadWork) {
        guard let source = work.source, let pause = source.unsettled(at: platform.wallNanoseconds) else {
            return feed(attempt, .began(at: timeline.now))
        }
        inBackground { [self] in
            await self.sleep(for: .nanoseconds(pause))
            guard work.source === source, attempt.phase == .running else { return }
            if source.hasSettled { return feed(attempt, .began(at: timeline.now)) }
            sourceChanged(attempt, stored: nil)
        }
    }

    /// The one place where an upload ends as done: the protocol has a proof, the source is still the one that it was given, and the digest was
    /// compared where that was asked for. What a rule leaves out claims nothing about its bytes.
    func finishUpload(_ attempt: Attempt, _ receipt: Receipt) {
        guard receipt.proof != nil else {
            return fail(attempt, .bug("nothing proves that the file is there"))
        }
        if !receipt.skipped, attempt.upload?.source?.change != nil {
            return sourceChanged(attempt, stored: receipt.isOurs ? receipt : nil)
        }
        if receipt.fallsShort(of: attempt.upload?.subject.verify) {
            let server = TransferScheme.server(of: attempt.origin)
            return fail(attempt, .unverifiable(at: server, "has the file, but told no digest of it that was compared"))
        }
        complete(attempt, receipt, finalPath: nil)
    }

    /// Before a file gets its name. When the source changed the file begins again, and nothing of what was to follow is done.
    /// - Parameter unasked: the point without the intent of the request that was to follow.
    func compareSource(_ attempt: Attempt, keeping unasked: ResumePoint?) {
        guard attempt.upload?.source?.change != nil else { return }
        _ = attempt.run.takeUnasked()
        // Whatever rule decides next, also after a failure: nobody is to wait for what was never asked.
        if let unasked { persist(unasked, attempt, waits: false) }
        sourceChanged(attempt, stored: nil)
    }

    /// The source is not the file any more that was being sent: it begins again with the new one, in the same slot, or ends.
    /// - Parameter stored: what the server has taken of the old one, if it has.
    func sourceChanged(_ attempt: Attempt, stored: Receipt?) {
        guard case .upload(let work) = attempt.job, case .upload(let place, let remote, _) = attempt.task.work
        else { return }
        let local = place.path
        abandonAll(of: attempt)
        guard SourceChangeRule.beginsAgain(attempt.context.order.options.ifChanged, changes: work.changes)
        else { return failChanged(attempt, work, local, stored) }
        // What was made is made: a person decides whether it is to be made again.
        if stored != nil, work.resumePoint?.afterCut == .isUnknown {
            return fail(attempt, .sourceChanged(local, times: work.changes + 1))
        }
        let source: SourceFile
        do throws(LocalRefusal) {
            source = try open(place, attempt.context)
        } catch {
            return refused(attempt, error)
        }
        // What this version has left under a name of its own is known until the next one has taken it away.
        let left = adoptRemains(attempt)
        let used = work.left + attempt.machine.unremoved + [work.resumePoint].compactMap(\.self)
        work.changes += 1
        if let stored { work.ownVersion = StoredVersion(stored, of: work.subject) }
        var point = work.resumePoint ?? work.outdatedPoint
        // A point that names what lies there, or what a POST may have made, is not lost.
        let isKept = work.resumePoint.map { $0.leavesParts || $0.afterCut == .isUnknown } ?? false
        if stored != nil || left == nil && !isKept && work.outdatedPoint == nil {
            point = ResumePoint(work.ownVersion ?? StoredVersion(stored: false, etag: nil))
        }
        work.leave(attempt.machine.unremoved)
        point?.leave(work.left)
        point?.ownVersion = work.ownVersion
        let targetIsOther = work.subject.targetIsOther && stored == nil
        point?.targetIsOther = targetIsOther
        point?.sourceChanges = work.changes
        point?.isOutdated = true
        record(
            restart: "the source changed while it was sent", attempt.progress.position, of: attempt.task,
            keeping: point,
            identity: source.identity)
        work.resumePoint = point
        work.outdatedPoint = nil
        let hasArrived = attempt.progress.position > 0 || attempt.progress.accepted > 0 || work.subject.hasArrived
        attempt.progress.beginAnother(of: source.identity.size)
        work.beginAnew()
        work.source = source
        var subject = subject(attempt.task, attempt.context, local, remote, source, hasChanged: true)
        // The task's own numbers are those of the attempts before.
        subject.hasArrived = hasArrived
        // The broken-off request may have left something under the final name.
        if stored == nil, attempt.exchanges.hasReachedServer { subject.begunBefore = subject.begunBefore ?? work.begun }
        subject.targetIsOther = targetIsOther
        subject.earlierVersion = work.subject.earlierVersion ?? NamedVersion(work.subject)
        subject.hasJustStored = stored != nil
        subject.firstGeneration = ResumePoint.nextGeneration(after: used)
        work.subject = subject
        let facts = facts(attempt.place, attempt.origin)
        source.hash(for: subject, facts)
        guard let machine = attempt.context.uploadMachine(subject, below: remote, facts: facts, resume: point)
        else {
            return fail(attempt, .bug("the destination has no address"))
        }
        attempt.run.begin(machine)
        beginUpload(attempt, work)
    }

    /// Ends it; a retry puts the file in the place of what the server has taken of it.
    private func failChanged(_ attempt: Attempt, _ work: UploadWork, _ local: RawPath, _ stored: Receipt?) {
        let stored = work.resumePoint?.afterCut == .isUnknown ? nil : stored
        let own = stored.map { StoredVersion($0, of: work.subject) } ?? work.ownVersion
        let server = stored == nil ? nil : TransferScheme.server(of: attempt.origin)
        fail(attempt, .sourceChanged(local, times: work.changes + 1, leftAt: server)) {
            guard let own else { return nil }
            var point = stored == nil ? work.resumePoint ?? ResumePoint(own) : ResumePoint(own)
            point.ownVersion = own
            point.isOutdated = true
            point.leave(work.left)
            let accepted = stored?.bytes ?? attempt.progress.accepted
            return RetryPoint(resumePoint: point.encoded, accepted: accepted, secret: point.secret)
        }
    }

    /// The server took the file and has other bytes: whoever retries that has it sent again, and nothing there passes for it. What we
    /// have left there is replaced where its tag tells it from another one's file.
    func differ(_ attempt: Attempt, _ receipt: Receipt, _ error: TransferError) {
        fail(attempt, error) {
            var point = LastLookVerdict.otherLiesThere
            if let etag = receipt.etag {
                let own = StoredVersion(stored: true, etag: etag)
                point = ResumePoint(own)
                (point.ownVersion, point.isOutdated) = (own, true)
            }
            point.leave(attempt.upload?.left ?? [])
            return RetryPoint(resumePoint: point.encoded, accepted: receipt.bytes)
        }
    }

    func sourceError(_ attempt: Attempt, _ error: Errno) -> TransferError {
        guard case .upload(let place, _, _) = attempt.task.work else {
            return .bug("a download without a source")
        }
        return .source(place, error)
    }

    /// A second descriptor of an upload's source, for another thread; `nil`: the attempt is over without one.
    private func duplicate(_ attempt: Attempt) -> OwnedDescriptor? {
        guard let source = source(of: attempt), case .upload(let place, _, _) = attempt.task.work else { return nil }
        do throws(Errno) {
            return try source.duplicate()
        } catch {
            refused(attempt, .source(place, error))
            return nil
        }
    }

    /// Hashes a range of the source on another thread, while the rest of the attempt goes on.
    func digest(_ range: Range<Int64>, _ algorithms: [String], of attempt: Attempt) {
        guard case .upload(let work) = attempt.job else { return }
        if let bytes = work.source?.bytes, let digests = RangeDigest.digests(of: range, algorithms, in: bytes) {
            return feed(attempt, .rangeDigested(range, digests))
        }
        digest(range, algorithms, of: attempt, work) { .rangeDigested(range, $0) }
    }

    /// Hashes the whole source, on another thread unless that was done while it was sent.
    func digestSource(_ attempt: Attempt) {
        guard case .upload(let work) = attempt.job, let source = source(of: attempt) else { return }
        if let digest = source.digest { return feed(attempt, .digested(digest)) }
        digest(0..<source.identity.size, ["sha-256"], of: attempt, work) { .digested($0[0]) }
    }

    private func digest(
        _ range: Range<Int64>, _ algorithms: [String], of attempt: Attempt, _ work: UploadWork,
        then event: @escaping ([TransferDigest]) -> ProtocolEvent
    ) {
        guard let source = source(of: attempt), let duplicate = duplicate(attempt) else { return }
        inBackground { [self] in
            let result: Result<[TransferDigest]?, Errno>
            do throws(Errno) {
                result = .success(
                    try await disks.digests(of: range, algorithms, in: duplicate) { work.source === source })
            } catch {
                result = .failure(error)
            }
            guard work.source === source else { return }
            switch result {
            case .success(let digests?): feed(attempt, event(digests))
            // The file has become shorter.
            case .success(nil): sourceChanged(attempt, stored: nil)
            case .failure(let error): fail(attempt, sourceError(attempt, error))
            }
        }
    }
}

extension TransferEngine {
    /// Its server may have said so before the first byte was sent.
    func hashFromNowOn(_ attempt: Attempt) {
        guard case .upload(let work) = attempt.job, let source = work.source, source.hash == nil else { return }
        source.hash(for: work.subject, facts(attempt.place, attempt.origin))
    }
}

extension SourceFile {
    /// Digests the file while it is sent when its digest will be wanted at the end. To a server that has told none so far it goes without:
    /// the first such file is read again.
    fileprivate func hash(for subject: UploadSubject, _ facts: HostFacts) {
        if subject.verify.comparesDigests, facts.tellsDigests == true { hash = SourceHash() }
    }
}

extension TransferError {
    /// - Parameter leftAt: the server that has taken all that was sent of it.
    static func sourceChanged(_ path: RawPath, times: Int, leftAt server: String? = nil) -> TransferError {
        let often = times > 1 ? " \(times) times" : ""
        if let server {
            return TransferError(
                .sourceChanged, of: path,
                "changed\(often) while it was sent, and what lies at \(server) is not a faithful copy of it",
                .retry("do not rely on that; it is replaced by a retry when nobody writes to the source any more"))
        }
        return TransferError(
            .sourceChanged, of: path, "changed\(often) before all of it was sent",
            .retry("retry when nobody writes to it any more"))
    }
}
