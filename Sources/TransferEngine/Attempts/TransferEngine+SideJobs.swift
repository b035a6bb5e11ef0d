import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// Jobs that no claim of the queue stands behind (`Job.isSideJob`): how they begin and end.
extension TransferEngine {
    /// Lets a machine ask a server something, with no task of the queue behind it.
    /// - Returns: why it did not come to its end, and the attempt with the machine as it is then.
    func inquire(
        _ job: Job, _ machine: any ProtocolMachine, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        prepare: (Attempt) -> Void = { _ in }
    ) async -> (error: TransferError?, attempt: Attempt) {
        lastSideJob -= 1
        let task = ClaimedTask(asking: TaskID(rawValue: lastSideJob))
        let attempt = Attempt(
            job, of: task, context: context, origin: origin, machine: machine, at: timeline.nanoseconds)
        attempt.place = place
        prepare(attempt)
        return (await run(attempt), attempt)
    }

    /// Runs a side job to its end. Returns why it did not come to it.
    func run(_ attempt: Attempt) async -> TransferError? {
        await withCheckedContinuation { continuation in
            attempt.caller = continuation
            sideJobs[attempt.task.id] = attempt
            feed(attempt, .began(at: timeline.now))
        }
    }

    /// Breaks all side jobs off. What was to be removed is found again at the next start.
    func endSideJobs() {
        let error = TransferError(.networkConnectionLost, "the engine stopped before it was done: start it again")
        for attempt in sideJobs.values { endSideJob(attempt, error) }
        for attempt in looks.values { endSideJob(attempt, nil) }
    }

    /// Ends a side job. `error`: why it did not come to its end; `nil`: it did.
    func endSideJob(_ attempt: Attempt, _ error: TransferError?) {
        abandonAll(of: attempt)
        attempt.phase = .over
        attempt.actions = []
        if case .sftp? = attempt.place?.address { sftp?.abandonAll(of: attempt.owner) }
        let task = attempt.task.id
        if case .look = attempt.job {
            if looks[task] === attempt { looks[task] = nil }
        } else {
            sideJobs[task] = nil
        }
        attempt.caller?.resume(returning: error)
        attempt.caller = nil
    }
}
