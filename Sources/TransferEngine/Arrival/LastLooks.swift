import LinuxSystem
import TransferModel
import TransferQueue

/// The folders that are looked at now, and those that wait after a failure. In memory only: the queue keeps which looks are due.
struct LastLooks {
    /// A folder that could not be asked for, and when it is tried again.
    struct Retry {
        var failures = 0
        /// Number of times that the findings could not be kept.
        var troubles = 0
        var at: Timestamp
        /// When the first of the failures was.
        var since: Timestamp
        let batch: BatchID
    }

    /// Folders that are looked at now, and the origins of their servers.
    private var inHand: [FolderID: String] = [:]
    /// Servers that are left alone, and until when: a timer looks again then.
    private var closed: [String: Timestamp] = [:]
    private(set) var retries: [FolderID: Retry] = [:]
    /// Batches whose login their server has refused, and who that is.
    private(set) var withoutLogin: [BatchID: HeldHost] = [:]
    /// The queue is asked what is due.
    var isAsking = false
    /// Something happened after which more may be due than was told.
    var isStale = false

    /// No folder is looked at now.
    var isIdle: Bool { inHand.isEmpty }

    /// A folder of this server is looked at now.
    func isAsked(_ origin: String) -> Bool { inHand.values.contains(origin) }

    /// - Returns: true when no timer is set for this time yet.
    mutating func waits(for origin: String, until time: Timestamp) -> Bool {
        if closed[origin] == time { return false }
        closed[origin] = time
        return true
    }

    /// Looks that are not asked for now: in hand, or waiting for their next try or for another login.
    /// - Parameter shut: servers that cannot be asked.
    func notNow(_ now: Timestamp, at shut: Set<String>) -> LooksNotNow {
        let waiting = retries.filter { now < $0.value.at }
        // A server that lists nothing of so many folders is not asked for more of them: the queue skips each of these, and so would grow slow.
        let full = Dictionary(grouping: waiting.values, by: \.batch).filter { $0.value.count >= Self.mostWaiting }
        return LooksNotNow(
            folders: Set(inHand.keys).union(waiting.keys), batches: Set(withoutLogin.keys).union(full.keys),
            origins: shut)
    }

    private static let mostWaiting = 200

    mutating func waitForLogin(_ look: DueLook, _ refusal: LoginStanding.Refusal) {
        inHand[look.folder] = nil
        withoutLogin[look.batch] = HeldHost(origin: look.origin, refusal)
    }

    /// A person has done something about a login. - Returns: false: none was waited for.
    mutating func tryLoginsAgain() -> Bool {
        defer { withoutLogin = [:] }
        return !withoutLogin.isEmpty
    }

    mutating func begin(_ folder: FolderID, at origin: String) {
        inHand[folder] = origin
        closed[origin] = nil
    }

    /// It was looked at, or is given up.
    mutating func end(_ folder: FolderID) {
        inHand[folder] = nil
        retries[folder] = nil
    }

    /// Broken off by the engine's end.
    mutating func breakOff(_ folder: FolderID) { inHand[folder] = nil }

    /// Somebody has set the clock: what waits for so long waits for so long.
    mutating func move(by step: Duration) {
        closed = [:]
        retries = retries.mapValues { retry in
            var retry = retry
            retry.at = retry.at.advanced(by: step)
            retry.since = retry.since.advanced(by: step)
            return retry
        }
    }

    /// - Parameter waited: how long it has waited since a time, as far as that counts towards giving up.
    /// - Returns: when it is tried again; `nil`: nobody tries it again.
    mutating func fail(
        _ look: DueLook, _ error: TransferError, isLetIn: Bool = true, giveUpAfterSeconds: Int64, now: Timestamp,
        random: Double, waited: (Timestamp) -> Duration
    ) -> Timestamp? {
        let folder = look.folder
        inHand[folder] = nil
        var retry = retries[folder] ?? Retry(at: now, since: now, batch: look.batch)
        retry.failures += 1
        let isGivenUp = waited(retry.since) >= .seconds(giveUpAfterSeconds)
        guard !isGivenUp, Self.goesOn(error, isLetIn: isLetIn, retry),
            let delay = WaitRule().delay(.backoff, failures: retry.failures, random: random)
        else {
            retries[folder] = nil
            return nil
        }
        retry.at = now.advanced(by: delay)
        retries[folder] = retry
        return retry.at
    }

    /// Postpones a folder whose findings could not be kept here; nothing is said of the server. - Returns: when it is tried again.
    mutating func postpone(_ look: DueLook, now: Timestamp, random: Double) -> Timestamp {
        let folder = look.folder
        inHand[folder] = nil
        var retry = retries[folder] ?? Retry(at: now, since: now, batch: look.batch)
        retry.troubles += 1
        let rule = RetryRule()
        // Not at once: each try costs the server a list.
        retry.at = now.advanced(by: rule.base + rule.delay(failures: retry.troubles, random: random))
        retries[folder] = retry
        return retry.at
    }

    /// So often a server that answers may fail to list a folder.
    private static let patience = 6

    /// A server that is away is waited for as by any task. One that is there and does not list is asked a few times: the files were sent
    /// and confirmed, and their batch does not wait for days for a list that may never come.
    private static func goesOn(_ error: TransferError, isLetIn: Bool, _ retry: Retry) -> Bool {
        // A login that was good before may be in doubt for a moment: whoever tries it next finds out.
        guard error.isRetryable || !isLetIn else { return false }
        switch error.code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost: return true
        default: return retry.failures < patience
        }
    }
}
