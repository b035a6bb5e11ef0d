package import TransferModel

/// The state before a change that can be undone: whatever of it is there is put back. Stored as JSON; names are
/// part of the schema.
struct UndoBefore: Codable, Hashable {
    /// A value that may have been missing.
    struct Was<Value: Codable & Hashable>: Codable, Hashable {
        var value: Value?
        init(_ value: Value?) { self.value = value }
    }

    var held: Bool?
    var paused: Bool?
    /// When its pause was to end by itself, in milliseconds since 1970.
    var pauseEnd: Was<Int64>?
    var urgent: Bool?
    /// ID and position of each batch that was not over.
    var positions: [[Int64]]?
    /// Priority of a batch.
    var priority: Int64?
    /// Number and priority of a folder and of those below it, as far as they have one.
    var folderPriorities: [[Int64]]?
    /// The same of places.
    var folderRanks: [[Int64]]?
    var notBefore: Was<Int64>?
    /// The time of the next try of a task that waited without a `notBefore`.
    var retryAt: Was<Int64>?
    /// Time in seconds after which a batch gives up.
    var giveUp: Int64?
    var ifExists: ExistingFilePolicy?
    var name: String?
    var caFile: Was<RawPath>?
    var pin: Was<String>?
    /// The node that `rate` limits.
    var scope: String?
    var rate: Was<Int64>?
    /// The rate that the change set; the old one is put back only where it still is that. 0: none.
    var rateSet: Int64?
    /// Limits of the whole engine.
    var limits: StoredLimits?
    /// The limits that the change set: only they are put back, as another change may have set the others since. Missing: all.
    var limitsSet: StoredLimits?
    /// The mark that a cancel left on the walks it stopped (`WalkStore+Stopped`); without a value: it stopped none. Missing:
    /// the version that cancelled left no marks.
    var walks: Was<Int64>?

    /// All of it: a value without a key would be lost, and one without an heir does not compile (`give`).
    enum CodingKeys: String, CodingKey, CaseIterable {
        case held, paused, pauseEnd, urgent, positions, priority, folderPriorities, folderRanks, notBefore, retryAt
        case giveUp, ifExists, name, caFile, pin, scope, rate, rateSet, limits, limitsSet, walks
    }
}

extension UndoBefore {
    /// Gives away what a later change of the same node has changed, too: of a setting only the last change counts. What is not a setting of
    /// one node alone is given by `StandingSteps`.
    mutating func give(to later: inout UndoBefore) {
        func give<Value>(_ path: WritableKeyPath<UndoBefore, Value?>) {
            guard later[keyPath: path] != nil, let value = self[keyPath: path] else { return }
            later[keyPath: path] = value
            self[keyPath: path] = nil
        }
        for key in CodingKeys.allCases {
            switch key {
            case .held: give(\.held)
            case .paused: if later.paused != nil, paused != nil { givePause(to: &later) }
            case .urgent: give(\.urgent)
            case .priority: give(\.priority)
            case .notBefore: give(\.notBefore)
            case .giveUp: give(\.giveUp)
            case .ifExists: give(\.ifExists)
            case .name: give(\.name)
            case .caFile: give(\.caFile)
            case .pin: give(\.pin)
            case .rate: give(\.rate)
            // A part of the setting before it.
            case .pauseEnd, .retryAt, .scope, .rateSet: break
            // Several nodes have these: `StandingSteps.inherits`, `StandingSteps.later`.
            case .positions, .folderPriorities, .folderRanks: break
            // No node has these, or the step itself has left them behind.
            case .limits, .limitsSet, .walks: break
            }
        }
    }

    /// A pause and its end are one setting.
    private mutating func givePause(to later: inout UndoBefore) {
        (later.paused, later.pauseEnd) = (paused, pauseEnd)
        (paused, pauseEnd) = (nil, nil)
    }

    /// Returns true when a step has to pause its node again.
    /// - Parameter now: a pause that would have ended by itself is over.
    func isPaused(now: Timestamp) -> Bool {
        guard paused == true else { return false }
        return pauseEnd?.value.map { $0 > now.milliseconds } ?? true
    }

    /// Adds the facts that earlier versions left out: a pause found its node not paused, and a resume found it paused.
    mutating func complete(for deed: UndoneDeed) {
        switch deed {
        case .pause: paused = paused ?? false
        case .resume: paused = paused ?? true
        case .cancel, .move, .set, .runNow, .purge, .limit, .clear: break
        }
    }
}

extension UndoneDeed {
    /// Its number in `undo.kind`; append only.
    var stored: Int64 {
        switch self {
        case .cancel: 0
        case .pause: 1
        case .resume: 2
        case .move: 3
        case .set: 4
        case .runNow: 5
        case .purge: 6
        case .limit: 7
        case .clear: 8
        }
    }

    /// `nil` for a number that no version of ours wrote.
    init?(stored: Int64) {
        guard let deed = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
        self = deed
    }
}

/// The change that is to be undone.
package enum UndoneChange: Hashable, Sendable {
    /// The last one, whatever it was.
    case last
    /// The last one of each of these.
    case nodes([NodeID])
    /// As `NodeChange.operation` named it.
    case operation(Int64)
}
