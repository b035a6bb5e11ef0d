package import TransferModel

/// The parameters of a GET.
package struct GetPlan: Sendable {
    package var address: HTTPAddress
    /// The final name, when a person gave one.
    package var name: RawPath?
    package var verify: VerificationWish?
    /// A digest that a person gave, so none need be asked for.
    package var expects: TransferDigest?
    /// Resume point of an earlier attempt, its offset cut to what the temporary file really has.
    package var resume: GetResumePoint?
    /// The way in which a store is asked for an object. `nil`: any other server.
    package var channel: (any ObjectChannel)?
    /// When the file is another one than the one that was begun.
    package var ifChanged = ChangedSourcePolicy.restart

    /// A digest that the server offers is compared with.
    var takesOffers: Bool { expects == nil && verify != VerificationWish.none && verify != .size }

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
    static func get(
        _ plan: GetPlan, _ chain: RedirectChain, from offset: Int64, ifRange: String?, signing: RequestSigning?
    ) -> Exchange {
        var headers: [HeaderField] = []
        if offset > 0 { headers.append(HeaderField("Range", "bytes=\(offset)-")) }
        if let ifRange { headers.append(HeaderField("If-Range", ifRange)) }
        // An object store does not know the question, and signs its answers in its own way.
        if plan.takesOffers, plan.channel == nil || plan.verify == .digest {
            headers.append(HeaderField("Want-Repr-Digest", "sha-256=10"))
        }
        return exchange(.get, chain, headers, .gated, signing)
    }

    static func head(_ chain: RedirectChain, signing: RequestSigning?) -> Exchange {
        exchange(.head, chain, [], .kept, signing)
    }

    /// Asks for the first byte: for the head of the answer, or for what the server says when it does not want to give it.
    static func oneByte(_ chain: RedirectChain, signing: RequestSigning?) -> Exchange {
        exchange(.get, chain, [HeaderField("Range", "bytes=0-0")], .kept, signing)
    }

    private static func exchange(
        _ method: HTTPExchange.Method, _ chain: RedirectChain, _ headers: [HeaderField], _ sink: HTTPExchange.Sink,
        _ signing: RequestSigning?
    ) -> Exchange {
        var exchange = HTTPExchange(
            method, chain.address, headers: headers, sink: sink, mayCarrySecrets: chain.mayCarrySecrets)
        // A signature is for one host: who is pointed to gets none.
        if chain.mayCarrySecrets { exchange.signing = signing }
        return .http(exchange)
    }
}
