import Digests
import TransferModel
import WireOperations

/// Makes requests about one object and reads their answers: region and clock are learnt here, once for all requests.
struct S3Channel: Hashable, Sendable {
    /// The meaning of an answer where the protocol gives it no other.
    enum Decision: Hashable, Sendable {
        case wait(WaitDemand)
        case fail(TransferError)
    }

    /// An answer that says no.
    struct Refusal: Hashable, Sendable {
        var status: Int
        /// S3's word for it; empty when there was none (HEAD has no body).
        var code: String
        var decision: Decision

        /// The upload is not there: it was finished, aborted, or has expired.
        var isGone: Bool { code == "NoSuchUpload" || (status == 404 && (code.isEmpty || code == "NoSuchKey")) }
        /// The body that arrived is not the one that was announced.
        var isDamage: Bool {
            ["BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"].contains(code)
        }
        /// The server does not know conditional writes.
        var isUnknownCondition: Bool { status == 501 || code == "NotImplemented" }
    }

    enum Verdict: Hashable, Sendable {
        case success(HTTPAnswer)
        /// The same request again: something was learnt, in the meantime or just now.
        case again(learnt: HostFacts?)
        case refused(Refusal)
        /// No answer came. `mayHaveArrived`: the server may have carried the request out all the same.
        case silent(TransferError, mayHaveArrived: Bool)
    }

    let address: S3Address
    private var facts: HostFacts
    /// The object's URL.
    package private(set) var base: HTTPAddress
    /// The region that requests are signed for.
    private(set) var region: S3Region
    /// Times that something was learnt: an answer to a request of an earlier lesson says nothing new.
    private(set) var lessons = 0
    private static let mostLessons = 3

    /// `nil` when the region is none.
    init?(_ address: S3Address, _ facts: HostFacts) {
        guard let region = address.region(facts), let base = address.object(in: region) else { return nil }
        self.address = address
        self.facts = facts
        self.base = base
        self.region = region
    }

    var host: String { base.server }
    /// True when bodies must be hashed for the signature.
    var hashesPayload: Bool { base.scheme != "https" }

    // MARK: Requests

    /// The signing of a request without a body.
    package var signing: RequestSigning {
        RequestSigning(SignatureV4(region: region, payload: SignatureV4.emptyPayload))
    }

    /// - Parameters:
    ///   - query: encoded, without its question mark.
    ///   - sha256: of a body that is the source's, where the connection is not encrypted.
    func exchange(
        _ method: HTTPExchange.Method, query: String = "", headers: [HeaderField] = [],
        body: HTTPExchange.Body = .none, sha256: String? = nil, sink: HTTPExchange.Sink = .kept
    ) -> HTTPExchange {
        let url = query.isEmpty ? base : HTTPAddress(base, target: base.target + "?" + query)
        return sign(HTTPExchange(method, url, headers: headers, body: body, sink: sink), sha256: sha256)
    }

    /// The same about the bucket as a whole.
    func bucketExchange(query: String) -> HTTPExchange? {
        address.bucket(in: region, query: query).map {
            sign(HTTPExchange(.get, $0, sink: .document(limit: S3Answers.longest)))
        }
    }

    private func sign(_ exchange: HTTPExchange, sha256: String? = nil) -> HTTPExchange {
        var exchange = exchange
        let payload =
            switch exchange.body {
            case .none: SignatureV4.emptyPayload
            case .bytes(let bytes): DigestAlgorithm.sha256.digest(of: bytes).hex
            case .source, .framed: sha256 ?? SignatureV4.unsignedPayload
            }
        exchange.signing = RequestSigning(SignatureV4(region: region, payload: payload))
        return exchange
    }

    // MARK: Answers

    /// - Parameters:
    ///   - lesson: what `lessons` was when the request was made.
    ///   - hasAccepted: the right to write was there before, so a 403 means that it is gone.
    mutating func judge(_ end: ExchangeEnd, lesson: Int, hasAccepted: Bool) -> Verdict {
        guard let answer = end.answer else {
            let error = end.failure?.error ?? noAnswer
            return .silent(error, mayHaveArrived: end.failure?.mayHaveReachedServer ?? true)
        }
        if isPageOnTheWay(answer) { return .silent(.page(at: host, insteadOf: "S3 service"), mayHaveArrived: true) }
        if answer.isSuccess { return .success(answer) }
        let error = S3Answers.error(end.body)
        if let learnt = learn(answer, error, at: end.at) { return .again(learnt: learnt) }
        if let skew = skew(answer, error, at: end.at), !HostFacts.believes(skew: skew) {
            let fault = TransferError.clocksDisagree(by: skew, host, httpStatus: answer.status)
            return .refused(Refusal(status: answer.status, code: error?.code ?? "", decision: .fail(fault)))
        }
        let refusal = refusal(answer, error?.code ?? "", hasAccepted: hasAccepted, at: end.at)
        if lesson < lessons, Self.isMisunderstanding(refusal) { return .again(learnt: nil) }
        return .refused(refusal)
    }

    /// A network that wants a sign-in answers with its page whatever is asked, where nothing is encrypted. Most services say who they are,
    /// and an object that is a page has the tag of an object.
    private func isPageOnTheWay(_ answer: HTTPAnswer) -> Bool {
        answer.isPageForYes && base.scheme == "http" && answer.etag.map(S3Tag.isOfObject) != true
            && !answer.headers.contains { $0.name.lowercased().hasPrefix("x-amz") }
    }

    /// The refusal that `<Error>` within a 200 means, for which each code has its usual status.
    func refusal(_ error: S3ErrorBody, hasAccepted: Bool, at now: Timestamp) -> Refusal {
        let status =
            switch error.code {
            case "NoSuchUpload", "NoSuchKey", "NoSuchBucket": 404
            case "PreconditionFailed": 412
            case "ConditionalRequestConflict", "OperationAborted": 409
            case "InvalidPart", "InvalidPartOrder", "EntityTooSmall", "InvalidRequest", "MalformedXML": 400
            case "AccessDenied": 403
            default: 500
            }
        return refusal(HTTPAnswer(status: status), error.code, hasAccepted: hasAccepted, at: now)
    }

    private func refusal(_ answer: HTTPAnswer, _ code: String, hasAccepted: Bool, at now: Timestamp) -> Refusal {
        let status = answer.status
        let retryAfter = answer.retryAfter(now: now)
        func wait(_ reason: WaitReason, _ remedy: Remedy) -> Decision {
            let error = TransferError(
                .http, "\(host) answered \(status) \(code)", remedy, httpStatus: status)
            return .wait(WaitDemand(reason, error, retryAfter: retryAfter))
        }
        let decision: Decision
        switch code {
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "RequestExpired", "ExpiredTokenException":
            decision = wait(
                .auth, .login("the session of the keys is over; "))
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity":
            decision = wait(
                .auth, .login("it does not take these keys; "))
        case "SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable", "Throttling", "TooManyRequests",
            "RequestLimitExceeded", "BandwidthLimitExceeded":
            decision = wait(.hostBackoff, .automatic("it wants fewer requests; Martlet slows down and tries again"))
        case "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientStorage":
            decision = wait(
                .remoteDiskSpace, .automatic("its disk or quota is full; make room there, Martlet tries again"))
        case "RequestTimeTooSkewed":
            decision = wait(.backoff, .automatic("its clock and ours do not agree; set them, Martlet tries again"))
        case "RequestTimeout", "InternalError", "OperationAborted", "ConditionalRequestConflict", "IncompleteBody":
            decision = wait(retryAfter == nil ? .backoff : .hostBackoff, .again)
        case "NoSuchBucket":
            decision = .fail(
                TransferError(
                    .http, "the bucket \(address.bucket) is not at \(host)", .step("make it, or check its name"),
                    httpStatus: status))
        default:
            decision = plainMeaning(answer, code, hasAccepted: hasAccepted, at: now)
        }
        return Refusal(status: status, code: code, decision: decision)
    }

    private func plainMeaning(
        _ answer: HTTPAnswer, _ code: String, hasAccepted: Bool, at now: Timestamp
    ) -> Decision {
        switch AnswerMeaning(answer, host: host, hasAccepted: hasAccepted, at: now) {
        case .wait(let demand): return .wait(demand)
        case .fail(var error):
            if !code.isEmpty { error.finding.what += " (\(code))" }
            return .fail(error)
        case .success, .redirect:
            return .fail(
                TransferError(
                    .http, "\(host) answered \(answer.status)",
                    .queued("the bucket is elsewhere; queue it again with its region or endpoint"),
                    httpStatus: answer.status))
        }
    }

    // MARK: Lessons

    /// True when such an answer can come from a request that was addressed or signed for the wrong region or time.
    private static func isMisunderstanding(_ refusal: Refusal) -> Bool {
        [301, 307, 400, 403].contains(refusal.status)
    }

    /// Takes region and clock from an answer that complains of them.
    mutating func learn(_ answer: HTTPAnswer, _ error: S3ErrorBody?, at now: Timestamp) -> HostFacts? {
        guard lessons < Self.mostLessons, let learnt = lesson(answer, error, at: now) else { return nil }
        if let named = learnt.region {
            // Some other server's idea of a region must not lead anywhere else.
            guard let next = address.object(in: named) else { return nil }
            (base, region) = (next, named)
        }
        lessons += 1
        facts = facts.merged(with: learnt)
        return learnt
    }

    private func lesson(_ answer: HTTPAnswer, _ error: S3ErrorBody?, at now: Timestamp) -> HostFacts? {
        var learnt = HostFacts()
        if [301, 302, 307, 400].contains(answer.status),
            let named = answer.field("x-amz-bucket-region").flatMap({ S3Region(rawValue: $0) }) ?? error?.region,
            named != region
        {
            learnt.region = named
            return learnt
        }
        guard let seconds = skew(answer, error, at: now), HostFacts.believes(skew: seconds) else { return nil }
        learnt.clockSkewSeconds = seconds
        return learnt
    }

    /// Seconds that the server's clock is ahead of ours, when the answer complains of that; `nil`: it does not.
    private func skew(_ answer: HTTPAnswer, _ error: S3ErrorBody?, at now: Timestamp) -> Int64? {
        guard answer.status == 403 || error?.code == "RequestTimeTooSkewed", let time = answer.date ?? error?.time
        else {
            return nil
        }
        let seconds = time.since(now).components.seconds
        let difference = abs(seconds - (facts.clockSkewSeconds ?? 0))
        // S3 forgives a quarter of an hour. An answer without a body (HEAD) does not say what it complains of.
        let isSkewed = error.map { $0.code == "RequestTimeTooSkewed" && difference > 30 } ?? (difference > 600)
        return isSkewed ? seconds : nil
    }

    var noAnswer: TransferError {
        TransferError(.networkConnectionLost, "\(host) closed the connection without an answer", .again)
    }
}

extension S3Channel: ObjectChannel {
    package mutating func learn(_ answer: HTTPAnswer, at now: Timestamp) -> HostFacts? { learn(answer, nil, at: now) }

    package mutating func meaning(_ end: ExchangeEnd, hasAccepted: Bool) -> ObjectAnswer {
        switch judge(end, lesson: lessons, hasAccepted: hasAccepted) {
        case .success: .success
        case .again(let learnt): .again(learnt: learnt)
        case .silent(let error, _): .silent(error)
        case .refused(let refusal):
            switch refusal.decision {
            case .wait(let demand): .wait(demand)
            case .fail(let error): .fail(error)
            }
        }
    }
}
