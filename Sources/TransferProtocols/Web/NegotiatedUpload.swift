import TransferModel

/// The parameters of an upload by `https://` without a protocol: all that any of the three protocols needs.
package struct NegotiatedPlan: Sendable, Hashable {
    /// The address that is asked: the destination folder.
    package var folder: HTTPAddress
    package var put: PutPlan
    package var tus: TusPlan
    package var resumable: ResumablePlan

    package init(folder: HTTPAddress, put: PutPlan, tus: TusPlan, resumable: ResumablePlan) {
        self.folder = folder
        self.put = put
        self.tus = tus
        self.resumable = resumable
    }
}

/// An upload that asks the server first which protocol it speaks, tells the engine, and is that protocol from then on.
///
/// Only for a host of which nothing is known, and a task that left nothing there: where `HostFacts.uploadBy` is known, or a resume point is
/// there (`put`, `tus`, `ietf`), `ProtocolDescriptor.web` makes that protocol's machine itself.
package struct NegotiatedUpload: ProtocolMachine {
    private enum State {
        /// Nothing is asked yet. Next: `asking`.
        case ready
        /// An OPTIONS request is under way. Next: itself (another version, a redirect), `chosen`, `over`.
        case asking(ExchangeID)
        /// The protocol at work.
        case chosen(any ProtocolMachine)
        /// `fail` or `wait` was said. Late events are left alone.
        case over
    }

    private var plan: NegotiatedPlan
    private var state = State.ready
    private var probe = UploadProbe(takesTus: true)
    private var chain: RedirectChain
    private var began = Timestamp(milliseconds: 0)
    /// When the question under way was asked.
    private var asked = Timestamp(milliseconds: 0)
    private var lastID: Int

    /// - Parameter lastID: of the exchanges that another machine made for the same attempt before.
    package init(_ plan: NegotiatedPlan, after lastID: Int = 0) {
        self.plan = plan
        chain = RedirectChain(plan.folder)
        self.lastID = lastID
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)):
            began = now
            asked = now
            return ask()
        case (.asking(let id), .ended(let ended, let end)) where ended == id: return answered(end)
        case (.chosen(var machine), _):
            let actions = machine.handle(event)
            state = .chosen(machine)
            return actions
        case (_, .clockSetBack):
            plan.put.clockWasSetBack = true
            plan.tus.subject.clockWasSetBack = true
            plan.resumable.subject.clockWasSetBack = true
            return []
        default:
            // What belongs to an abandoned or finished exchange comes too late.
            return []
        }
    }

    package var remains: ResumePoint? { chosen?.remains }
    package var unremoved: [ResumePoint] { chosen?.unremoved ?? [] }

    /// The protocol at work.
    var chosen: (any ProtocolMachine)? {
        if case .chosen(let machine) = state { machine } else { nil }
    }

    package var asksHost: Bool {
        switch state {
        case .ready, .asking: true
        case .chosen(let machine): machine.asksHost
        case .over: false
        }
    }

    private mutating func ask() -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = .asking(id)
        return [.perform(id, ResumableMessages.options(chain, version: probe.asking))]
    }

    private mutating func answered(_ end: ExchangeEnd) -> [ProtocolAction] {
        guard let answer = end.answer else {
            let error = end.failure?.error ?? .noAnswer(chain.address)
            return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        }
        let patience = end.at.milliseconds - asked.milliseconds
        asked = end.at
        switch probe.read(answer, host: chain.address.server, at: end.at) {
        case .again: return ask()
        case .moved:
            // Whether the file itself can go there is for its own request to find out.
            return chain.follow(answer, keepsMethod: true) == nil ? ask() : put(at: end.at)
        case .wait(let demand): return over(.wait(demand))
        case .nothing: return put(at: end.at)
        case .tus(var learnt):
            if patience > 0 { learnt.answerMilliseconds = patience }
            var tus = plan.tus
            tus.facts = tus.facts.merged(with: learnt)
            if let largest = TusAnnouncement.largest(answer), largest < tus.subject.size {
                return [.learned(learnt)] + over(.fail(.largerThanTaken(chain.address, largest)))
            }
            return choose(TusUpload(tus, after: lastID), learnt)
        case .speaks(let learnt):
            var resumable = plan.resumable
            resumable.facts = resumable.facts.merged(with: learnt)
            return choose(ResumableUpload(resumable, after: lastID), learnt)
        case .resumable(let learnt, let limit):
            if let error = limit.refusal(of: plan.resumable.subject.size, at: chain.address) {
                return [.learned(learnt)] + over(.fail(error))
            }
            var resumable = plan.resumable
            resumable.facts = resumable.facts.merged(with: learnt)
            return choose(ResumableUpload(resumable, after: lastID), learnt)
        }
    }

    private mutating func put(at now: Timestamp) -> [ProtocolAction] {
        var learnt = HostFacts()
        learnt.learn(uploadBy: "put", at: now)
        plan.put.protocolLearntAt = now
        return choose(PutUpload(plan.put, after: lastID), learnt)
    }

    private mutating func choose(_ machine: any ProtocolMachine, _ learnt: HostFacts) -> [ProtocolAction] {
        var machine = machine
        let actions = machine.handle(.began(at: began))
        state = .chosen(machine)
        return [.learned(learnt)] + actions
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}

extension NegotiatedUpload {
    package var partStandings: [PartStanding] { chosen?.partStandings ?? [] }
}
