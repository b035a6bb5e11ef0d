import TransferModel

extension ProtocolDescriptor {
    static let sftp = ProtocolDescriptor(
        .sftp, at: SFTPAddress.self, resumePoint: SFTPResumePoint.self,
        upload: { job, address in
            SFTPUpload(
                SFTPUploadPlan(
                    host: address.server, path: address.path, subject: job.replacing, facts: job.facts,
                    resume: job.resume?.content(SFTPResumePoint.self)))
        },
        download: { job, address in
            var plan = SFTPDownloadPlan(
                host: address.server, path: address.path, name: job.name, verify: job.verify, expects: job.expects,
                resume: job.resume)
            (plan.ifChanged, plan.takesAsItComes) = (job.ifChanged, job.takesAsItComes)
            return SFTPDownload(plan)
        },
        removal: { job, address in
            job.point.content(SFTPResumePoint.self).map { SFTPRemoval($0, host: address.host, path: address.path) }
        },
        probe: { _, address in PlaceProbe(SFTPProbe(host: address.host, address.path)) },
        listing: { _, address in RemoteListing(SFTPFolderListing(host: address.server, address.path)) },
        fileProbe: { job, address in FileProbe(SFTPFileProbe(host: address.server, address.path, name: job.name)) },
        // A small file needs no resume point: its next attempt finds the temporary file by its name.
        guess: { job, address in
            guard job.size <= SFTPUpload.small, job.facts.cannotRename != true else { return nil }
            return ResumePoint(
                SFTPResumePoint(
                    guessedFor: address.path, token: job.token, size: job.size,
                    modifiedNanoseconds: job.modifiedNanoseconds))
        })
}
