import TransferModel

extension ProtocolDescriptor {
    static let ietf = ProtocolDescriptor(
        .ietf, at: HTTPAddress.self, resumePoint: ResumableResumePoint.self,
        upload: { job, address in ResumableUpload(ResumablePlan(job, address)) },
        download: get.download,
        removal: { job, address in
            job.point.content(ResumableResumePoint.self).map { UploadRemoval($0, address: address) }
        },
        probe: { _, address in PlaceProbe(WebProbe(address, asks: .ietf)) })
}

extension ResumablePlan {
    init(_ job: UploadJob, _ address: HTTPAddress) {
        self.init(
            address: address, subject: job.subject, facts: job.facts,
            resume: job.resume?.content(ResumableResumePoint.self), chunk: job.options.chunkBytes)
        stored = job.resume?.ownVersion
        unanswered = subject.hasChanged ? 0 : resume?.unanswered ?? job.lostAnswers
    }
}
