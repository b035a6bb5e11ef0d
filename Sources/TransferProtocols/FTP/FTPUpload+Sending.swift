import TransferModel

/// The steps after the last byte: the server is asked what it has, and sent what it lost.
extension FTPUpload {
    mutating func sent(_ end: FTPEnd, _ range: Range<Int64>) -> [ProtocolAction] {
        if end.bytesSent > 0 { isFree = false }
        if isStraight, end.bytesSent > 0 { point.owned = .written }
        if end.isDone {
            point.unanswered = nil
            return ask(point.temporary) { .checking($0, range, doubt: nil) }
        }
        if range.lowerBound > 0, end.isUnknownCommand, end.command == "APPE" { return cannotResume() }
        // Every byte is on its way and the answer was lost: SIZE may say that they arrived.
        let isWhole = end.bytesSent >= Int64(range.count)
        if isWhole, case .wait(let demand) = meaning(end), demand.reason == .backoff {
            return ask(point.temporary) { .checking($0, range, doubt: demand.error) }
        }
        return stop(end)
    }

    mutating func checked(
        _ end: FTPEnd, _ range: Range<Int64>, _ doubt: TransferError?
    ) -> [ProtocolAction] {
        let size = plan.subject.size
        shown = end.modified.map { $0.milliseconds / 1000 } ?? shown
        guard let there = end.size else {
            if end.isUnknownCommand, doubt == nil {
                return plan.subject.verify == VerificationWish.none ? prepare() : over(.fail(sizeless))
            }
            if let doubt, end.isUnknownCommand {
                return isStraight ? unproven(doubt) : over(.wait(WaitDemand(.backoff, doubt)))
            }
            guard end.isMissing else { return stop(end) }
            if let doubt { return over(.wait(WaitDemand(.backoff, doubt))) }
            return vanished(else: WaitDemand(.backoff, lostAtOnce))
        }
        // A file that stood under the final name before may have the same length.
        let mayBeOld = isStraight && range.lowerBound == 0 && !before.isReplaced(by: StandingFile(end))
        if let doubt, there == size, mayBeOld { return unproven(doubt) }
        if there == size { return whole() }
        // The server takes more: the rest follows.
        if doubt == nil, range.upperBound < size, there == range.upperBound { return goOn(at: there) }
        if let doubt { return over(.wait(WaitDemand(.backoff, doubt))) }
        // The server said that it has everything, and it has not.
        repairs += 1
        guard repairs <= 3 else { return over(.wait(WaitDemand(.backoff, short(there)))) }
        if there > size { return startOver("the temporary file is longer than what was sent") }
        // What went before the APPE is gone, or it was written over: the end is not where it was.
        if range.lowerBound > 0, there <= max(range.lowerBound, Int64(range.count)) { return cannotResume() }
        if there == 0 || facts.cannotResume == true { return startOver("the server has less than it said") }
        return goOn(at: there)
    }

    /// All was sent, and nothing proves what is there: it is sent again, but not for ever.
    private mutating func unproven(_ doubt: TransferError) -> [ProtocolAction] {
        let count = UnprovenFiles.count(after: point.unanswered)
        // A retry counts anew, and knows still that what is there may be the old file.
        point.unanswered = count ?? 0
        let isLast = count == nil
        let last = ProtocolAction.fail(.unsure(at: plan.host, UnprovenFiles.answersAreLost))
        return [.persist(durable)] + over(isLast ? last : .wait(WaitDemand(.backoff, doubt)))
    }

    private mutating func cannotResume() -> [ProtocolAction] {
        facts.cannotResume = true
        return [.learned(HostFacts { $0.cannotResume = true })] + startOver("the server cannot go on in the middle")
    }

    // MARK: Comparing

    /// Every byte is there, by count.
    mutating func whole() -> [ProtocolAction] {
        accepted = plan.subject.size
        point.seen = accepted
        point.unanswered = nil
        let told: [ProtocolAction] = [.accepted(accepted)]
        guard plan.subject.verify == .digest else { return told + prepare() }
        return told + perform(FTPMessages.askDigest(point.temporary)) { .asking($0) }
    }

    mutating func told(_ end: FTPEnd) -> [ProtocolAction] {
        if end.isDone, let theirs = FTPMessages.digest(in: end.text) {
            state = .hashing(theirs)
            return [.digestSource]
        }
        if end.isDone || end.reply >= 500 {
            return over(.fail(.unverifiable(at: plan.host, "has the file but tells no SHA-256 of it")))
        }
        return stop(end)
    }

    mutating func compare(_ ours: TransferDigest, _ theirs: TransferDigest) -> [ProtocolAction] {
        if ours == theirs {
            digest = ours
            point.compared = ours
            return prepare()
        }
        repairs += 1
        if repairs == 1 { return startOver("the server has other bytes (their SHA-256 differs)") }
        return over(.fail(.differing(at: plan.host, "has other bytes than were sent (their SHA-256 differs)")))
    }

    var sizeless: TransferError {
        .unverifiable(at: plan.host, "does not tell the size of a file (SIZE)")
    }

    private var lostAtOnce: TransferError {
        TransferError(.networkConnectionLost, "\(plan.host) took the file, but it is not there", .again)
    }

    private func short(_ size: Int64) -> TransferError {
        TransferError(
            .badServerResponse, "\(plan.host) said that it has the file, but has \(size) of \(plan.subject.size) bytes",
            .again)
    }
}
