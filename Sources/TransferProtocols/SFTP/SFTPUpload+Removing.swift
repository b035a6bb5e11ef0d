import TransferModel
import WireOperations

/// The removal of temporary files that nobody goes on with, and what the server says to it.
extension SFTPUpload {
    /// Removes a temporary file before the point is written that no longer names it: a cut in between leaves nothing that nobody knows.
    mutating func clear(_ temporary: RawPath, then first: [SFTPOperation] = []) -> [ProtocolAction] {
        perform(.clearing(temporary, then: first), [.remove(temporary)])
    }

    /// Takes away what serves nothing any more, then says it. What a failed task has gathered stays: its resume point names it, so that a
    /// retry goes on and `leftovers` finds it.
    mutating func tidy(_ first: [SFTPOperation], then action: ProtocolAction) -> [ProtocolAction] {
        var operations = first
        var disclaimed: [ProtocolAction] = []
        if case .fail = action, isDurable {
        } else if !isDirect {
            disclaimed = disclaim()
            operations.append(.remove(point.temporary))
        }
        if operations.isEmpty { return disclaimed + over(action) }
        return disclaimed + perform(.tidying(operations, then: action), operations)
    }

    mutating func tidied(
        _ operations: [SFTPOperation], _ group: Group, then action: ProtocolAction
    ) -> [ProtocolAction] {
        let broken = group.ids.lazy.compactMap { group.ends[$0]?.brokenOff }.first
        var left: [RawPath] = []
        for case (.remove(let name), let id) in zip(operations, group.ids) where !hasRemoved(name, group.ends[id]) {
            left.append(name)
        }
        isLeft = broken != nil || left.contains(point.temporary)
        // The next attempt sees whether our file is gone.
        return over(action.isSkip ? broken ?? action : action)
    }

    /// Returns true when a temporary file is gone by the server's word; else it is known as left.
    mutating func hasRemoved(_ name: RawPath, _ end: SFTPEnd?) -> Bool {
        if end?.reply == .done || end?.refusal?.status == .noSuchFile { return true }
        unremoved.append(
            ResumePoint(
                SFTPResumePoint(
                    temporary: name, generation: generation(of: name), size: plan.subject.size, modified: plan.modified)
            ))
        return false
    }

    private func generation(of name: RawPath) -> Int {
        if name == point.temporary { return point.generation }
        return plan.resume.flatMap { $0.temporary == name ? $0.generation : nil } ?? 1
    }
}
