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

/// The reason why an attempt or a task failed: a stable code, a message that says what happened and what to do, and what
/// is known of the cause.
public struct TransferError: Error, Hashable, Sendable {
    public var code: TransferErrorCode
    /// For a person: what happened and what would mend it. Already harmless to print.
    public var message: String
    /// The HTTP status that decided it, if one did.
    public var httpStatus: Int?
    /// libcurl's code (`CURLcode`), if one decided it.
    public var curlCode: Int?
    /// One line of what the server said beside its no: its words, not ours. Harmless to print.
    public var said: String?
    /// The request that was refused, and the try: `PUT /in/a%20b.pdf -> 403, try 3`. No query, no credentials.
    public var detail: String?

    public init(_ code: TransferErrorCode, _ message: String, httpStatus: Int? = nil, curlCode: Int? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.curlCode = curlCode
    }

    /// True when the engine tries again by itself: by the code, or by a status that says "later".
    public var isRetryable: Bool {
        if code == .http, let httpStatus { return RetryRule.isTransient(httpStatus: httpStatus) }
        return code.isRetryable
    }
}

extension TransferError: Codable {
    private enum Key: String, CodingKey { case code, message, httpStatus, curlCode, retryable, said, detail }

    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        code = try object.decode(TransferErrorCode.self, forKey: .code)
        message = try object.decode(String.self, forKey: .message)
        httpStatus = try object.decodeIfPresent(Int.self, forKey: .httpStatus)
        curlCode = try object.decodeIfPresent(Int.self, forKey: .curlCode)
        said = try object.decodeIfPresent(String.self, forKey: .said)
        detail = try object.decodeIfPresent(String.self, forKey: .detail)
    }

    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(code, forKey: .code)
        try object.encode(message, forKey: .message)
        try object.encode(httpStatus, forKey: .httpStatus)
        try object.encode(curlCode, forKey: .curlCode)
        try object.encode(isRetryable, forKey: .retryable)
        try object.encodeIfPresent(said, forKey: .said)
        try object.encodeIfPresent(detail, forKey: .detail)
    }
}

extension TransferError {
    /// Behind a sentence of ours, marked as the server's: `; the server said "quota exceeded"`.
    package var quoted: String { Self.quoted(said) }

    static func quoted(_ said: String?) -> String { said.map { "; the server said \"\($0)\"" } ?? "" }

    /// Behind the name of a file whose name is to blame, in all messages that say so.
    package static let strangeName = "is not UTF-8"
    /// For names that a server cannot keep.
    package static let renameAdvice = "rename the file (convmv does it for whole trees), then queue it again"

    /// As this, with a word on the name when it is not UTF-8 and may be what the server did not take.
    package func doubting(_ name: RawPath) -> TransferError {
        guard name.text == nil, code == .http, httpStatus.map({ ![404, 409, 413].contains($0) }) ?? true else {
            return self
        }
        var error = self
        error.message =
            "\(happening); the name \(name.displayed) \(Self.strangeName), which it may not take: \(Self.renameAdvice)"
        return error
    }

    /// Messages are "what happened: what to do"; this is the first half.
    package var happening: String { Self.parts(messageWithoutPromise).0 }

    /// The first half for so many files: a message that names a file is about that one.
    package func happening(of files: Int64) -> String {
        files > 1 && namesItsFile ? "one of them: \(happening)" : happening
    }

    /// True when it begins with the path of the file that it happened to. A file with keys is everyone's.
    package var namesItsFile: Bool {
        switch code {
        case .sourceMissing, .sourceUnreadable, .sourceChanged, .destinationExists, .destinationUnwritable, .integrity,
            .unsupported:
            message.hasPrefix("/") || message.contains(Self.strangeName)
        case .http: message.contains(Self.strangeName)
        default: false
        }
    }

    /// The second half, without the promise to try again; empty where nothing is to be done.
    package var advice: String { Self.parts(messageWithoutPromise).1 }

    /// The finding about a server's key, from the message of a wait for a person, without ssh's own line; `nil`: none.
    package static func said(ofKey message: String) -> String? {
        var said = TransferError(.pinMismatch, message).happening.prefix { $0 != "(" }
        while said.last == " " { said.removeLast() }
        return said.isEmpty ? nil : String(said)
    }

    /// At the last colon outside of parentheses: what a server or a library said stands in those, and has some of its own.
    private static func parts(_ message: String) -> (String, String) {
        var depth = 0
        var end = message.endIndex
        while end > message.startIndex {
            let before = message.index(before: end)
            switch message[before] {
            case ")": depth += 1
            // What is opened and never closed was cut: it holds nothing together.
            case "(": depth = max(0, depth - 1)
            case ":" where depth == 0 && message[before...].hasPrefix(": "):
                return (String(message[..<before]), String(message[before...].dropFirst(2)))
            default: break
            }
            end = before
        }
        return (message, "")
    }

    /// The same where nobody tries again by himself.
    package var withoutPromise: TransferError {
        var error = self
        error.message = messageWithoutPromise
        return error
    }

    /// `message` without the promise to try again, for where that is said together with its time.
    package var messageWithoutPromise: String {
        let promise = "Martlet tries again by itself"
        guard message.hasSuffix(promise) else { return message }
        var text = message.dropLast(promise.count)
        while let last = text.last, last == " " || last == ":" || last == ";" { text.removeLast() }
        return String(text)
    }
}
