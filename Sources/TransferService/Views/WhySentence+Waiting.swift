import Configuration
import TransferEngine
import TransferModel
import TransferQueue
import Wording

/// Sentences for a wait: what for, and what would unblock it.
extension WhySentence {
    /// The host that holds back what stands in line.
    var heldHost: HeldHost? {
        standing.counts.active == 0 && standing.counts.queued > 0 ? live.held[standing.batch] : nil
    }

    /// The server of what waits, when it has served nothing for a while.
    private var trouble: HostTrouble? {
        let troubles = live.troubles[standing.batch] ?? []
        return troubles.first { $0.place.origin == standing.origin } ?? (node.isTask ? nil : troubles.first)
    }

    /// The server, while one file feels whether it is back: nothing of the node moves for all that.
    var feltFor: HostTrouble? {
        guard standing.counts.active > 0, let trouble else { return nil }
        return live.tasks.values.contains { $0.batch == standing.batch && $0.bytesPerSecond > 0 } ? nil : trouble
    }

    func tried(_ trouble: HostTrouble) -> (String, Advice) {
        let counts = standing.counts
        let unfinished = counts.active + counts.queued + counts.waiting
        let subject = counts.total == 1 ? "\(called) waits" : "\(called): \(Self.files(unfinished)) wait"
        let time = trouble.retryAt.map(untilTriedAgain) ?? "; it is tried again now"
        return ("\(subject): \(trouble.happening)\(time)\(trouble.error.quoted)", remedy(for: trouble))
    }

    func waiting(for reason: WaitReason) -> (String, Advice) {
        let subject =
            standing.counts.total > 1
            ? "\(called): \(Self.files(standing.counts.waiting)) of \(standing.counts.total)" : "\(called)"
        let verb = standing.counts.total > 1 && standing.counts.waiting != 1 ? "wait" : "waits"
        let what = reason.clause(server: standing.origin ?? "the server")
        let unblock = reason.remedy(for: mended, after: standing.error)
        if reason == .notBefore, let time = standing.retryAt ?? standing.notBefore {
            let left = time > now ? ", in \(Self.span(time.since(now)))" : ""
            return ("\(subject) \(verb) for \(clock(time))\(left)", unblock)
        }
        let again = standing.retryAt.map(untilTriedAgain) ?? ""
        if let error = standing.error, error.code == .cannotFindHost {
            return ("\(subject) \(verb)\(since): \(error.happening)\(again)", misspelled)
        }
        // What the failed attempt said is the better reason.
        if let error = standing.error, reason == .hostBackoff || reason == .backoff || reason == .connectivity {
            let mending = unreached(error) ?? mends(error)
            // The words of the remedy follow by themselves.
            let message = again.isEmpty ? error.message : error.finding.messageWithoutPromise
            let words = mending == nil ? message : error.happening
            let what = trouble.map { $0.isAskedPause ? $0.happening : error.happening } ?? words
            return (
                "\(subject) \(verb)\(since): \(what)\(again)\((trouble?.error ?? error).quoted)",
                trouble.map(remedy(for:)) ?? mending ?? unblock
            )
        }
        // What a person does about a sign-in is said with the commands for it.
        let error =
            standing.error.map { error in
                let text = again.isEmpty ? error.message : error.finding.messageWithoutPromise
                return " (\(reason == .auth ? error.happening : text))"
            } ?? ""
        return ("\(subject) \(verb) \(what)\(since)\(error)\(again)\(standing.error?.quoted ?? "")", unblock)
    }

    /// Its tasks stand in line, but the host they all lead to is left alone for a while.
    func held(by host: HeldHost) -> (String, Advice) {
        guard let until = host.until else { return notLetIn(by: host) }
        let isUnknown = host.error?.code == .cannotFindHost
        let error = trouble?.happening ?? Self.reason(of: host).text
        let waits = node.isTask || standing.counts.queued == 1 ? "waits" : "wait"
        let subject = node.isTask ? "\(called)" : "\(called): \(Self.files(standing.counts.unstarted))"
        return (
            "\(subject) \(waits): \(error)\(untilTriedAgain(until))\((trouble?.error ?? host.error)?.quoted ?? "")",
            isUnknown
                ? misspelled
                : trouble.map(remedy(for:)) ?? unreached(host.error) ?? WaitReason.hostBackoff.remedy(for: mended)
        )
    }

    /// One file has tried the login, and the others do not.
    private func notLetIn(by host: HeldHost) -> (String, Advice) {
        let isOne = node.isTask || standing.counts.unstarted == 1
        let subject = node.isTask ? "\(called)" : "\(called): \(Self.files(standing.counts.unstarted))"
        let what = host.reason.clause(server: host.origin)
        let error = host.error.map { " (\(host.reason == .auth ? $0.happening : $0.message))" } ?? ""
        return (
            "\(subject) \(isOne ? "waits" : "wait") \(what)\(error)\(host.error?.quoted ?? "")",
            host.reason.remedy(for: mended, after: host.error)
        )
    }

    /// All files have arrived, and nobody is let in to look whether they are there.
    func unlooked(at host: HeldHost) -> (String, Advice) {
        let error = host.error.map { " (\(host.reason == .auth ? $0.happening : $0.message))" } ?? ""
        return (
            "\(called): all of it is sent; the look whether it is there waits \(host.reason.clause(server: host.origin))\(error)",
            host.reason.remedy(for: mended, after: host.error)
        )
    }

    private static func reason(of host: HeldHost) -> Because {
        host.error.map { Because($0.finding, withAdvice: $0.code != .cannotFindHost) }
            ?? Because("\(host.origin) asked for a pause")
    }

    /// A name that nobody knows is mostly a slip of the finger, which no waiting mends.
    private var misspelled: Advice {
        "check the spelling of its name; if it is wrong, \(.cancel(node)) and queue it again, else check the network"
    }

    /// The remedy where nobody answers: the address may be wrong, and that is no time to wait for.
    private func unreached(_ error: TransferError?) -> Advice? {
        error?.code == .cannotConnectToHost ? error?.remedyOfServer(for: mended) : nil
    }

    /// The remedy of an answer that a person may mend, though it is tried again by itself.
    private func mends(_ error: TransferError) -> Advice? {
        guard let next = error.finding.remedy?.next, next != .automatic, !error.finding.advice.isEmpty else {
            return nil
        }
        return error.remedyOfServer(for: mended)
    }

    private func untilTriedAgain(_ time: Timestamp) -> String {
        time.since(now) >= .seconds(1) ? "; next try in \(Self.span(time.since(now)))" : "; it is tried again now"
    }

    private func remedy(for trouble: HostTrouble) -> Advice {
        trouble.isAskedPause ? WaitCount.remedyOfPause : trouble.error.remedyOfServer(for: mended)
    }

    /// For the commands that mend it.
    var mended: CureSubject {
        // A single file comes from one server.
        let mayBeSeveral = standing.isDownload && (node.isTask || standing.counts.total > 1)
        return CureSubject(node: node, batch: standing.batch, url: standing.origin, isDownload: mayBeSeveral)
    }

    /// A cause in words.
    struct Because {
        let text: String
        /// Without the words of a library; `nil`: there are none.
        var brief: String?
        /// It goes on after "waits".
        var isClause = false

        init(_ text: String, isClause: Bool = false) { (self.text, self.isClause) = (text, isClause) }

        init(_ finding: Finding, withAdvice: Bool = false) {
            text = withAdvice ? finding.messageWithoutPromise : finding.happening
            brief = finding.brief
        }
    }

    /// The cause that holds the node, without times and counts, so that whoever watches can tell a new reason from the old one; `nil`:
    /// there is none, or the node is over, or a person stopped it.
    var because: Because? {
        if !standing.pausedBy.isEmpty, !standing.isHeld, !standing.state.isTerminal, let end = standing.pauseEnds {
            return Because("because it is paused until \(clock(end))", isClause: true)
        }
        guard !standing.state.isTerminal || standing.scanning, standing.pausedBy.isEmpty, !standing.isHeld,
            standing.state != .created
        else { return nil }
        if let trouble = feltFor { return Because(trouble.finding) }
        if standing.counts.active > 0 {
            return isStalled ? Because("no byte has moved for some seconds\(atHost)") : nil
        }
        if let host = heldHost { return Self.reason(of: host) }
        guard let reason = standing.waitReasons.first else { return nil }
        if let error = standing.error {
            return Because(error.finding, withAdvice: error.code != .cannotFindHost && reason != .auth)
        }
        return Because(reason.clause(server: standing.origin ?? "the server"), isClause: true)
    }

    /// True when nothing of what runs moves.
    private var isStalled: Bool {
        if case .task(let id) = node { return live.tasks[id]?.isStalled == true }
        let stalled = live.tasks.values.count { $0.isStalled && $0.batch == standing.batch }
        return stalled > 0 && stalled == standing.counts.active
    }
}
