import Digests
package import TransferModel

/// The parameters of an upload to S3.
package struct S3Plan: Sendable, Hashable {
    /// Address of the object.
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
    static let mostParts = Int64(S3PartCount.numbers.upperBound)

    /// Bytes of every part but the last: fixed for the whole upload, since some servers insist on equal parts.
    var partSize: Int64 {
        let mebibyte: Int64 = 1 << 20
        let usual = facts.partRate.map { self.usual(at: $0) } ?? min(max(8, subject.size >> 26), 32) * mebibyte
        let wished = min(max(chunk ?? usual, Self.partSizes.lowerBound), Self.partSizes.upperBound)
        // 9,900: a source that grows a little while it waits shall still fit.
        let least = (subject.size / 9900 / mebibyte + 1) * mebibyte
        return max(wished, subject.size > wished * 9900 ? least : 0)
    }

    /// True when the file goes in one request.
    var isSingle: Bool { subject.size <= min(partSize, Self.partSizes.upperBound) }
}

/// Resume point of a multipart upload. Nothing of it is secret: it opens nothing without the keys.
package struct S3ResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.s3.id }

    /// Address at which the upload was begun.
    package var address: S3Address
    package var uploadID: String
    package var partSize: Int64
    /// Bytes of the source.
    package var size: Int64
    package var modifiedNanoseconds: Int64
    /// The server's tags of parts were found not to be their MD5.
    package var hasForeignTags: Bool
    /// Since then an upload was to be begun whose ID is not known yet.
    package var intendedAt: Timestamp?

    package init(
        address: S3Address, uploadID: String, partSize: Int64, size: Int64, modifiedNanoseconds: Int64 = 0,
        hasForeignTags: Bool = false
    ) {
        self.address = address
        self.uploadID = uploadID
        self.partSize = partSize
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
        self.hasForeignTags = hasForeignTags
    }

    /// An upload that is about to be begun: durable before it is, or nobody would know of one whose birth was not heard.
    init(intended plan: S3Plan, at now: Timestamp) {
        self.init(
            address: plan.address, uploadID: "", partSize: plan.partSize, size: plan.subject.size,
            modifiedNanoseconds: plan.subject.modifiedNanoseconds)
        intendedAt = now
    }

    package var isPlausible: Bool {
        uploadID.isEmpty == (intendedAt != nil) && ResumeBounds.chunks.contains(partSize)
            && ResumeBounds.lengths.contains(size) && size / partSize < S3Plan.mostParts
    }
}

/// When a write may happen, by the server's own check.
enum S3Condition: Hashable, Sendable {
    case always
    /// Nothing is there yet.
    case ifAbsent
    /// The object there still has this tag.
    case ifTag(String)

    var headers: [HeaderField] {
        switch self {
        case .always: []
        case .ifAbsent: [HeaderField("If-None-Match", "*")]
        case .ifTag(let tag): [HeaderField("If-Match", tag)]
        }
    }
}

/// The requests of an upload to S3.
enum S3Messages {
    /// Field with the task's token, which marks an object as ours.
    static let tokenField = "x-amz-meta-martlet-token"
    /// Seconds since 1970 with a fraction, as rclone keeps it.
    static let timeField = "x-amz-meta-mtime"

    static func put(_ plan: S3Plan, _ channel: S3Channel, _ condition: S3Condition, _ digests: S3Digests) -> Exchange {
        .http(
            channel.exchange(
                .put, headers: condition.headers + stamp(plan.subject) + contentMD5(digests),
                body: .source(0..<plan.subject.size), sha256: digests.sha256))
    }

    /// Asks what is there.
    static func head(_ channel: S3Channel) -> Exchange { .http(channel.exchange(.head)) }

    static func create(_ plan: S3Plan, _ channel: S3Channel) -> Exchange {
        .http(
            channel.exchange(
                .post, query: "uploads", headers: stamp(plan.subject), body: .bytes([]),
                sink: .document(limit: S3Answers.longest)))
    }

    static func part(
        _ index: Int, _ range: Range<Int64>, of upload: S3ResumePoint, _ channel: S3Channel, _ digests: S3Digests
    ) -> Exchange {
        .http(
            channel.exchange(
                .put, query: "partNumber=\(index + 1)&\(id(upload))", headers: contentMD5(digests),
                body: .source(range),
                sha256: digests.sha256))
    }

    /// - Parameter marker: the last part of the page before.
    static func list(_ upload: S3ResumePoint, _ channel: S3Channel, after marker: Int?) -> Exchange {
        let next = marker.map { "&part-number-marker=\($0)" } ?? ""
        return .http(
            channel.exchange(
                .get, query: "max-parts=1000\(next)&\(id(upload))", sink: .document(limit: S3Answers.longest)))
    }

    static func complete(
        _ upload: S3ResumePoint, _ channel: S3Channel, _ condition: S3Condition, tags: [String]
    ) -> Exchange {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for (index, tag) in tags.enumerated() {
            text += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(escaped(tag))</ETag></Part>"
        }
        text += "</CompleteMultipartUpload>"
        var exchange = channel.exchange(
            .post, query: id(upload), headers: condition.headers + [HeaderField("Content-Type", "application/xml")],
            body: .bytes(Array(text.utf8)), sink: .document(limit: S3Answers.longest))
        exchange.patience = .assembling
        return .http(exchange)
    }

    static func abort(_ upload: S3ResumePoint, _ channel: S3Channel) -> Exchange {
        .http(channel.exchange(.delete, query: id(upload)))
    }

    private static func id(_ upload: S3ResumePoint) -> String {
        "uploadId=" + PercentEncoding.encode(Array(upload.uploadID.utf8))
    }

    private static func stamp(_ subject: UploadSubject) -> [HeaderField] {
        [HeaderField("Content-Type", subject.mediaType), HeaderField(tokenField, subject.token)]
            + (subject.modifiedNanoseconds > 0 ? [HeaderField(timeField, time(subject.modifiedNanoseconds))] : [])
    }

    private static func contentMD5(_ digests: S3Digests) -> [HeaderField] {
        digests.md5.map { [HeaderField("Content-MD5", Base64.encode($0))] } ?? []
    }

    private static func time(_ nanoseconds: Int64) -> String {
        let fraction = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    /// The tag comes from the server: it must not become markup.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
