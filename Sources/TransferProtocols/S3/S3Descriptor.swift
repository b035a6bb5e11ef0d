package import TransferModel

extension ProtocolDescriptor {
    static let s3 = ProtocolDescriptor(
        .s3, at: S3Address.self, resumePoint: S3ResumePoint.self,
        upload: { job, address in
            S3Upload(
                S3Plan(
                    address: address, subject: job.subject, facts: job.facts,
                    resume: job.resume?.content(S3ResumePoint.self), chunk: job.options.chunkBytes))
        },
        download: { job, address in
            guard let channel = S3Channel(address, job.facts) else { return nil }
            var plan = GetPlan(
                address: channel.base, name: job.name, verify: job.verify, expects: job.expects, resume: job.resume)
            (plan.channel, plan.ifChanged) = (channel, job.ifChanged)
            return GetDownload(plan)
        },
        removal: { job, _ in job.point.content(S3ResumePoint.self).map { S3Removal($0, facts: job.facts) } },
        probe: { job, address in PlaceProbe(S3Probe(address, job.facts)) },
        listing: { job, address in
            let slash = UInt8(ascii: "/")
            var folder = address
            var key = address.key.bytes
            if !key.isEmpty, key.last != slash { key.append(slash) }
            folder.key = RawPath(key + job.beginning.bytes)
            return RemoteListing(S3FolderListing(folder, job.facts))
        })
}

extension S3Address: PlaceAddress {
    package init?(_ url: PlaceURL) { self.init(url.text, place: url.s3 ?? S3Place()) }

    package func below(_ path: RawPath) -> S3Address? { appending(path) }

    package var folder: S3Address? {
        var folder = self
        folder.key = RawPath(key.bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(key.bytes[...$0]) } ?? [])
        return folder
    }

    package var fileName: RawPath { key.lastSegment }

    package var askedServer: String { origin }

    /// The key of its bucket's service, which says more than the lane's origin.
    package func factsKey(_ origin: String) -> String { self.origin }
}
