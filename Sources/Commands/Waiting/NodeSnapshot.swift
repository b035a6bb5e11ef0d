import Configuration
import MartletKit
import Wording

/// The last snapshot of something that is waited for.
enum NodeSnapshot {
    case batch(BatchSnapshot)
    case task(TaskSnapshot)
    case node(NodeRow)
    /// A person has forgotten it since it was last seen; it was over before. `nil`: nobody knows how.
    case purged(completed: Bool?)

    var waitState: WaitState {
        switch self {
        case .batch(let batch): WaitState(batch)
        case .task(let task): WaitState(task)
        case .node(let node): WaitState(node)
        case .purged(let completed): .over(completed: completed == true)
        }
    }

    var isOver: Bool {
        if case .over = waitState { true } else { false }
    }

    var isPurged: Bool {
        if case .purged = self { true } else { false }
    }

    /// True when it is over and was forgotten, and no event says any more how it had ended.
    var isUnknownEnd: Bool {
        if case .purged(nil) = self { true } else { false }
    }

    /// True when it may be held up: nothing of it moves, and it is neither over nor stopped by a person for good.
    var mayBeStuck: Bool {
        switch self {
        case .batch(let batch): Self.mayBeStuck(batch.state, batch.bytesPerSecond, until: batch.pausedUntil)
        case .task(let task): Self.mayBeStuck(task.state, task.bytesPerSecond, until: task.pausedUntil)
        case .node(let node): Self.mayBeStuck(node.state, node.bytesPerSecond, until: node.pausedUntil)
        case .purged: false
        }
    }

    private static func mayBeStuck(_ state: TransferState, _ rate: Int64, until end: Timestamp?) -> Bool {
        state == .waiting || (rate == 0 && (state == .running || state == .queued))
            || (state == .paused && end != nil)
    }

    /// Grows with each file and byte that has arrived.
    var progress: Int64 {
        switch self {
        case .batch(let batch): batch.filesCompleted + batch.bytesAccepted
        case .task(let task): task.bytesAccepted
        case .node(let node): node.counts.completed + node.bytes.accepted
        case .purged: 0
        }
    }

    /// One plain line of a node; its ID alone while it was not seen.
    static func text(
        of id: NodeID, _ seen: NodeSnapshot?, _ units: ScreenConfiguration.Units, because: String? = nil
    ) -> String {
        switch seen {
        case .batch(let batch): batch.progressText(units, because: because)
        case .task(let task): "\(id) \(task.state.word) \(task.percentText) \(task.path)\(bracketed(task.remark))"
        case .node(let node): node.progressText(id, units, because: because)
        case .purged(true?): "\(id) completed, and purged since"
        case .purged(false?): "\(id) not all of it completed, and purged since"
        case .purged(nil): "\(id) purged, and how it ended is not known any more"
        case nil: id.description
        }
    }

    private static func bracketed(_ remark: String) -> String { remark.isEmpty ? "" : " [\(remark)]" }
}
