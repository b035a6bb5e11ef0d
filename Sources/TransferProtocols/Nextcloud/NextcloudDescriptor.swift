import TransferModel

extension ProtocolDescriptor {
    /// The pieces in which a Nextcloud takes large files; all else of it is WebDAV.
    static let nextcloud = ProtocolDescriptor(
        .nextcloud, at: HTTPAddress.self, resumePoint: NextcloudResumePoint.self,
        upload: { job, address in
            var plan = NextcloudPlan(
                address: address, subject: job.replacing, facts: job.facts,
                resume: job.resume?.content(NextcloudResumePoint.self),
                chunk: job.options.chunkBytes ?? NextcloudPlan.usualChunk)
            plan.whole = job.resume?.content(DavResumePoint.self)
            return NextcloudUpload(plan)
        },
        removal: { job, address in
            job.point.content(NextcloudResumePoint.self).map { UploadRemoval($0, address: address) }
        })
}

extension NextcloudPlan {
    /// True when a file over WebDAV goes in pieces, which the server remembers; others go whole.
    static func isFor(_ job: UploadJob, _ address: HTTPAddress) -> Bool {
        if job.resume?.kind == NextcloudResumePoint.kind { return true }
        let isLarge = job.subject.size > job.options.chunkBytes ?? usualChunk
        // A MOVE that may have happened, or a digest that was not heard, is asked after by what sent the file whole.
        let whole = job.resume?.content(DavResumePoint.self)
        let isInDoubt = whole.map { $0.publishing || $0.unanswered != nil } ?? false
        return ProtocolFacts.nextcloud.mark.map(address.target.contains) == true && isLarge
            && job.facts.cannotChunk != true && !isInDoubt
    }
}
