import TransferModel
import TransferQueue

/// The removals at servers that a sweep leaves for the next one. Of a server that cannot be asked all are left, so that the others wait for
/// it once. A value of the engine (`TransferEngine+Remains`).
struct RemovalRounds {
    /// Servers that could not be asked in this sweep, or took too long.
    private var away: Set<String> = []
    /// The removals that found that out, in this sweep and those before. They give way to the others at their servers until these have had
    /// their turn: one that never comes to an end is not in front for ever.
    private var failed: Set<TaskID> = []

    mutating func beginSweep() {
        if away.isEmpty { failed = [] }
        away = []
    }

    func takes(_ task: TaskID, at origin: String) -> Bool { !away.contains(origin) && !failed.contains(task) }

    mutating func couldNotAsk(_ origin: String, for task: TaskID) {
        away.insert(origin)
        failed.insert(task)
    }
}
