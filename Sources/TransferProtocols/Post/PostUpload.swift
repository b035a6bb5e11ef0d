import TransferModel
import WireOperations

/// An upload by one POST: the file as the body, or in a form.
///
/// The effect of a POST is the server's affair, so one that may have happened is never silently repeated: the point is durable before it
/// goes, and taken back only when it surely did nothing. One that went with a key of the user's is repeated with the same key, by which the
/// server knows it again.
package struct PostUpload: ProtocolMachine {
    fileprivate enum State {
        /// Next: `sending`, `over` (an earlier one may have happened).
        case ready
        /// The POST is under way. Next: itself (307, 308), `over`.
        case sending(ExchangeID)
        /// `finish`, `fail` or `wait` was said. Late events are left alone.
        case over
    }

    private let plan: PostPlan
    private var state = State.ready
    private var chain: RedirectChain
    private var lastID = 0

    package init(_ plan: PostPlan) {
        self.plan = plan
        chain = RedirectChain(plan.address)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began):
            if plan.subject.verify == .digest {
                return over(.fail(.unverifiable(at: plan.address.server, "tells no digest of what a POST has made")))
            }
            return post()
        case (.sending(let id), .ended(let ended, let end)) where ended == id: return sent(end)
        default:
            // Heads are looked at when the exchange ends; what belongs to a finished one comes too late.
            return []
        }
    }

    /// The POST to where redirects have led, unless an earlier one may have happened which the server would not know it by.
    private mutating func post() -> [ProtocolAction] {
        if let earlier = plan.resume, !earlier.allows(plan.key(chain), of: plan.subject.token) {
            return over(.fail(.posted(plan.address, "its answer was lost")))
        }
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = .sending(id)
        // The point says that it may have happened before it goes, and is taken back if it never does.
        return [
            .persist(sent), .compareSource(keeping: before), .perform(id, PostMessages.post(plan, chain)),
        ]
    }

    private mutating func sent(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else { return unanswered(end) }
        switch AnswerMeaning(answer, host: chain.address.server, hasAccepted: false, at: end.at) {
        case .success:
            guard isWhole(end) else {
                let why = "it answered \(answer.status) before it had all of the file"
                return over(.fail(.posted(plan.address, why)))
            }
            return over(.finish(receipt(answer, end)))
        case .redirect: return redirected(answer, end)
        case .fail(let error): return over(.fail(error))
        case .wait(let demand):
            if didNothing(answer, end) { return [.persist(before), .wait(demand)].ending(&state) }
            guard plan.key(chain) != nil else {
                return over(.fail(.posted(plan.address, "it answered \(answer.status)")))
            }
            return [.persist(sent), .wait(demand)].ending(&state)
        }
    }

    /// All of the body went out: only then is an answer one to the file.
    private func isWhole(_ end: ExchangeEnd) -> Bool {
        end.failure == nil && end.bytesSent >= PostMessages.length(plan)
    }

    /// No byte of the body went out, or the answer says of itself that the request was not applied (RFC 9110 sections 15.5.2, 15.5.8 and
    /// 15.5.20). Whatever else a server that had the body answers, 429 and 503 too, it may have done what it was told.
    private func didNothing(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> Bool {
        [401, 407, 421].contains(answer.status) || (end.bytesSent == 0 && PostMessages.length(plan) > 0)
    }

    /// 307 and 308 ask for the same elsewhere. After a 303, and mostly a 302, the server has taken the POST and shows its result (RFC 9110
    /// section 15.4): that is its answer. Other redirects tell where the POST should have gone.
    private mutating func redirected(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> [ProtocolAction] {
        guard answer.status == 307 || answer.status == 308 else {
            if isWhole(end), answer.status == 303 || answer.status == 302 && !pointsToSamePath(answer) {
                guard let stranger = stranger(answer) else { return over(.finish(receipt(answer, end))) }
                return over(
                    .fail(
                        .posted(
                            plan.address, "and the answer points to \(stranger), as a network does that wants a sign-in"
                        )))
            }
            var next = chain
            let error =
                next.follow(answer, keepsMethod: false) ?? .moved(chain.address, to: next.address, answer.status)
            return [.persist(before), .fail(error)].ending(&state)
        }
        if let error = chain.follow(answer, keepsMethod: true) { return over(.fail(error)) }
        if !chain.mayCarrySecrets, plan.form?.fields.isEmpty == false {
            return over(.fail(.fieldsElsewhere(plan.address.server, chain.address)))
        }
        return post()
    }

    /// Returns true when the answer points to the same place under another scheme, port or host, or with a slash at its end: to where
    /// it moved, not to a result.
    private func pointsToSamePath(_ answer: HTTPAnswer) -> Bool {
        guard let location = answer.field("location"),
            let next = chain.address.resolving(HTTPAddress.encodingBlanks(location)), next != chain.address
        else { return false }
        func place(_ address: HTTPAddress) -> (path: Substring, query: Substring) {
            let path = address.target.prefix { $0 != "?" }
            return (path.hasSuffix("/") ? path.dropLast() : path, address.target.dropFirst(path.count))
        }
        let (there, here) = (place(next), place(chain.address))
        // A query of its own asks for a result.
        return there.path == here.path && (there.query == here.query || there.query.isEmpty)
    }

    /// The other host to which an answer points that anybody on the way may have given; `nil`: it does not, or nobody else can have.
    private func stranger(_ answer: HTTPAnswer) -> String? {
        guard chain.address.scheme == "http", let location = answer.field("location"),
            let next = chain.address.resolving(HTTPAddress.encodingBlanks(location)), next.host != chain.address.host
        else { return nil }
        return next.server
    }

    private mutating func unanswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        let error = end.failure?.error ?? .cutOff(by: chain.address.server)
        let mayHaveHappened = end.bytesSent > 0 || (end.failure?.mayHaveReachedServer ?? true)
        if mayHaveHappened, plan.key(chain) == nil {
            return over(.fail(.posted(plan.address, "its answer was lost")))
        }
        let last: ProtocolAction = error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error)
        return [.persist(mayHaveHappened ? sent : before), last].ending(&state)
    }

    /// The point while this POST may have happened.
    private var sent: ResumePoint {
        ResumePoint(PostResumePoint(token: plan.subject.token, isSent: true, under: plan.key(chain)))
    }

    /// The point when this POST did nothing: an earlier one may have happened.
    private var before: ResumePoint {
        if let earlier = plan.resume, earlier.isSent, earlier.token == plan.subject.token {
            return ResumePoint(earlier)
        }
        return ResumePoint(PostResumePoint(token: plan.subject.token, isSent: false))
    }

    /// The receipt by the server's word alone: what a POST has made cannot be asked after.
    private func receipt(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> Receipt {
        var receipt = Receipt(.answered, bytes: plan.subject.size, verified: .none)
        (receipt.etag, receipt.status) = (answer.etag, answer.status)
        receipt.response = TransferResponse(answer, body: end.body)
        return receipt
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] { [action].ending(&state) }
}

extension [ProtocolAction] {
    fileprivate func ending(_ state: inout PostUpload.State) -> [ProtocolAction] {
        state = .over
        return self
    }
}

extension TransferError {
    fileprivate static func posted(_ address: HTTPAddress, _ why: String) -> TransferError {
        TransferError(
            .unknownOutcome, "the POST to \(address.server) may have happened, \(why)",
            .retry("look there, then retry if it did not"))
    }

    fileprivate static func moved(_ address: HTTPAddress, to next: HTTPAddress, _ status: Int) -> TransferError {
        TransferError(
            .badServerResponse,
            "\(address.server) answered \(status) and points to \(next.harmless): it did not take the file",
            .queued("queue it again with that address if it is the right one"), httpStatus: status)
    }

    /// Form fields that are given for one server are shown to no other one.
    fileprivate static func fieldsElsewhere(_ server: String, _ other: HTTPAddress) -> TransferError {
        TransferError(
            .unsupported, "\(server) points to \(other.server), and the form's fields are for \(server) alone",
            .queued("check the address, or queue it again with the other one"))
    }
}
