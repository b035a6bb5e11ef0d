import CommandLine
import Configuration
import DisplayText
import MartletKit
import Wording

/// Waits for the end of nodes, for `wait` and for commands with `--wait`. Start at ``untilOver()``.
struct Waiting {
    let context: CommandContext
    let nodes: [NodeID]
    /// The command that waits, for messages.
    let command: String
    let json: Bool
    /// True when it waits on where a person is needed.
    let patient: Bool
    var timeout: TimeSpan?
    var deadline: ContinuousClock.Instant?

    private var console: Console { context.console }

    /// Waits until everything is over, needs a person, or the time has come; then says how it stands.
    func untilOver() async throws(CommandFailure) -> ExitStatus {
        context.endWith130OnInterrupt()
        var seen: [NodeID: NodeSnapshot] = [:]
        var notices = WaitNotices()
        for await _ in Wakeups(context.engine.changes(of: nodes), deadline: deadline).stream {
            let known = seen
            let looked = try await context.within(deadline) {
                () async throws(CommandFailure) -> [NodeID: NodeSnapshot] in
                try await look(known)
            }
            guard let now = looked else { break }
            seen = now
            var outcome = WaitStanding(seen.values.map(\.waitState), patient: patient)
            if outcome != .goOn, known.values.contains(where: { $0.isOver && !$0.isPurged }) {
                // An end that was seen before may have been taken back meanwhile.
                guard
                    let all = try await context.within(
                        deadline,
                        { () async throws(CommandFailure) in
                            try await look(now, again: true)
                        })
                else { break }
                seen = all
                outcome = WaitStanding(seen.values.map(\.waitState), patient: patient)
            }
            switch outcome {
            case .goOn:
                let told = notices
                let standing = seen
                let waits = try await context.within(deadline) {
                    () async throws(CommandFailure) -> (reasons: [NodeID: String], notices: WaitNotices) in
                    var notices = told
                    return (try await tellWaits(standing, &notices), notices)
                }
                notices = waits?.notices ?? notices
                show(seen, waits?.reasons ?? [:])
            case .over(let completed):
                tellEnd(seen)
                // A failure is the stronger word; an end that nobody knows is no success.
                let failed = seen.values.contains { $0.waitState == .over(completed: false) && !$0.isUnknownEnd }
                if !failed, seen.values.contains(where: \.isUnknownEnd) { return .noSuchObject }
                return completed ? .done : .refused
            case .needsPerson:
                tellEnd(seen)
                throw try await needsPerson(seen)
            }
            if let deadline, ContinuousClock.now >= deadline { break }
        }
        let left = nodes.filter { seen[$0]?.isOver != true }.map(\.description)
        throw context.timedOut(command, timeout, "\(listed(left)) not over")
    }

    /// Asks for what was not over when it was last seen. What was there then and is no more had ended when it was purged.
    /// - Parameter again: for what was over, too.
    private func look(
        _ known: [NodeID: NodeSnapshot], again: Bool = false
    ) async throws(CommandFailure) -> [NodeID: NodeSnapshot] {
        var seen = known
        for id in nodes where seen[id]?.isOver != true || again && seen[id]?.isPurged != true {
            do {
                seen[id] = try await snapshot(of: id)
            } catch {
                guard error.status == .noSuchObject, seen[id] != nil else { throw error }
                seen[id] = .purged(completed: try await completedBeforePurge(id))
            }
        }
        return seen
    }

    private func snapshot(of id: NodeID) async throws(CommandFailure) -> NodeSnapshot {
        try await context.ask { engine throws(RequestError) in
            switch id {
            case .batch(let batch): .batch(try await engine.batch(batch))
            case .task(let task): .task(try await engine.task(task, history: false, response: false))
            case .folder: .node(try await engine.node(id))
            }
        }
    }

    private func completedBeforePurge(_ id: NodeID) async throws(CommandFailure) -> Bool? {
        try await context.ask(answersLate: true) { engine throws(RequestError) in
            var purged = PurgedNode(id)
            try await engine.eachEvent(after: nil, consumer: nil, follows: false) { purged.take($0) }
            return purged.isCompleted
        }
    }

    /// Says why what does not move does not, each reason once. Returns the reasons, for the progress line.
    private func tellWaits(
        _ seen: [NodeID: NodeSnapshot], _ notices: inout WaitNotices
    ) async throws(CommandFailure) -> [NodeID: String] {
        var reasons: [NodeID: String] = [:]
        for id in nodes.lazy.filter({ seen[$0]?.mayBeStuck == true }).prefix(20) {
            guard let answer = try await context.ask({ engine throws(RequestError) in try await engine.why(id) }).first,
                let because = answer.because, let progress = seen[id]?.progress
            else { continue }
            reasons[id] = answer.waitsInShort
            if notices.isNew(because, of: id, progress: progress),
                let notice = answer.notice(of: id, time: context.shortTime)
            {
                console.note("martlet: \(notice)".harmless)
            }
        }
        return reasons
    }

    private func show(_ seen: [NodeID: NodeSnapshot], _ reasons: [NodeID: String]) {
        guard console.errorIsTerminal, let first = nodes.first(where: { seen[$0]?.isOver != true }) else {
            return
        }
        let others = nodes.count { seen[$0]?.isOver != true } - 1
        console.progress(
            NodeSnapshot.text(of: first, seen[first], console.units, because: reasons[first])
                + (others > 0 ? ", and \(others) more" : ""))
    }

    /// One line for each that was waited for; why files failed on standard error.
    private func tellEnd(_ seen: [NodeID: NodeSnapshot]) {
        console.clearProgress()
        for id in nodes {
            switch seen[id] {
            case .batch(let batch):
                if json {
                    console.json(batch)
                } else {
                    console.line(batch.progressText(console.units))
                }
                for cause in batch.causes {
                    console.note("martlet: \(id): \(cause.count) failed\(cause.told)".harmless)
                }
            case .task(let task):
                if json {
                    console.json(task)
                } else {
                    console.line(NodeSnapshot.text(of: id, seen[id], console.units))
                }
            case .node: if !json { console.line(NodeSnapshot.text(of: id, seen[id], console.units)) }
            // There is no object of it any more.
            case .purged: console.note("martlet: \(NodeSnapshot.text(of: id, seen[id], console.units))")
            case nil: break
            }
        }
    }

    /// Names each that needs a person, with what would unblock it.
    private func needsPerson(_ seen: [NodeID: NodeSnapshot]) async throws(CommandFailure) -> CommandFailure {
        let stuck = nodes.filter { seen[$0]?.waitState == .needsPerson }
        for id in stuck.prefix(20) {
            let answers = try await context.ask { engine throws(RequestError) in try await engine.why(id) }
            for answer in answers { console.note("martlet: \(answer.text)".harmless) }
        }
        return CommandFailure(
            .needsPerson, .needsPerson, "\(command): \(listed(stuck.map(\.description))) cannot go on without you",
            "see martlet why, or wait with --patient")
    }

    private func listed(_ names: [String]) -> String {
        names.count > 5
            ? names.prefix(5).joined(separator: ", ") + " and \(names.count - 5) more" : names.joined(separator: ", ")
    }
}

/// When to look again: at once, when something has changed, each second (an engine that went away says nothing), and
/// when the time is over.
private struct Wakeups {
    let stream: AsyncStream<Void>

    init(_ changes: AsyncStream<Void>, deadline: ContinuousClock.Instant?) {
        stream = AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            continuation.yield()
            let changed = Task {
                for await _ in changes { continuation.yield() }
            }
            let ticks = Task {
                while !Task.isCancelled {
                    let second = ContinuousClock.now.advanced(by: .seconds(1))
                    try? await Task.sleep(until: min(second, deadline ?? second), clock: .continuous)
                    continuation.yield()
                }
            }
            continuation.onTermination = { _ in
                changed.cancel()
                ticks.cancel()
            }
        }
    }
}
