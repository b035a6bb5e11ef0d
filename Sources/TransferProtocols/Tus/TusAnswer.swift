import TransferModel
import WireOperations

/// The meaning of a tus server's answer for the request that it answers: the table, without the states around it.
enum TusAnswer: Hashable, Sendable {
    /// An upload was made. The offset is told when bytes came with the request.
    case made(HTTPAddress, offset: Int64?, expires: Timestamp?)
    /// So many bytes are there, of this upload.
    case stands(at: Int64)
    /// The server does not have it any more.
    /// `isOwnWord`: a server of tus says so.
    case gone(isOwnWord: Bool)
    /// The two sides disagree on the offset, or the server does not tell it: ask.
    case disagrees(TransferError)
    /// Bytes are not taken any more: because the permission is gone, or because a request that was cut has filled the upload since.
    case refused(WaitDemand)
    /// Locked by a request of ours that was cut, or the like: ask again in a moment, at the same address.
    case busy(TransferError)
    /// The body is larger than something on the way takes.
    case tooLarge(TransferError)
    /// The chunk arrived with other bytes, and was thrown away.
    case corrupted
    /// The method is refused.
    case noMethod(TransferError)
    /// Repeat it somewhere else.
    case moved(HTTPAnswer)
    /// A file of that name is there; for an upload under way: since it was made.
    case exists
    /// No answer.
    case lost(TransferError)
    case wait(WaitDemand)
    case fail(TransferError)

    // MARK: To a creation or a join

    /// - Parameters:
    ///   - address: where the request went.
    ///   - isKnown: an earlier attempt could send there, so a 403 means that the permission is gone.
    ///   - isPlain: it went out without encryption, so a network may have answered.
    init(
        creation end: ExchangeEnd, at address: HTTPAddress, isConditional: Bool, isKnown: Bool, isPlain: Bool = false
    ) {
        guard let answer = end.answer else {
            self = .lost(Self.silence(end, address))
            return
        }
        switch answer.status {
        case 200..<300: self = Self.made(answer, at: address, isPlain: isPlain)
        case 412: self = isConditional && !Self.refusesVersion(answer, end) ? .exists : .fail(.noTus(address, 412))
        case 423: self = .busy(Self.locked(answer, address))
        // Whoever does not take a POST is no tus server.
        case 405, 501: self = .fail(.noTus(address, answer.status))
        default:
            self = Self.refusal(answer, end) ?? Self.usual(answer, end, address, hasAccepted: isKnown)
        }
    }

    private static func made(_ answer: HTTPAnswer, at address: HTTPAddress, isPlain: Bool) -> TusAnswer {
        guard let location = answer.field("location") else {
            if isPlain, answer.isPageForYes {
                return .wait(WaitDemand(.backoff, .page(at: address.server, insteadOf: "tus server")))
            }
            return .fail(
                TransferError(
                    .unsupported, "\(address.server) answered \(answer.status) but made no upload",
                    .step("is this the address of a tus server?"), httpStatus: answer.status))
        }
        guard let upload = address.uploadAddress(location) else {
            return .fail(.unusableUpload(at: address.server, status: answer.status))
        }
        return .made(
            upload, offset: answer.field("upload-offset").flatMap { FileSize.read($0) },
            expires: answer.field("upload-expires").flatMap(HTTPDate.parse))
    }

    // MARK: To a question for the offset

    /// - Parameter length: of the upload, as it was made.
    init(asking end: ExchangeEnd, at address: HTTPAddress, length: Int64) {
        guard let answer = end.answer else {
            self = .lost(Self.silence(end, address))
            return
        }
        switch answer.status {
        case 200..<300:
            guard let text = answer.field("upload-offset"), let offset = Int64(text) else {
                // A login page, a cache: whatever it is, it is not the server that made the upload.
                self = .wait(WaitDemand(.backoff, .noTus(address, answer.status)))
                return
            }
            let told = answer.field("upload-length").flatMap { FileSize.read($0) } ?? length
            // Another upload's address, or one that another client went on with.
            self = (0...length).contains(offset) && told == length ? .stands(at: offset) : .gone(isOwnWord: true)
        case 403 where answer.field("tus-resumable") == nil: self = .wait(Self.revoked(answer, address))
        case 409, 423: self = .busy(Self.locked(answer, address))
        case 412: self = Self.refusesVersion(answer, end) ? .fail(.noTus(address, 412)) : .exists
        case 401, 407, 408, 421, 425, 429, 300..<400, 500...: self = Self.usual(answer, end, address, hasAccepted: true)
        default: self = .gone(isOwnWord: Self.isOwnWord(answer))
        }
    }

    static func isOwnWord(_ answer: HTTPAnswer) -> Bool {
        answer.status == 410 || answer.field("tus-resumable") != nil
    }

    // MARK: To bytes

    init(append end: ExchangeEnd, at address: HTTPAddress, length: Int64) {
        guard let answer = end.answer else {
            self = .lost(Self.silence(end, address))
            return
        }
        switch answer.status {
        case 200..<300:
            guard let text = answer.field("upload-offset"), let offset = Int64(text) else {
                self = .disagrees(.noTus(address, answer.status))
                return
            }
            if (0...length).contains(offset) {
                self = .stands(at: offset)
            } else {
                self = .fail(
                    TransferError(
                        .badServerResponse, "\(address.server) says it has \(offset) bytes of \(length)",
                        .thenRetry("look at what is there"), httpStatus: answer.status))
            }
        case 403: self = Self.refusal(answer, end) ?? .refused(Self.revoked(answer, address))
        case 404, 410: self = .gone(isOwnWord: Self.isOwnWord(answer))
        case 405, 501: self = .noMethod(Self.error(answer, address))
        case 409: self = .disagrees(Self.locked(answer, address))
        case 412: self = Self.refusesVersion(answer, end) ? .fail(.noTus(address, 412)) : .exists
        case 413: self = .tooLarge(Self.error(answer, address))
        case 423: self = .busy(Self.locked(answer, address))
        case 460: self = .corrupted
        case 400 where Self.says(end, "ERR_UPLOAD_INTERRUPTED") || Self.says(end, "ERR_UNEXPECTED_EOF"):
            self = .busy(Self.locked(answer, address))
        default: self = Self.refusal(answer, end) ?? Self.usual(answer, end, address, hasAccepted: true)
        }
    }

    // MARK: What they share

    private static func usual(
        _ answer: HTTPAnswer, _ end: ExchangeEnd, _ address: HTTPAddress, hasAccepted: Bool
    ) -> TusAnswer {
        switch AnswerMeaning(answer, host: address.server, hasAccepted: hasAccepted, at: end.at) {
        case .success, .redirect: .moved(answer)
        case .wait(let demand): .wait(demand)
        case .fail(let error): .fail(error)
        }
    }

    /// tusd's word that the upload was ended on purpose: trying again changes nothing.
    private static func refusal(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> TusAnswer? {
        guard says(end, "ERR_UPLOAD_STOPPED") || says(end, "ERR_UPLOAD_REJECTED") else { return nil }
        return .fail(
            TransferError(
                .http, "the server ended the upload on purpose", .thenRetry("ask whoever runs it"),
                httpStatus: answer.status))
    }

    /// By tus a 412 that names versions is about them, whichever they are: a server that speaks ours may not have got our word for it.
    private static func refusesVersion(_ answer: HTTPAnswer, _ end: ExchangeEnd) -> Bool {
        says(end, "ERR_UNSUPPORTED_VERSION") || answer.field("tus-version") != nil
    }

    private static func says(_ end: ExchangeEnd, _ code: String) -> Bool { end.body.starts(with: code.utf8) }

    private static func silence(_ end: ExchangeEnd, _ address: HTTPAddress) -> TransferError {
        end.failure?.error ?? .noAnswer(address)
    }

    private static func error(_ answer: HTTPAnswer, _ address: HTTPAddress) -> TransferError {
        TransferError(
            .http, AnswerMeaning.finding(answer.status, host: address.server), httpStatus: answer.status)
    }

    private static func locked(_ answer: HTTPAnswer, _ address: HTTPAddress) -> TransferError {
        TransferError(
            .badServerResponse, "\(address.server) still works at what it got last (\(answer.status))", .again,
            httpStatus: answer.status)
    }

    /// Losing the right to send is no loss of what was sent.
    private static func revoked(_ answer: HTTPAnswer, _ address: HTTPAddress) -> WaitDemand {
        .refused(answer, address)
    }
}

extension TransferError {
    static func noTus(_ address: HTTPAddress, _ status: Int) -> TransferError {
        TransferError(
            [405, 412, 501].contains(status) ? .unsupported : .badServerResponse,
            "\(address.server) answered \(status) and does not speak tus 1.0.0",
            .queued("check the address, or queue it again without --protocol and tus+"), httpStatus: status)
    }
}

extension HTTPAddress {
    /// Address of an upload, from a server's `Location`; `nil` when that cannot be used.
    ///
    /// A server behind a proxy often does not know that it is reached by https and names its own http address: at the same host the way that
    /// the request went is taken. Any other way from https to http is refused.
    func uploadAddress(_ location: String) -> HTTPAddress? {
        guard let upload = resolving(location)?.asSecret else { return nil }
        if upload.scheme == "https" || scheme == "http" { return upload }
        return upload.host == host ? HTTPAddress(self, target: upload.target).asSecret : nil
    }
}
