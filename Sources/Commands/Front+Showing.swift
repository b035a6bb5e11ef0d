import CommandLine
import Configuration
import DisplayText
import FoundationEssentials
import MartletKit

extension Front {
    func show(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let history = invocation.has(MartletProgram.history)
        let response = invocation.has(MartletProgram.response)
        guard let id = invocation.operands(as: .node).first else { return .usage }
        if history || response {
            guard case .task = id else {
                throw .usage("show: --history and --response are for tasks", "give a task such as t31")
            }
        }
        switch id {
        case .batch(let id):
            let batch = try await ask { engine throws(RequestError) in try await engine.batch(id) }
            if json { console.json(batch) } else { lines(of: batch).forEach(tell) }
        case .task(let id):
            let task = try await ask { engine throws(RequestError) in
                try await engine.task(id, history: history, response: response)
            }
            if json { console.json(task) } else { lines(of: task).forEach(tell) }
        case .folder:
            guard !json else {
                throw .usage("show: a folder has no --json yet", "use list \(id) --json")
            }
            let node = try await ask { engine throws(RequestError) in try await engine.node(id) }
            lines(of: node, id).forEach(tell)
        }
        return .done
    }

    private func tell(_ line: (title: String, text: String)) {
        let pad = String(repeating: " ", count: max(1, 13 - line.title.count))
        console.line(line.title.isEmpty ? line.text.displayed : "\(line.title)\(pad)\(line.text.displayed)")
    }

    private func lines(of batch: BatchSnapshot) -> [(String, String)] {
        let units = console.units
        var lines = [
            ("", "\(batch.id) \(batch.name)"),
            ("State", batch.state.word + (batch.scanning ? ", still counting" : "")),
            ("Session", batch.session.rawValue), ("Destination", batch.destination),
            (
                "Files",
                "\(batch.filesTotal): \(batch.filesCompleted) completed, \(batch.filesFailed) failed, "
                    + "\(batch.filesCancelled) cancelled, \(batch.filesActive) active, \(batch.filesWaiting) waiting"
            ),
            (
                "Bytes",
                "\(units.size(batch.bytesTotal)): \(units.size(batch.bytesSent)) "
                    + "\(batch.direction == .download ? "received" : "sent"), "
                    + "\(units.size(batch.bytesAccepted)) accepted, \(units.size(batch.bytesVerified)) verified"
            ),
        ]
        let moves = batch.state.isActive
        if moves, batch.bytesPerSecond > 0 { lines.append(("Speed", units.rate(batch.bytesPerSecond))) }
        if moves, let left = batch.secondsLeft { lines.append(("Left", shownDuration(seconds: left))) }
        if !batch.waitReasons.isEmpty {
            lines.append(("Waits for", batch.waitReasons.words))
        }
        lines += batch.causes.map { ("Failures", "\($0.count) × \($0.message)") }
        lines.append(("Priority", batch.priority.rawValue))
        if let limit = batch.limit { lines.append(("Limit", units.rate(limit))) }
        if let start = batch.notBefore { lines.append(("Not before", time(start))) }
        lines.append(("Queued", time(batch.createdAt)))
        if let finished = batch.finishedAt { lines.append(("Finished", time(finished))) }
        return lines + [("UUID", batch.uuid.uuidString.lowercased())]
    }

    private func lines(of task: TaskSnapshot) -> [(String, String)] {
        let units = console.units
        var lines = [
            ("", "\(task.id) \(task.path)"), ("State", task.state.word + (task.skipped ? ", skipped" : "")),
            ("From", task.source), ("To", task.finalPath ?? task.destination),
            (
                "Bytes",
                "\(task.bytesTotal.map(units.size) ?? "unknown"): \(units.size(task.bytesSent)) "
                    + "\(task.direction == .download ? "received" : "sent"), "
                    + "\(units.size(task.bytesAccepted)) accepted"
            ),
        ]
        if let name = task.protocol { lines.insert(("By", name), at: 4) }
        if task.bytesPerSecond > 0 { lines.append(("Speed", units.rate(task.bytesPerSecond))) }
        if let left = task.secondsLeft { lines.append(("Left", shownDuration(seconds: left))) }
        if !task.waitReasons.isEmpty {
            lines.append(("Waits for", task.waitReasons.words(after: task.error)))
        }
        if let retry = task.retryAt { lines.append(("Next try", time(retry))) }
        if let error = task.error {
            // What a try before ended with tells nothing of the one that goes on.
            let isPast = task.state.isActive || task.state == .queued
            lines.append(isPast ? ("Last error", error.messageWithoutPromise) : ("Error", error.message))
        }
        if let parts = task.parts { lines.append(("Parts", parts.sentence)) }
        lines.append(("Attempts", attempts(of: task)))
        if task.verified != .none { lines.append(("Verified", "by \(task.verified.rawValue)")) }
        if let digest = task.digest { lines.append(("Digest", "\(digest.algorithm) \(digest.value)")) }
        lines += [
            ("Batch", task.batch.description), ("Session", task.session.rawValue), ("Priority", task.priority.rawValue),
            ("Queued", time(task.createdAt)),
        ]
        if let limit = task.limit { lines.append(("Limit", units.rate(limit))) }
        if let started = task.startedAt { lines.append(("Started", time(started))) }
        if let finished = task.finishedAt { lines.append(("Finished", time(finished))) }
        lines.append(("UUID", task.uuid.uuidString.lowercased()))
        lines += (task.history ?? []).map { ("History", historyText($0)) }
        return lines + responseLines(task.response)
    }

    private func attempts(of task: TaskSnapshot) -> String {
        var text = "\(task.attempts)"
        if !task.resumedFrom.isEmpty {
            text += ", resumed at " + task.resumedFrom.map { "\($0)" }.joined(separator: ", ")
        }
        if task.restarts > 0 { text += ", restarted \(task.restarts) ×" }
        if task.bytesRepeated > 0 { text += ", \(console.units.size(task.bytesRepeated)) sent again" }
        return text
    }

    private func historyText(_ entry: HistoryEntry) -> String {
        let words = [time(entry.time), entry.attempt.map { "#\($0)" }, entry.what]
        let detail = (entry.message ?? entry.cause?.words).map { ": \($0)" } ?? ""
        return words.compactMap(\.self).joined(separator: " ") + detail
    }

    private func responseLines(_ response: TransferResponse?) -> [(String, String)] {
        guard let response else { return [] }
        return [("Answer", "\(response.status)")] + response.headers.map { ("", "  \($0.name): \($0.value)") }
            + (response.body ?? "").split(separator: "\n").map { ("", "  " + $0.replacing("\t", with: "    ")) }
    }

    private func lines(of node: NodeRow, _ id: NodeID) -> [(String, String)] {
        let counts = node.counts
        return [
            ("", "\(id)"), ("State", node.state.word),
            (
                "Files",
                "\(counts.total): \(counts.completed) completed, \(counts.failed) failed, \(counts.cancelled) cancelled, "
                    + "\(counts.active) active, \(counts.unstarted) waiting"
            ),
            ("Bytes", "\(console.units.size(node.bytes.total)): \(console.units.size(node.bytes.sent)) sent"),
        ]
    }

    /// A time for a person: the clock on the wall, to the second.
    func time(_ time: Timestamp) -> String {
        let date = surroundings.calendar.date(time.milliseconds / 1000)
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(date.year)-\(padded(date.month))-\(padded(date.day)) "
            + "\(padded(date.hour)):\(padded(date.minute)):\(padded(date.second))"
    }

    func why(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let id = invocation.operands(as: .node).first
        guard try await queueToLookAt(invocation) else { return .done }
        let answers = try await ask { engine throws(RequestError) in try await engine.why(id) }
        if invocation.has(CommonOptions.json) {
            for answer in answers { console.json(answer) }
            return .done
        }
        if answers.isEmpty { console.line("nothing waits") }
        for answer in answers {
            console.line(answer.text.displayed)
        }
        return .done
    }
}
