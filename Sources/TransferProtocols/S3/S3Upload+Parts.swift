import Digests
import TransferModel
import WireOperations

/// The pages of a list of parts, as far as they came.
struct S3Listing: Hashable, Sendable {
    var found: [Int: S3PartPage.Part] = [:]
    /// The last part of the pages so far.
    var marker: Int?
}

/// The parts of a multipart upload: begun, found again, sent side by side, joined.
extension S3Upload {
    /// Failures in a row after which the attempt ends, instead of another try at once.
    private static let mostFailures = 3
    /// Parts whose digests are computed ahead of those that are sent.
    private static let ahead = 2

    // MARK: Create

    mutating func create() -> [ProtocolAction] {
        guard plan.partSize <= S3Plan.partSizes.upperBound,
            let parts = S3Parts(size: plan.subject.size, partSize: plan.partSize)
        else { return over(.fail(.tooLargeForS3)) }
        self.parts = parts
        let intent = ResumePoint(S3ResumePoint(intended: plan, at: now))
        return [.persist(intent), .compareSource(keeping: Self.nothingThere)] + askCreate()
    }

    private mutating func askCreate() -> [ProtocolAction] {
        request(channel.map { S3Messages.create(plan, $0) }) { .creating($0) }
    }

    mutating func created(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch judge(end) {
        case .success:
            guard end.failure == nil, let id = S3Answers.uploadID(end.body) else {
                return giveUp(end.failure?.error ?? .unreadable(host))
            }
            let subject = plan.subject
            let point = S3ResumePoint(
                address: plan.address, uploadID: id, partSize: plan.partSize, size: subject.size,
                modifiedNanoseconds: subject.modifiedNanoseconds)
            upload = point
            pace.start(at: end.at)
            state = .sendingParts
            return [.persist(ResumePoint(point))] + advance()
        case .again(let learnt): return learned(learnt) + askCreate()
        // It may have been begun: the next attempt, or whoever gives the task up, looks for it.
        case .silent(let error, let mayHaveArrived):
            return (mayHaveArrived ? [] : [.persist(Self.nothingThere)]) + giveUp(error)
        case .refused(let refusal): return [.persist(Self.nothingThere)] + conclude(refusal.decision)
        }
    }

    /// Takes the intent back: the upload was not begun.
    private static var nothingThere: ResumePoint { ResumePoint(StoredVersion(stored: false, etag: nil)) }

    // MARK: List

    mutating func list(_ listing: S3Listing = S3Listing()) -> [ProtocolAction] {
        guard let upload else { return [] }
        return request(channel.map { S3Messages.list(upload, $0, after: listing.marker) }) { .listing($0, listing) }
    }

    mutating func listed(_ end: ExchangeEnd, _ listing: S3Listing) -> [ProtocolAction] {
        switch judge(end) {
        case .success:
            guard end.failure == nil, let page = S3Answers.parts(end.body) else {
                return giveUp(end.failure?.error ?? .unreadable(host))
            }
            var listing = listing
            listing.found.merge(page.parts) { $1 }
            guard let next = page.next else {
                pace.start(at: end.at)
                return resume(listing)
            }
            // A page that leads nowhere would be asked for again and again.
            guard !page.parts.isEmpty, next > listing.marker ?? 0, next < S3Plan.mostParts else {
                return giveUp(.unreadable(host))
            }
            listing.marker = next
            return list(listing)
        case .again(let learnt): return learned(learnt) + list(listing)
        case .silent(let error, _): return giveUp(error)
        case .refused(let refusal):
            return refusal.isGone ? lost(refusal, isWhole: false) : conclude(refusal.decision)
        }
    }

    private mutating func resume(_ listing: S3Listing) -> [ProtocolAction] {
        parts.take(listing.found)
        state = .sendingParts
        let isFirst = !hasRepaired && parts.storedBytes > 0
        return (isFirst ? [.resumed(at: parts.storedBytes)] : []) + [.accepted(parts.storedBytes)] + advance()
    }

    // MARK: Send

    /// Starts whatever can start now: parts that are ready, digests ahead of them, the comparison of parts that were there,
    /// and when all is done the end.
    mutating func advance() -> [ProtocolAction] {
        if let draining { return parts.sending > 0 ? [] : over(.wait(draining)) }
        var actions: [ProtocolAction] = []
        let atOnce = plan.partsAtOnce(at: pace.rate ?? plan.facts.partRate)
        while parts.busy < atOnce + Self.ahead, let index = parts.nextMissing() {
            if digestsWanted.isEmpty {
                parts.set(index, .ready(S3Digests()))
            } else {
                parts.set(index, .hashing)
                actions.append(.digestRange(parts.range(index), digestsWanted))
            }
        }
        while parts.sending < atOnce, let index = parts.ready.first { actions += send(index) }
        if comparesDigests, upload?.hasForeignTags == false, parts.nextMissing() == nil { actions += check() }
        return parts.isComplete ? actions + complete() : actions
    }

    private mutating func send(_ index: Int) -> [ProtocolAction] {
        guard case .ready(let digests) = parts.parts[index], let upload, let channel else { return [] }
        let id = nextID()
        parts.set(index, .sending(id, digests, lesson: channel.lessons))
        return [.perform(id, S3Messages.part(index, parts.range(index), of: upload, channel, digests))]
    }

    /// Compares parts that were there with the file, behind those that must be sent.
    private mutating func check() -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        while !isInDoubt, parts.hashing < (hasOwnTags ? Self.ahead : 1), let index = parts.nextUnchecked() {
            guard case .stored(let tag, nil) = parts.parts[index] else { break }
            parts.set(index, .checking(tag: tag))
            actions.append(.digestRange(parts.range(index), ["md5"]))
        }
        return actions
    }

    mutating func partDigested(_ range: Range<Int64>, _ digests: S3Digests) -> [ProtocolAction] {
        guard let index = parts.index(of: range) else { return [] }
        switch parts.parts[index] {
        case .hashing: parts.set(index, .ready(digests))
        case .checking(let tag): checked(index, tag, digests)
        // Of an earlier list.
        case .missing, .ready, .sending, .stored: return []
        }
        return advance()
    }

    private mutating func checked(_ index: Int, _ tag: String, _ digests: S3Digests) {
        guard let md5 = digests.md5 else { return parts.set(index, .missing) }
        if S3Tag.isMD5(tag, md5) {
            hasOwnTags = true
        } else if upload?.hasForeignTags == false {
            isInDoubt = !hasOwnTags
            return parts.set(index, .missing)
        }
        parts.set(index, .stored(tag: tag, md5: md5))
    }

    mutating func partEnded(_ id: ExchangeID, _ end: ExchangeEnd) -> [ProtocolAction] {
        let index = parts.parts.firstIndex { if case .sending(id, _, _) = $0 { true } else { false } }
        guard let index, case .sending(_, let digests, let lesson) = parts.parts[index] else { return [] }
        parts.set(index, .ready(digests))
        switch judge(end, lesson: lesson) {
        case .success(let answer):
            // As of a whole file: something on the way answers before the service has all of it, or without a tag.
            guard let tag = answer.etag, end.bytesSent >= Int64(parts.range(index).count) else {
                return partFailed(WaitDemand(.backoff, .unreadable(host)))
            }
            pace.take(Int64(parts.range(index).count), at: end.at)
            return partStored(index, tag, digests)
        case .again(let learnt): return learned(learnt) + advance()
        case .silent(let error, _):
            guard error.isRetryable else { return stop(error) }
            return partFailed(WaitDemand(.backoff, error))
        case .refused(let refusal): return partRefused(index, refusal)
        }
    }

    private mutating func partStored(_ index: Int, _ tag: String, _ digests: S3Digests) -> [ProtocolAction] {
        failures = 0
        var actions: [ProtocolAction] = []
        if let md5 = digests.md5, upload?.hasForeignTags == false {
            if S3Tag.isMD5(tag, md5) {
                hasOwnTags = true
            } else if hasOwnTags {
                // Its tags are digests, and this one is of other bytes.
                parts.set(index, .missing)
                return damaged().map { abandonments() + $0 } ?? advance()
            } else {
                upload?.hasForeignTags = true
                if let upload { actions.append(.persist(ResumePoint(upload))) }
            }
            isInDoubt = false
        }
        parts.set(index, .stored(tag: tag, md5: digests.md5))
        return actions + [.accepted(parts.storedBytes)] + advance()
    }

    private mutating func lost(_ refusal: S3Channel.Refusal, isWhole: Bool) -> [ProtocolAction] {
        lacksWord = refusal.code.isEmpty
        return look(.afterLoss(isWhole: isWhole))
    }

    private mutating func partRefused(_ index: Int, _ refusal: S3Channel.Refusal) -> [ProtocolAction] {
        if refusal.isGone {
            return abandonments() + lost(refusal, isWhole: false)
        }
        if refusal.isDamage {
            parts.set(index, .missing)
            return damaged().map { abandonments() + $0 } ?? advance()
        }
        switch refusal.decision {
        case .wait(let demand): return partFailed(demand)
        case .fail(let error): return stop(error)
        }
    }

    /// One failure is followed by another try at once; more of them, or a server that wants to be left alone, end the attempt, once the
    /// parts that are on their way have arrived.
    private mutating func partFailed(_ demand: WaitDemand) -> [ProtocolAction] {
        failures += 1
        if demand.reason != .backoff || failures >= Self.mostFailures { draining = draining ?? demand }
        return advance()
    }

    private mutating func stop(_ error: TransferError) -> [ProtocolAction] { abandonments() + over(.fail(error)) }

    /// Breaks off what is on its way.
    private mutating func abandonments() -> [ProtocolAction] {
        var actions: [ProtocolAction] = []
        for index in parts.parts.indices {
            guard case .sending(let id, let digests, _) = parts.parts[index] else { continue }
            parts.set(index, .ready(digests))
            actions.append(.abandon(id))
        }
        return actions
    }

    // MARK: Complete

    mutating func complete() -> [ProtocolAction] {
        let mayReplace = condition != .always && plan.facts.heedsConditions != true
        return mayReplace ? look(.beforeComplete) : join()
    }

    /// Joins the parts.
    mutating func join() -> [ProtocolAction] {
        guard let upload, let tags = parts.tags else { return [] }
        return [.compareSource(keeping: nil)]
            + request(channel.map { S3Messages.complete(upload, $0, condition, tags: tags) }) { .completing($0) }
    }

    mutating func completed(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch judge(end) {
        case .success(let answer):
            switch S3Answers.completion(end.body) {
            case .stored(let tag):
                let lesson = pace.lesson(beside: plan.facts.partRate).map { [ProtocolAction.learned($0)] } ?? []
                return lesson + stored(tag: tag ?? answer.etag, expected: parts.composite, isWhole: false)
            case .refused(let error):
                // `handle` lets nothing through without a channel.
                guard let channel else { return [] }
                return completionRefused(channel.refusal(error, hasAccepted: true, at: end.at))
            // The verdict did not come through.
            case nil: return look(.afterSilence(end.failure?.error ?? .unreadable(host)))
            }
        case .again(let learnt): return learned(learnt) + join()
        case .silent(let error, let mayHaveArrived):
            return mayHaveArrived && error.isRetryable ? look(.afterSilence(error)) : giveUp(error)
        case .refused(let refusal): return completionRefused(refusal)
        }
    }

    private mutating func completionRefused(_ refusal: S3Channel.Refusal) -> [ProtocolAction] {
        if let actions = conditionRefused(refusal) { return actions }
        if refusal.isGone { return lost(refusal, isWhole: true) }
        if refusal.code == "ConditionalRequestConflict" { return look(.afterConflict) }
        if ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"].contains(refusal.code), !hasRepaired {
            hasRepaired = true
            return list()
        }
        return conclude(refusal.decision)
    }
}

extension S3Upload {
    package var partStandings: [PartStanding] {
        guard upload != nil, parts.parts.count > 1 else { return [] }
        return parts.parts.enumerated().map { index, part in
            let bytes = Int64(parts.range(index).count)
            return switch part {
            case .missing, .hashing, .ready: PartStanding(.waiting, bytes: bytes)
            case .sending(let id, _, _): PartStanding(.running, bytes: bytes, exchange: id)
            case .stored, .checking: PartStanding(.completed, bytes: bytes, held: bytes)
            }
        }
    }
}
