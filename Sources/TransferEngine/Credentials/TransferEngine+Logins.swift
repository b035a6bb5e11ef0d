import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Decides which files use a login: one that no server has taken yet is tried by one file, one that was refused by none.
extension TransferEngine {
    func login(_ context: BatchContext, _ origin: String) -> Login {
        if let known = context.logins[origin] { return known }
        let key = Login.Key(
            origin: origin, secrets: context.order.secrets, sshCommand: context.order.options.sshCommand)
        let login =
            credentials.login(key)
            ?? Login(key) { [unowned self] isRefused in
                lanes.claimsAreStale = true
                schedulePump()
                if !isRefused { tryLooksAgain() }
            }
        credentials.add(login)
        context.logins[origin] = login
        return login
    }

    /// Returns true when a file of a batch may use its login now. Credentials that a command tells are asked for first.
    func mayLogIn(_ context: BatchContext, _ origin: String) -> Bool {
        if context.credentials.isWanted {
            fetchSoon(context)
            return false
        }
        return login(context, origin).standing.mayStart
    }

    private func fetchSoon(_ context: BatchContext) {
        guard context.credentials.beginWaiting() else { return }
        inBackground { [self] in
            await fetchCredentials(context)
            context.credentials.endWaiting()
            schedulePump()
        }
    }

    /// Something of an attempt shows that its login is taken.
    func wasLetIn(_ attempt: Attempt) {
        guard let login = attempt.access.login, login.standing.isShownGood(by: attempt.task.id) else { return }
        // Else it is as before: what its own address refuses for good is no news in each run.
        let cause = login.standing.hasBeenRefused ? "its login is let in" : nil
        let release = login.standing.wasLetIn()
        if release == .nothing { return }
        notice?()
        schedulePump()
        if release == .line { return }
        inBackground { [self] in
            await durably {
                if case .tasks(let tasks) = release {
                    return try await queue.writer.clearWait(Self.persons, of: Array(tasks))
                }
                // A refusal of a moment ago is recorded, but may not stand in the queue yet.
                try await queue.writer.commit()
                for batch in try await queue.writer.batchesWaiting(for: Self.persons, origin: login.key.origin) {
                    guard try await shows(batch, login.key) else { continue }
                    try await queue.writer.clearWait(
                        Self.persons, batch: batch, origin: login.key.origin, because: cause)
                }
            }
            refreshLanes()
        }
    }

    /// Waits at a login that only a person can end.
    private static let persons: WaitReasons = [WaitReasons(.auth), WaitReasons(.hostKey)]

    private func shows(_ batch: BatchID, _ key: Login.Key) async throws -> Bool {
        let known = credentials.contexts[batch]?.order
        guard let order = if let known { known } else { try await queue.writer.order(of: batch) } else { return false }
        return order.secrets == key.secrets && order.options.sshCommand == key.sshCommand
    }

    /// An HTTP exchange was answered: whether that shows who is let in.
    func noteLogin(_ attempt: Attempt, _ answer: HTTPAnswer?, _ method: HTTPExchange.Method?) {
        guard let login = attempt.access.login, login.standing.state != .letIn, let answer, let method,
            method != .options,
            // Many a server lets everybody read.
            attempt.upload == nil || !method.isSafe, LoginStanding.isLetIn(httpStatus: answer.status)
        else { return }
        wasLetIn(attempt)
    }

    /// For each batch and server whose login was refused, in their order: one file has tried it, and the others stand in line for it.
    func refusedLogins() -> [RefusedLogin] {
        guard credentials.isAnyRefused else { return [] }
        var files: [HostTrouble.Place: (refusal: LoginStanding.Refusal, count: Int64)] = [:]
        var origins: [BatchID: Set<String>] = [:]
        for lane in lanes.all where lane.summary.mayRun(at: timeline.now) {
            let place = lane.summary.place
            origins[place.batch, default: []].insert(place.origin)
            let context = lane.context ?? credentials.contexts[place.batch]
            guard let refusal = credentials.refusal(context, place.origin) else { continue }
            files[place, default: (refusal, 0)].count += Int64(lane.ready) + lane.unclaimed
        }
        return files.map { place, waiting in
            RefusedLogin(
                place: place, refusal: waiting.refusal, isWhole: origins[place.batch]?.count == 1, files: waiting.count)
        }.sorted { ($0.place.batch, $0.place.origin) < ($1.place.batch, $1.place.origin) }
    }

    func wasRefused(_ attempt: Attempt, _ demand: WaitDemand) {
        guard demand.reason == .auth || demand.reason == .hostKey, let login = attempt.access.login else { return }
        if attempt.exchanges.lastAnswer?.isElsewhere == true { return }
        login.standing.wasRefused(LoginStanding.Refusal(demand.reason, demand.error), by: attempt.task.id)
        notice?()
    }

    /// Looks that had no login may have one now.
    func tryLooksAgain() {
        if lastLooks.tryLoginsAgain() { lookAtLast() }
    }

    /// A person has given these batches logins: one file tries each of them. A login that was refused is tried, too, when it is given again as
    /// it was: its server may take it by now, and nothing else would find that out.
    func tryLogins(of batches: Set<BatchID>) {
        inBackground { [self] in
            for batch in batches.sorted() {
                let order = await durably { try await queue.writer.order(of: batch) }
                guard let order = order ?? nil else { continue }
                credentials.contexts[batch]?.credentials.forgetFailure()
                credentials.tryAgain(order.secrets, order.options.sshCommand)
            }
        }
    }

    package func tryAgain() {
        credentials.tryAgain()
        tryLooksAgain()
        connectivityChanged()
    }

    /// Bytes on their way to a server that says nothing before the last one: it would have refused them by now.
    static let tellingBytes: Int64 = 1 << 20
}
