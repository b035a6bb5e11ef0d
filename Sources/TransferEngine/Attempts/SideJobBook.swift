import TransferModel
import TransferQueue

/// The side jobs under way (`Job.isSideJob`): at most one of a task. A value of the engine (`TransferEngine+SideJobs`).
struct SideJobBook {
    /// Jobs that a caller waits for: removals by their task, the others by a number below zero.
    private var jobs: [TaskID: Attempt] = [:]
    /// Questions how much of paused uploads is there.
    private var looks: [TaskID: Attempt] = [:]
    private var lastNumber: Int64 = 0

    /// All of them: first those that a caller waits for.
    var all: [Attempt] { Array(jobs.values) + looks.values }

    func look(of task: TaskID) -> Attempt? { looks[task] }
    func removal(of task: TaskID) -> Attempt? { jobs[task] }
    func question(_ id: TaskID) -> Attempt? { id.rawValue < 0 ? jobs[id] : nil }

    /// Names a job of no task; no task has a number below zero.
    mutating func newID() -> TaskID {
        lastNumber -= 1
        return TaskID(rawValue: lastNumber)
    }

    mutating func begin(_ attempt: Attempt) {
        if case .look = attempt.job { looks[attempt.task.id] = attempt } else { jobs[attempt.task.id] = attempt }
    }

    mutating func end(_ attempt: Attempt) {
        let task = attempt.task.id
        if case .look = attempt.job {
            if looks[task] === attempt { looks[task] = nil }
        } else {
            if jobs[task] === attempt { jobs[task] = nil }
        }
    }
}
