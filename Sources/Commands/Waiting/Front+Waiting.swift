import CommandLine
import Configuration
import Glibc
import MartletKit

extension Front {
    func wait(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        endWith130OnInterrupt()
        let json = invocation.has(CommonOptions.json)
        let selection = try Selection(invocation, command: "wait")
        let timeout = invocation.value(MartletProgram.timeout)
        let deadline = timeout.map { ContinuousClock.now.advanced(by: $0.duration) }
        guard surroundings.queueExists else {
            // Nothing was ever queued, so whatever is named is not there, and nothing is left to wait for.
            if case .ids(let ids) = selection, let first = ids.first {
                throw CommandFailure(.noSuchObject, .noSuchObject, "wait: there is no \(first)", "see martlet list")
            }
            console.note("nothing is queued")
            return .done
        }
        let found = try await within(deadline) { () async throws(CommandFailure) -> [NodeID] in
            try await self.requireKnown(selection)
            return try await self.nodes(of: selection)
        }
        guard let nodes = found else { throw timedOut("wait", timeout, "nothing is known of what is waited for") }
        guard !nodes.isEmpty else {
            console.note(selection == nil ? "nothing is queued" : "nothing matches")
            return .done
        }
        return try await waitFor(
            nodes, command: "wait", json: json, patient: invocation.has(MartletProgram.patient), timeout: timeout,
            deadline: deadline)
    }

    /// Asks within what is left of the time; `nil`: it has run out while the engine was silent.
    private func within<Answer>(
        _ deadline: ContinuousClock.Instant?, _ question: () async throws(CommandFailure) -> Answer
    ) async throws(CommandFailure) -> Answer? {
        guard let deadline else { return try await question() }
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
        let result: Result<Answer, CommandFailure> = await AnswerLimit.$current.withValue(left) {
            do throws(CommandFailure) { return .success(try await question()) } catch { return .failure(error) }
        }
        do { return try result.get() } catch {
            if error.code == .engineUnreachable, ContinuousClock.now >= deadline { return nil }
            throw error
        }
    }

    private func timedOut(_ command: String, _ timeout: TimeSpan?, _ what: String) -> CommandFailure {
        console.clearProgress()
        return CommandFailure(
            .timedOut, .timedOutWaiting, "\(command): \(what) after \(timeout?.written ?? "the time given")",
            "wait longer, or see martlet why")
    }

    /// The nodes to wait for, as they are now; what is queued later is not waited for.
    private func nodes(of selection: Selection?) async throws(CommandFailure) -> [NodeID] {
        switch selection {
        case .ids(let ids): return ids
        case .matching(let selector) where selector.meansTasks:
            var tasks: [NodeID] = []
            try await ask(takesItsTime: true) { engine throws(RequestError) in
                try await engine.eachTask(selector) { tasks.append(.task($0.id)) }
            }
            return tasks
        case .matching(let selector):
            if let batch = selector.batch { return [.batch(batch)] }
            return try await batches(of: selector.session)
        case nil: return try await batches(of: nil)
        }
    }

    private func batches(of session: SessionName?) async throws(CommandFailure) -> [NodeID] {
        try await ask { engine throws(RequestError) in
            try await engine.batches(session: session, states: []).map { .batch($0.id) }
        }
    }

    /// Waits until everything is over, needs a person, or the time has come; then says how it stands.
    func waitFor(
        _ nodes: [NodeID], command: String, json: Bool, patient: Bool, timeout: TimeSpan?,
        deadline: ContinuousClock.Instant? = nil
    ) async throws(CommandFailure) -> ExitStatus {
        endWith130OnInterrupt()
        let deadline = deadline ?? timeout.map { ContinuousClock.now.advanced(by: $0.duration) }
        var seen: [NodeID: Seen] = [:]
        var notices = WaitNotices()
        for await _ in Wakeups(engine.changes(of: nodes), deadline: deadline).stream {
            let known = seen
            let looked = try await within(deadline) { () async throws(CommandFailure) -> [NodeID: Seen] in
                try await look(at: nodes, known)
            }
            guard let now = looked else { break }
            seen = now
            switch WaitOutcome(seen.values.map(\.standing), patient: patient) {
            case .goOn:
                let told = notices
                let waits = try await within(deadline) {
                    () async throws(CommandFailure) -> (reasons: [NodeID: String], notices: WaitNotices) in
                    var notices = told
                    return (try await tellWaits(of: nodes, now, &notices), notices)
                }
                notices = waits?.notices ?? notices
                show(nodes, seen, waits?.reasons ?? [:])
            case .over(let completed):
                tellEnd(nodes, seen, json: json)
                return completed ? .done : .refused
            case .needsPerson:
                tellEnd(nodes, seen, json: json)
                throw try await needsPerson(nodes, seen, command: command)
            }
            if let deadline, ContinuousClock.now >= deadline { break }
        }
        let left = nodes.filter { seen[$0]?.isOver != true }.map(\.description)
        throw timedOut(command, timeout, "\(listed(left)) not over")
    }

    /// The last snapshot of something that is waited for.
    enum Seen {
        case batch(BatchSnapshot)
        case task(TaskSnapshot)
        case node(NodeRow)

        var standing: Standing {
            switch self {
            case .batch(let batch): Standing(batch)
            case .task(let task): Standing(task)
            case .node(let node): Standing(node)
            }
        }

        var isOver: Bool {
            if case .over = standing { true } else { false }
        }

        /// True when it may be held up: nothing of it moves, and it is neither over nor stopped by a person for good.
        var mayBeStuck: Bool {
            switch self {
            case .batch(let batch): Self.mayBeStuck(batch.state, batch.bytesPerSecond, until: batch.pausedUntil)
            case .task(let task): Self.mayBeStuck(task.state, task.bytesPerSecond, until: task.pausedUntil)
            case .node(let node): Self.mayBeStuck(node.state, node.bytesPerSecond, until: node.pausedUntil)
            }
        }

        private static func mayBeStuck(_ state: TransferState, _ rate: Int64, until end: Timestamp?) -> Bool {
            state == .waiting || (rate == 0 && (state == .running || state == .queued))
                || (state == .paused && end != nil)
        }

        /// Grows with each file and byte that has arrived.
        var progress: Int64 {
            switch self {
            case .batch(let batch): batch.filesCompleted + batch.bytesAccepted
            case .task(let task): task.bytesAccepted
            case .node(let node): node.counts.completed + node.bytes.accepted
            }
        }
    }

    /// Asks for what was not over when it was last seen.
    private func look(at nodes: [NodeID], _ known: [NodeID: Seen]) async throws(CommandFailure) -> [NodeID: Seen] {
        var seen = known
        for id in nodes where seen[id]?.isOver != true {
            seen[id] = try await ask { engine throws(RequestError) in
                switch id {
                case .batch(let batch): .batch(try await engine.batch(batch))
                case .task(let task): .task(try await engine.task(task, history: false, response: false))
                case .folder: .node(try await engine.node(id))
                }
            }
        }
        return seen
    }

    /// Says why what does not move does not, each reason once. Returns the reasons, for the progress line.
    private func tellWaits(
        of nodes: [NodeID], _ seen: [NodeID: Seen], _ notices: inout WaitNotices
    ) async throws(CommandFailure) -> [NodeID: String] {
        var reasons: [NodeID: String] = [:]
        for id in nodes.lazy.filter({ seen[$0]?.mayBeStuck == true }).prefix(20) {
            guard let answer = try await ask({ engine throws(RequestError) in try await engine.why(id) }).first,
                let because = answer.because, let progress = seen[id]?.progress
            else { continue }
            reasons[id] = answer.shortBecause
            if notices.isNew(because, of: id, progress: progress), let notice = answer.notice(of: id, time: shortTime) {
                console.note("martlet: \(notice)".harmless)
            }
        }
        return reasons
    }

    /// The time of day; with its day when that is another.
    func shortTime(_ time: Timestamp) -> String {
        let (text, today) = (self.time(time), self.time(Timestamp(milliseconds: surroundings.now())).prefix(10))
        return text.hasPrefix(today) ? String(text.suffix(8)) : text
    }

    private func show(_ nodes: [NodeID], _ seen: [NodeID: Seen], _ reasons: [NodeID: String]) {
        guard console.errorIsTerminal, let first = nodes.first(where: { seen[$0]?.isOver != true }) else { return }
        let others = nodes.count { seen[$0]?.isOver != true } - 1
        console.progress(
            text(of: first, seen[first], because: reasons[first]) + (others > 0 ? ", and \(others) more" : ""))
    }

    func text(of id: NodeID, _ seen: Seen?, because: String? = nil) -> String {
        switch seen {
        case .batch(let batch): batch.progressText(console.units, because: because)
        case .task(let task): "\(id) \(task.state.word) \(task.percentText) \(task.path)\(bracketed(task.remark))"
        case .node(let node): node.progressText(id, console.units, because: because)
        case nil: id.description
        }
    }

    private func bracketed(_ remark: String) -> String { remark.isEmpty ? "" : " [\(remark)]" }

    /// One line for each that was waited for; why files failed on standard error.
    private func tellEnd(_ nodes: [NodeID], _ seen: [NodeID: Seen], json: Bool) {
        console.clearProgress()
        for id in nodes {
            switch seen[id] {
            case .batch(let batch):
                if json { console.json(batch) } else { console.line(batch.progressText(console.units)) }
                for cause in batch.causes {
                    console.note("martlet: \(id): \(cause.count) failed\(cause.told)".harmless)
                }
            case .task(let task): if json { console.json(task) } else { console.line(text(of: id, seen[id])) }
            case .node: if !json { console.line(text(of: id, seen[id])) }
            case nil: break
            }
        }
    }

    /// Names each that needs a person, with what would unblock it.
    private func needsPerson(
        _ nodes: [NodeID], _ seen: [NodeID: Seen], command: String
    ) async throws(CommandFailure) -> CommandFailure {
        let stuck = nodes.filter { seen[$0]?.standing == .needsPerson }
        for id in stuck.prefix(20) {
            let answers = try await ask { engine throws(RequestError) in try await engine.why(id) }
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

    /// Interrupting a wait leaves the queue alone; scripts get the status that shells give for SIGINT.
    func endWith130OnInterrupt() {
        guard surroundings.handlesInterrupts else { return }
        // Only what is safe in a signal handler: the line on the terminal is ended, and the process.
        signal(SIGINT) { _ in
            _ = write(STDERR_FILENO, "\n", 1)
            _exit(ExitStatus.interrupted.rawValue)
        }
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
