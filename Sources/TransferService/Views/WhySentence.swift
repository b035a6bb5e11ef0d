package import Configuration
package import TransferEngine
package import TransferModel
package import TransferQueue
import Wording

/// Says in one sentence why a node stands where it stands, and what would unblock it. Pure.
package struct WhySentence {
    let node: NodeID
    let standing: NodeStanding
    /// Names of the node and of what pauses it; an ID alone tells nobody anything who has only seen the list.
    let names: [NodeID: String]
    /// The row of a file: as it is shown, with what moves.
    let file: NodeRow?
    let live: LiveOverlay
    let engine: EngineLimits
    let grace: Duration
    let now: Timestamp
    let calendar: WallCalendar
    let waitsForEngine: Bool

    /// - Parameter grace: how long a cancel can be taken back.
    package init(
        node: NodeID, standing: NodeStanding, names: [NodeID: String] = [:], file: NodeRow? = nil, live: LiveOverlay,
        engine: EngineLimits = EngineLimits(), grace: Duration = .seconds(10), now: Timestamp,
        calendar: WallCalendar = .ofThisMachine
    ) {
        var standing = standing
        // Nothing starts, and no folder is looked through any more.
        waitsForEngine =
            live.isStopping && !standing.state.isTerminal && standing.pausedBy.isEmpty && !standing.isHeld
            && standing.counts.active == 0 && (standing.counts.queued > 0 || standing.scanning)
        if waitsForEngine {
            standing.state = .waiting
            standing.waitReasons = [.draining]
        }
        self.node = node
        self.standing = standing
        self.names = names
        self.file = file
        self.live = live
        self.engine = engine
        self.grace = grace
        self.now = now
        self.calendar = calendar
    }

    package var answer: WhyAnswer {
        let (sentence, unblock) = words
        let because = because
        var answer = WhyAnswer(
            id: node, state: standing.state, waitReasons: standing.waitReasons, since: standing.since,
            retryAt: standing.retryAt ?? heldHost?.until, tasks: standing.counts.total, sentence: sentence,
            unblock: "", because: because?.text)
        answer.remedy = unblock
        (answer.becauseInShort, answer.becauseIsClause) = (because?.brief, because?.isClause == true ? true : nil)
        return answer
    }

    private var words: (sentence: String, unblock: Advice) {
        let counts = standing.counts
        // What is over is held up by no flag any more.
        if standing.state.isTerminal, !standing.scanning { return over }
        if !standing.pausedBy.isEmpty { return paused }
        if standing.isHeld {
            return ("\(called) is held: it was queued to be held and never started", "\(.resume(node))")
        }
        if standing.state == .created { return ("\(called) was never started", "\(.resume(node))") }
        if let trouble = feltFor { return tried(trouble) }
        if counts.active > 0 { return running }
        if waitsForEngine {
            return (
                "\(called) waits: the engine was told to stop and does so when the files that run are through",
                "\(AdvisedCommand("engine start")) takes that back"
            )
        }
        if let host = heldHost { return held(by: host) }
        if counts.paused > 0, counts.queued + counts.waiting == 0, !standing.pausedBelow.isEmpty {
            // Their files cannot go on before them.
            let folders = standing.pausedBelow
            let what = folders.count == 1 ? "a folder of it" : "\(folders.count) folders of it"
            return (
                "\(called): what is left of it, \(Self.files(counts.paused)), is paused with \(what)",
                "\(AdvisedCommand("resume", folders))"
            )
        }
        if counts.paused > 0, counts.queued + counts.waiting == 0 {
            return (
                "\(called): what is left of it, \(Self.files(counts.paused)), is paused one by one",
                "\(node.isTask ? .resume(node) : AdvisedCommand("resume", [.batch(standing.batch)], ["--state", "paused"]))"
            )
        }
        if let reason = standing.waitReasons.first { return waiting(for: reason) }
        if let time = standing.notBefore, time > now {
            return (
                "\(called) may not start before \(clock(time))",
                .idle("\(.runNow(node)) starts it at once")
            )
        }
        if standing.scanning {
            if hasBegun { return moving("; its folders are still being looked through") }
            return ("\(called): its folders are still being looked through", .idle("it goes on by itself"))
        }
        if counts.queued > 0 { return queued }
        if standing.state == .running, let host = live.held[standing.batch], host.until == nil {
            return unlooked(at: host)
        }
        if standing.state == .running {
            return (
                "\(called): all of it is sent, and whether it is there is being looked at",
                .idle("it goes on by itself, \(.cancel(node)) ends the look")
            )
        }
        return over
    }

    /// By its own flag, or those of nodes above; all of them have to go.
    private var paused: (String, Advice) {
        let above = standing.pausedBy.map { other in
            if case .batch = other { "its batch \(name(of: other))" } else { "its folder \(name(of: other))" }
        }
        let own = standing.pausedBy.contains(node)
        let because = own ? "" : " because \(above.joined(separator: " and ")) \(above.count == 1 ? "is" : "are")"
        let resume = AdvisedCommand("resume", standing.pausedBy)
        guard let end = standing.pauseEnds else {
            return ("\(called) is paused\(because)\(since)", "\(resume)")
        }
        return (
            "\(called) is paused until \(clock(end))\(because)\(since)",
            .idle("it goes on by itself then, and at once with \(resume)")
        )
    }

    /// The node at the beginning of a sentence: `"film.mkv" (t31)`.
    var called: String { name(of: node) }

    private func name(of node: NodeID) -> String {
        guard let name = names[node] else { return "\(node)" }
        // The ID of a folder has its path in it.
        return if case .folder(let batch, _) = node { "\"\(name)\" (\(batch))" } else { "\"\(name)\" (\(node))" }
    }

    /// The clock on the wall of the engine's machine.
    func clock(_ time: Timestamp) -> String { calendar.date(time.milliseconds / 1000).written }

    private var running: (String, Advice) {
        let stalled = live.tasks.values.filter { $0.isStalled && $0.batch == standing.batch }
        if case .task(let id) = node, live.tasks[id]?.isStalled == true {
            return (
                "\(called) is running but no byte has moved for some seconds\(atHost)",
                .idle("the attempt is broken off and tried again when its time-out passes")
            )
        }
        if stalled.count > 0, stalled.count == standing.counts.active {
            return (
                "\(called): none of its \(Self.files(standing.counts.active)) that run has moved a byte for some seconds\(atHost)",
                .idle("the attempts are broken off and tried again when their time-out passes")
            )
        }
        let others = standing.counts.queued
        let rest = others > 0 ? "; \(Self.files(others)) stand in line for a slot" : ""
        return moving(rest)
    }

    /// With the limit that holds it back.
    private func moving(_ rest: String) -> (String, Advice) {
        let rest = rest + whatFollows
        guard let limit = smallestLimit else { return ("\(moves)\(rest)", "") }
        let rate = RateLimit.bytesPerSecond(limit.rate).written
        return ("\(moves), held to \(rate)/s by the limit of \(limit.name)\(rest)", "\(limit.remedy)")
    }

    /// The limit that binds: the smallest on its way.
    private var smallestLimit: NodeStanding.Limit? {
        // A batch goes one way alone; which, its moving tasks tell.
        let directions = Set(live.tasks.values.filter { $0.batch == standing.batch }.map(\.direction))
        var limits = standing.limits
        if let rate = engine.bytesPerSecondUp, directions != [.download] {
            limits.append(.init(rate: rate, name: "all uploads", remedy: .limit("off", "--up")))
        }
        if let rate = engine.bytesPerSecondDown, directions != [.upload] {
            limits.append(.init(rate: rate, name: "all downloads", remedy: .limit("off", "--down")))
        }
        return limits.min { $0.rate < $1.rate }
    }

    /// True when it has just begun: that is not recorded yet, but it moves.
    private var hasBegun: Bool {
        switch node {
        case .task(let id): live.tasks[id] != nil
        case .batch: live.tasks.values.contains { $0.batch == standing.batch }
        case .folder: false
        }
    }

    private var queued: (String, Advice) {
        if hasBegun { return moving("") }
        if standing.isUrgent {
            return ("\(called) was asked for now and starts at once", .idle("it starts by itself"))
        }
        if let starting { return (starting, .idle("it starts by itself")) }
        let ahead = [
            standing.ahead > 0 ? "\(Self.files(standing.ahead)) of batches" : nil,
            standing.aheadInBatch > 0 ? "\(Self.files(standing.aheadInBatch)) of its own batch" : nil,
        ].compactMap(\.self)
        if !ahead.isEmpty {
            let come = standing.ahead + standing.aheadInBatch == 1 ? "comes" : "come"
            return (
                "\(called) stands in line: \(ahead.joined(separator: " and ")) before it \(come) first",
                .idle(
                    "\(AdvisedCommand("move", [node], ["--top"])) brings it forward, \(.runNow(node)) starts it at once"
                )
            )
        }
        let crawls = engine.transfers > 1 ? ", or one with another server has moved less than 64 KiB in a minute" : ""
        return (
            "\(called) stands in line and starts as soon as one of the \(engine.transfers) transfers at once is over\(crawls)",
            .idle("\(.limit("--transfers", "N")) lets more run at once")
        )
    }

    /// There is a place for it: nothing is waited for that could be over, and no limit holds it back.
    private var starting: String? {
        let host = standing.origin ?? "the server"
        if live.asked.contains(host) {
            return "\(called) starts as soon as \(host) has said what it can; it is being asked now"
        }
        let free = Int64(engine.transfers - live.tasks.values.count { $0.state == .running })
        guard standing.ahead + standing.aheadInBatch < free else { return nil }
        let place = HostTrouble.Place(batch: standing.batch, origin: host)
        guard let most = live.full[host] ?? live.fullPlaces[place] else { return "\(called) is being started now" }
        let transfers = most == 1 ? "the one transfer" : "one of the \(most) transfers"
        return "\(called) stands in line and starts as soon as \(transfers) at once with \(host) is over"
    }

    private var over: (String, Advice) {
        switch standing.state {
        case .failed:
            guard let error = standing.error else { return ("\(called) failed", "\(.retry(node))") }
            let failed = standing.counts.failed
            let what =
                failed > 1 && error.finding.isOfFile ? "\(called): \(failed) files failed, " : "\(called) failed: "
            return (what + error.happening(of: failed) + error.quoted, error.remedy(for: mended))
        case .cancelled: return cancelled
        case .completed where standing.counts.cancelled > 0:
            let counts = standing.counts
            return (
                "\(called) is over\(ago): \(Self.files(counts.completed)) arrived, \(Self.files(counts.cancelled)) cancelled",
                "\(.retry(node)) tries the rest, too"
            )
        default: return ("\(called) is \(standing.state.rawValue)\(ago)", "")
        }
    }

    /// A retry goes on from what the server has, as long as it has it.
    private var cancelled: (String, Advice) {
        let sentence = "\(called) was cancelled\(ago)"
        guard let isLeft = standing.isLeftAtServer else { return (sentence, "\(.retry(node))") }
        guard isLeft else { return (sentence, "\(.retry(node)) begins it anew") }
        let left = (standing.since ?? now).advanced(by: grace).since(now)
        if left > .zero {
            return (
                "\(sentence); what its server has of it is removed in \(Self.span(left))",
                """
                \(AdvisedCommand("undo", [node])) takes the cancel back; \(.retry(node)) goes on where it stood until then, and \
                begins anew afterwards
                """
            )
        }
        return (
            "\(sentence); what its server has of it is still there",
            "\(.retry(node)) goes on where it stood; \(AdvisedCommand("leftovers")) shows what is there"
        )
    }

    private var ago: String {
        guard let time = standing.since, time < now else { return "" }
        return " \(Self.span(now.since(time))) ago"
    }

    var since: String {
        guard let time = standing.since, now.since(time) >= .seconds(1) else { return "" }
        return " (for \(Self.span(now.since(time))))"
    }

    var atHost: String { standing.origin.map { " at \($0)" } ?? "" }

    static func files(_ count: Int64) -> String { count == 1 ? "1 file" : "\(count) files" }

    /// `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
    static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<90: return "\(seconds) s"
        case ..<5400: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h" + (seconds % 3600 >= 60 ? " \(seconds % 3600 / 60) min" : "")
        default: return "\(seconds / 86_400) d" + (seconds % 86_400 >= 3600 ? " \(seconds % 86_400 / 3600) h" : "")
        }
    }
}
