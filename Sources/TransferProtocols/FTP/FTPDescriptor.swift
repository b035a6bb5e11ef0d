package import TransferModel
import WireOperations

extension ProtocolDescriptor {
    static let ftp = ProtocolDescriptor(
        .ftp, at: FTPAddress.self, resumePoint: FTPResumePoint.self,
        upload: { job, address in
            FTPUpload(
                FTPUploadPlan(
                    host: address.server, path: address.path, subject: job.replacing, facts: job.facts,
                    resume: job.resume?.content(FTPResumePoint.self)))
        },
        download: { job, address in
            var plan = FTPDownloadPlan(
                host: address.server, path: address.path, name: job.name, verify: job.verify, expects: job.expects,
                facts: job.facts, resume: job.resume)
            (plan.ifChanged, plan.takesAsItComes) = (job.ifChanged, job.takesAsItComes)
            return FTPDownload(plan)
        },
        removal: { job, address in
            job.point.content(FTPResumePoint.self).map { FTPRemoval($0, target: address.path, host: address.host) }
        },
        probe: { _, address in PlaceProbe(FTPProbe(host: address.host, address.path)) },
        listing: { _, address in RemoteListing(FTPFolderListing(host: address.server, address.path)) },
        fileProbe: { job, address in FileProbe(FTPFileProbe(host: address.server, address.path, name: job.name)) })
}

extension FTPAddress: PlaceAddress {
    package init?(_ url: PlaceURL) { self.init(url.text) }

    package func below(_ path: RawPath) -> FTPAddress? { appending(path) }

    package var folder: FTPAddress? { FTPAddress(security, host: host, port: port, path: path.folder) }

    package var fileName: RawPath { path.lastSegment }

    package var askedServer: String { "\(security.rawValue)://\(host)" }

    package static func refusal(of path: RawPath, for file: RawPath) -> TransferError? {
        cannotCarry(path) ? .noFTPName(file) : nil
    }

    package var route: TransportRoute { .ftp(self) }
}
