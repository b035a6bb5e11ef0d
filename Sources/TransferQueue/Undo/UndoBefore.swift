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
        give(\.held)
        give(\.urgent)
        give(\.priority)
        give(\.notBefore)
        give(\.giveUp)
        give(\.ifExists)
        give(\.name)
        give(\.caFile)
        give(\.pin)
        give(\.rate)
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
package enum UndoChoice: Hashable, Sendable {
    /// The last one, whatever it was.
    case last
    /// The last one of each of these.
    case nodes([NodeID])
    /// As `NodeChange.operation` named it.
    case operation(Int64)
}
