import TransferModel
import TransferQueue

/// The side jobs under way (`Job.isSideJob`): at most one of a task. A value of the engine (`TransferEngine+SideJobs`).
struct SideJobBook {
    /// Jobs that a caller waits for: removals by their task, the others by a number below zero.
    private var jobs: [TaskID: Attempt] = [:]
    /// Questions how much of paused uploads is there.
    private var looks: [TaskID: Attempt] = [:]
    /// Tasks whose remains somebody is about to take away, or does.
    private var removed: Set<TaskID> = []
    private var lastNumber: Int64 = 0

    /// All of them: first those that a caller waits for.
    var all: [Attempt] { Array(jobs.values) + looks.values }

    func look(of task: TaskID) -> Attempt? { looks[task] }
    func removal(of task: TaskID) -> Attempt? { jobs[task] }
    func question(_ id: TaskID) -> Attempt? { id.rawValue < 0 ? jobs[id] : nil }

    /// Gives one caller the right to take away what a task has left; false while another one has it. Whoever got it writes the task's point,
    /// and puts it back where no server was reached.
    mutating func beginRemoval(of task: TaskID) -> Bool { removed.insert(task).inserted }
    mutating func endRemoval(of task: TaskID) { removed.remove(task) }

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
