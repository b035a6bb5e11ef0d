/// A stable name for why a task stopped: the same on the wire, in the queue, in JSON and in the manual.
/// Names follow Foundation's `URLError` where it has one. Append only.
public enum TransferErrorCode: String, Codable, Sendable, CaseIterable {
    case cancelledByUser, sessionRemoved, dependencyFailed
    case sourceMissing, sourceChanged, sourceUnreadable
    case destinationExists, destinationUnwritable, diskFull
    case notConnectedToInternet, cannotFindHost, cannotConnectToHost, networkConnectionLost, timedOut
    case tooManyRedirects, tlsFailure, pinMismatch, permissionDenied, http, badServerResponse
    case integrity, unknownOutcome, gaveUp, unsupported, `internal`
    /// It was sent and completed, and its server does not list it, or lists it otherwise.
    case notThere
    /// This machine has no file descriptor left for it.
    case tooManyOpenFiles
    /// Another file of its batch has, or is to get, its name at the destination.
    case duplicateName

    /// Names of the contract that nothing ends with yet: what they belong to is not built.
    package static let unbuilt: [TransferErrorCode] = [.sessionRemoved, .dependencyFailed]

    /// True when trying again without anyone's help may succeed.
    public var isRetryable: Bool {
        switch self {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut,
            .badServerResponse, .tooManyOpenFiles:
            true
        default: false
        }
    }
}

/// The reason why an attempt or a task failed: a stable code, what happened and what to do as values, and what is known of the cause.
public struct TransferError: Error, Hashable, Sendable {
    public var code: TransferErrorCode
    package var finding: Finding
    /// The HTTP status that decided it, if one did.
    public var httpStatus: Int?
    /// libcurl's code (`CURLcode`), if one decided it.
    public var curlCode: Int?
    /// One line of what the server said beside its no: its words, not ours. Harmless to print; at most 1000 bytes of UTF-8.
    public var said: String? { didSet { said = said.map(Self.line) } }
    /// The request that was refused, and the try: `PUT /in/a%20b.pdf -> 403, try 3`. No query, no credentials; at most 1000 bytes.
    public var detail: String? { didSet { detail = detail.map(Self.line) } }

    /// - Parameters:
    ///   - what: what happened. Harmless to print.
    ///   - aside: the words of a library, the system or a program about it.
    package init(
        _ code: TransferErrorCode, _ what: String, aside: String? = nil, _ remedy: Remedy? = nil,
        httpStatus: Int? = nil, curlCode: Int? = nil
    ) {
        self.init(code, Finding(what, aside: aside, remedy), httpStatus: httpStatus, curlCode: curlCode)
    }

    /// An error of one file, whose path is the subject of `what`.
    package init(_ code: TransferErrorCode, of file: RawPath, _ what: String, _ remedy: Remedy? = nil) {
        self.init(code, Finding("\(file.displayed) \(what)", isOfFile: true, remedy))
    }

    package init(_ code: TransferErrorCode, _ finding: Finding, httpStatus: Int? = nil, curlCode: Int? = nil) {
        (self.code, self.finding, self.httpStatus, self.curlCode) = (code, finding, httpStatus, curlCode)
    }

    /// Two downloads of one batch have one name.
    package static func nameIsGiven(_ path: RawPath) -> TransferError {
        TransferError(
            .duplicateName, "another file of this batch has the name \(path.displayed)",
            .queued("queue this one alone, with another name at the end of its destination"))
    }

    /// For a person: what happened and what would mend it. Already harmless to print.
    public var message: String { finding.message }

    /// True when the engine tries again by itself: by the code, or by a status that says "later".
    public var isRetryable: Bool {
        if code == .http, let httpStatus { return RetryRule.isTransient(httpStatus: httpStatus) }
        return code.isRetryable
    }
}

extension TransferError: Codable {
    private enum Key: String, CodingKey { case code, message, finding, httpStatus, curlCode, retryable, said, detail }

    /// Decodes what an older version wrote, too: a message alone.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        code = try object.decode(TransferErrorCode.self, forKey: .code)
        let message = try object.decode(String.self, forKey: .message)
        finding = try object.decodeIfPresent(Finding.self, forKey: .finding) ?? Finding(message)
        httpStatus = try object.decodeIfPresent(Int.self, forKey: .httpStatus)
        curlCode = try object.decodeIfPresent(Int.self, forKey: .curlCode)
        said = try object.decodeIfPresent(String.self, forKey: .said).map(Self.line)
        detail = try object.decodeIfPresent(String.self, forKey: .detail).map(Self.line)
    }

    /// A server may say one character in 30,000 bytes, and what it says is stored and told with each file that it refuses.
    private static func line(_ text: String) -> String { Finding.line(text, longest: 1000) }

    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(code, forKey: .code)
        try object.encode(message, forKey: .message)
        try object.encodeIfPresent(finding.told, forKey: .finding)
        try object.encode(httpStatus, forKey: .httpStatus)
        try object.encode(curlCode, forKey: .curlCode)
        try object.encode(isRetryable, forKey: .retryable)
        try object.encodeIfPresent(said, forKey: .said)
        try object.encodeIfPresent(detail, forKey: .detail)
    }
}

extension TransferError {
    /// The event alone, without what to do.
    package var happening: String { finding.happening }

    /// As this, with a word on the name when it is not UTF-8 and may be what the server did not take.
    package func doubting(_ name: RawPath) -> TransferError {
        guard name.text == nil, code == .http, httpStatus.map({ ![404, 409, 413].contains($0) }) ?? true else {
            return self
        }
        var error = self
        let what = "\(happening); the name \(name.displayed) is not UTF-8, which it may not take"
        error.finding = Finding(what, isOfFile: true, .rename)
        return error
    }

    /// The same where nobody tries again by himself.
    package var withoutPromise: TransferError {
        var error = self
        if error.finding.remedy?.next == .again { error.finding.remedy = error.finding.remedy?.withoutPromise }
        return error
    }
}

extension TransferError {
    /// A wait for a person is told with its error, because its reason does not say all: a server's key is one of many, and another login does
    /// not mend everything that keeps one out.
    package func isToldApart(in reasons: [WaitReason]) -> Bool {
        reasons.contains(.hostKey) || reasons.contains(.auth) && finding.remedy.map { $0.command != .login } ?? false
    }
}
