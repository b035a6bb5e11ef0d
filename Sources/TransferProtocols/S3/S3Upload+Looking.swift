import Digests
import TransferModel

/// Looks at what lies where the object belongs: before the upload, and whenever an answer leaves it open.
extension S3Upload {
    mutating func look(_ question: Question) -> [ProtocolAction] {
        let asked = request(channel.map { S3Messages.head($0) }) { .looking($0, question) }
        // Another file of ours of that name is not to come between the look and what follows.
        let isAlone = [.before, .beforeComplete].contains(question) && condition != .always
        return isAlone ? [.claimName(RawPath(plan.address.bucket).appending(plan.address.key))] + asked : asked
    }

    mutating func looked(_ end: ExchangeEnd, _ question: Question) -> [ProtocolAction] {
        let standing: S3Standing
        let isStored = if case .afterStored = question { true } else { false }
        switch judge(end) {
        case .success(let answer): standing = S3Standing(answer, plan.subject, isStored: isStored)
        case .again(let learnt): return learned(learnt) + look(question)
        case .silent(let error, _): return giveUp(error)
        case .refused(let refusal):
            if case .wait(let demand) = refusal.decision, ![403, 501].contains(refusal.status) {
                return over(.wait(demand))
            }
            standing = refusal.status == 404 ? .nothing : .untold
        }
        if case .afterStored(let receipt) = question { return measured(standing, receipt) }
        if let answer = end.answer, answer.heedsConditions, plan.facts.heedsConditions != true, question == .before {
            return [.learned(HostFacts { $0.heedsConditions = true })] + decide(standing, question)
        }
        return decide(standing, question)
    }

    private mutating func decide(_ standing: S3Standing, _ question: Question) -> [ProtocolAction] {
        if case .ours(let object) = standing { return found(object) }
        switch question {
        case .before: return decideBefore(standing)
        case .beforeComplete: return decideBeforeComplete(standing)
        case .afterSilence(let error): return decideAfterSilence(standing, error)
        case .afterRefusal: return decideAfterRefusal(standing)
        case .afterUnknownCondition: return decideWithoutCondition(standing)
        case .afterLoss(let isWhole): return decideAfterLoss(standing, isWhole: isWhole)
        case .afterConflict: return decideAfterConflict(standing)
        case .afterStored(let receipt): return measured(standing, receipt)
        }
    }

    private mutating func decideBefore(_ standing: S3Standing) -> [ProtocolAction] {
        switch standing {
        case .ours(let object): return found(object)
        case .oursBefore(let object): protection = object.tag.map { .ifTag($0) } ?? .always
        case .foreign(let object):
            if plan.subject.ifExists != .replace { return occupied(object) }
        case .nothing, .untold: break
        }
        return sendPayload()
    }

    private mutating func decideBeforeComplete(_ standing: S3Standing) -> [ProtocolAction] {
        switch standing {
        case .foreign(let object): return occupied(object)
        case .oursBefore(let object): protection = object.tag.map { .ifTag($0) } ?? .always
        case .ours, .nothing, .untold: break
        }
        return join()
    }

    /// Nothing of ours is there although the answer alone may have been lost: a server may still be busy with it.
    private mutating func decideAfterSilence(_ standing: S3Standing, _ error: TransferError) -> [ProtocolAction] {
        guard standing == .nothing, !hasRested else { return giveUp(error) }
        hasRested = true
        state = .resting(error)
        return [.wake(.probeAgain, after: .seconds(1))]
    }

    private mutating func decideAfterRefusal(_ standing: S3Standing) -> [ProtocolAction] {
        switch standing {
        case .foreign(let object): return occupied(object)
        case .untold:
            let why = "it does not tell which object is there"
            if plan.subject.begunBefore != nil || plan.resume != nil || hasRested {
                return over(.fail(.unsure(at: host, why)))
            }
            return over(.fail(.exists(at: host, httpStatus: 412)))
        case .ours, .oursBefore, .nothing:
            // It went away meanwhile, or is our own earlier version.
            guard !hasTriedAgain else { return over(.wait(WaitDemand(.backoff, .contested(at: host)))) }
            hasTriedAgain = true
            if case .oursBefore(let object) = standing { protection = object.tag.map { .ifTag($0) } ?? .always }
            return writeAgain()
        }
    }

    private mutating func decideWithoutCondition(_ standing: S3Standing) -> [ProtocolAction] {
        switch standing {
        case .foreign(let object): return occupied(object)
        case .untold: return over(.fail(.cannotProtect(at: host)))
        case .ours, .oursBefore, .nothing:
            protection = .always
            return writeAgain()
        }
    }

    /// The upload is gone and the object is not ours: what was sent counts no more.
    private mutating func decideAfterLoss(_ standing: S3Standing, isWhole: Bool) -> [ProtocolAction] {
        // Where it may be replaced, what is there does not matter.
        if standing == .untold, plan.subject.ifExists != .replace {
            let unsure = TransferError.unsure(at: host, "the upload is gone and it does not tell what is there")
            return doubt(isOutcome: true) + over(.fail(unsure))
        }
        // Sent whole twice for nothing: a third time will not help.
        if isWhole, hasLostWhole { return over(.fail(.losesUploads(at: host))) }
        hasLostWhole = hasLostWhole || isWhole
        if hasBegunAnew, !isWhole {
            return over(.wait(WaitDemand(.backoff, .losesUploads(at: host), retryAfter: .seconds(60))))
        }
        hasBegunAnew = true
        upload = nil
        return doubt() + [.startOver(reason: "the server does not know the upload any more")] + decideBefore(standing)
    }

    private func doubt(isOutcome: Bool = false) -> [ProtocolAction] {
        lacksWord ? [.doubtAbsence(isOutcome: isOutcome)] : []
    }

    /// S3 wants a new upload then (https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html). The old one is thrown away:
    /// nobody else would.
    private mutating func decideAfterConflict(_ standing: S3Standing) -> [ProtocolAction] {
        if plan.subject.ifExists != .replace {
            if case .foreign(let object) = standing { return occupied(object) }
            if standing == .untold { return over(.fail(.unsure(at: host, "it does not tell which object is there"))) }
        }
        guard let old = upload, !hasBegunAnew else {
            return over(.wait(WaitDemand(.backoff, .contested(at: host), retryAfter: .seconds(60))))
        }
        hasBegunAnew = true
        upload = nil
        return [.startOver(reason: "the service reports another write of the same object")] + abort(old, then: .begin)
    }

    /// The last request once more, under another condition.
    private mutating func writeAgain() -> [ProtocolAction] { upload == nil ? sendPayload() : join() }

    // MARK: What is there

    /// Ends the attempt after a look at the stored object, because a person wants its length compared.
    private mutating func measured(_ standing: S3Standing, _ receipt: Receipt) -> [ProtocolAction] {
        switch standing {
        case .ours:
            var receipt = receipt
            receipt.verified = .size
            return over(.finish(receipt))
        case .untold: return over(.fail(.unverifiable(at: host, "took the file but does not tell its size")))
        case .nothing, .oursBefore, .foreign:
            let why = "took the file but has another one under its name"
            return over(.mismatch(receipt, .differing(at: host, why)))
        }
    }

    /// An earlier request, whose answer nobody heard, did it.
    private mutating func found(_ object: S3Object) -> [ProtocolAction] {
        if plan.subject.verify == .digest {
            let partSize = upload?.partSize ?? plan.partSize
            guard let comparison = S3Comparison(object, .isItWhole, size: plan.subject.size, partSize: partSize) else {
                return over(.fail(.noComparableTag(host)))
            }
            return compare(comparison)
        }
        var receipt = Receipt(
            .token, bytes: plan.subject.size, verified: plan.subject.verify == VerificationWish.none ? .none : .size)
        if let tag = object.tag, let expected = parts.composite ?? sentMD5.map(Hexadecimal.encode),
            S3Tag.plain(tag) == expected
        {
            receipt.verified = .digest
        }
        receipt.etag = object.tag
        receipt.foundThere = true
        return over(.finish(receipt))
    }

    /// A file that is not of this task. The same file counts as done; it is the same by its time and size, or by its digest.
    private mutating func occupied(_ object: S3Object) -> [ProtocolAction] {
        if plan.subject.ifExists == .skip {
            return leave(.skipped(plan.subject.size))
        }
        // Damaged at the server it keeps its length, our time and the tag of what was sent.
        if plan.subject.targetIsOther { return over(.fail(.exists(at: host, httpStatus: 412))) }
        if object.size == plan.subject.size, object.modified(like: plan.subject) == true, plan.subject.verify != .digest
        {
            return leave(sameFile(.stoodThere, object, .size))
        }
        guard let comparison = S3Comparison(object, .isItTheSame, size: plan.subject.size, partSize: plan.partSize)
        else {
            return over(.fail(.exists(at: host, httpStatus: 412)))
        }
        return compare(comparison)
    }

    private func sameFile(_ proof: ArrivalProof, _ object: S3Object, _ verified: Verification) -> Receipt {
        var receipt = Receipt(proof, bytes: plan.subject.size, verified: verified)
        receipt.etag = object.tag
        receipt.foundThere = true
        return receipt
    }

    /// Done without our own object: what was sent of it is of no use.
    private mutating func leave(_ receipt: Receipt) -> [ProtocolAction] {
        guard let upload else { return over(.finish(receipt)) }
        return abort(upload, then: .finish(receipt))
    }

    // MARK: Comparing

    private mutating func compare(_ comparison: S3Comparison) -> [ProtocolAction] {
        if let wanted = comparison.wanted {
            state = .comparing(comparison)
            return [wanted]
        }
        guard comparison.isSame else {
            return over(
                .fail(comparison.purpose == .isItWhole ? .noComparableTag(host) : .exists(at: host, httpStatus: 412)))
        }
        var receipt = sameFile(comparison.purpose == .isItWhole ? .token : .digest, comparison.object, .digest)
        receipt.digest = comparison.digest
        return comparison.purpose == .isItWhole ? over(.finish(receipt)) : leave(receipt)
    }

    mutating func compared(
        _ comparison: S3Comparison, _ range: Range<Int64>, _ digests: S3Digests
    ) -> [ProtocolAction] {
        var next = comparison
        next.take(range, digests)
        // A digest that was asked for earlier, for another purpose.
        if next == comparison { return [] }
        return compare(next)
    }
}
