public import FoundationEssentials

/// A batch at an instant: what `martlet list` prints as JSON. Keys are part of the command contract.
public struct BatchSnapshot: Codable, Hashable, Sendable, Identifiable {
    public var id: BatchID
    public var uuid: UUID
    public var session: SessionName
    /// The name a person gave, else made from the sources; harmless to print.
    public var name: String
    public var direction: BatchDirection
    public var state: TransferState
    /// True while folders are still being walked, so that the totals may grow.
    public var scanning: Bool
    /// The batch's own flag.
    public var paused: Bool
    /// The time at which its pause, or the first pause of a part of it, ends by itself; missing when none does.
    public var pausedUntil: Timestamp?
    public var priority: TransferPriority
    public var createdAt: Timestamp
    @OrNull public var finishedAt: Timestamp?
    /// Bytes a second that all of it may use together; `nil`: no limit of its own.
    @OrNull public var limit: Int64?
    /// Starts nothing before this.
    @OrNull public var notBefore: Timestamp?
    /// The destination's URL without credentials and query, or the local folder; harmless to print.
    public var destination: String
    public var filesTotal: Int64
    public var filesCompleted: Int64
    public var filesFailed: Int64
    public var filesCancelled: Int64
    public var filesActive: Int64
    /// Created, queued, waiting and paused ones.
    public var filesWaiting: Int64
    public var bytesTotal: Int64
    public var bytesSent: Int64
    public var bytesAccepted: Int64
    public var bytesVerified: Int64
    /// Bytes that were at the other end already; of the other sums only the total has them. `nil`: none.
    public var bytesFound: Int64?
    /// Smoothed over the last seconds; 0 when nothing moves.
    public var bytesPerSecond: Int64
    /// Seconds that what can run now still takes; unknown while nothing moves or the total is not known.
    @OrNull public var secondsLeft: Int64?
    /// Every reason that some task of the batch waits for.
    public var waitReasons: [WaitReason]
    /// Failures by cause, most frequent first.
    public var causes: [CauseCount]
    /// Entries of its directories that were not queued.
    public var leftOut = LeftOut()
    /// The result of the last look at the server; `nil`: nobody has looked, or nobody can.
    @OrNull public var listed: ListedFiles?
    /// Waits that a person has to see to, or that are for room on a disk, most frequent first; then those for servers that serve nothing: up to
    /// 100, and one more for all the others, with neither a `code` nor a `server`.
    public var waits: [WaitCount] = []
    /// The profile of AWS's files that its keys of S3 are of, where one was named for its server; told on request.
    public var keysProfile: String?

    public init(
        id: BatchID, uuid: UUID, session: SessionName, name: String, direction: BatchDirection, state: TransferState,
        scanning: Bool, paused: Bool, priority: TransferPriority, createdAt: Timestamp, finishedAt: Timestamp?,
        destination: String, counts: FileCounts, bytes: ByteCounts, bytesPerSecond: Int64 = 0,
        secondsLeft: Int64? = nil,
        waitReasons: [WaitReason], causes: [CauseCount], limit: Int64? = nil, notBefore: Timestamp? = nil
    ) {
        self.id = id
        self.uuid = uuid
        self.session = session
        self.name = name
        self.direction = direction
        self.state = state
        self.scanning = scanning
        self.paused = paused
        self.priority = priority
        self.createdAt = createdAt
        _finishedAt = OrNull(wrappedValue: finishedAt)
        _limit = OrNull(wrappedValue: limit)
        _notBefore = OrNull(wrappedValue: notBefore)
        self.destination = destination
        filesTotal = counts.total
        filesCompleted = counts.completed
        filesFailed = counts.failed
        filesCancelled = counts.cancelled
        filesActive = counts.active
        filesWaiting = counts.unstarted
        bytesTotal = bytes.total
        bytesSent = bytes.sent
        bytesAccepted = bytes.accepted
        bytesVerified = bytes.verified
        bytesFound = bytes.found
        self.bytesPerSecond = bytesPerSecond
        _secondsLeft = OrNull(wrappedValue: secondsLeft)
        self.waitReasons = waitReasons
        self.causes = causes
        _listed = OrNull(wrappedValue: nil)
    }
}

/// Counts of a batch's completed files that servers list.
public struct ListedFiles: Codable, Hashable, Sendable {
    /// Files that are there as they were sent.
    public var found: Int64
    /// Files that were looked for.
    public var of: Int64
    /// Folders that are still to be looked at.
    public var foldersLeft: Int64
    /// Folders that the server does not list.
    public var foldersUnlisted: Int64
    /// When a folder was last listed.
    @OrNull public var at: Timestamp?
    /// The reason why one of the folders could not be listed, for a person.
    @OrNull public var message: String?

    public init(
        found: Int64, of: Int64, foldersLeft: Int64 = 0, foldersUnlisted: Int64 = 0, at: Timestamp? = nil,
        message: String? = nil
    ) {
        self.found = found
        self.of = of
        self.foldersLeft = foldersLeft
        self.foldersUnlisted = foldersUnlisted
        _at = OrNull(wrappedValue: at)
        _message = OrNull(wrappedValue: message)
    }
}

extension ListedFiles {
    /// For a person: `at the server, 12,406 of 12,406`; `nil`: nothing is known yet.
    package var sentence: String? {
        var parts: [String] = []
        if of > 0 { parts.append("at the server, \(Self.grouped(found)) of \(Self.grouped(of))") }
        func folders(_ count: Int64) -> String { count == 1 ? "1 folder" : "\(Self.grouped(count)) folders" }
        if foldersLeft > 0 { parts.append("\(folders(foldersLeft)) still to be looked at") }
        if foldersUnlisted > 0 {
            parts.append("\(folders(foldersUnlisted)) not listed\(message.map { ": \($0)" } ?? "")")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// `12,406`
    private static func grouped(_ number: Int64) -> String {
        let digits = Array(String(number))
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}

/// Counts of directory entries that nobody asked to queue: links, special files, empty folders.
public struct LeftOut: Codable, Hashable, Sendable {
    /// Symbolic links that are not followed, or lead to a folder that is sent by another one.
    public var links: Int64 = 0
    /// Devices, pipes and sockets.
    public var special: Int64 = 0
    /// Directories with nothing in them, which are not made at the other end.
    public var emptyFolders: Int64 = 0

    public init(links: Int64 = 0, special: Int64 = 0, emptyFolders: Int64 = 0) {
        (self.links, self.special, self.emptyFolders) = (links, special, emptyFolders)
    }

    package static func += (sum: inout LeftOut, other: LeftOut) {
        sum.links += other.links
        sum.special += other.special
        sum.emptyFolders += other.emptyFolders
    }

    /// For a person; `nil`: nothing.
    package var sentence: String? {
        func amount(_ count: Int64, _ one: String, _ many: String) -> String? {
            count == 0 ? nil : count == 1 ? "1 \(one)" : "\(count) \(many)"
        }
        let parts = [
            amount(links, "link", "links").map { "\($0) (--follow-links sends what they point to, each folder once)" },
            amount(special, "special file", "special files"), amount(emptyFolders, "empty folder", "empty folders"),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

/// As `TransferDirection`, for a batch that may hold both.
public enum BatchDirection: String, Codable, Sendable {
    case upload, download, mixed
}

/// The number of tasks that failed for one cause.
public struct CauseCount: Codable, Hashable, Sendable {
    public var code: TransferErrorCode
    public var count: Int64
    /// The message of one of them.
    public var message: String { didSet { finding = nil } }
    /// The same as values; `nil`: the message is all that is known.
    package var finding: Finding?
    /// The status that all of them were answered, for code `http`.
    @OrNull public var httpStatus: Int?
    /// When the last of them failed.
    @OrNull public var lastAt: Timestamp?
    /// As those of that one's error.
    public var said: String?
    public var detail: String?

    public init(
        code: TransferErrorCode, count: Int64, message: String, httpStatus: Int? = nil, lastAt: Timestamp? = nil
    ) {
        self.init(code: code, count: count, finding: Finding(message), httpStatus: httpStatus, lastAt: lastAt)
    }

    package init(
        code: TransferErrorCode, count: Int64, finding: Finding, httpStatus: Int? = nil, lastAt: Timestamp? = nil
    ) {
        self.code = code
        self.count = count
        (message, self.finding) = (finding.message, finding.told)
        _httpStatus = OrNull(wrappedValue: httpStatus)
        _lastAt = OrNull(wrappedValue: lastAt)
    }

    /// The finding, or where an older engine told it the message alone.
    package var known: Finding { finding ?? Finding(message) }
}

/// The number of tasks that wait for one thing that a person may have to see to.
public struct WaitCount: Codable, Hashable, Sendable {
    public var reason: WaitReason
    /// The error that makes a problem of a wait that would else end by itself, as `cannotFindHost` does.
    @OrNull public var code: TransferErrorCode?
    public var count: Int64
    /// The message of one of them; empty where the reason says all.
    public var message: String { didSet { finding = nil } }
    /// The same as values; `nil`: the message is all that is known.
    package var finding: Finding?
    /// Since when the last of them waits.
    @OrNull public var lastAt: Timestamp?
    /// The server that has served nothing for a while, and what it did instead is what `code` and `message` say: its host, and the port where
    /// that is not the scheme's own. It is tried again by itself. Without a `code` it asked for a pause of a minute or more.
    @OrNull public var server: String?
    /// When that is tried again; `nil`: now, or soon.
    @OrNull public var retryAt: Timestamp?
    /// As those of an error, where a server's answer made it wait.
    public var said: String?
    public var detail: String?

    public init(
        reason: WaitReason, code: TransferErrorCode? = nil, count: Int64, message: String = "",
        lastAt: Timestamp? = nil, server: String? = nil, retryAt: Timestamp? = nil
    ) {
        self.reason = reason
        _code = OrNull(wrappedValue: code)
        self.count = count
        self.message = message
        _lastAt = OrNull(wrappedValue: lastAt)
        _server = OrNull(wrappedValue: server)
        _retryAt = OrNull(wrappedValue: retryAt)
    }

    package init(
        reason: WaitReason, code: TransferErrorCode? = nil, count: Int64, finding: Finding,
        lastAt: Timestamp? = nil, server: String? = nil, retryAt: Timestamp? = nil
    ) {
        self.init(
            reason: reason, code: code, count: count, message: finding.message, lastAt: lastAt, server: server,
            retryAt: retryAt)
        self.finding = finding.told
    }

    /// The finding, or where an older engine told it the message alone.
    package var known: Finding { finding ?? Finding(message) }
}

/// Files of a node by state. `active` and `unstarted` are derived, so the parts always add up to `total`.
public struct FileCounts: Codable, Hashable, Sendable {
    public var created: Int64 = 0
    public var queued: Int64 = 0
    public var waiting: Int64 = 0
    public var running: Int64 = 0
    public var finishing: Int64 = 0
    public var paused: Int64 = 0
    public var completed: Int64 = 0
    public var failed: Int64 = 0
    public var cancelled: Int64 = 0

    public init() {}

    public var active: Int64 { running + finishing }
    public var unstarted: Int64 { created + queued + waiting + paused }
    public var terminal: Int64 { completed + failed + cancelled }
    public var total: Int64 { active + unstarted + terminal }

    public subscript(state: TransferState) -> Int64 {
        get {
            switch state {
            case .created: created
            case .queued: queued
            case .waiting: waiting
            case .running: running
            case .finishing: finishing
            case .paused: paused
            case .completed: completed
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .created: created = newValue
            case .queued: queued = newValue
            case .waiting: waiting = newValue
            case .running: running = newValue
            case .finishing: finishing = newValue
            case .paused: paused = newValue
            case .completed: completed = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }

    public static func += (one: inout FileCounts, other: FileCounts) {
        for state in TransferState.allCases { ByteSum.add(other[state], to: &one[state]) }
    }

    /// The state of a group of tasks: the first that holds, in the order of the command contract.
    /// - Parameters:
    ///   - scanning: folders of it are still being walked.
    ///   - paused: its own flag or an ancestor's; tasks that are not over then count as paused.
    ///   - looking: all are over, and whether they have arrived is still looked at.
    ///   - cutShort: a cancel stopped the walk of its folders: what is known of it is not all, so it is never completed.
    public func state(
        scanning: Bool, paused isPaused: Bool, looking: Bool = false, cutShort: Bool = false
    ) -> TransferState {
        let terminalState = terminalState(cutShort: cutShort)
        if active > 0 { return .running }
        if looking, unstarted == 0, !scanning { return isPaused ? .paused : .running }
        if isPaused { return unstarted > 0 || scanning ? .paused : terminalState }
        if scanning || queued > 0 { return .running }
        if waiting > 0 { return .waiting }
        if paused > 0 { return .paused }
        if created > 0 { return .created }
        return terminalState
    }

    private func terminalState(cutShort: Bool) -> TransferState {
        if failed > 0 { return .failed }
        if cutShort { return .cancelled }
        if completed > 0 || total == 0 { return .completed }
        return .cancelled
    }
}

/// Bytes of a node. Unknown sizes count as 0 in `total` until they are known. `sent` never passes `total`.
public struct ByteCounts: Codable, Hashable, Sendable {
    public var total: Int64 = 0
    /// Handed to the wire (upload) or received from it (download) and not known to be lost.
    public var sent: Int64 = 0
    /// Confirmed by the server (upload) or synced to disk (download).
    public var accepted: Int64 = 0
    /// Accepted and checked by digest, or at least by size.
    public var verified: Int64 = 0
    /// Bytes of completed files that were skipped: they were at the other end already and never crossed the wire. `nil`: none.
    public var found: Int64?
    /// Bytes that are not missing any more: sent, or found there.
    public var done: Int64 { sent + (found ?? 0) }

    public init(total: Int64 = 0, sent: Int64 = 0, accepted: Int64 = 0, verified: Int64 = 0) {
        self.total = total
        self.sent = sent
        self.accepted = accepted
        self.verified = verified
    }
    public static func += (one: inout ByteCounts, other: ByteCounts) {
        ByteSum.add(other.total, to: &one.total)
        ByteSum.add(other.sent, to: &one.sent)
        ByteSum.add(other.accepted, to: &one.accepted)
        ByteSum.add(other.verified, to: &one.verified)
        var found = one.found ?? 0
        ByteSum.add(other.found ?? 0, to: &found)
        one.found = found == 0 ? nil : found
    }
    package static func -= (one: inout ByteCounts, other: ByteCounts) {
        var less = ByteCounts(
            total: -other.total, sent: -other.sent, accepted: -other.accepted, verified: -other.verified)
        less.found = other.found.map { -$0 }
        one += less
    }
}
