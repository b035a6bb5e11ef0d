public import TransferModel

/// The way in which a session's transfers are done, in URLSession's words. A background session belongs to the engine:
/// whoever opens its identifier again finds its transfers, however long after.
public struct TransferSessionConfiguration: Sendable, Hashable {
    /// The session's name; who opens it again with the same one reattaches.
    public var identifier: SessionName
    /// Seconds without a byte after which an attempt is broken off and tried again.
    public var timeoutIntervalForRequest: Int64 = 60
    /// Seconds without progress, over all attempts, after which a transfer fails with `gaveUp`.
    public var timeoutIntervalForResource: Int64 = 14 * 86_400
    public var priority: TransferPriority = .normal
    /// The action of a transfer when its destination has a file of that name.
    public var existingFilePolicy: ExistingFilePolicy = .fail
    /// Sent to the server with the requests that a field applies to. Kept secret by the engine. Fields that the protocols write themselves,
    /// such as `Range`, are refused.
    public var httpAdditionalHeaders: [HeaderField] = []

    /// Work that the engine owns and that outlives this process.
    public static func background(withIdentifier identifier: SessionName) -> TransferSessionConfiguration {
        TransferSessionConfiguration(identifier: identifier)
    }

    /// As `background(withIdentifier:)`, from text.
    /// - Throws: `usage` when it is empty, longer than 200 bytes or holds a control character.
    public static func background(
        withIdentifier identifier: String
    ) throws(RequestError) -> TransferSessionConfiguration {
        guard let name = SessionName(rawValue: identifier) else {
            throw RequestError(.usage, "a session's name has 1 to 200 bytes and no control characters")
        }
        return TransferSessionConfiguration(identifier: name)
    }
}
