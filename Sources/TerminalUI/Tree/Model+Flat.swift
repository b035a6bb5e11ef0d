import DisplayText
import MartletKit

/// All files in one list, and how many of each state there are.
extension Model {
    mutating func turnFlat() {
        // Other rows are asked for than those that stand still.
        list.frozen = nil
        tree.turn(flat: !tree.isFlat)
        say(
            tree.isFlat
                ? "All files in one list; \(key(.flat)) shows the tree again."
                : "The tree again; \(key(.flat)) lists all files.")
    }
}

extension FileCounts {
    /// `3 running  1,204 failed  240 queued`
    var byState: String {
        let all: [(count: Int64, word: String)] = [
            (active, "running"), (failed, "failed"), (waiting, "waiting"), (paused, "paused"), (queued, "queued"),
            (created, "held"), (completed, "done"), (cancelled, "cancelled"),
        ]
        return all.filter { $0.count > 0 }.map { "\(Figures.count($0.count)) \($0.word)" }.joined(separator: "  ")
    }
}
