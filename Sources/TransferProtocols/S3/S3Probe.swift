import TransferModel

/// Asks a bucket for one name.
struct S3Probe: Inquirer {
    private let address: S3Address
    private var channel: S3Channel?

    /// - Parameter facts: what is known of the bucket, under its `origin`.
    init(_ address: S3Address, _ facts: HostFacts) {
        self.address = address
        channel = S3Channel(address, facts)
    }

    mutating func begin() -> InquiryStep {
        let query = "list-type=2&max-keys=1&prefix=" + PercentEncoding.encode(address.key.bytes)
        guard let exchange = channel?.bucketExchange(query: query) else {
            return .fail(.noRegion(address.place.region ?? ""))
        }
        return .ask(.http(exchange))
    }

    mutating func answered(_ end: ExchangeEnd, _ found: inout PlaceFindings) -> InquiryStep {
        // Without a channel nothing was asked.
        guard var channel else { return begin() }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: false)
        self.channel = channel
        switch verdict {
        case .success:
            found.protocolName = ProtocolFacts.s3.id
            return .done
        case .again(let learnt): return begin().after(learnt.map { [.learned($0)] } ?? [])
        case .silent(let error, _): return .broken(error)
        case .refused(let refusal):
            switch refusal.decision {
            case .wait(let demand): return .over(.wait(demand))
            case .fail(let error): return .fail(error)
            }
        }
    }
}
