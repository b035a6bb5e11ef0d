import MartletKit

/// The state of something that is waited for.
enum WaitState: Equatable {
    /// It is over; whether everything of it completed.
    case over(completed: Bool)
    /// It goes on, or will by itself.
    case moving
    /// All that is left of it needs a person: held, paused with no end, or waiting for a password or a host key.
    case needsPerson

    /// The state of a task.
    init(_ task: TaskSnapshot) {
        self.init(task.state, task.waitReasons, until: task.pausedUntil, failures: task.state == .completed ? 0 : 1)
    }

    /// The state of a batch.
    init(_ batch: BatchSnapshot) {
        self.init(
            batch.state, batch.waitReasons, until: batch.pausedUntil,
            failures: batch.filesFailed + batch.filesCancelled)
    }

    /// The state of anything that has a row.
    init(_ node: NodeRow) {
        self.init(
            node.state, node.waitReasons, until: node.pausedUntil,
            failures: node.counts.failed + node.counts.cancelled)
    }

    /// - Parameter end: when its pause ends by itself.
    private init(_ state: TransferState, _ reasons: [WaitReason], until end: Timestamp?, failures: Int64) {
        switch state {
        case .completed: self = .over(completed: failures == 0)
        // Also when no file was cancelled: its folders were, before all of their files were known.
        case .failed, .cancelled: self = .over(completed: false)
        case .created, .queued, .waiting, .running, .finishing, .paused:
            self = state.needsPerson(reasons, pausedUntil: end) ? .needsPerson : .moving
        }
    }
}

/// The outcome of waiting so far.
enum WaitStanding: Equatable {
    case goOn
    case over(completed: Bool)
    case needsPerson

    /// The sum over all that is waited for. Patience waits on where a person is needed.
    init(_ states: some Sequence<WaitState>, patient: Bool) {
        var completed = true
        var needsPerson = false
        var moves = false
        for state in states {
            switch state {
            case .over(let all): completed = completed && all
            case .moving: moves = true
            case .needsPerson: needsPerson = true
            }
        }
        if moves || needsPerson && patient {
            self = .goOn
        } else {
            self = needsPerson ? .needsPerson : .over(completed: completed)
        }
    }
}
