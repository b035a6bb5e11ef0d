import FoundationEssentials
import SQLiteConnection
import TransferModel

/// A fact that the engine recorded, with its time.
struct RecordedFact: Sendable {
    let claim: TaskClaim
    let change: TaskFact
    let time: Timestamp

    var task: TaskID { claim.task }
}

extension TaskClaim {
    /// A claim that stands for whichever holds the task. For tests.
    static func anyone(_ task: TaskID) -> TaskClaim { TaskClaim(task: task, generation: -1) }

    /// Returns true when a fact under this claim counts for a row.
    func holds(_ row: TaskRow) -> Bool { generation == row.generation || generation == -1 }
}

/// Applies the facts that the engine learned about running tasks.
struct FactStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let attempts: AttemptStore
    let references: SecretReferences
    let looks: LastLookStore

    /// Applies facts in their order. A fact that a later one of the same task makes pointless is left out: a task that
    /// begins and ends between two commits is written once.
    func apply(_ facts: [RecordedFact]) throws {
        var settled: Set<TaskClaim> = []
        var checkpointed: Set<TaskClaim> = []
        var sent: Set<TaskClaim> = []
        var kept: [RecordedFact] = []
        for fact in facts.reversed() {
            switch fact.change {
            case .running, .finishing:
                if settled.contains(fact.claim) { noteStart(fact) } else { kept.append(fact) }
            case .checkpoint(let resumePoint, _, _):
                if settled.contains(fact.claim) || checkpointed.contains(fact.claim) { continue }
                if resumePoint != nil { checkpointed.insert(fact.claim) }
                kept.append(fact)
            case .sent:
                if !settled.contains(fact.claim), sent.insert(fact.claim).inserted { kept.append(fact) }
            case .completed:
                settled.insert(fact.claim)
                kept.append(fact)
            default: kept.append(fact)
            }
        }
        for fact in kept.reversed() { try apply(fact) }
    }

    private func noteStart(_ fact: RecordedFact) {
        if case .running = fact.change { queue.notes.starts[fact.task] = fact.time }
    }

    /// Facts of tasks that were cancelled, paused or purged meanwhile are dropped where they no longer matter: the
    /// engine learns of such changes a little later than the queue. What is reported under a superseded claim never matters.
    private func apply(_ fact: RecordedFact) throws {
        guard let old = try tasks.task(fact.task), fact.claim.holds(old) else { return }
        var row = old
        switch fact.change {
        case .running:
            queue.notes.starts[fact.task] = fact.time
            guard row.claimed, row.state == .queued else { return }
            row.state = .running
            return try tasks.save(row, was: old)
        case .finishing:
            guard row.claimed, !row.state.isTerminal else { return }
            row.state = .finishing
            return try tasks.save(row, was: old)
        case .sizeKnown(let size):
            guard row.state != .completed else { return }
            row.size = FileSize.told(size)
            return try tasks.save(row, was: old)
        case .completed(let completion) where !row.flags.contains(.details) && completion.isPlain:
            // The common case: one row, one event.
            guard !row.state.isTerminal else { return }
            return try complete(&row, was: old, completion, at: fact.time)
        default: break
        }
        let oldDetails = try tasks.details(row)
        var details = oldDetails
        try apply(fact, &row, &details)
        try tasks.save(&row, was: old, details, was: oldDetails)
    }

    /// A task that is over keeps what is learnt late of it, and has no event behind its end.
    private func apply(_ fact: RecordedFact, _ row: inout TaskRow, _ details: inout TaskDetails) throws {
        switch fact.change {
        case .running, .finishing, .sizeKnown: break
        case .checkpoint(let resumePoint, let accepted, let secret):
            // Also of a task that was just paused or cancelled: how far it had come counts when it goes on.
            try keep(resumePoint, accepted, secret, of: &row, &details, at: fact.time)
        case .guess(let resumePoint):
            guard details.resumePoint == nil, row.state != .completed else { return }
            details.resumePoint = resumePoint
            row.flags.insert(.guessed)
        case .sent(let bytes, let kept):
            // Bytes sent before a pause or a cancel count, as a checkpoint does, though the claim has ended by then.
            guard kept ? row.state != .completed : row.claimed && row.state.isActive else { return }
            details.atRisk = kept ? 0 : bytes
            if kept { details.unconfirmed = bytes > row.accepted ? bytes : 0 }
        case .resumedAtOffset(let offset, let repeated):
            guard row.state != .completed else { return }
            if offset > 0 { queue.notes.inDoubt.remove(row.id) }
            try reach(offset, of: &row, &details, at: fact.time)
            details.unconfirmed = 0
            ByteSum.add(repeated, to: &details.repeated)
            details.resumedFrom = details.resumedFrom.suffix(99) + [offset]
            guard details.tellsAttempts, !row.state.isTerminal else { return }
            var payload = EventPayload()
            payload.offset = offset
            try queue.appendEvent(.resumedAtOffset, batch: row.batch, task: row.id, payload: payload, at: fact.time)
        case .restarted(let reason, let repeated, let identity, let isOther, let resumePoint, let secret):
            guard row.state != .completed else { return }
            // The end of the attempt before has told it, where the bytes were lost.
            let isTold =
                identity == nil && details.restarts > 0 && repeated == 0 && row.accepted == 0 && details.atRisk == 0
                && details.unconfirmed == 0
            if isTold {
                try references.dropResumePoint(&details, of: row)
            } else {
                try attempts.restart(
                    &row, &details, reason: reason, repeated: repeated, identity: identity, isOther: isOther,
                    at: fact.time)
            }
            guard let resumePoint else { return }
            details.resumePoint = resumePoint
            row.flags.remove(.guessed)
            if let secret { try references.keep(secret, &details, of: row) }
        case .forgotten:
            guard row.state != .completed else { return }
            details.forgetReach(of: &row)
            details.atRisk = 0
            details.unconfirmed = 0
            try references.dropResumePoint(&details, of: row)
        case .untouched:
            // A person's stop has ended the claim, and is recorded first.
            if queue.notes.freshStops.remove(fact.claim) != nil || queue.notes.freshClaims.contains(row.id) {
                details.forgetReach(of: &row)
            }
        case .waiting(let reasons, let retryAt, let error):
            try wait(&row, &details, reasons, retryAt: retryAt, error: error, at: fact.time)
        case .requeued:
            guard row.claimed, try !attempts.endsCancelled(&row, &details, at: fact.time) else { return }
            try attempts.endAttempt(row, &details, .requeued, error: nil, at: fact.time)
            row.claimed = false
            row.state = try attempts.isPausedWhilePublishing(row) ? .paused : .queued
        case .completed(let completion):
            guard !row.state.isTerminal else { return }
            // Two files of a batch may find one name at the same moment: the file that is left there is left for one of them.
            if completion.skipped, let path = completion.finalPath, try tasks.hasNamesake(row, at: path) {
                return try attempts.fail(&row, &details, .nameIsGiven(path), at: fact.time)
            }
            try complete(&row, &details, completion, at: fact.time)
        case .failed(let error, let retry):
            if !row.state.isTerminal { try attempts.fail(&row, &details, error, at: fact.time) }
            guard let retry else { return }
            try keep(retry.resumePoint, retry.accepted, retry.secret, of: &row, &details, at: fact.time)
        case .response(let response):
            details.response = try StoredJSON.text(response)
            if row.state.isTerminal { return }
            var payload = EventPayload()
            payload.status = response.status
            try queue.appendEvent(.responseReceived, batch: row.batch, task: row.id, payload: payload, at: fact.time)
        }
    }

    /// Stores a checkpoint: position, resume point and secret.
    private func keep(
        _ resumePoint: [UInt8]?, _ accepted: Int64, _ secret: String?, of row: inout TaskRow,
        _ details: inout TaskDetails, at time: Timestamp
    ) throws {
        guard row.state != .completed else { return }
        try reach(min(accepted, FileSize.largest), of: &row, &details, at: time)
        if accepted >= details.unconfirmed { details.unconfirmed = 0 }
        if let resumePoint {
            details.resumePoint = resumePoint
            row.flags.remove(.guessed)
        }
        if let secret { try references.keep(secret, &details, of: row) }
    }

    /// Notes how far a file is confirmed now. Resets the count of failures and the time of waiting without progress when enough bytes are
    /// confirmed that never were before: a server that loses each file, and takes it again, makes no progress (`ProgressRule`).
    private func reach(_ bytes: Int64, of row: inout TaskRow, _ details: inout TaskDetails, at time: Timestamp) throws {
        let furthest = details.counted(with: row.accepted)
        let start = try attempts.progressStart(row.id, details, accepted: row.accepted)
        let isInDoubt = ProgressRule.isInDoubt(restarts: Int(details.restarts))
        // Going back and coming again is no progress either.
        if bytes < row.accepted, !isInDoubt { details.furthest = furthest }
        row.accepted = bytes
        guard !queue.notes.inDoubt.contains(row.id) else { return }
        guard bytes > furthest, details.failures == 0 || ProgressRule.isWorthwhile(bytes - start, of: row.size) else {
            return
        }
        if isInDoubt { details.furthest = bytes }
        details.failures = 0
        details.patienceSince = time.milliseconds
        if details.tellsAttempts { details.said = nil }
    }

    // MARK: Ends

    private func complete(_ row: inout TaskRow, was old: TaskRow, _ completion: Completion, at time: Timestamp) throws {
        setCompleted(&row, completion, at: time)
        try looks.note(etag: completion.etag, of: row)
        try queue.appendCompletion(of: row, at: time)
        try tasks.save(row, was: old)
    }

    private func complete(
        _ row: inout TaskRow, _ details: inout TaskDetails, _ completion: Completion, at time: Timestamp
    ) throws {
        setCompleted(&row, completion, at: time)
        try looks.note(etag: completion.etag, of: row)
        details.clearWait()
        details.atRisk = 0
        details.unconfirmed = 0
        try references.dropResumePoint(&details, of: row)
        details.resumePoint = completion.left
        details.cause = nil
        details.error = nil
        details.digest = try completion.digest.map { try StoredJSON.text($0) }
        details.finalPath = completion.finalPath?.bytes
        try queue.appendCompletion(of: row, at: time)
    }

    private func setCompleted(_ row: inout TaskRow, _ completion: Completion, at time: Timestamp) {
        queue.notes.starts[row.id] = nil
        row.state = .completed
        row.claimed = false
        row.size = completion.size
        row.accepted = completion.skipped ? 0 : completion.size
        row.flags.verification = completion.verified
        row.flags.answered = completion.answered
        if completion.skipped { row.flags.insert(.skipped) }
        if completion.spared { row.flags.insert(.spared) }
        row.finishedAt = time.milliseconds
        queue.notes.completedFolders.insert(row.folder)
    }

    // MARK: Between

    private func wait(
        _ row: inout TaskRow, _ details: inout TaskDetails, _ reasons: WaitReasons, retryAt: Timestamp?,
        error: TransferError?, at time: Timestamp
    ) throws {
        guard row.claimed, try !attempts.endsCancelled(&row, &details, at: time) else { return }
        try attempts.endAttempt(row, &details, .waiting, error: error, at: time)
        if error != nil { details.failures += 1 }
        row.claimed = false
        row.state = try attempts.isPausedWhilePublishing(row) ? .paused : .waiting
        // A task that waits always says for what.
        details.wait = reasons.isEmpty ? WaitReasons(.backoff) : reasons
        details.waitSince = time.milliseconds
        details.retryAt = retryAt?.milliseconds
        details.cause = error?.code
        details.error = try error.map { try StoredJSON.text($0) }
        // Told again only when it is news: a host that is down for days would fill the log with one sentence.
        let news = Int64(details.wait.rawValue) << 16 | (error.map { $0.code.stored + 1 } ?? 0)
        if details.said == news { return }
        let isFirst = details.said == nil
        details.said = news
        guard isFirst || details.tellsAttempts else { return }
        var payload = EventPayload()
        payload.waitReasons = details.wait.reasons
        payload.retryAt = retryAt
        payload.error = error
        try queue.appendEvent(.waiting, batch: row.batch, task: row.id, payload: payload, at: time)
    }
}

extension Completion {
    /// True when the task's own row can hold all of it.
    var isPlain: Bool { digest == nil && finalPath == nil && left == nil }
}
