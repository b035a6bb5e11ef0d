import DisplayText
import TransferModel
import WireOperations

/// The look at the file's name before the PUT, where no condition of the PUT guards what may have it.
extension PutUpload {
    mutating func look(byGet: Bool = false) -> [ProtocolAction] {
        let id = nextID()
        state = .looking(id, byGet: byGet)
        return [.perform(id, request(asking, byGet: byGet))]
    }

    private func request(_ chain: RedirectChain, byGet: Bool) -> Exchange {
        byGet ? GetMessages.oneByte(chain, signing: nil) : PutMessages.head(chain)
    }

    /// A server that does not tell what has the name gets the file.
    mutating func lookEnded(_ end: ExchangeEnd, byGet: Bool) -> [ProtocolAction] {
        // Those who read are sent elsewhere: that may be where the files are, or a page for all who have no login.
        let isElsewhere = asking.address != chain.address
        guard let answer = end.answer else {
            let error = end.failure?.error ?? .noAnswer(chain.address)
            return isElsewhere && !error.isRetryable ? put() : refuseOrWait(error)
        }
        switch meaning(answer, end) {
        // Those who read need a login there that those who write do not: that is no word on the name.
        case .wait(let demand) where byGet && !isElsewhere && demand.reason == .auth && answer.status != 407:
            return put()
        case .redirect: return asking.follow(answer, keepsMethod: false) == nil ? look(byGet: byGet) : put()
        // A login is not given there.
        case .wait(let demand) where isElsewhere && demand.reason == .auth: break
        // Without HEAD, or with one that fails, a server would answer so for ever.
        case _ where !byGet && !isElsewhere && [405, 500, 501].contains(answer.status): return look(byGet: true)
        case .wait(let demand) where answer.status != 501: return over(.wait(demand))
        case .success, .fail, .wait: break
        }
        if finds(answer, byGet: byGet) {
            before = .file(byGet ? StandingFile() : StandingFile(answer))
            return isElsewhere ? refused(mayBePage: true) : found(byGet: byGet, answer)
        }
        see(answer)
        return (isElsewhere ? [] : learn(heeds: answer)) + put()
    }

    /// A file has the name, by a server that may say so of any name.
    private mutating func found(byGet: Bool, _ answer: HTTPAnswer) -> [ProtocolAction] {
        // Its bytes are compared, if an earlier attempt may have sent it.
        let isKnown = plan.absenceBelow == place.below && place.isAsPlanned
        let isPage = answer.isPageForYes
        guard isPage || !isKnown && plan.begunBefore == nil, let chain = chainAside else { return taken() }
        return lookAside(AsideLook(chain: chain, byGet: byGet, isPage: isPage))
    }

    /// Asks whether a page that a question was answered with is shown under a name that nothing has, too, before it counts as the file.
    /// `nil`: it is none, or that is known.
    mutating func lookAside(for question: Question, _ end: ExchangeEnd) -> [ProtocolAction]? {
        // The answer to the PUT was compared with it.
        if case .isItWhole = question { return nil }
        guard end.answer?.isPageForYes == true, !showsPages, let chain = chainAside else { return nil }
        let isElsewhere = asking.address != self.chain.address
        return lookAside(
            AsideLook(chain: chain, byGet: false, isPage: true, isElsewhere: isElsewhere, question: (question, end)))
    }

    private mutating func lookAside(_ aside: AsideLook) -> [ProtocolAction] {
        let id = nextID()
        state = .lookingAside(id, aside)
        return [.perform(id, request(aside.chain, byGet: aside.byGet))]
    }

    private var chainAside: RedirectChain? {
        PutPlan.absentPath(beside: chain.address, token: plan.absentToken).map { chain.aside(to: $0) }
    }

    /// The part of the server's tree that the file is in, which may be served by other rules than the rest.
    private var place: (below: String, isAsPlanned: Bool) {
        let path = chain.address.target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let rest = path.dropFirst()
        let top = rest.firstIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? path.prefix(1)
        return (String(peer: top), chain.address.origin == plan.address.origin)
    }

    /// True of a file under that name: of an empty one there is no first byte.
    private func finds(_ answer: HTTPAnswer, byGet: Bool) -> Bool {
        answer.isSuccess || byGet && answer.status == 416
    }

    /// As if the server had refused the file. One without HEAD cannot be asked more about it.
    private mutating func taken() -> [ProtocolAction] {
        guard before == .file(StandingFile()), plan.begunBefore == nil, plan.resume?.stored != true else {
            return refused()
        }
        let exists = ProtocolAction.fail(.exists(at: chain.address.server, httpStatus: 412))
        return over(plan.ifExists == .skip ? .finish(.skipped(plan.size)) : exists)
    }

    /// The look at a name that nothing has.
    mutating func lookedAside(_ end: ExchangeEnd, _ aside: AsideLook) -> [ProtocolAction] {
        var aside = aside
        guard let answer = end.answer else { return refuseOrWait(end.failure?.error ?? .noAnswer(chain.address)) }
        if aside.isPage, answer.isSuccess, answer.isPage { return doubtProtocol() + shownEverywhere(aside) }
        if aside.question == nil, finds(answer, byGet: aside.byGet) {
            return over(.fail(.findsEveryName(at: chain.address.server)))
        }
        switch meaning(answer, end) {
        // By GET the same question gets another answer, unless the failure passes.
        case .wait where answer.status == 500 && !aside.byGet:
            aside.byGet = true
            return lookAside(aside)
        case .wait(let demand) where demand.reason != .auth && ![500, 501].contains(answer.status):
            return over(.wait(demand))
        case .redirect where aside.isElsewhere && aside.chain.follow(answer, keepsMethod: false) == nil:
            return lookAside(aside)
        case .success, .redirect, .fail, .wait: break
        }
        showsPages = aside.isPage
        if let (question, end) = aside.question {
            let isFile = if case .isItTheSame(inDoubt: false, _) = question { !aside.isElsewhere } else { false }
            // Nothing of ours is skipped.
            if isFile, plan.ifExists == .skip, plan.resume?.stored != true { return over(.finish(.skipped(plan.size))) }
            return headEnded(question, end)
        }
        let place = place
        let learnt = HostFacts { $0.absenceBelow = place.below }
        let isNews = answer.isAbsence && place.isAsPlanned && plan.absenceBelow != place.below
        return (isNews ? [.learned(learnt)] : []) + taken()
    }

    /// The network's page, or the server's for whatever it does not have: nothing tells what is there.
    private mutating func shownEverywhere(_ aside: AsideLook) -> [ProtocolAction] {
        let error = TransferError.showsOnePage(at: chain.address.server, mayReplace: plan.ifExists == .replace)
        let wait = WaitDemand(.backoff, error)
        guard let (question, _) = aside.question else { return over(.wait(wait)) }
        switch question {
        // It was sent: the next attempt sends it again, and that is counted.
        case .didItArrive(.own, _): return sendLater(error, orElse: UnprovenFiles.isNeverShown)
        // Whatever stands there, the PUT may go out. Where a page was the answer to one, it waits until that has gone.
        case .didItArrive(.earlier(_, refused: false), _)
        where purpose != .onlyLooks && !plan.isUnguarded && plan.unanswered == 0:
            (showsPages, earlier) = (true, .unproven)
            return send()
        default: return over(.wait(wait))
        }
    }

    /// Keeps what a look before the PUT saw.
    mutating func see(_ answer: HTTPAnswer) {
        if answer.isSuccess {
            before = .file(StandingFile(answer))
        } else if answer.isAbsence {
            before = .nothing
        }
    }

    private mutating func learn(heeds answer: HTTPAnswer) -> [ProtocolAction] {
        guard answer.heedsConditions, !plan.heedsConditions else { return [] }
        plan.heedsConditions = true
        return [.learned(HostFacts { $0.heedsConditions = true })]
    }
}

extension PutPlan {
    /// The path of a name beside the file's that nothing has; `nil` where the file's name may be in the query.
    static func absentPath(beside address: HTTPAddress, token: String) -> String? {
        guard !address.target.contains("?"), let slash = address.target.lastIndex(of: "/") else { return nil }
        let mark = Array("martlet-\(token.prefix(8))-".utf8)
        let name = mark + TemporaryName.cut(address.lastSegment, for: mark.count)
        return address.target[...slash] + PercentEncoding.encode(name)
    }
}

extension TransferError {
    fileprivate static func showsOnePage(at host: String, mayReplace: Bool) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) shows a web page under every name, so nothing tells what is there",
            mayReplace
                ? .again(
                    "sign in where the network asks for it, or queue it anew with --verify none if the server is so")
                : .replacing("sign in where the network asks for it, or ", " if the server is so", next: .again))
    }

    /// The server calls every name taken: nothing is sent where it might replace a file, and nothing is skipped that may be missing.
    fileprivate static func findsEveryName(at host: String) -> TransferError {
        TransferError(
            .unsupported, "\(host) finds a file under every name, so nothing tells whether this one is there",
            .replacing())
    }
}
