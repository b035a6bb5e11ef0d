package import TransferModel

/// Finds the uploads below a prefix that were begun and not finished, whoever began them: for `martlet leftovers`. Not a transfer, so not a
/// `ProtocolMachine`; as pure as one. An entry is taken away by `S3Removal(leftover.point(at: address))`.
package struct S3LeftoverSearch: Sendable {
    /// The next step of the search.
    package enum Step: Sendable, Hashable {
        /// Send this, signed, and give its end to `took`. What was learnt meanwhile is worth remembering.
        case ask(HTTPExchange, learnt: HostFacts?)
        /// - Parameter isWhole: false: the search ended where there may be more.
        case found([S3Leftover], isWhole: Bool)
        case failed(TransferError)
    }

    /// Bytes of names and IDs, and pages, after which the search ends: more than a person reads, and what a service makes us keep at most.
    private static let mostBytes = 8 << 20
    private static let mostPages = 200
    /// Bytes that each upload costs beside its names.
    private static let bytesOfEach = 64

    private let prefix: S3Address
    private var channel: S3Channel?
    private var found: [S3Leftover] = []
    private var bytes = 0
    private var marker: S3UploadPage.Marker?
    /// Pages that were taken, and the marker of one of them: whoever leads round in a circle comes by it again.
    private var pages = 0
    private var landmark: S3UploadPage.Marker?

    /// - Parameter prefix: a bucket, or keys that begin so.
    package init(_ prefix: S3Address, facts: HostFacts = HostFacts()) {
        self.prefix = prefix
        channel = S3Channel(prefix, facts)
    }

    /// The first step.
    package func begin() -> Step { ask(nil) }

    /// Takes the answer to the last step's request, and returns the next step.
    package mutating func took(_ end: ExchangeEnd) -> Step {
        guard var channel else { return .failed(.noRegion(prefix.place.region ?? "")) }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: false)
        self.channel = channel
        switch verdict {
        case .success:
            guard end.failure == nil, let page = S3Answers.uploads(end.body) else {
                return .failed(end.failure?.error ?? .unreadable(channel.host))
            }
            found += page.uploads
            bytes += page.uploads.reduce(0) { $0 + $1.key.bytes.count + $1.uploadID.utf8.count + Self.bytesOfEach }
            pages += 1
            guard let next = page.next else { return .found(found, isWhole: true) }
            guard pages < Self.mostPages, bytes < Self.mostBytes else { return .found(found, isWhole: false) }
            // A page that leads nowhere would be asked for again and again.
            guard next != marker, next != landmark, !page.uploads.isEmpty else {
                return .failed(.unreadable(channel.host))
            }
            if pages.nonzeroBitCount == 1 { landmark = next }
            marker = next
            return ask(nil)
        case .again(let learnt): return ask(learnt)
        case .silent(let error, _): return .failed(error)
        case .refused(let refusal):
            switch refusal.decision {
            case .wait(let demand): return .failed(demand.error)
            case .fail(let error): return .failed(error)
            }
        }
    }

    private func ask(_ learnt: HostFacts?) -> Step {
        var query = "encoding-type=url&max-uploads=1000&prefix=" + PercentEncoding.encode(prefix.key.bytes)
        if let marker {
            query += "&key-marker=" + PercentEncoding.encode(marker.key.bytes)
            query += "&upload-id-marker=" + PercentEncoding.encode(Array(marker.uploadID.utf8))
        }
        guard let exchange = channel?.bucketExchange(query: query + "&uploads") else {
            return .failed(.noRegion(prefix.place.region ?? ""))
        }
        return .ask(exchange, learnt: learnt)
    }
}

extension S3Leftover {
    /// The resume point that `S3Removal` needs to take it away; nothing goes on with it.
    /// - Parameter address: any of the bucket.
    package func point(at address: S3Address) -> S3ResumePoint {
        S3ResumePoint(
            address: S3Address(bucket: address.bucket, key: key, place: address.place), uploadID: uploadID, partSize: 1,
            size: 0)
    }
}
