import Configuration
import TransferEngine
import TransferModel
import TransferQueue

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

    /// That server, while one file feels whether it is back: nothing of the node moves for all that.
    var feltFor: HostTrouble? {
        guard standing.counts.active > 0, let trouble else { return nil }
        return live.tasks.values.contains { $0.batch == standing.batch && $0.bytesPerSecond > 0 } ? nil : trouble
    }

    func tried(_ trouble: HostTrouble) -> (String, String) {
        let counts = standing.counts
        let unfinished = counts.active + counts.queued + counts.waiting
        let subject = counts.total == 1 ? "\(called) waits" : "\(called): \(Self.files(unfinished)) wait"
        let time = trouble.retryAt.map(untilTriedAgain) ?? "; it is tried again now"
        return ("\(subject): \(trouble.happening)\(time)\(trouble.error.quoted)", trouble.remedy(for: mended))
    }

    func waiting(for reason: WaitReason) -> (String, String) {
        let subject =
            standing.counts.total > 1
            ? "\(called): \(Self.files(standing.counts.waiting)) of \(standing.counts.total)" : "\(called)"
        let verb = standing.counts.total > 1 && standing.counts.waiting != 1 ? "wait" : "waits"
        let what = reason.clause(server: standing.origin ?? "the server")
        let unblock = reason.remedy(for: mended)
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
            let words = again.isEmpty ? error.message : error.messageWithoutPromise
            let what = trouble.map { $0.isAskedPause ? $0.happening : error.happening } ?? words
            return (
                "\(subject) \(verb)\(since): \(what)\(again)\((trouble?.error ?? error).quoted)",
                trouble?.remedy(for: mended) ?? unreached(error) ?? unblock
            )
        }
        // What a person does about a sign-in is said with the commands for it.
        let error =
            standing.error.map { error in
                let text = again.isEmpty ? error.message : error.messageWithoutPromise
                return " (\(reason == .auth ? error.happening : text))"
            } ?? ""
        return ("\(subject) \(verb) \(what)\(since)\(error)\(again)\(standing.error?.quoted ?? "")", unblock)
    }

    /// Its tasks stand in line, but the host they all lead to is left alone for a while.
    func held(by host: HeldHost) -> (String, String) {
        guard let until = host.until else { return notLetIn(by: host) }
        let isUnknown = host.error?.code == .cannotFindHost
        let error = trouble?.happening ?? Self.words(of: host)
        let waits = node.isTask || standing.counts.queued == 1 ? "waits" : "wait"
        let subject = node.isTask ? "\(called)" : "\(called): \(Self.files(standing.counts.unstarted))"
        return (
            "\(subject) \(waits): \(error)\(untilTriedAgain(until))\((trouble?.error ?? host.error)?.quoted ?? "")",
            isUnknown
                ? misspelled
                : trouble?.remedy(for: mended) ?? unreached(host.error) ?? WaitReason.hostBackoff.remedy(for: mended)
        )
    }

    /// One file has tried the login, and the others do not.
    private func notLetIn(by host: HeldHost) -> (String, String) {
        let isOne = node.isTask || standing.counts.unstarted == 1
        let subject = node.isTask ? "\(called)" : "\(called): \(Self.files(standing.counts.unstarted))"
        let what = host.reason.clause(server: host.origin)
        let error = host.error.map { " (\(host.reason == .auth ? $0.happening : $0.message))" } ?? ""
        return (
            "\(subject) \(isOne ? "waits" : "wait") \(what)\(error)\(host.error?.quoted ?? "")",
            host.reason.remedy(for: mended)
        )
    }

    static func words(of host: HeldHost) -> String {
        let isUnknown = host.error?.code == .cannotFindHost
        return (isUnknown ? host.error?.happening : host.error?.messageWithoutPromise)
            ?? "\(host.origin) asked for a pause"
    }

    /// A name that nobody knows is mostly a slip of the finger, which no waiting mends.
    private var misspelled: String {
        "check the spelling of its name; if it is wrong, martlet cancel \(name) and queue it again, else check the network"
    }

    /// The remedy where nobody answers: the address may be wrong, and that is no time to wait for.
    private func unreached(_ error: TransferError?) -> String? {
        error?.code == .cannotConnectToHost ? error?.remedyOfServer(for: mended) : nil
    }

    private func untilTriedAgain(_ time: Timestamp) -> String {
        time.since(now) >= .seconds(1) ? "; next try in \(Self.span(time.since(now)))" : "; it is tried again now"
    }

    /// For the commands that mend it.
    var mended: CureSubject { CureSubject(node: node, batch: standing.batch, url: standing.origin) }

    /// As a shell takes it.
    var name: String { node.written }

    /// The cause that holds the node, without times and counts, so that whoever watches can tell a new reason from the old one; `nil`:
    /// there is none, or the node is over, or a person stopped it.
    var because: String? {
        if !standing.pausedBy.isEmpty, !standing.isHeld, !standing.state.isTerminal, let end = standing.pauseEnds {
            return "because it is paused until \(clock(end))"
        }
        guard !standing.state.isTerminal || standing.scanning, standing.pausedBy.isEmpty, !standing.isHeld,
            standing.state != .created
        else { return nil }
        if let trouble = feltFor { return trouble.happening }
        if standing.counts.active > 0 { return isStalled ? "no byte has moved for some seconds\(atHost)" : nil }
        if let host = heldHost { return Self.words(of: host) }
        guard let reason = standing.waitReasons.first else { return nil }
        if let error = standing.error {
            if error.code == .cannotFindHost || reason == .auth { return error.happening }
            return error.messageWithoutPromise
        }
        return reason.clause(server: standing.origin ?? "the server")
    }

    /// True when nothing of what runs moves.
    private var isStalled: Bool {
        if case .task(let id) = node { return live.tasks[id]?.isStalled == true }
        let stalled = live.tasks.values.count { $0.isStalled && $0.batch == standing.batch }
        return stalled > 0 && stalled == standing.counts.active
    }
}
