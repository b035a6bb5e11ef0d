import DisplayText
import MartletKit
import Terminal
import Wording

/// A row in words, line by line: what it is, its parts, what the server said, what has happened.
struct DetailsText {
    let row: NodeRow
    let task: TaskSnapshot?
    let shown: RowState
    let appearance: Appearance
    /// By the engine's clock.
    let now: Moment
    /// As `Model.moment`.
    let moment: (Timestamp) -> SafeText
    /// The advice on its error, by the keys of the page; `nil`: there is none.
    private let remedy: SafeText?
    /// The key that shows a batch's files in the list.
    private let openKey: String
    private let keys: KeyMap
    /// Batches only: where from, as it was named.
    private let sources: NamedSources?
    /// The title of the batch that it is a part of.
    private let batch: SafeText?
    /// The destination by the name of a configured server.
    private let place: String?
    private let problem: SafeText?

    init(_ page: DetailsPage, in model: Model) {
        (row, task, sources, problem) = (page.row, page.task, page.sources, page.problem)
        shown = model.state(of: page.row)
        (appearance, now, keys) = (model.appearance, model.engineNow, model.keys)
        moment = { model.moment($0) }
        remedy = Self.remedy(page, in: model)
        place = (page.task?.destination ?? page.row.ends?.to).flatMap {
            model.named(place: $0, isEncoded: page.task == nil)
        }
        if case .batch = page.row.id { batch = nil } else { batch = page.row.id.batch.flatMap { model.title(of: $0) } }
        openKey = model.keys.keys(for: .open, in: .details).first?.name ?? "open"
    }

    /// The column where values begin.
    static let indent = 14

    /// A label and what stands behind it. Short ones stand two in a line where there is room.
    struct Field {
        var label: SafeText
        var value: SafeText
        var style: Style = .plain
        /// It may share its line with the next one that may.
        var isShort = false

        init(_ label: SafeText, _ value: SafeText, _ style: Style = .plain, isShort: Bool = false) {
            (self.label, self.value, self.style, self.isShort) = (label, value, style, isShort)
        }

        /// Long values go on in further lines.
        func lines(width: Int) -> [StyledLine] {
            value.wrapped(to: max(8, width - DetailsText.indent - 2)).enumerated().map { index, part in
                let label = index == 0 ? label : ""
                return StyledLine(label.fitted(to: DetailsText.indent), .dim) + StyledLine(part, style)
            }
        }
    }

    /// One line of the page.
    enum Line {
        /// A part of the page begins.
        case heading(SafeText)
        case text(StyledLine)
    }

    /// All of it.
    func lines(width: Int) -> [Line] {
        var lines = facts(width: width).map { Line.text($0) }
        for (heading, part) in [
            ("Parts", partLines(width: width)), ("The server's answer", answer(width: width)),
            ("History", history(width: width)),
        ] where !part.isEmpty {
            lines += [.text(StyledLine()), .heading(SafeText(heading))] + part.map { .text($0) }
        }
        return lines
    }

    /// The fields about the row and its progress, as lines.
    func facts(width: Int) -> [StyledLine] {
        let half = (width - 2) / 2
        var lines: [StyledLine] = []
        var left: Field?
        func fits(_ field: Field) -> Bool { field.isShort && field.value.width < half - Self.indent - 1 }
        for field in fields {
            if let first = left, fits(field) {
                let line = StyledLine(first.label.fitted(to: Self.indent), .dim) + StyledLine(first.value, first.style)
                lines.append(
                    line + StyledLine(SafeText("").fitted(to: max(1, half - line.width)))
                        + StyledLine(field.label.fitted(to: Self.indent), .dim) + StyledLine(field.value, field.style))
                left = nil
                continue
            }
            if let first = left { lines += first.lines(width: width) }
            left = nil
            if fits(field) { left = field } else { lines += field.lines(width: width) }
        }
        return lines + (left?.lines(width: width) ?? [])
    }

    private var fields: [Field] {
        var fields = [Field("State", state, shown.style)]
        if let error = task?.error ?? row.error { fields += self.error(error) }
        fields += partOf + ends
        fields.append(Field("Size", size, isShort: true))
        if let changed = task?.modifiedAt {
            fields.append(Field("Changed", SafeText(appearance.date(changed)), isShort: true))
        }
        fields.append(Field("Sent", sent, isShort: true))
        if let task, task.bytesRepeated > 0 {
            let size = SafeText(appearance.figures.size(task.bytesRepeated))
            fields.append(Field(SafeText(task.repeatedTitle), size, isShort: true))
        }
        if task == nil, row.canHold { fields.append(Field("Files", files)) }
        if let speed { fields.append(speed) }
        if let limit = row.limit {
            fields.append(Field("Limit", SafeText(appearance.figures.speed(limit)), isShort: true))
        }
        if row.priority != .normal { fields.append(Field("Priority", SafeText(row.priority.rawValue), isShort: true)) }
        if let start = row.notBefore, start > now.wall {
            fields.append(Field("Not before", SafeText(appearance.date(start)), isShort: true))
        }
        if row.state == .paused, let end = task?.pausedUntil ?? row.pausedUntil {
            fields.append(Field("Goes on", SafeText(appearance.date(end)), isShort: true))
        }
        if let cost = StoppingCost(.pause, bytes: row.bytesAtRisk) {
            fields.append(Field("If paused", SafeText(cost.sentence(appearance.figures.size))))
        }
        fields += task.map { story($0) } ?? outline
        if let problem { fields.append(Field("Problem", problem, .error)) }
        return fields
    }

    private var state: SafeText {
        let isAbove = row.effectivelyPaused && !row.paused && shown == .paused
        let meaning = isAbove ? "with what it is in" : shown.meaning { keys.name(of: $0) }
        var text: SafeText = "\(shown.longWord), \(meaning)"
        let wait = row.retryAt.map { now.seconds(until: $0) } ?? 0
        if shown == .done, case .task = row.id {
            // How sure that is differs: nobody should take an equal size for equal bytes.
            return text + "; " + (row.checked.map { "compared " + appearance.safe($0) } ?? "nothing was compared")
        }
        if shown == .done, let found = row.bytes.found, found > 0 {
            return text + "; \(appearance.figures.size(found)) were there before, under the same names"
        }
        if shown == .skipped, row.checked == nil { return text + ", under that name; nothing was compared" }
        if shown == .auth { return "\(shown.longWord), needs you: waits for \(row.waitReasons.words)" }
        // That it waits for the next try is what the state's meaning says already.
        if shown == .retry { return wait > 0 ? text + ", in \(wait) s" : text }
        if !row.waitReasons.isEmpty {
            let words = row.waitReasons.words(after: task?.error ?? row.error)
            text =
                shown == .queued
                ? "\(shown.longWord), for \(appearance.safe(words))" : text + ": waits for \(appearance.safe(words))"
        }
        return wait > 0 ? text + "; next try in \(wait) s" : text
    }

    private func error(_ error: TransferError) -> [Field] {
        // Who cancelled it wants nothing mended.
        if row.state == .cancelled { return [Field("Last try", appearance.safe(error.happening))] }
        let isTriedAgain = !row.state.isTerminal
        let goesOn = Self.goesOn(row)
        var fields = [
            Field(
                isTriedAgain ? "Last try" : "What happened", appearance.safe(error.happening),
                isTriedAgain ? .warn : .error)
        ]
        let status = error.httpStatus.map { "status \($0)" as SafeText }
        let words = error.said.map { Self.quoted($0, appearance) }
        let said = [words, status].compactMap(\.self)
        if let first = said.first {
            fields.append(Field("Server said", said.dropFirst().reduce(first) { $0 + ", " + $1 }))
        }
        let nothing = error.finding.advice.isEmpty ? "nothing" : appearance.safe(error.finding.advice)
        let isAdvised = goesOn && !error.finding.advice.isEmpty
        fields.append(Field("What to do", isAdvised ? nothing + "; it is tried again by itself" : remedy ?? nothing))
        return fields
    }

    /// Text that a server wrote, marked for whoever might take it for ours.
    static func quoted(_ said: String, _ appearance: Appearance) -> SafeText {
        "\"\(appearance.safe(said))\"   (text from the server)"
    }

    private static func remedy(_ page: DetailsPage, in model: Model) -> SafeText? {
        guard let error = page.task?.error ?? page.row.error else { return nil }
        let node = model.nodeID(of: page.row)
        guard let batch = page.row.id.batch else { return nil }
        let isDownload = page.task.map { $0.direction == .download } ?? page.row.isDownload
        let url = isDownload ? page.task?.source : page.task?.destination ?? page.row.ends?.to
        let subject = CureSubject(node: node, batch: batch, url: url, isDownload: isDownload)
        let remedy = goesOn(page.row) ? error.remedyOfServer(for: subject) : error.remedy(for: subject)
        return model.advised(remedy, about: node)
    }

    /// Nothing does so by itself before the person has done something.
    private static func goesOn(_ row: NodeRow) -> Bool {
        !row.state.isTerminal && !row.effectivelyPaused && !row.waitReasons.contains(where: \.needsPerson)
    }

    /// The fields for the batch and the folder that it is a part of.
    private var partOf: [Field] {
        var fields: [Field] = []
        if let batch { fields.append(Field("Batch", batch, isShort: true)) }
        if let folder = task?.folder, !folder.isEmpty {
            fields.append(Field("Folder", appearance.safe(folder + "/"), isShort: true))
        }
        return fields
    }

    /// From where and to where.
    private var ends: [Field] {
        if let task { return [Field("From", appearance.safe(task.source)), Field("To", to(task.destination))] }
        guard let ends = row.ends else { return row.path.isEmpty ? [] : [Field("Path", appearance.safe(row.path))] }
        var fields = (sources?.shown ?? []).map { Field("", appearance.safe($0)) }
        let isWhole = sources?.isWhole(of: row.counts.total, scanning: row.scanning) ?? false
        if let others = sources?.others(isWhole: isWhole) {
            fields.append(Field("", SafeText("and \(others): \(openKey) shows the files in the list")))
        }
        if !fields.isEmpty { fields[0].label = "From" }
        if let from = ends.from { fields = [Field("From", appearance.safe(from))] }
        return fields + [Field("To", to(ends.to))]
    }

    private func to(_ url: String) -> SafeText {
        place.map { appearance.safe("\($0)  (\(url))") } ?? appearance.safe(url)
    }

    private var size: SafeText {
        guard row.sizeKnown else { return "unknown" }
        let text = SafeText(appearance.figures.size(row.bytes.total))
        // The exact number is for comparing one file with another.
        guard case .task = row.id, row.bytes.total >= 1000 else { return text }
        return text + " (\(Figures.count(row.bytes.total)) bytes)"
    }

    /// The arrival by the row: the task's own figures are older.
    private var arrival: Arrival {
        guard let task else { return row.arrival }
        return Arrival(row.bytes, isDownload: task.direction == .download, state: row.state)
    }

    private var sent: SafeText {
        let known = arrival.confirmation(appearance.figures.size)
        return SafeText(appearance.figures.size(row.bytes.sent) + inParts + (known.map { ", \($0)" } ?? ""))
    }

    /// ` in 7 of 9 parts`
    private var inParts: String {
        guard let parts = task?.parts, let last = parts.last?.last else { return "" }
        return ", \(parts.completed) of \(last) parts"
    }

    private var files: SafeText {
        let parts = TransferState.allCases.filter { row.counts[$0] > 0 }
            .map { "\(Figures.count(row.counts[$0])) \($0.rawValue)" }
        let total = "\(Figures.count(row.counts.total))\(row.scanning ? " so far" : "")"
        return SafeText(parts.isEmpty ? total : "\(total): \(parts.joined(separator: ", "))")
    }
}

extension Drawing {
    /// Lines from a row on, as many as fit.
    mutating func put(_ lines: some Sequence<DetailsText.Line>, _ place: Range<Int>) {
        for (row, line) in zip(place, lines) {
            switch line {
            case .heading(let title): heading(title, row: row, columns: 0..<width)
            case .text(let line): grid.put(line, row: row, column: 1)
            }
        }
    }
}
