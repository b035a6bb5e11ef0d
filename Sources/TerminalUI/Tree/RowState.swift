import DisplayText
package import MartletKit
package import Terminal

/// The state of a row as a person sees it: one sign, one word, and colour only on top.
///
/// The engine's states are fewer: a waiting task may wait for its turn or for a password, and that is not the same
/// to whoever looks.
package enum RowState: Sendable, Hashable, CaseIterable {
    /// Waits for a slot, or for its time.
    case queued
    /// Was queued to be started by hand.
    case held
    /// A folder is being listed; the total still grows.
    case scanning
    case running
    /// Open, but no byte has moved for a while. Only the screen knows it: see `Model.state(of:)`.
    case stalled
    /// Every byte is there; the last checks go on.
    case checking
    case paused
    /// Counts down to the next try.
    case retry
    /// Needs the person: a sign-in, a host key.
    case auth
    case failed
    case cancelled
    case skipped
    /// A folder or a batch without any file that is sent.
    case leftOut
    /// A folder or a batch of which a part was cancelled; the rest is there.
    case partly
    case done
    /// Moved when it was last heard of; the engine does not answer. Only the screen knows it: see `Model.state(of:)`.
    case unknown

    package init(_ row: NodeRow) {
        switch row.state {
        case .created: self = .held
        case .queued: self = .queued
        case .waiting:
            if row.waitReasons.contains(where: \.needsPerson) {
                self = .auth
            } else {
                self = row.waitReasons.contains { $0 == .backoff || $0 == .hostBackoff } ? .retry : .queued
            }
        case .running:
            // A group runs as a whole when something of it moves; before that it is listed or stands in line.
            if row.isBeingChecked {
                self = .checking
            } else if row.counts.active > 0 {
                self = .running
            } else {
                self = row.scanning ? .scanning : .queued
            }
        case .finishing: self = .checking
        case .paused: self = .paused
        case .completed, .failed, .cancelled:
            let isEmpty = row.canHold && row.counts.total == 0 && !row.scanning
            self = Self(
                over: row.state, isEmpty: isEmpty, isSkipped: row.skipped, isPartly: row.counts.cancelled > 0)
        }
    }

    /// The state of a row that is over.
    /// - Parameter isPartly: some of it was cancelled.
    init(over state: TransferState, isEmpty: Bool, isSkipped: Bool = false, isPartly: Bool) {
        switch state {
        case .failed: self = .failed
        case .cancelled: self = .cancelled
        case .completed where isPartly: self = .partly
        default: self = isEmpty ? .leftOut : isSkipped ? .skipped : .done
        }
    }

    /// The word, at most 5 characters.
    package var word: String {
        switch self {
        case .queued: "wait"
        case .held: "held"
        case .scanning: "scan"
        case .running: "run"
        case .stalled: "stall"
        case .checking: "check"
        case .paused: "pause"
        case .retry: "retry"
        case .auth: "auth"
        case .failed: "ERR"
        case .cancelled: "cancl"
        case .skipped: "skip"
        case .leftOut: "out"
        case .partly: "part"
        case .done: "done"
        case .unknown: "?"
        }
    }

    /// True when it moves, or will by itself: then nothing is known without the engine.
    var needsNews: Bool { [.scanning, .running, .stalled, .checking, .retry].contains(self) }

    /// The word where there is room for 6 characters.
    package var longWord: String {
        switch self {
        case .paused: "paused"
        case .failed: "ERROR"
        case .cancelled: "cancel"
        default: word
        }
    }

    /// The sign in front of the name, one cell wide.
    package func sign(_ set: GlyphSet) -> Unicode.Scalar {
        switch set {
        case .ascii: asciiSign
        case .narrow: narrowSign
        case .unicode:
            switch self {
            case .running: "↑"
            case .paused: "‖"
            default: narrowSign
            }
        }
    }

    private var asciiSign: Unicode.Scalar {
        switch self {
        case .queued: "."
        case .held: ","
        case .scanning: "s"
        case .running: "^"
        case .stalled: "z"
        case .checking: "c"
        case .paused: "="
        case .retry: "~"
        case .auth: "?"
        case .failed: "x"
        case .cancelled: "/"
        case .skipped: "-"
        case .leftOut: "_"
        case .partly: "%"
        case .done: "+"
        case .unknown: ":"
        }
    }

    private var narrowSign: Unicode.Scalar {
        switch self {
        case .queued: "∙"
        case .scanning: "⋯"
        case .running: "⇡"
        case .stalled: "◦"
        case .checking: "≟"
        case .retry: "↻"
        case .failed: "✗"
        case .cancelled: "⊘"
        case .done: "✓"
        case .held, .paused, .auth, .skipped, .leftOut, .partly, .unknown: asciiSign
        }
    }

    /// The style of sign and word.
    package var style: Style {
        switch self {
        case .queued, .held, .cancelled, .skipped, .leftOut, .partly, .unknown: .dim
        case .paused: Style(.dim, strong: true)
        case .scanning, .checking: .info
        case .running: .active
        case .retry, .stalled: .warn
        case .auth: .attention
        case .failed: .error
        case .done: .ok
        }
    }

    /// The meaning of the word, for help and for a screen reader.
    /// - Parameter key: the key of an action, as it is set.
    func meaning(_ key: (Action) -> SafeText) -> SafeText {
        switch self {
        case .queued: "waits for its turn"
        case .held: "queued; \(key(.pause)) starts it"
        case .scanning: "the folder is being listed"
        case .running: "bytes move"
        case .stalled: "no byte has moved for 10 s"
        case .checking: "sent; the answer is awaited"
        case .paused: "paused by you"
        case .retry: "tries again by itself"
        case .auth: "needs you: sign-in, host key"
        case .failed: "gave up; \(key(.retry)) tries again"
        case .cancelled: "cancelled; \(key(.undo)) undoes"
        case .skipped: "was there already"
        case .leftOut: "left out: no files to send"
        case .partly: "the rest was cancelled"
        case .done: "every file is there"
        case .unknown: "moved; no engine answers"
        }
    }
}

extension NodeRow {
    /// All that is left of it has its bytes there and waits for the last answers.
    fileprivate var isBeingChecked: Bool {
        counts.finishing > 0 && counts.running + counts.queued + counts.waiting == 0 && !scanning
    }

    /// True when something below needs a look although the row itself goes on: its sign is then `!`.
    package var hasTroubleBelow: Bool {
        switch id {
        case .batch, .folder: !state.isTerminal && (counts.failed > 0 || waitReasons.contains(where: \.isProblem))
        case .task, .group: false
        }
    }
}
