import CurlTransport
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue

/// Jobs that no claim of the queue stands behind (`Job.isSideJob`): how they begin and end.
extension TransferEngine {
    /// Lets a machine ask a server something, with no task of the queue behind it.
    /// - Parameter despiteRefusal: a person wants to know how it is now, whatever came of its login before.
    /// - Returns: why it did not come to its end, and the attempt with the machine as it is then.
    func inquire(
        _ job: Job, _ machine: any ProtocolMachine, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        despiteRefusal: Bool = false, prepare: (Attempt) -> Void = { _ in }
    ) async -> (error: TransferError?, attempt: Attempt) {
        let task = ClaimedTask(asking: sideJobs.newID())
        let attempt = Attempt(
            job, of: task, context: context, origin: origin, machine: machine, at: timeline.nanoseconds)
        attempt.place = place
        prepare(attempt)
        return (await run(attempt, despiteRefusal: despiteRefusal), attempt)
    }

    /// Runs a side job to its end. One whose login was refused is not begun: servers count refusals, and lock accounts.
    /// - Returns: why it did not come to its end.
    func run(_ attempt: Attempt, despiteRefusal: Bool = false) async -> TransferError? {
        let login = login(attempt.context, attempt.origin)
        if !despiteRefusal {
            if let refusal = await login.turn(isolation: self) ?? login.refusalOfSideJobs(timeline.now) {
                attempt.side.refused(WaitDemand(refusal.reason, refusal.error))
                return refusal.error
            }
            // The engine may have ended meanwhile, or an upload goes on with what this one is to remove.
            guard phase == .running else { return .stoppedLooking }
            if case .removal = attempt.job, attempts[attempt.task.id] != nil { return .takenBack }
        }
        attempt.access.begin(with: login)
        if login.standing.mayStart { login.standing.began(attempt.task.id) }
        let id = attempt.task.id
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                attempt.side.begin(for: continuation)
                sideJobs.begin(attempt)
                keepPace(attempt, SideJobPace(at: timeline.clock.awake))
                feed(attempt, .began(at: timeline.now))
            }
        } onCancel: {
            Task { await self.endQuestion(id) }
        }
        // Before anything that takes its time: others wait to try the login.
        if login.standing.ended(attempt.task.id) { schedulePump() }
        if let demand = attempt.side.refusal { await refused(attempt, demand, login) }
        return error
    }

    /// Ends a side job whose server answers too slowly.
    private func keepPace(_ attempt: Attempt, _ pace: SideJobPace) {
        let timer = timeline.clock.schedule(after: .seconds(15)) { [self] in
            attempt.side.keepPace(by: nil)
            var pace = pace
            let moved = attempt.exchanges.underWay.map { exchange in
                (exchange.wire, progress(exchange).map { $0.sent + $0.received } ?? 0)
            }
            pace.look(Dictionary(moved) { $1 }, exchanges: attempt.exchanges.begun)
            // A limit that a person has set may be the reason.
            let isFree = limitBook.limits(of: attempt).leastShare.map { $0 > Self.lowLimit } ?? true
            if isFree, pace.isTooSlow(at: timeline.clock.awake) {
                let server = TransferScheme.server(of: attempt.origin)
                return failSideJob(
                    attempt, TransferError(.timedOut, "\(server) answers too slowly", .again("look at it and the line"))
                )
            }
            keepPace(attempt, pace)
        }
        attempt.side.keepPace(by: timer)
    }

    /// Bytes in a second, its share of a limit, at which a server need not be slow.
    private static let lowLimit: Int64 = 8 << 10

    /// A server may take files and let nobody list or read them: its no to a side job keeps no file from starting.
    private func refused(_ attempt: Attempt, _ demand: WaitDemand, _ login: Login) async {
        guard demand.reason == .auth || demand.reason == .hostKey else { return }
        let context = attempt.context
        let mayShowOtherwise =
            demand.reason == .auth
            && (attempt.access.hasOldKeys(context)
                || context.credentials.tryAsAsked(attempt.exchanges.lastAnswer?.head)
                || context.credentials.askForOtherKeys(at: timeline.now))
        if mayShowOtherwise {
            attempt.side.foundOtherWay()
            await fetchCredentials(context)
        } else {
            login.refuseSideJobs(LoginStanding.Refusal(demand.reason, demand.error), at: timeline.now)
        }
    }

    /// Breaks all side jobs off. What was to be removed is found again at the next start.
    func endSideJobs() {
        for attempt in sideJobs.all { endSideJob(attempt, .stoppedLooking) }
    }

    /// Ends a question whose answer nobody waits for any more.
    private func endQuestion(_ id: TaskID) {
        if let attempt = sideJobs.question(id) { endSideJob(attempt, .stoppedLooking) }
    }

    /// Ends a side job that cannot go on.
    func failSideJob(_ attempt: Attempt, _ error: TransferError) {
        // Nobody can say how much is there: what is confirmed is all that is known.
        if case .look = attempt.job { accounting.unconfirmed.showConfirmed(attempt.task.id) }
        endSideJob(attempt, error)
    }

    /// Ends a side job. `error`: why it did not come to its end; `nil`: it did.
    func endSideJob(_ attempt: Attempt, _ error: TransferError?) {
        abandonAll(of: attempt)
        // Before the login that was shown is forgotten with it.
        let error = error?.redacted(by: attempt.redaction)
        let (caller, timer) = attempt.side.end()
        if let timer { timeline.clock.cancel(timer) }
        attempt.stage.end()
        attempt.run.end()
        if case .sftp? = attempt.place?.route { transports.sftp?.abandonAll(of: attempt.owner) }
        sideJobs.end(attempt)
        caller?.resume(returning: error)
    }
}
