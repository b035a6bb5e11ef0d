import TransferModel

extension ProtocolDescriptor {
    static let dav = ProtocolDescriptor(
        .dav, at: HTTPAddress.self, resumePoint: DavResumePoint.self,
        upload: { job, address in
            if NextcloudPlan.isFor(job, address) { return nextcloud.upload?(job, address) }
            return DavUpload(
                DavPlan(
                    address: address, subject: job.replacing, facts: job.facts,
                    resume: job.resume?.content(DavResumePoint.self)))
        },
        download: get.download,
        removal: { job, address in job.point.content(DavResumePoint.self).map { UploadRemoval($0, address: address) } },
        probe: { _, address in PlaceProbe(DavProbe(address)) },
        listing: { _, address in
            // A folder's address ends in a slash.
            let path = address.target.prefix { $0 != "?" }
            let folder = path.hasSuffix("/") ? address : address.appendingSlash
            return RemoteListing(DavFolderListing(folder, isCloud: DavPlan.isCloud(path)))
        },
        fileProbe: { job, address in FileProbe(DavFileProbe(address, name: job.name)) })
}
