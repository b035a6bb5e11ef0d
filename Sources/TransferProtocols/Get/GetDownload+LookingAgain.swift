import TransferModel
import WireOperations

/// The look at the server's version after the last byte.
extension GetDownload {
    /// All of it is here. A server tells the version before the first byte: what is written there while it sends goes into the same answer.
    /// - Parameter inOneReading: the server has hardly read it at two times (`RemoteVersion.isOneReading`).
    mutating func received(_ point: GetResumePoint, inOneReading: Bool) -> [ProtocolAction] {
        // A digest says more, and an object of a store is never changed in place.
        guard promised(point) == nil, !inOneReading, point.version.isRecognisable, plan.channel == nil else {
            return finish(point)
        }
        let id = nextID()
        state = .lookingAgain(id, point)
        return [.perform(id, GetMessages.head(chain, signing: channel?.signing))]
    }

    mutating func lookedAgain(_ end: ExchangeEnd, _ point: GetResumePoint, byGet: Bool) -> [ProtocolAction] {
        if end.answer == nil, let failure = end.failure, !Self.isSilence(failure) || (point.silentLooks ?? 0) == 0 {
            var point = point
            if Self.isSilence(failure) { point.silentLooks = 1 }
            return [.persist(ResumePoint(point))] + failed(failure)
        }
        // Twice no answer must not stop a download.
        guard let answer = end.answer else { return finish(point) }
        switch answer.status {
        case 200, 203, 206:
            let now = RemoteVersion(answer)
            if point.version.showsChange(to: now) { return changedMeanwhile() }
            // A body without a length may have been cut. Some servers tell another length to a HEAD than to a GET.
            if point.version.total == nil, point.version.coding == now.coding, let total = now.total,
                total > point.offset
            {
                return byGet ? cutShort(point.offset, of: total) : lookByGet(point)
            }
            return point.isFresh == true && !hasReadFresh ? settle(answer, at: end.at) : finish(point)
        // There is no first byte any more.
        case 416 where byGet: return changedMeanwhile()
        // By HEAD it may only mean that the server has none, or that a signed URL is for GET alone.
        case _ where !byGet: return lookByGet(point)
        // It may have been written anew before it went away. All is kept for when it is back.
        case 404 where plan.verify != VerificationWish.none, 410 where plan.verify != VerificationWish.none:
            return [.persist(ResumePoint(point))]
                + over(.fail(.wentAway(at: chain.address.server, status: answer.status)))
        // A server that does not want to say must not stop a download.
        default: return finish(point)
        }
    }

    private mutating func lookByGet(_ point: GetResumePoint) -> [ProtocolAction] {
        let id = nextID()
        state = .lookingAgain(id, point, byGet: true)
        return [.perform(id, GetMessages.oneByte(chain, signing: channel?.signing))]
    }

    /// A fresh file is read once more when its time tells one version from the next. The first copy is not given up before it is whole: a link
    /// may work once, and the look at the end says that it works again. Some servers call each answer fresh: the second reading counts.
    private mutating func settle(_ answer: HTTPAnswer, at now: Timestamp) -> [ProtocolAction] {
        hasReadFresh = true
        guard let modified = answer.lastModified,
            let pause = RemoteVersion.unsettled(modified, at: answer.date ?? now)
        else { return readFresh() }
        state = .settling
        return [.wake(.probeAgain, after: pause)]
    }

    mutating func readFresh() -> [ProtocolAction] {
        startOver("was written to right before it was read, or meanwhile", isOther: false) + ask(from: 0)
    }

    private mutating func changedMeanwhile() -> [ProtocolAction] {
        if let refusal = refuseChange(nil) { return refusal }
        let restart = startOver("changed at the server", isOther: true)
        if restarts == 2 {
            let finding = "the file at \(chain.address.server) changes while it is read"
            return restart + over(.wait(WaitDemand(.backoff, TransferError(.badServerResponse, finding, .again))))
        }
        restarts += 1
        return restart + ask(from: 0)
    }

    /// A server that was reached said nothing. Most often the line broke, so it is asked once more.
    private static func isSilence(_ failure: ExchangeFailure) -> Bool {
        guard case .network(let error) = failure else { return false }
        return error.code == .networkConnectionLost || error.code == .timedOut
    }
}
