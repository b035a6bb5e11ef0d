package import TransferModel
import WireOperations

/// The parameters of a plain PUT.
package struct PutPlan: Sendable, Hashable {
    package var address: HTTPAddress
    /// Bytes of the source, when it was last looked at.
    package var size: Int64
    package var ifExists: ExistingFilePolicy
    /// `nil`: a digest where the server tells one, else the size that it has taken.
    package var verify: VerificationWish?
    /// True when the server tells digests; `nil`: not known.
    package var tellsDigests: Bool?
    /// As `HostFacts.heedsConditions`.
    package var heedsConditions = false
    /// Makes the name of a file that nothing has, for a server that may find a file under every name.
    package var absentToken = ""
    /// When it was learnt that the host takes plain PUTs alone; `nil`: a person chose them.
    package var protocolLearntAt: Timestamp?
    /// As `HostFacts.absenceBelow`.
    package var absenceBelow: String?
    /// When an earlier attempt began whose outcome nobody recorded: it may have reached the server.
    package var begunBefore: Timestamp?
    /// As `UploadSubject.clockWasSetBack`.
    package var clockWasSetBack = false
    /// The known result of an earlier attempt of this task at the server.
    package var resume: StoredVersion?
    /// As `UploadSubject.hasJustStored`.
    package var hasJustStored = false
    /// A look right before the PUT found `resume` there.
    var stands = false
    /// The server has told the length of what it has, to another protocol.
    package var isMeasured = false
    /// The address of the upload whose answer said that the file is stored; `nil`: the file's own did. What is kept of the answer does not
    /// repeat it.
    var answeredAt: HTTPAddress?
    /// As `UploadSubject.targetIsOther`.
    package var targetIsOther = false
    /// Whole files that earlier attempts have sent without hearing an answer; `nil`: nobody counts them.
    package var unanswered: Int?
    /// The server is told that the upload could go on after a cut (IETF draft). One that can says so by a 104 while the body goes out; the
    /// resume point is then a `ResumableResumePoint`.
    package var offersResume = false
    /// In which version of the draft.
    package var interopVersion = ResumableDraft.latest
    /// Nobody knows yet whether the server takes that one up: where it does not, the next file offers an older one.
    package var offerIsTrial = false

    /// The server may replace a file whatever the condition says. One that is given a signature in the URL is a store of objects; what allows
    /// a PUT there allows nothing else.
    var mayIgnoreConditions: Bool { !heedsConditions && !address.isSigned }

    /// Nothing is to be replaced, and only a look can see to that.
    var isUnguarded: Bool { mayIgnoreConditions && PutMessages.wantsAbsence(self) }

    /// Nothing but a look tells whether our earlier version is still there.
    var mustRecognise: Bool {
        guard let own = resume, own.stored, ifExists != .replace else { return false }
        return (own.strongTag == nil || mayIgnoreConditions) && !own.isUntold
    }

    /// True when the file there may still be the earlier version of the source that we put there: only another tag tells.
    func isOwnBefore(_ answer: HTTPAnswer) -> Bool {
        guard let own = resume, own.stored else { return false }
        guard let before = own.etag, let now = answer.etag else { return true }
        return before == now
    }

    /// True when the file there is older than an attempt that began then, by the server's clock: its `Date` against ours shows how far the two
    /// are apart.
    func isOlder(_ answer: HTTPAnswer, than begun: Timestamp, now: Timestamp) -> Bool {
        // An attempt that began later than now began by a clock that was set while no engine ran.
        guard answer.isSuccess, let modified = answer.lastModified, begun <= now, !clockWasSetBack else { return false }
        let skew = answer.date.map { $0.since(now) } ?? .zero
        // Both fields are cut to whole seconds.
        return modified < begun.advanced(by: skew).advanced(by: .seconds(-2))
    }

    package init(
        address: HTTPAddress, size: Int64, ifExists: ExistingFilePolicy, verify: VerificationWish? = nil,
        begunBefore: Timestamp? = nil, resume: StoredVersion? = nil, offersResume: Bool = false
    ) {
        self.offersResume = offersResume
        self.address = address
        self.size = size
        self.ifExists = ifExists
        self.verify = verify
        self.begunBefore = begunBefore
        self.resume = resume
    }
}

/// The requests of a plain PUT.
enum PutMessages {
    static func put(_ plan: PutPlan, _ chain: RedirectChain) -> Exchange {
        .http(
            HTTPExchange(
                .put, chain.address, headers: condition(plan) + digestWish(plan.verify.comparesDigests) + offer(plan),
                body: .source(0..<plan.size), mayCarrySecrets: chain.mayCarrySecrets))
    }

    /// Asks what is there.
    static func head(_ chain: RedirectChain, wantsDigest: Bool = false) -> Exchange {
        var exchange = HTTPExchange(
            .head, chain.address, headers: digestWish(wantsDigest), mayCarrySecrets: chain.mayCarrySecrets)
        // For the digest the server may read all of the file first.
        if wantsDigest { exchange.patience = .assembling }
        return .http(exchange)
    }

    /// True when the PUT tells the server to refuse if another file is there already (RFC 9110 sections 13.1.1 and 13.1.2).
    static func isConditional(_ plan: PutPlan) -> Bool { !condition(plan).isEmpty }

    /// True when it is to refuse whatever file is there.
    static func wantsAbsence(_ plan: PutPlan) -> Bool { condition(plan).contains { $0.name == "If-None-Match" } }

    static func condition(_ plan: PutPlan) -> [HeaderField] {
        // Whatever is there: a person may have said so because somebody else had overwritten our earlier version.
        if plan.ifExists == .replace { return [] }
        if let own = plan.resume, own.stored {
            // Only what we put there ourselves is replaced.
            if let tag = own.strongTag { return [HeaderField("If-Match", tag)] }
            if plan.stands || own.isUntold { return [] }
        }
        return [HeaderField("If-None-Match", "*")]
    }

    private static func offer(_ plan: PutPlan) -> [HeaderField] {
        plan.offersResume ? ResumableDraft.creation(plan.interopVersion, length: plan.size, isComplete: true) : []
    }

    /// Asks for the digest of the whole file. Who does not know it passes it over (RFC 9530 section 4).
    static func digestWish(_ wanted: Bool) -> [HeaderField] {
        wanted ? [HeaderField("Want-Repr-Digest", "sha-256=10")] : []
    }
}

extension VerificationWish? {
    /// True when a digest that the server tells is compared with the source's.
    package var comparesDigests: Bool { self == nil || self == .digest }
}

extension HTTPAddress {
    /// True when the URL's query has a signature in it: of AWS and those who do as it does, of Google, of Azure.
    var isSigned: Bool {
        let names = ["x-amz-signature", "x-goog-signature", "signature", "sig"]
        return target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&").contains { pair in
            names.contains(pair.prefix { $0 != "=" }.lowercased())
        } ?? false
    }
}

extension TransferError {
    /// The server answered a PUT with success but does not show the file.
    static func doubtful(_ status: Int, at host: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) answered \(status), but nothing shows that it has the file", .again,
            httpStatus: status)
    }

    static func signatureExpired(_ address: HTTPAddress, _ status: Int) -> TransferError {
        TransferError(
            .http, "\(address.server) answered \(status)",
            .queued("the signed URL has expired or does not allow this file; queue it again with a new one"),
            httpStatus: status)
    }
}
