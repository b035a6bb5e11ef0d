import TransferModel
import WireOperations

/// A PUT that the server has made an upload of, which another protocol can go on with, and one that follows such an upload.
extension PutUpload {
    /// A 104: the server has made an upload of this PUT (IETF draft). Its address is durable before anything else is done.
    mutating func offered(_ answer: HTTPAnswer, _ now: Timestamp) -> [ProtocolAction] {
        guard plan.offersResume, offer == nil,
            let upload = ResumableAnswer.offer(answer, at: chain.address, version: plan.interopVersion)
        else { return [] }
        let offer = Offer(
            upload: upload, expires: UploadLimit(answer)?.age.map { now.advanced(by: .seconds($0)) })
        self.offer = offer
        let persist = ProtocolAction.persist(resumePoint(offer, cut: nil))
        guard plan.offerIsTrial else { return [persist] }
        return [
            learned { ($0.interopVersion, $0.offeredVersion) = (plan.interopVersion, plan.interopVersion) }, persist,
        ]
    }

    /// Told before the bytes go, so that a kill does not have the same version tried for ever.
    func trial() -> [ProtocolAction] {
        guard plan.offersResume, plan.offerIsTrial else { return [] }
        let isLast = plan.interopVersion == ResumableDraft.versions.last
        return [learned { $0.offeredVersion = isLast ? 0 : plan.interopVersion }]
    }

    private func learned(_ change: (inout HostFacts) -> Void) -> ProtocolAction {
        var news = HostFacts()
        change(&news)
        return .learned(news)
    }

    /// The next attempt is another protocol's: it asks how much is there, and sends the rest.
    mutating func cut(_ offer: Offer, _ end: ExchangeEnd, _ error: TransferError) -> [ProtocolAction] {
        [.persist(resumePoint(offer, cut: UploadCut(offset: 0, sent: end.bytesSent)))] + refuseOrWait(error)
    }

    private func resumePoint(_ offer: Offer, cut: UploadCut?) -> ResumePoint {
        var point = ResumableResumePoint(
            version: plan.interopVersion, length: plan.size, url: offer.upload, cut: cut, begun: begun,
            expires: offer.expires)
        if plan.ifExists == .replace { point.replaces = true }
        if let count = plan.unanswered, count > 0 { point.unanswered = count }
        return ResumePoint(point)
    }

    /// An upload by another protocol is gone after its last byte was sent. When it did not become a file it is sent again, whole.
    mutating func arrived(since begun: Timestamp, orSendBecause reason: String) -> [ProtocolAction] {
        restartReason = reason
        return probe(.didItArrive(.earlier(begun: begun, refused: false), wantsDigest: false))
    }
}
