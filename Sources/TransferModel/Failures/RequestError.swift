/// A stable name for why a command or request was not done, beside the transfer codes: the same on the wire, in
/// `--json` and in the manual. Append only.
public enum RequestErrorCode: String, Codable, Sendable, CaseIterable {
    /// Not understood, or a bad value.
    case usage
    /// No such batch, task, session or destination.
    case noSuchObject
    /// Understood and not possible now; the message says why and what to do.
    case refused
    /// The engine is not there, could not be started, or speaks another protocol.
    case engineUnreachable
    /// `wait --timeout` ran out.
    case timedOutWaiting
    /// All that is left needs a person.
    case needsPerson
    /// Another engine holds the queue.
    case queueLocked
    /// The queue was written by a newer Martlet.
    case queueNewer
    case queueCorrupt
    /// A bug of ours, or the machine failed us (a full disk, no memory).
    case `internal`
}

/// The reason why a command or request was not done: a stable code, and a message for a person that says what
/// happened and what to do. Harmless to print.
public struct RequestError: Error, Codable, Hashable, Sendable {
    public var code: RequestErrorCode
    public var message: String
    /// The message with its commands as values; `nil`: it names none.
    package var advice: Advice?

    public init(_ code: RequestErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package init(_ code: RequestErrorCode, _ advice: Advice) {
        self.init(code, advice.text)
        self.advice = advice.told
    }
}

extension RequestError: CustomStringConvertible {
    public var description: String { "\(code.rawValue): \(message)" }
}
