package import TransferModel

/// What a plain GET is to do.
package struct GetPlan: Sendable, Hashable {
    package var address: HTTPAddress
    /// The final name, when a person gave one.
    package var name: RawPath?
    package var verify: VerificationWish?
    /// A digest that a person gave, so none need be asked for.
    package var expects: TransferDigest?
    /// Of an earlier attempt, its offset cut to what the temporary file really has.
    package var resume: GetResumePoint?

    package init(
        address: HTTPAddress, name: RawPath? = nil, verify: VerificationWish? = nil, expects: TransferDigest? = nil,
        resume: GetResumePoint? = nil
    ) {
        self.address = address
        self.name = name
        self.verify = verify
        self.expects = expects
        self.resume = resume
    }
}

/// The requests of a download.
enum GetMessages {
    /// Asks for everything from `offset` on; `Accept-Encoding` is left out, because ranges count coded bytes.
    static func get(_ plan: GetPlan, _ chain: RedirectChain, from offset: Int64, ifRange: String?) -> Exchange {
        var headers: [HeaderField] = []
        if offset > 0 { headers.append(HeaderField("Range", "bytes=\(offset)-")) }
        if let ifRange { headers.append(HeaderField("If-Range", ifRange)) }
        if plan.verify == .digest, plan.expects == nil { headers.append(HeaderField("Want-Repr-Digest", "sha-256=10")) }
        return .http(
            HTTPExchange(
                .get, chain.address, headers: headers, sink: .gated, mayCarrySecrets: chain.mayCarrySecrets))
    }

    static func head(_ chain: RedirectChain) -> Exchange {
        .http(HTTPExchange(.head, chain.address, mayCarrySecrets: chain.mayCarrySecrets))
    }
}
