import TransferModel

/// What an upload to S3 is to do.
package struct S3Plan: Sendable, Hashable {
    /// Of the object.
    package var address: S3Address
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: S3ResumePoint?
    /// Parts that are sent side by side.
    package var parallel: Int
    /// Bytes of one part at least, when a person said so. A file that is not longer goes in one request.
    package var chunk: Int64?

    package init(
        address: S3Address, subject: UploadSubject, facts: HostFacts = HostFacts(), resume: S3ResumePoint? = nil,
        parallel: Int = 4, chunk: Int64? = nil
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.parallel = max(1, parallel)
        self.chunk = chunk
    }

    /// The server takes parts of 5 MiB to 5 GiB, the last one shorter, and at most 10,000 of them.
    static let partSizes: ClosedRange<Int64> = 5 << 20...5 << 30
    static let mostParts: Int64 = 10_000

    /// Bytes of every part but the last: fixed for the whole upload, since some servers insist on equal parts.
    var partSize: Int64 {
        let mebibyte: Int64 = 1 << 20
        let wished = max(chunk ?? 8 << 20, Self.partSizes.lowerBound)
        // 9,900: a source that grows a little while it waits shall still fit.
        let least = (subject.size / 9900 / mebibyte + 1) * mebibyte
        return max(wished, subject.size > wished * 9900 ? least : 0)
    }

    /// Whether the file goes in one request.
    var isSingle: Bool { subject.size <= min(partSize, Self.partSizes.upperBound) }
}

/// What must be on disk to go on with a multipart upload. Nothing of it is secret: it opens nothing without the keys.
package struct S3ResumePoint: ResumePointContent {
    package static var kind: String { "s3" }

    /// Where the upload was begun.
    package var address: S3Address
    package var uploadID: String
    package var partSize: Int64
    /// Of the source.
    package var size: Int64
    /// The server's tags of parts were found not to be their MD5.
    package var hasForeignTags: Bool

    package init(address: S3Address, uploadID: String, partSize: Int64, size: Int64, hasForeignTags: Bool = false) {
        self.address = address
        self.uploadID = uploadID
        self.partSize = partSize
        self.size = size
        self.hasForeignTags = hasForeignTags
    }

    package var isPlausible: Bool {
        !uploadID.isEmpty && partSize > 0 && size >= 0 && size / partSize < S3Plan.mostParts
    }
}
