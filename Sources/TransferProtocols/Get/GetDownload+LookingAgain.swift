import TransferModel
import WireOperations

/// The look at the server's version after the last byte.
extension GetDownload {
    /// All of it is here. A server tells the version before the first byte: what is written there while it sends goes into the same answer.
    /// - Parameter inOneReading: the server has hardly read it at two times (`RemoteVersion.isOneReading`).
    mutating func received(_ point: GetResumePoint, inOneReading: Bool) -> [ProtocolAction] {
        // A digest says more, and an object of a store is never changed in place. Of what is taken as it comes only the length is asked for.
        let isAsked = plan.verify != VerificationWish.none || point.version.total == nil
        guard isAsked, promised(point) == nil, !inOneReading, point.version.isRecognisable, plan.channel == nil else {
            return finish(point)
        }
        let id = nextID()
        state = .lookingAgain(id, point)
        return [.perform(id, GetMessages.head(chain, signing: channel?.signing))]
    }

    mutating func lookedAgain(_ end: ExchangeEnd, _ point: GetResumePoint, _ look: Look) -> [ProtocolAction] {
        if end.answer == nil, let failure = end.failure, !Self.isSilence(failure) || (point.silentLooks ?? 0) == 0 {
            var point = point
            if Self.isSilence(failure) { point.silentLooks = 1 }
            return [.persist(ResumePoint(point))] + failed(failure)
        }
        // Twice no answer must not stop a download.
        guard let answer = end.answer else { return unsaid(point) }
        switch answer.status {
        case 200, 203, 206:
            let now = RemoteVersion(answer)
            // As the other answers that say nothing of the file: who was signed out meanwhile has it all the same.
            if isPage(answer, insteadOf: point.version) {
                return look == .head ? lookByGet(point, .byte) : unsaid(point)
            }
            if plan.verify != VerificationWish.none, point.version.showsChange(to: now) {
                return showsChange(answer, now, point, look)
            }
            // A body without a length may have been cut. Some servers tell another length to a HEAD than to a GET.
            if point.version.total == nil, point.version.coding == now.coding, let total = now.total,
                total > point.offset
            {
                return look == .head ? lookByGet(point, .byte) : cutShort(point.offset, of: total)
            }
            return point.isFresh == true && !hasReadFresh ? settle(point, answer, at: end.at) : finish(point)
        // There is no first byte any more.
        case 416 where look != .head: return changedMeanwhile(point)
        // By HEAD it may only mean that the server has none, or that a signed URL is for GET alone.
        case _ where look == .head: return lookByGet(point, .byte)
        // It may have been written anew before it went away. All is kept for when it is back.
        case 404 where plan.verify != VerificationWish.none, 410 where plan.verify != VerificationWish.none:
            return wentAway(point, answer.status)
        // A server that does not want to say must not stop a download.
        default: return unsaid(point)
        }
    }

    /// The answer says nothing of the file.
    private mutating func unsaid(_ point: GetResumePoint) -> [ProtocolAction] {
        point.isDoubted == true ? changedMeanwhile(point) : finish(point)
    }

    /// Nothing is thrown away for the word of a HEAD alone, nor for a date that each answer has anew.
    private mutating func showsChange(
        _ answer: HTTPAnswer, _ now: RemoteVersion, _ point: GetResumePoint, _ look: Look
    ) -> [ProtocolAction] {
        if look == .head {
            var point = point
            point.isDoubted = true
            return [.persist(ResumePoint(point))] + lookByGet(point, .byteAfterChange)
        }
        guard !point.version.isDateStrong, point.version.etag == nil, point.version.total == now.total,
            isDatedAnew(answer)
        else { return changedMeanwhile(point) }
        if look == .byteAfterPause { return finish(point, isOneVersion: false) }
        state = .lookingLater(point)
        return [.wake(.probeAgain, after: .seconds(3))]
    }

    /// Returns true for what a program has made, whose date is that of the answer. Of a file, which is written to again and again, a server
    /// tells neither how to keep the answer nor under which name.
    private func isDatedAnew(_ answer: HTTPAnswer) -> Bool {
        guard answer.etag == nil, let modified = answer.lastModified, let date = answer.date else { return false }
        let isProgram =
            answer.field("content-disposition") != nil
            || ["no-store", "no-cache"].contains { answer.field("cache-control")?.lowercased().contains($0) == true }
        return isProgram && abs(date.milliseconds - modified.milliseconds) <= 1000
    }

    mutating func lookByGet(_ point: GetResumePoint, _ look: Look) -> [ProtocolAction] {
        let id = nextID()
        state = .lookingAgain(id, point, look)
        return [.perform(id, GetMessages.oneByte(chain, signing: channel?.signing))]
    }

    /// A fresh file is read once more when its time tells one version from the next. The first copy is not given up before it is whole: a link
    /// may work once, and the look at the end says that it works again. Some servers call each answer fresh: the second reading counts.
    private mutating func settle(
        _ point: GetResumePoint, _ answer: HTTPAnswer, at now: Timestamp
    ) -> [ProtocolAction] {
        hasReadFresh = true
        firstReading = point
        guard let modified = answer.lastModified,
            let pause = RemoteVersion.unsettled(modified, at: answer.date ?? now)
        else { return readFresh() }
        state = .settling
        return [.wake(.probeAgain, after: pause)]
    }

    mutating func readFresh() -> [ProtocolAction] {
        begin(anew: "was written to right before it was read, or meanwhile")
    }

    /// The second reading of a fresh file is refused: the first one has brought all of it.
    mutating func refusedAgain(_ first: GetResumePoint, _ status: Int) -> [ProtocolAction] {
        [404, 410].contains(status) ? wentAway(first, status) : finish(first)
    }

    private mutating func wentAway(_ point: GetResumePoint, _ status: Int) -> [ProtocolAction] {
        [.persist(ResumePoint(point))] + over(.fail(.wentAway(at: chain.address.server, status: status)))
    }

    private mutating func changedMeanwhile(_ point: GetResumePoint) -> [ProtocolAction] {
        if let refusal = refuseChange(nil) { return refusal }
        let reason = "changed at the server"
        if restarts == 2 {
            return startOver(reason, isOther: true)
                + over(.wait(WaitDemand(.backoff, .changesWhileRead(at: chain.address.server))))
        }
        restarts += 1
        return begin(anew: reason, isOther: true, of: point)
    }

    /// A server that was reached said nothing. Most often the line broke, so it is asked once more.
    private static func isSilence(_ failure: ExchangeFailure) -> Bool {
        guard case .network(let error) = failure else { return false }
        return error.code == .networkConnectionLost || error.code == .timedOut
    }
}
