import TransferModel
import TransferQueue

/// The removals at servers that a sweep leaves for the next one. Of a server that cannot be asked all are left, so that the others wait for
/// it once. A value of the engine (`TransferEngine+Remains`).
struct RemovalRounds {
    /// Servers that could not be asked in this sweep, or took too long.
    private var away: Set<String> = []
    /// The removals that found that out, in this sweep and those before, by server. They give way to the others there until these have had
    /// their turn: one that never comes to an end is not in front for ever.
    private var failed: [String: Set<TaskID>] = [:]

    mutating func beginSweep() {
        // One server's state decides nothing about another's.
        failed = failed.filter { away.contains($0.key) }
        away = []
    }

    func takes(_ task: TaskID, at origin: String) -> Bool {
        !away.contains(origin) && failed[origin]?.contains(task) != true
    }

    mutating func couldNotAsk(_ origin: String, for task: TaskID) {
        away.insert(origin)
        failed[origin, default: []].insert(task)
    }
}
