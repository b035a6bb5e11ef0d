import TransferModel

extension ProtocolDescriptor {
    static let put = ProtocolDescriptor(
        .put, at: HTTPAddress.self, resumePoint: StoredVersion.self,
        upload: { job, address in PutUpload(PutPlan(job, address)) })
}

extension UploadJob {
    /// As `StoredVersion.unanswered`, of this version of the source.
    var lostAnswers: Int { resume?.isOutdated == true ? 0 : resume?.content(StoredVersion.self)?.unanswered ?? 0 }
}

extension PutPlan {
    /// A smaller file is sent again as quickly as its offset is asked for.
    private static let leastToResume: Int64 = 1 << 20

    init(_ job: UploadJob, _ address: HTTPAddress) {
        let subject = job.subject
        // One that was told to be plain is not asked for more.
        self.init(
            address: address, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
            begunBefore: subject.begunBefore, resume: job.resume?.ownVersion,
            // What OPTIONS does not announce a 104 may still bring.
            offersResume: job.options.uploadBy == nil && subject.size >= Self.leastToResume)
        unanswered = job.lostAnswers
        hasJustStored = subject.hasJustStored
        tellsDigests = job.facts.tellsDigests
        heedsConditions = job.facts.heedsConditions == true
        protocolLearntAt = job.options.uploadBy == nil ? job.facts.uploadByAt : nil
        (absentToken, absenceBelow) = (subject.token, job.facts.absenceBelow)
        targetIsOther = subject.targetIsOther
        clockWasSetBack = subject.clockWasSetBack
        interopVersion = job.facts.versionToOffer
        offerIsTrial = job.facts.isOfferATrial
    }
}
