import Configuration
import DisplayText
import FoundationEssentials
import MartletKit
import Wording

/// The output of `show`: titles and texts of a task, a batch, a folder.
extension ShowCommand {
    func tell(_ line: (title: String, text: String)) {
        let pad = String(repeating: " ", count: max(1, 13 - line.title.count))
        console.line(line.title.isEmpty ? line.text.displayed : "\(line.title)\(pad)\(line.text.displayed)")
    }

    /// - Parameter lastRestart: why it began from zero the last time.
    func lines(of task: TaskSnapshot, lastRestart: String? = nil) -> [(String, String)] {
        let units = console.units
        var lines = [
            ("", "\(task.id) \(task.path)"), ("State", task.state.word + (task.skipped ? ", skipped" : "")),
            ("From", task.source), ("To", task.finalPath ?? task.destination),
            ("Bytes", "\(task.bytesTotal.map(units.size) ?? "unknown"): \(task.arrival.sentence(units.size))"),
        ]
        if task.bytesRepeated > 0 { lines.append((task.repeatedTitle, units.size(task.bytesRepeated))) }
        if let name = task.protocol { lines.insert(("By", name), at: 4) }
        if task.bytesPerSecond > 0 { lines.append(("Speed", units.rate(task.bytesPerSecond))) }
        if let left = task.secondsLeft { lines.append(("Left", shownDuration(seconds: left))) }
        if !task.waitReasons.isEmpty {
            lines.append(("Waits for", task.waitReasons.words(after: task.error)))
        }
        if let retry = task.retryAt { lines.append(("Next try", context.time(retry))) }
        if let error = task.error {
            // What a try before ended with tells nothing of the one that goes on.
            let isPast = task.state.isActive || task.state == .queued
            lines.append(isPast ? ("Last error", error.finding.messageWithoutPromise) : ("Error", error.message))
        }
        if let parts = task.parts { lines.append(("Parts", parts.sentence)) }
        lines.append(("Attempts", attempts(of: task)))
        if let words = task.checked { lines.append(("Checked", words)) }
        if let words = task.visibility { lines.append(("Name", words)) }
        if task.listed == true { lines.append(("Listed", "at the server, as it was sent")) }
        if let digest = task.digest { lines.append(("Digest", "\(digest.algorithm) \(digest.value)")) }
        lines += [
            ("Batch", task.batch.description), ("Session", task.session.rawValue), ("Priority", task.priority.rawValue),
            ("Queued", context.time(task.createdAt)),
        ]
        if let lastRestart { lines.append(("Restarted", "because \(lastRestart)")) }
        if let limit = task.limit { lines.append(("Limit", units.rate(limit))) }
        if let started = task.startedAt { lines.append(("Started", context.time(started))) }
        if let finished = task.finishedAt { lines.append(("Finished", context.time(finished))) }
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
        return text
    }

    private func historyText(_ entry: HistoryEntry) -> String {
        let words = [context.time(entry.time), entry.attempt.map { "#\($0)" }, entry.what]
        let detail = (entry.message ?? entry.cause?.words).map { ": \($0)" } ?? ""
        return words.compactMap(\.self).joined(separator: " ") + detail
    }

    private func responseLines(_ response: TransferResponse?) -> [(String, String)] {
        guard let response else { return [] }
        return [("Answer", "\(response.status)")] + response.headers.map { ("", "  \($0.name): \($0.value)") }
            + (response.body ?? "").split(separator: "\n").map { ("", "  " + $0.replacing("\t", with: "    ")) }
    }

    func lines(of node: NodeRow, _ id: NodeID) -> [(String, String)] {
        let counts = node.counts
        var lines = [("", "\(id)"), ("State", node.state.word)]
        if let ends = node.ends {
            if let from = ends.from { lines.append(("From", from)) }
            lines.append(("To", ends.to))
        }
        return lines + [
            (
                "Files",
                "\(counts.total): \(counts.completed) completed, \(counts.failed) failed, \(counts.cancelled) cancelled, "
                    + "\(counts.active) active, \(counts.unstarted) waiting"
            ),
            (
                "Bytes",
                "\(console.units.size(node.bytes.total)): "
                    + node.arrival.sentence(console.units.size)
            ),
        ]
    }
}
