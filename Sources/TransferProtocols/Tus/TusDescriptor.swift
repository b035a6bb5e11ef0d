import TransferModel

extension ProtocolDescriptor {
    static let tus = ProtocolDescriptor(
        .tus, at: HTTPAddress.self, resumePoint: TusResumePoint.self,
        upload: { job, address in TusUpload(TusPlan(job, address)) },
        download: get.download,
        removal: { job, address in
            job.point.content(TusResumePoint.self).map { UploadRemoval($0, endpoint: address) }
        },
        probe: { _, address in PlaceProbe(WebProbe(address, asks: .tus)) })
}

extension TusPlan {
    init(_ job: UploadJob, _ address: HTTPAddress) {
        let isNested = job.path.bytes.contains(UInt8(ascii: "/"))
        self.init(
            endpoint: job.folder(of: address), subject: job.subject, relativePath: isNested ? job.path : nil,
            facts: job.facts, resume: job.resume?.content(TusResumePoint.self), chunk: job.options.chunkBytes,
            fileAddress: address)
        stored = job.resume?.ownVersion
    }
}
