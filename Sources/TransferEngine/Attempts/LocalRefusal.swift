import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// A refusal by the local side: its error, and whether the task waits or fails.
struct LocalRefusal: Error, Hashable {
    var error: TransferError
    /// A wait that time or a person ends; `nil`: it fails.
    var waits: WaitReason?
    /// No descriptor is left for this file, so there is none for the next one either.
    var isShortage = false

    /// The refusal that an error number of a source means.
    static func source(_ place: SourcePlace, _ error: Errno) -> LocalRefusal {
        error.isShortage ? shortage : LocalRefusal(error: .source(place, error))
    }

    static var shortage: LocalRefusal { LocalRefusal(error: .tooManyOpenFiles, waits: .backoff, isShortage: true) }
}

extension TransferError {
    static var tooManyOpenFiles: TransferError {
        TransferError(
            .tooManyOpenFiles, "this machine has no file descriptor left",
            .again("raise the limit (ulimit -n, or LimitNOFILE of the service) or lower --transfers"))
    }
}

extension TransferError {
    /// As for descriptors, of which it is the cousin: nobody has to do anything, and time or a larger limit ends it.
    static var noThread: TransferError {
        TransferError(
            .tooManyOpenFiles, "this machine has no thread left for FTP",
            .again("raise the limit (ulimit -u, or TasksMax of the service) or lower --transfers"))
    }
}

extension TransferEngine {
    /// Records a refusal by the local side for a task that has no slot: it waits or fails.
    func refused(_ task: ClaimedTask, _ refusal: LocalRefusal) {
        queue.writer.record(.untouched, for: task.claim)
        guard let reason = refusal.waits else { return refuse(task, refusal.error) }
        if let options = credentials.contexts[task.batch]?.order.options, isOutOfPatience(options, task.patienceSince) {
            return refuse(task, .gaveUp(after: refusal.error))
        }
        if refusal.isShortage { suspendStarts() }
        accounting.failed(at: timeline.nanoseconds)
        let delay = Self.waitRule.delay(reason, failures: task.failures + 1, random: platform.randomFraction())
        let retryAt = delay.map { timeline.now.advanced(by: $0) }
        queue.writer.record(.waiting(WaitReasons(reason), retryAt: retryAt, error: refusal.error), for: task.claim)
        duties.hasUncommitted = true
        if let retryAt { wake(at: retryAt) }
    }

    /// Ends an attempt for which this machine has nothing left now.
    func waitForRoom(_ attempt: Attempt, _ error: TransferError) {
        suspendStarts()
        wait(attempt, WaitDemand(.backoff, error))
    }

    /// Nothing starts for a moment: it would be refused as well, and a whole batch would go that way.
    func suspendStarts() {
        guard timers.shortage == nil, phase == .running else { return }
        timers.shortage = timeline.clock.schedule(after: .seconds(1)) { [self] in
            timers.shortage = nil
            schedulePump()
        }
    }
}
