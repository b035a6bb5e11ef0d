/// When a waiting task tries again, and when it has waited long enough. Pure.
public struct WaitRule: Hashable, Sendable {
    public var retry = RetryRule()
    /// The least time between two looks at a full disk here.
    public var diskPause: Duration = .seconds(5)
    /// The least time between two tries at a server's full disk.
    public var remoteDiskPause: Duration = .seconds(60)

    public init() {}

    /// The pause before the next attempt; `nil` when only a person can end the wait.
    /// - Parameters:
    ///   - failures: attempts in a row without the accepted position advancing; 1 or more.
    ///   - random: uniform in 0..<1.
    public func delay(
        _ reason: WaitReason, failures: Int, retryAfter: Duration? = nil, random: Double
    ) -> Duration? {
        let again = retry.delay(failures: failures, retryAfter: retryAfter, random: random)
        switch reason {
        case .auth, .hostKey, .dependency: return nil
        case .diskSpace: return max(diskPause, again)
        case .remoteDiskSpace: return max(remoteDiskPause, again)
        default: return again
        }
    }
}

/// The decision when the source is no longer the file that was queued. Pure.
public enum SourceChangeRule {
    /// So often it begins again; the next change ends it.
    public static let restarts = 3

    /// True when it begins again, with the file as it is now.
    public static func beginsAgain(_ policy: ChangedSourcePolicy, changes: Int) -> Bool {
        policy == .restart && changes < restarts
    }

    /// Counts one more change, where it spoilt a copy.
    /// - Parameters:
    ///   - isOpen: the version that was queued is known to be past: a person has tried it again.
    ///   - hasGoneOut: something of the file may have reached its server. Else no copy was spoilt, however often it is edited.
    package static func count(after earlier: Int, isOpen: Bool, hasGoneOut: Bool) -> Int {
        isOpen ? 0 : hasGoneOut ? earlier + 1 : earlier
    }
}

/// The decision which progress makes up for the failures before it. Pure.
package enum ProgressRule {
    /// Versions of a file at its server that each count as a file of which nothing was confirmed yet. A server that shows another one each
    /// time shows none that can be fetched.
    package static let versions = SourceChangeRule.restarts

    /// Returns true of a file that has begun again more often than that. What is confirmed of it counts once an attempt goes on from there:
    /// one that grows while it is read comes further with each reading, and none of it is of use to the next.
    package static func isInDoubt(restarts: Int) -> Bool { restarts > versions }

    /// Returns true when so many bytes beyond where the failures began are worth new patience. A server that confirms one byte more each
    /// time would be asked without end, and as fast as if nothing had failed: a file has at most a thousand such steps, or is large.
    /// - Parameter size: of the file; `nil`: not known.
    package static func isWorthwhile(_ bytes: Int64, of size: Int64?) -> Bool {
        bytes >= min(largestStep, max(1, (size ?? FileSize.largest) / 1000))
    }

    /// 64 KiB: less than a slow line carries in a minute.
    private static let largestStep: Int64 = 64 << 10
}
