/// When a waiting task tries again, and when it has waited long enough. Pure.
public struct WaitRule: Hashable, Sendable {
    public var retry = RetryRule()
    /// How often a full disk here is looked at again.
    public var diskPause: Duration = .seconds(5)
    /// How often a server's full disk is tried again, at least.
    public var remoteDiskPause: Duration = .seconds(60)

    public init() {}

    /// The pause before the next attempt; `nil` when only a person can end the wait.
    /// - Parameters:
    ///   - failures: attempts in a row without the accepted position advancing; 1 or more.
    ///   - random: uniform in 0..<1.
    public func delay(
        _ reason: WaitReason, failures: Int, retryAfter: Duration? = nil, random: Double
    ) -> Duration? {
        switch reason {
        case .auth, .hostKey, .dependency: return nil
        case .diskSpace: return diskPause
        case .remoteDiskSpace:
            return max(remoteDiskPause, retry.delay(failures: failures, retryAfter: retryAfter, random: random))
        default: return retry.delay(failures: failures, retryAfter: retryAfter, random: random)
        }
    }
}

/// What to do when the source is not the file any more that it was. Pure.
public enum SourceChangeRule {
    /// So often it begins again; the next change ends it.
    public static let restarts = 3

    /// Whether it begins again, with the file as it is now.
    public static func beginsAgain(_ policy: ChangedSourcePolicy, changes: Int) -> Bool {
        policy == .restart && changes < restarts
    }
}
