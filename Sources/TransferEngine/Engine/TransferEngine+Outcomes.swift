import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations
import Wording

/// Ends a task's attempt: the queue is told once, the slot is freed, and the outcome teaches something about the host.
extension TransferEngine {
    func complete(_ attempt: Attempt, _ receipt: Receipt, finalPath: RawPath?) {
        guard attempt.phase != .over else { return }
        let task = attempt.task.id
        accounting.unconfirmed.forget(task)
        // Nothing of it was ever sent by us: the same file was there.
        let wasThere = receipt.foundThere && attempt.task.begunBefore == nil && attempt.progress.position == 0
        let isSkipped = receipt.skipped || wasThere || receipt.proof == .stoodThere
        if !isSkipped {
            if attempt.upload != nil, !receipt.foundThere { moved(attempt, to: receipt.bytes) }
            attempt.progress.complete(receipt.bytes)
        }
        if let response = receipt.response {
            let kept = attempt.context.answerRoom.keep(receipt: response)
            queue.writer.record(.response(kept.redacted(by: attempt.redaction)), for: attempt.task.claim)
        }
        var completion = Completion(
            size: receipt.bytes, verified: receipt.verified, skipped: isSkipped, spared: receipt.skipped,
            digest: receipt.digest, finalPath: finalPath, etag: attempt.upload == nil ? nil : receipt.etag,
            left: leftBehind(attempt)?.encoded)
        if attempt.upload != nil, receipt.verified == .none { completion.answered = receipt.status }
        queue.writer.record(.completed(completion), for: attempt.task.claim)
        if completion.left != nil { planSweep() }
        FaultPoint.finished.pass()
        served(attempt)
        wasLetIn(attempt)
        leaveSpeed(of: attempt)
        close(attempt)
        accounting.forgetBest(of: task)
    }

    /// Ends a task with an error that only a person can mend.
    /// - Parameter retry: what a retry must know, when the point of the attempt itself is not enough.
    func fail(_ attempt: Attempt, _ error: TransferError, retry: () -> RetryPoint? = { nil }) {
        guard attempt.phase != .over else { return }
        if attempt.job.isSideJob { return failSideJob(attempt, error) }
        let redaction = attempt.redaction
        var error = quoting(error, attempt, redaction)
        if case .upload(_, let remote, _) = attempt.task.work { error = error.doubting(remote) }
        if error.httpStatus != nil, error.code != .gaveUp {
            served(attempt)
            wasLetIn(attempt)
        }
        // The line carried what was refused, and the next file goes on in its place: a meter that began anew would not know of the
        // pause for the answer, in which a limit gathers a burst, and show more than the limit allows.
        if attempt.exchanges.lastAnswer != nil { leaveSpeed(of: attempt) }
        abandonAll(of: attempt)
        noteIfUntouched(attempt)
        recordAnswer(attempt, error, redaction)
        if let left = adoptRemains(attempt) {
            queue.writer.record(
                .checkpoint(resumePoint: left.encoded, accepted: attempt.countedAccepted, secret: left.secret),
                for: attempt.task.claim)
        } else if attempt.exchanges.hasReachedServer {
            forgetGuess(attempt)
        }
        close(attempt)
        let own = attempt.upload?.resumePoint?.retried.map { RetryPoint(resumePoint: $0.encoded, accepted: 0) }
        refuse(attempt.task, error, retry: retry() ?? own)
    }

    /// With what the server said beside its no, and to what; without the secrets that it repeated.
    private func quoting(_ error: TransferError, _ attempt: Attempt, _ redaction: Redaction) -> TransferError {
        var error = error.redacted(by: redaction)
        guard let answer = attempt.exchanges.lastAnswer, answer.head.status == error.httpStatus else { return error }
        // Before the line is cut: of a secret that is cut in two nothing would be found.
        error.said = ServerWords.line(of: redaction.redacted(answer.body, isCut: answer.isCut)).map {
            redaction.redacted($0)
        }
        error.detail = answer.request.map { method, url in
            let path = url.harmlessPath
            let shown = path.count > 300 ? "\(path.prefix(100))...\(path.suffix(197))" : "\(path)"
            return "\(method.rawValue) \(shown) -> \(answer.head.status), try \(attempt.task.attempts + 1)"
        }
        return error
    }

    /// Records the answer by which the server refused.
    private func recordAnswer(_ attempt: Attempt, _ error: TransferError, _ redaction: Redaction) {
        guard let answer = attempt.exchanges.lastAnswer, answer.head.status == error.httpStatus else { return }
        let body = redaction.redacted(answer.body, isCut: answer.isCut)
        let response = attempt.context.answerRoom.keep(refusal: answer.head, body: body)
        queue.writer.record(.response(response.redacted(by: redaction)), for: attempt.task.claim)
    }

    /// Ends a task that has no slot.
    func refuse(_ task: ClaimedTask, _ error: TransferError, retry: RetryPoint? = nil) {
        accounting.failed(at: timeline.nanoseconds)
        accounting.unconfirmed.forget(task.id)
        accounting.forgetBest(of: task.id)
        queue.writer.record(.failed(error, retry: retry), for: task.claim)
        FaultPoint.finished.pass()
        duties.hasUncommitted = true
    }

    /// Ends the attempt, not the task.
    /// - Parameter isAbsent: the server does not find the upload; any other answer ends the row of such ones.
    func wait(_ attempt: Attempt, _ demand: WaitDemand, isAbsent: Bool = false) {
        guard attempt.phase != .over else { return }
        if !isAbsent { endAbsence(attempt) }
        // The login that the server was shown may be forgotten below.
        let redaction = attempt.redaction
        var demand = demand
        demand.error = quoting(demand.error, attempt, redaction)
        if attempt.job.isSideJob {
            attempt.side.refused(demand)
            return failSideJob(attempt, demand.error)
        }
        let task = attempt.task
        let now = timeline.now
        abandonAll(of: attempt)
        // A wait for a person does not count towards giving up, and what was refused is still to be noted for all others.
        let undecided = attempt.progress.mayBeOfUse ? timeline.nanoseconds - attempt.stage.startedAt : 0
        let last = attempt.progress.hasAdvanced ? now : task.patienceSince?.advanced(by: .nanoseconds(undecided))
        if !demand.reason.needsPerson, isOutOfPatience(attempt.context.order.options, last) {
            return fail(attempt, .gaveUp(after: demand.error))
        }
        if demand.reason == .auth {
            // What was refused is not what would be shown now.
            let isOutdated = attempt.access.hasOldKeys(attempt.context)
            let refused = attempt.exchanges.lastAnswer?.request?.url
            let isRenewed = refused.map { attempt.context.findsOtherToken(for: $0) } ?? false
            if isOutdated || isRenewed || attempt.context.credentials.tryAsAsked(attempt.exchanges.lastAnswer?.head)
                || attempt.context.credentials.askForOtherKeys(at: now)
            {
                return tryOtherCredentials(attempt, demand.error)
            }
        }
        accounting.failed(at: timeline.nanoseconds)
        let reason = reason(of: demand)
        let delay = Self.waitRule.delay(
            reason, failures: attempt.failures, retryAfter: demand.retryAfter, random: platform.randomFraction())
        var retryAt = delay.map { now.advanced(by: $0) }
        let told = experience(of: demand, reason, until: retryAt ?? now)
        // A connection that broke after it had carried something: not the host is ill, the line is short of breath.
        let isCut = attempt.progress.hasProgressed && told == .failed && demand.error.httpStatus == nil
        if let experience = isCut ? .answered : told { note(demand, experience, attempt) }
        // While nobody may ask the host, the task would only stand in line without a reason to show.
        if let own = retryAt, let opens = hosts.closedUntil(attempt.servingPlace, now) { retryAt = max(own, opens) }
        wasRefused(attempt, demand)
        if demand.reason == .auth {
            attempt.context.credentials.forget()
            recordAnswer(attempt, demand.error, redaction)
        }
        recordCut(attempt)
        queue.writer.record(.waiting(WaitReasons(reason), retryAt: retryAt, error: demand.error), for: task.claim)
        // The queue's event says it, once; this is for whoever wants to see every try.
        report(.debug, "waits for \(reason.words): \(demand.error.message)", task: task.id)
        if let retryAt { wake(at: retryAt) }
        if demand.error.httpStatus != nil { leaveSpeed(of: attempt) }
        close(attempt)
    }

    /// - Parameter last: when a task came nearer to its end for the last time.
    func isOutOfPatience(_ options: TransferOptions, _ last: Timestamp?) -> Bool {
        last.map { timeline.patience(since: $0) >= .seconds(options.giveUpAfterSeconds) } ?? false
    }

    /// The name and password were shown as Basic and the server may want them in the way that it asks for; or there are others meanwhile: a
    /// person gave them, a receiver renewed its token, a program printed other keys.
    /// - Parameter error: the refusal; `nil`: there was none yet.
    func tryOtherCredentials(_ attempt: Attempt, _ error: TransferError?) {
        let now = timeline.now
        abandonAll(of: attempt)
        recordCut(attempt)
        queue.writer.record(.waiting(WaitReasons(.backoff), retryAt: now, error: error), for: attempt.task.claim)
        wake(at: now)
        close(attempt)
    }
}

extension TransferError {
    static func gaveUp(after last: TransferError) -> TransferError {
        var error = last.withoutPromise
        error.code = .gaveUp
        error.finding.what = "nothing moved for as long as --give-up-after allows; last: \(last.finding.what)"
        return error
    }
}
