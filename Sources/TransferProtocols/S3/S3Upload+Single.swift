import Digests
import TransferModel
import WireOperations

/// The one PUT of a file that is not longer than a part, and what both ways share: conditions, damage, the end.
extension S3Upload {
    // MARK: The one PUT

    mutating func put(_ digests: S3Digests) -> [ProtocolAction] {
        sentMD5 = digests.md5
        return request(channel.map { S3Messages.put(plan, $0, condition, digests) }) { .sending($0, digests) }
    }

    mutating func putEnded(_ end: ExchangeEnd, _ digests: S3Digests) -> [ProtocolAction] {
        switch judge(end, hasAccepted: false) {
        case .success(let answer):
            // No service answers before it has all of it, or without a tag: something on the way does.
            guard end.failure == nil, end.bytesSent >= plan.subject.size, answer.etag != nil else {
                return look(.afterSilence(end.failure?.error ?? channel?.noAnswer ?? .cutOff(by: host)))
            }
            return stored(tag: answer.etag, expected: digests.md5.map(Hexadecimal.encode), isWhole: true)
        case .again(let learnt): return learned(learnt) + put(digests)
        case .silent(let error, let mayHaveArrived):
            guard mayHaveArrived, end.bytesSent >= plan.subject.size, error.isRetryable else { return giveUp(error) }
            return look(.afterSilence(error))
        case .refused(let refusal):
            if let actions = conditionRefused(refusal) { return actions }
            if refusal.isDamage { return damaged() ?? sendPayload() }
            return conclude(refusal.decision)
        }
    }

    /// The answers that say that something is there, or that the server cannot tell.
    mutating func conditionRefused(_ refusal: S3Channel.Refusal) -> [ProtocolAction]? {
        switch (refusal.status, condition) {
        case (_, .always): return nil
        case (412, _): return look(.afterRefusal)
        // What was to be replaced is gone.
        case (404, .ifTag) where refusal.code != "NoSuchUpload" && refusal.code != "NoSuchBucket":
            protection = .ifAbsent
            return look(.afterRefusal)
        default: return refusal.isUnknownCondition ? look(.afterUnknownCondition) : nil
        }
    }

    /// A body arrived other than it left: `nil` while another try makes sense.
    mutating func damaged() -> [ProtocolAction]? {
        damages += 1
        return damages < 3 ? nil : [.compareSource(keeping: nil)] + over(.fail(.damagedOnTheWay(host)))
    }

    // MARK: The end

    /// The server said that it has the file. `expected`: the tag that it should have.
    mutating func stored(tag: String?, expected: String?, isWhole: Bool) -> [ProtocolAction] {
        var receipt = Receipt(.answered, bytes: plan.subject.size, verified: .none)
        receipt.etag = tag
        if let expected, let tag, S3Tag.plain(tag) == expected {
            receipt.verified = .digest
            if isWhole { receipt.digest = TransferDigest(algorithm: "md5", value: expected) }
        } else if plan.subject.verify == .digest {
            return over(.fail(.noComparableTag(host)))
        } else if plan.subject.verify == .size {
            return look(.afterStored(receipt))
        }
        return over(.finish(receipt))
    }
}
