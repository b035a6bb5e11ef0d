/// A file's place as a filter sees it: the same for all files of a folder.
package final class FilterPlace: Sendable {
    package let batch: BatchID
    /// From the folder to the batch's root.
    package let chain: [FolderID]
    let batchName: [UInt8]
    let session: SessionName
    /// Below the batch, without slashes at the ends.
    let folder: [UInt8]
    let destination: [UInt8]
    /// `upload` or `download`, and the scheme of the other end.
    let kinds: [[UInt8]]
    let priority: TransferPriority
    package let createdAt: Timestamp
    /// Folders of its batch are still being listed.
    let isScanning: Bool

    package init(
        batch: BatchID, name: String, session: SessionName = .default, chain: [FolderID], folder: RawPath,
        destination: String,
        direction: TransferDirection, priority: TransferPriority, createdAt: Timestamp, isScanning: Bool = false
    ) {
        self.isScanning = isScanning
        self.batch = batch
        self.chain = chain
        batchName = Array(name.utf8)
        self.session = session
        self.folder = folder.bytes
        self.destination = Array(destination.utf8)
        let scheme = destination.utf8.prefix { $0 != UInt8(ascii: ":") }
        kinds = [Array(direction.rawValue.utf8)] + (destination.utf8.count > scheme.count ? [Array(scheme)] : [])
        self.priority = priority
        self.createdAt = createdAt
    }
}

/// A file as a filter sees it. What the filter does not need may be left at its default.
package struct FilterSubject {
    package var place: FilterPlace
    package var id: TaskID
    package var name: [UInt8] = []
    /// As it is shown.
    package var state: TransferState
    package var waitReasons: WaitReasons = []
    package var isSkipped = false
    /// It runs, and nothing of it moves.
    package var isStalled = false
    /// `nil`: unknown.
    package var size: Int64?
    package var sent: Int64 = 0
    package var bytesPerSecond: Int64 = 0
    package var secondsLeft: Int64?
    package var tries: Int64 = 0
    /// The texts of its failure: the message, the code, a status.
    package var error: [[UInt8]] = []
    package var now: Timestamp

    package init(place: FilterPlace, id: TaskID, state: TransferState, now: Timestamp) {
        self.place = place
        self.id = id
        self.state = state
        self.now = now
    }
}

extension FilterTest {
    func holds(_ subject: FilterSubject) -> Bool {
        switch self {
        case .word(let text): Self.isInPath(text, subject)
        case .text(let key, let relation, let text): Self.holds(key, relation, text, subject)
        case .number(let key, let comparison, let wanted):
            Self.value(key, subject).map { comparison.holds($0, wanted) } ?? false
        case .percent(let comparison, let wanted): Self.percent(subject).map { comparison.holds($0, wanted) } ?? false
        case .state(let state, let isNegated): state.holds(subject) != isNegated
        case .states(let states): states.contains(subject.state)
        case .nodes(let rows): rows.contain(subject)
        case .priority(let comparison, let wanted): comparison.holds(subject.place.priority, wanted)
        case .node(let id):
            switch id {
            case .batch(let batch): subject.place.batch == batch
            case .folder(_, let folder): subject.place.chain.contains(folder)
            case .task(_, let task): subject.id == task
            case .group(_, let folder, let fate):
                subject.place.chain.first == folder && subject.state == fate.state
                    && (fate.cause.map { subject.error.contains(Array($0.rawValue.utf8)) } ?? true)
            }
        }
    }

    /// A regular expression never crosses a slash; neither do words without one.
    private static func isInPath(_ text: FilterText, _ subject: FilterSubject) -> Bool {
        let place = subject.place
        if text.hasSlash, !text.isRegex {
            let whole = path(subject)
            return text.isFound(in: whole) || text.isFound(in: place.batchName + [RawPath.slash] + whole)
        }
        if text.isFound(in: subject.name) { return true }
        if text.kind == .glob { return false }
        if text.isFound(in: place.batchName) { return true }
        guard text.isRegex else { return text.isFound(in: place.folder) }
        return place.folder.split(separator: RawPath.slash).contains { text.isFound(in: Array($0)) }
    }

    private static func path(_ subject: FilterSubject) -> [UInt8] {
        subject.place.folder.isEmpty
            ? subject.name : subject.place.folder + [RawPath.slash] + subject.name
    }

    private static func holds(
        _ key: TextKey, _ relation: TextRelation, _ text: FilterText, _ subject: FilterSubject
    ) -> Bool {
        let candidates: [[UInt8]] =
            switch key {
            case .name: [subject.name]
            case .path: [path(subject)]
            case .batch: [subject.place.batchName, Array("\(subject.place.batch)".utf8)]
            case .folder: [subject.place.folder]
            case .dest: [subject.place.destination]
            case .session: [Array(subject.place.session.rawValue.utf8)]
            case .kind: subject.place.kinds
            case .err: subject.error
            case .why: subject.state == .waiting ? subject.waitReasons.reasons.map { Array($0.rawValue.utf8) } : []
            }
        switch relation {
        case .contains:
            // `b1` is a batch's name, and not a part of `b12`.
            if key == .batch { return text.isFound(in: candidates[0]) || text.equals(candidates[1]) }
            return candidates.contains { text.isFound(in: $0) }
        case .equals: return candidates.contains { text.equals($0) }
        case .differs: return !candidates.contains { text.equals($0) }
        }
    }

    /// `nil`: nothing is known of it, and then no comparison holds.
    private static func value(_ key: NumberKey, _ subject: FilterSubject) -> Int64? {
        switch key {
        case .size: subject.size
        case .done: subject.sent
        case .speed: subject.bytesPerSecond
        case .eta: subject.state.isActive ? subject.secondsLeft : nil
        case .tries: subject.tries
        case .age: max(0, subject.now.since(subject.place.createdAt).components.seconds)
        }
    }

    /// Rounded down; 100 only when it is done.
    private static func percent(_ subject: FilterSubject) -> Int64? {
        if subject.state == .completed { return 100 }
        guard let size = subject.size else { return nil }
        return Int64(Share(subject.sent, of: size, isComplete: false).percent)
    }
}

extension FilterState {
    fileprivate func holds(_ subject: FilterSubject) -> Bool {
        switch self {
        case .run: return subject.state.isActive
        case .check: return subject.state == .finishing
        case .pause: return subject.state == .paused
        case .err: return subject.state == .failed
        case .done: return subject.state == .completed
        case .held: return subject.state == .created
        case .skip: return subject.state == .completed && subject.isSkipped
        case .cancel: return subject.state == .cancelled
        case .stall: return subject.state.isActive && subject.isStalled
        case .scan: return subject.place.isScanning
        // Whoever knows the marks has put their names in this place.
        case .marked: return false
        case .new:
            return (subject.state == .queued || subject.state == .created) && subject.sent == 0 && subject.tries == 0
        case .wait:
            return subject.state == .queued || subject.state == .waiting && !needsPerson(subject) && !isTried(subject)
        case .auth: return subject.state == .waiting && needsPerson(subject)
        case .retry: return subject.state == .waiting && !needsPerson(subject) && isTried(subject)
        }
    }

    private func needsPerson(_ subject: FilterSubject) -> Bool {
        subject.waitReasons.contains(WaitReasons(.auth)) || subject.waitReasons.contains(WaitReasons(.hostKey))
    }

    private func isTried(_ subject: FilterSubject) -> Bool {
        subject.waitReasons.contains(WaitReasons(.backoff)) || subject.waitReasons.contains(WaitReasons(.hostBackoff))
    }
}
