import TransferModel

/// The versions of the IETF draft "Resumable Uploads for HTTP" that are spoken here, and the fields that differ in them. A request names
/// exactly one; a server that does not know it takes the request as if nothing had been said.
package enum ResumableDraft {
    /// The newest interop version.
    package static let latest = 8
    /// In the order in which they are tried. 7 and 4 were never shipped.
    package static let versions = [8, 6, 5, 3]

    static func name(_ version: Int) -> HeaderField { HeaderField("Upload-Draft-Interop-Version", String(version)) }

    /// The field that says whether the upload's last byte is in this request. Version 3 says the opposite.
    static func completion(_ version: Int, _ isComplete: Bool) -> HeaderField {
        version == 3
            ? HeaderField("Upload-Incomplete", isComplete ? "?0" : "?1")
            : HeaderField("Upload-Complete", isComplete ? "?1" : "?0")
    }

    /// The fields that make a usual request one that begins an upload.
    static func creation(_ version: Int, length: Int64, isComplete: Bool) -> [HeaderField] {
        // Said once: a server that knows the length refuses to hear it again.
        [name(version), completion(version, isComplete)]
            + (version >= 6 ? [HeaderField("Upload-Length", String(length))] : [])
    }
}

/// The parameters of a resumable upload of the IETF draft.
package struct ResumablePlan: Sendable, Hashable {
    /// The file's address: what a plain PUT would go to.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: ResumableResumePoint?
    /// The file that an earlier version of the source left under that name: ours to replace.
    package var stored: StoredVersion?
    /// As `PutPlan.stands`.
    var stands = false
    /// As `PutPlan.unanswered`, of the plain PUT or the upload.
    var unanswered: Int?
    /// Bytes in one request at most, when a person said so.
    package var chunk: Int64?

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: ResumableResumePoint? = nil, chunk: Int64? = nil
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
    }

    /// The same file by a plain PUT, which the server may turn into an upload that can go on.
    func put(version: Int, isTrial: Bool = false, begunBefore: Timestamp?) -> PutPlan {
        var put = PutPlan(
            address: address, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
            begunBefore: begunBefore, resume: stored, offersResume: true)
        put.tellsDigests = facts.tellsDigests
        put.heedsConditions = facts.heedsConditions == true
        (put.absentToken, put.absenceBelow) = (subject.token, facts.absenceBelow)
        put.targetIsOther = subject.targetIsOther
        put.hasJustStored = subject.hasJustStored
        put.stands = stands
        put.clockWasSetBack = subject.clockWasSetBack
        put.interopVersion = version
        put.offerIsTrial = isTrial
        return put
    }
}

/// The requests of the IETF draft. Each goes to where redirects have led.
enum ResumableMessages {
    /// Reading a file of this size again may take a server minutes.
    static let longDigested: Int64 = 16 << 30

    /// Asks whether the server knows that version: nothing else of the draft may be in it.
    static func options(_ chain: RedirectChain, version: Int) -> Exchange {
        .http(
            HTTPExchange(
                .options, chain.address, headers: [ResumableDraft.name(version)],
                mayCarrySecrets: chain.mayCarrySecrets))
    }

    /// Makes an upload without a byte in it. Only for a server that announced that it knows what that means.
    static func create(_ chain: RedirectChain, _ plan: ResumablePlan, version: Int) -> Exchange {
        let headers =
            PutMessages.condition(plan.put(version: version, begunBefore: nil))
            + PutMessages.digestWish(plan.subject.verify.comparesDigests)
            + ResumableDraft.creation(version, length: plan.subject.size, isComplete: false)
        return .http(
            HTTPExchange(
                .put, chain.address, headers: headers, body: .bytes([]), mayCarrySecrets: chain.mayCarrySecrets))
    }

    /// Asks how much is there. Servers refuse it with any field of the draft but the version.
    static func head(_ chain: RedirectChain, version: Int, target: HTTPAddress) -> Exchange {
        .http(look(chain.address, version: version, target: target))
    }

    /// The same from outside of the upload.
    static func look(_ upload: HTTPAddress, version: Int, target: HTTPAddress) -> HTTPExchange {
        HTTPExchange(
            .head, upload, headers: [ResumableDraft.name(version)], mayCarrySecrets: upload.origin == target.origin)
    }

    /// Sends a range of the source; an empty one at the end says only that nothing follows.
    static func append(
        _ chain: RedirectChain, _ range: Range<Int64>, isLast: Bool, version: Int, _ plan: ResumablePlan
    ) -> Exchange {
        let subject = plan.subject
        var headers = [
            ResumableDraft.name(version), HeaderField("Upload-Offset", String(range.lowerBound)),
            ResumableDraft.completion(version, isLast),
        ]
        if version >= 6 { headers.append(HeaderField("Content-Type", "application/partial-upload")) }
        if isLast { headers += PutMessages.digestWish(subject.verify.comparesDigests) }
        var exchange = HTTPExchange(
            .patch, chain.address, headers: headers, body: range.isEmpty ? .bytes([]) : .source(range),
            mayCarrySecrets: chain.address.origin == plan.address.origin)
        // For the digest the server may read all of the file once more.
        if isLast, subject.verify.comparesDigests, subject.size >= longDigested { exchange.patience = .assembling }
        return .http(exchange)
    }

    /// Frees what the upload takes there.
    static func cancel(_ upload: HTTPAddress, version: Int, target: HTTPAddress) -> HTTPExchange {
        HTTPExchange(
            .delete, upload, headers: [ResumableDraft.name(version)], body: .bytes([]),
            mayCarrySecrets: upload.origin == target.origin)
    }
}
