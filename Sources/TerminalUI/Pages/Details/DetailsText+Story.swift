import DisplayText
import MartletKit
import Terminal
import Wording

/// The engine's account of one task: tries, parts, the server's last answer, history.
extension DetailsText {
    func story(_ task: TaskSnapshot) -> [Field] {
        var fields: [Field] = []
        fields += times(task) + tries(task)
        fields += [checksum(task), patience(task)].compactMap(\.self)
        if !task.resumedFrom.isEmpty {
            let offsets = task.resumedFrom.suffix(8).map { appearance.figures.size($0) }.joined(separator: ", ")
            fields.append(Field("Resumed at", SafeText(offsets), isShort: true))
        }
        if task.skipped {
            let what: SafeText =
                task.verified == .none ? "a file was there already, and was left" : "the same file was there already"
            fields.append(Field("Skipped", what, isShort: true))
        }
        if task.state == .completed, let words = task.checked {
            fields.append(Field("Checked", SafeText(words), isShort: true))
        }
        if let digest = task.digest {
            fields.append(Field("Digest", appearance.safe("\(digest.algorithm) \(digest.value)")))
        }
        if let path = task.finalPath { fields.append(Field("Is now", appearance.safe(path))) }
        if let name = task.protocol { fields.append(Field("By", appearance.safe(name), isShort: true)) }
        fields.append(Field("Task", appearance.safe("\(task.id) of \(task.batch)"), isShort: true))
        fields.append(Field("Session", appearance.safe("\(task.session)"), isShort: true))
        return fields
    }

    // MARK: Parts

    /// The lines that show which bytes of the file are there, and the progress of each part that moves.
    func partLines(width: Int) -> [StyledLine] {
        guard let parts = task?.parts, !parts.isEmpty else { return [] }
        let room = max(10, width - 2)
        let bar = Bar.text(parts, width: room - 2, appearance.glyphs)
        let texts = parts.map { part -> (text: SafeText, style: Style) in
            let numbers = part.first == part.last ? "\(part.first)" : "\(part.first)-\(part.last)"
            return switch part.state {
            case .completed: ("\(numbers) \(RowState.done.word)", .plain)
            case .running: ("\(numbers) \(RowState.running.word) \(part.percent)%", .active)
            case .waiting: ("\(numbers) \(RowState.queued.word)", .dim)
            }
        }
        let cell = (texts.map(\.text.width).max() ?? 0) + 3
        let columns = max(1, room / cell)
        let rows = stride(from: 0, to: texts.count, by: columns).map { start in
            texts[start..<min(texts.count, start + columns)].reduce(StyledLine()) { line, part in
                line + StyledLine(part.text.fitted(to: cell), part.style)
            }
        }
        return [StyledLine("[" + bar + "]")] + rows
    }

    // MARK: The server's answer

    /// The server's last answer: status, fields, and the body's beginning. All of it is the server's word.
    func answer(width: Int) -> [StyledLine] {
        guard let response = task?.response else { return [] }
        let room = max(8, width - 2)
        var lines = [
            StyledLine(SafeText("Status").fitted(to: Self.indent), .dim) + StyledLine(SafeText("\(response.status)"))
        ]
        for header in response.headers.prefix(40) {
            let name = appearance.safe(header.name + ":")
            let parts = (name + " " + appearance.safe(header.value)).wrapped(to: room - 2)
            let label = parts[0].beginning(of: name.width)
            lines.append(
                StyledLine(label, .dim) + StyledLine(SafeText(Array(parts[0].glyphs.dropFirst(label.glyphs.count)))))
            // What does not fit goes on under it, a little further in.
            lines += parts.dropFirst().map { StyledLine("  " + $0) }
        }
        guard let body = response.body, !body.isEmpty else { return lines }
        var said = body.split(
            maxSplits: Self.mostBodyLines, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        while said.last?.isEmpty == true { said.removeLast() }
        lines.append(StyledLine())
        for line in said.prefix(Self.mostBodyLines) {
            lines += appearance.safe(String(line).replacing("\t", with: "    ")).wrapped(to: room).map {
                StyledLine($0)
            }
        }
        if said.count > Self.mostBodyLines {
            lines.append(StyledLine("... martlet show --response has the rest", .dim))
        }
        return lines
    }

    /// A page of HTML is not what anybody reads to its end here.
    private static let mostBodyLines = 200

    // MARK: History

    func history(width: Int) -> [StyledLine] {
        let entries = task?.history ?? []
        let isWide = width >= 60
        return entries.flatMap { entry -> [StyledLine] in
            let time = SafeText(isWide ? appearance.date(entry.time) : appearance.timeOfDay(entry.time))
            let word = SafeText(entry.attempt.map { "try \($0)" } ?? entry.what).fitted(to: isWide ? 11 : 9)
            let head = time + "  " + word + " "
            let parts = appearance.safe(entry.message ?? entry.cause?.words ?? "").wrapped(
                to: max(8, width - 2 - head.width))
            return parts.enumerated().map { index, part in
                index == 0
                    ? StyledLine(time, .dim) + StyledLine("  " + word + " " + part)
                    : StyledLine(SafeText("").fitted(to: head.width)) + StyledLine(part)
            }
        }
    }
}
